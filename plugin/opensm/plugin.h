/*
 * plugin.h: selvage inside OpenSM: what the files of the plugin share.
 *
 *     plugin.c     registers, sweeps, answers events
 *     options.c    event_plugin_options
 *     import.c     OpenSM's subnet as an sv_fabric
 *     handover.c   tables into OpenSM's hands: LFTs, SLs, VLs, arbitration
 *     multicast.c  trees of groups
 *     five.c       updates in five phases: who is asked to leave, and what is handed over when
 *     notices.c    their mails, as notices of OpenSM
 *     steps.c      updates step by step
 *     watch.c      log lines, status files, opensm.psl
 *
 * Everything that decides is in the library (selvage/experimental/live.h) and knows nothing of
 * OpenSM; this folder is the only place that includes osm_*.h.
 *
 * Locks: OpenSM holds its lock exclusively while it calls for tables and trees, and shared while it
 * asks for path SLs. So whatever is set in the former may be read in the latter.
 */
#ifndef SELVAGE_OSM_PLUGIN_H
#define SELVAGE_OSM_PLUGIN_H

#include <opensm/osm_config.h>
/* its headers want the above first */
#include <opensm/osm_inform.h>
#include <opensm/osm_opensm.h>
#include <opensm/osm_version.h>
#include <pthread.h>
#include <selvage/experimental.h>
#include <selvage/experimental/update.h>
#include <selvage/selvage.h>

/* What event_plugin_options say. Texts belong to text. */
typedef struct plugin_options {
    sv_live_options live;
    sv_five_options five; /* in milliseconds */
    unsigned settle_ms;   /* for packets under way, between steps */
    const char *engine_options[16];
    const char *status_path, *prometheus_path;
    unsigned heartbeat_s; /* how often they are written again, at least; 0: only when needed */
    bool dry_run, keep_vlarb;
    unsigned threads;
    char text[4096];
} plugin_options;

/* What a LID stands for. */
typedef struct plugin_lid {
    uint32_t node;        /* SV_NONE: nobody */
    uint32_t destination; /* SV_NONE: none */
} plugin_lid;

typedef struct plugin {
    osm_opensm_t *osm;
    sv_ctx *ctx;
    sv_live *live;
    plugin_options options;
    sv_live_status status; /* of the last sweep; whoever sweeps changes it */
    struct watch *watch;   /* what was told last, and who tells it again */

    plugin_lid *lids; /* [SV_LID_MAX + 1], of the tables in use */
    struct guid_index *index;
    unsigned vls;          /* that SL2VL tables name */
    char refused[640];     /* why the options were: nothing is routed then; empty: they were not */
    bool in_sweep;         /* OpenSM looks at the whole fabric; false: somebody wants it rerouted */
    bool anew;             /* that was asked for */
    bool distrust;         /* ports do not take the VLs that they said they have */
    uint64_t trees[0x100]; /* a bit for each multicast LID from 0xc000 on that has a tree */
    unsigned resweeps;     /* in a row, for ports that do not have their VLs yet */
    uint64_t throttled, unhealthy; /* links left out in the last import */
    struct five *five;             /* NULL: not in five phases */
    struct steps *steps;           /* NULL: not step by step */
    uint32_t step, step_count;     /* that is handed over in this sweep, of how many; 0 of 0 */
    bool left;                     /* ... and those of this sweep when everybody had left */
    bool handed;         /* the last sweep handed tables over: what switches confirm are those */
    _Atomic bool routes; /* the tables in the switches are ours, as far as anybody knows */
} plugin;

/* ---- options.c ---- */

/* False, and one line in message: an option is wrong. */
bool plugin_read_options(plugin_options *options, const char *text, const osm_subn_opt_t *opt,
                         char *message, size_t size);

/* ---- import.c ---- */

/*
 * The subnet as OpenSM knows it, its lock held. Nodes are in the order of OpenSM's own tables, so
 * the same subnet gives the same fabric.
 */
sv_status plugin_import(plugin *p, sv_fabric **fabric);

/* The VLs that a VL capability or setting of a port stands for: 1, 2, 4, 8 or 15. */
unsigned plugin_vls(unsigned code);

/* ---- handover.c ---- */

/* Nodes of the fabric in use by GUID. NULL: no memory. */
struct guid_index *guid_index_new(const sv_fabric *f);
void guid_index_free(struct guid_index *index);
/* A switch, or SV_NONE. GUIDs as OpenSM has them, in network order. */
uint32_t guid_index_switch(const struct guid_index *index, ib_net64_t guid);
/* A terminal (its node) by its port GUID, or SV_NONE. */
uint32_t guid_index_terminal(const struct guid_index *index, ib_net64_t guid);

/* Makes what answers need of the tables in use: false if there is no memory. */
bool plugin_prepare(plugin *p);

/* Fills in new_lft of all switches, and counts what that changes. */
void plugin_fill_lfts(plugin *p);

/* The same with what switches have already. */
void plugin_keep_lfts(plugin *p);

/* Whether every switch has confirmed all that it was sent. */
bool plugin_confirmed(plugin *p);

/* OpenSM's calls. */
uint8_t plugin_path_sl(void *context, uint8_t hint, ib_net16_t slid, ib_net16_t dlid);
void plugin_update_sl2vl(void *context, osm_physp_t *port, uint8_t in, uint8_t out,
                         ib_slvl_table_t *table);
void plugin_update_vlarb(void *context, osm_physp_t *port, uint8_t port_num,
                         ib_vl_arb_table_t *block, unsigned length, unsigned number);

/* ---- multicast.c ---- */

ib_api_status_t plugin_build_tree(void *context, osm_mgrp_box_t *box);

/* ---- five.c ---- */

/* False, and one line in message (unless there is no memory): options are wrong. */
bool five_start(plugin *p, char *message, size_t size);
void five_stop(plugin *p);
/* After a sweep: what is to be handed over becomes sv_live_held. False: no memory. */
bool five_choose(plugin *p);
/* A trap came in; OpenSM's lock is held. */
void five_trap(plugin *p, const ib_mad_notice_attr_t *notice);
/* OpenSM is done with a sweep. */
void five_up(plugin *p);
/* Fills in what status files tell of it. */
void five_status(plugin *p);

/* ---- steps.c ---- */

bool steps_start(plugin *p);
void steps_stop(plugin *p);
/* As five_choose. */
bool steps_choose(plugin *p);
/* OpenSM is done with a sweep. */
void steps_up(plugin *p);

/* ---- notices.c ---- */

/* Whether somebody (a port) gets both notices. */
bool notices_subscribed(plugin *p, ib_net64_t guid);
/* Ends these subscriptions. */
void notices_drop(plugin *p, ib_net64_t guid);
/* Sends a mail; false: it could not be. */
bool notices_send(plugin *p, ib_net64_t guid, const sv_five_mail *mail, uint32_t counter);
/* A trap as a mail, and whose; false: it is none. */
bool notices_read(const ib_mad_notice_attr_t *notice, ib_net64_t *guid, sv_five_mail *mail);

/* ---- watch.c ---- */

/* Milliseconds of a clock that never goes back. */
uint64_t plugin_now_ms(void);

/* A condition to wait for by that time, not by a clock that somebody may set. */
bool plugin_cond_init(pthread_cond_t *wake);
void plugin_cond_wait(pthread_cond_t *wake, pthread_mutex_t *mutex, uint64_t ms);
void plugin_log(plugin *p, osm_log_level_t level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* What the library has to say. */
void plugin_log_hook(void *user, sv_log_level level, const char *message);
/* The lines of one sweep. */
void plugin_log_sweep(plugin *p, const sv_live_report *report, double seconds);
/* False: no memory. Before anything is told. */
bool watch_start(plugin *p);
/* From now on status files are written again every heartbeat. */
void watch_beat(plugin *p);
/* Status files say that OpenSM has ended. */
void watch_stop(plugin *p);
/* Status files say what p->status does: the tables in the switches are ours. */
void plugin_write_status(plugin *p);
/* Status files say that they are not, and why. */
void plugin_withdraw_status(plugin *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* p->ctx is for one at a time. */
void plugin_lock_ctx(plugin *p);
void plugin_unlock_ctx(plugin *p);
/* opensm.psl beside what OpenSM dumps; and away with it when another engine routes. */
void plugin_dump_sls(plugin *p);
void plugin_drop_sls(plugin *p);

#endif
