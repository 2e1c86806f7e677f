/*
 * rehearse.h: an update of tables in the simulator: traffic runs over old tables, these are changed
 * block by block on the way, with datagrams that take their time and get lost, and what that does
 * is counted.
 */
#ifndef SELVAGE_REHEARSE_H
#define SELVAGE_REHEARSE_H

#include <selvage/experimental/update.h>
#include <selvage/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sv_rehearsal_way {
    SV_REHEARSE_AT_ONCE, /* all blocks, as a subnet manager sends them */
    SV_REHEARSE_STEPS,   /* by a plan; pairs that must be silent are, others send on */
    SV_REHEARSE_HOLD, /* by a plan; all pairs whose path changes in a step are silent around it, and
                         those that old tables do not join, as long as their destination changes */
    SV_REHEARSE_FIVE, /* by five phases, on tables with two sets */
    SV_REHEARSE_WAYS
} sv_rehearsal_way;

/* All times in ticks (simulate.h). */
typedef struct sv_rehearsal_request {
    sv_rehearsal_way way;
    const sv_update *plan; /* of STEPS and HOLD; of FIVE may be NULL: blocks all at once then */
    sv_sim_model model;
    sv_sim_control control;
    const sv_sim_source *source;   /* destinations are base addresses */
    uint64_t begin;                /* the update begins */
    uint64_t delay_min, delay_max; /* of a datagram, each way, drawn for each */
    unsigned loss;                 /* of 1,000 datagrams */
    uint64_t retry;                /* until a datagram that was not answered is sent again */
    uint32_t tries;  /* 0: for ever. Else a switch that does not answer keeps what it has */
    uint32_t window; /* datagrams to switches that are not yet answered; 0: all at once */
    uint64_t ack;    /* from a message's arrival until its sender knows */
    uint64_t settle; /* after a step: at least so long, and until packets of before have left */
    sv_five_options five;
    const uint32_t *application; /* [terminals]: which it runs, SV_NONE: none that subscribes; NULL:
                                    one for all */
    uint32_t dead; /* this application does not answer, and sends nothing, from `begin` on; SV_NONE:
                      none */
    uint64_t forward; /* from rank 0 to another rank of its application, and back */
    uint64_t rest; /* so long after the update nothing new is sent; 0: as long as there is something
                    */
    uint64_t seed;
    const sv_sim_watch *watch; /* is told what happens, too; or NULL */
} sv_rehearsal_request;

typedef struct sv_rehearsal_phase {
    uint64_t from, until; /* until < from: it did not come to it */
    uint64_t bytes;       /* payload that arrived in it */
} sv_rehearsal_phase;

enum { SV_REHEARSE_PHASES = 6 };

typedef struct sv_rehearsal {
    sv_sim_result *sim; /* incidents, deadlock and all that; owned by it */
    sv_rehearsal_phase
        phase[SV_REHEARSE_PHASES]; /* before; leave (or hold); program; return (or release); after,
                                 until nothing new is sent; all from the beginning of the second to
                                 the end of the fourth */
    uint64_t blocks, datagrams, lost, again; /* blocks set; datagrams of all kinds; of those */
    uint32_t steps;
    uint64_t held;               /* pairs of terminals that were made silent */
    uint64_t held_sum, held_max; /* ticks that a pair was silent, with something to send */
    uint64_t drain_max;          /* from being told to be silent to the last arrival */
    bool done;                   /* all switches have their new entries; all flows are back */
    sv_five_count five;          /* of the manager, of SV_REHEARSE_FIVE */
    /* Of sim->incidents: those of pairs that old tables join, and new ones, too. */
    uint64_t harmed[SV_SIM_INCIDENTS];
    /* Definition 5.5 and what follows from it, as seen in the run. */
    bool both_deadlock_free; /* 1: old and new tables, by verify/ */
    uint64_t inconsistent; /* 2: of terminals and destinations (flows) that take part, and that old
                              tables join, and new ones, too: packets that went by an old entry and
                              by a new one (where these differ), and flows with a packet of each
                              under way at a time */
    bool together;         /* 3: nothing waited for ever */
    sv_pool *store;
} sv_rehearsal;

/*
 * Runs traffic over old tables, changes them to new ones on the way, and says what that did.
 * before, after: as sv_update_plan; for SV_REHEARSE_FIVE with LMC 1, differing in base addresses
 * alone (BAD_INPUT). *rehearsal: owned by the caller. Time: as sv_simulate.
 */
SV_API SV_MUST_USE sv_status sv_rehearse(sv_ctx *ctx, const sv_fabric *fabric,
                                         const sv_routes *before, const sv_routes *after,
                                         const sv_rehearsal_request *request,
                                         sv_rehearsal **rehearsal);
SV_API void sv_rehearsal_free(sv_rehearsal *rehearsal);

#ifdef __cplusplus
}
#endif
#endif
