/*
 * repair.h: what the files of this room share.
 *
 * carry.c brings old tables into the numbers of the fabric as it is now and tells what is
 * different; mend.c and grow.c change the rows of one destination after the other; plan.c says how
 * to bring the result into the switches; repair.c does all of it in turn.
 */
#ifndef SV_REPAIR_REPAIR_H
#define SV_REPAIR_REPAIR_H

#include <selvage/experimental/repair.h>

#include "base/bitset.h"
#include "routes/routes.h"

/* One bit a VL. */
typedef uint64_t sv__vl_set;

/* ---- carry.c ---- */

/* A port of a switch behind which there is something else now, or nothing. */
typedef struct sv__spot {
    uint32_t s;
    uint8_t port;
} sv__spot;

typedef struct sv__carried {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv_fabric *from, *f; /* before, and now */
    const sv_routes *old;      /* in the numbers of from */
    uint32_t *was;             /* [nodes of f]: in from, or SV_NONE */
    sv_routes *before;         /* the old tables in the numbers of f */
    sv_portmap ports;          /* of f */
    uint64_t *changed;         /* one bit a place of ports: was cabled, and is otherwise now */
    sv__spot *spots;           /* the same as a list */
    uint32_t num_spots;
    bool grown; /* there are nodes or cables that were not there before */
} sv__carried;

/* old: with orders, or local repair is out of the question. */
sv_status sv__carry(sv__carried *c, sv_ctx *ctx, sv_arena *arena, const sv_fabric *from,
                    const sv_routes *old, const sv_fabric *to);

/* ---- mend.c ---- */

typedef struct sv__reorder sv__reorder;

/* The paths to the destination at hand, and what is needed to change them. */
typedef struct sv__mend {
    sv_ctx *ctx;
    sv_arena *arena;
    const sv_fabric *f;
    const sv__carried *carried;
    const sv_routes *before;
    sv_routes *made;
    sv_traffic traffic;
    unsigned vls;
    sv__vl_set all;            /* VLs that SLs lead to */
    uint8_t vl_of[SV_MAX_SLS]; /* of an SL, everywhere */
    uint32_t *terminals;       /* [switches]: live ones on each */
    uint32_t *settled;         /* [switches]: terminals that were there before */
    uint32_t *component;       /* [switches] */
    uint32_t *stride_load;     /* [places of ports]: routes on each, SV_NONE: not yet counted */
    uint64_t vl_load[SV_MAX_VLS];

    uint32_t d, home;
    sv_node to;
    sv__reorder *reorder; /* NULL: orders stay as they are */
    bool patient;         /* orders are changed sooner than more than one entry, or SLs */
    bool refit;           /* SLs may have to change */
    uint8_t *ports;       /* [switches]: the row as it will be */
    uint8_t *saved;       /* [switches]: the same before an attempt */
    uint8_t *state;       /* [switches] */
    uint32_t *length;     /* [switches]: hops to the home, if it has a path */
    uint32_t *out;        /* [switches]: the place of its way out, SV_NONE at home */
    sv__vl_set *open;     /* [switches]: VLs in which its path ascends, if known */
    uint8_t *open_known;  /* [switches] */
    sv__vl_set *need;     /* [switches]: VLs of packets that start there; of those broken */
    sv__vl_set *through;  /* and of all that come through */
    uint32_t *broken;     /* those whose path is, each after the one it sends to */
    uint32_t num_broken;
    uint8_t *cut;   /* [switches]: may not go the way it goes */
    uint8_t *fresh; /* [switches]: goes a way that was chosen just now, which may be the old port */
    uint8_t *shut;  /* [switches]: its packets count now, which they did not before, and its way is
                       open on no VL that they could have */
    uint32_t *stack;
    uint32_t *child, *sibling;
    uint64_t *list; /* [live channels] */
} sv__mend;

enum { SV__UNSEEN, SV__ON_WAY, SV__GOOD, SV__BROKEN, SV__AWAY };

sv_status sv__mend_init(sv__mend *m, const sv__carried *carried, sv_routes *made,
                        sv_traffic traffic);

/* Repairs one destination. *done: false if its orders leave no way. */
sv_status sv__mend_one(sv__mend *m, uint32_t d, bool *done);

/* VLs in which a turn ascends, by places. */
sv__vl_set sv__ascends(const sv__mend *m, uint32_t in, uint32_t out);

/* VLs in which the path of a switch that has one ascends. */
sv__vl_set sv__open_vls(sv__mend *m, uint32_t s);

/* VLs in which a way would be open: a place that leads to a switch with a path. */
sv__vl_set sv__open_by(sv__mend *m, uint32_t place, uint32_t to);

/* VLs of packets that start at a switch, by the SLs from before and now. */
sv__vl_set sv__vls_of_both(sv__mend *m, uint32_t d, uint32_t s);

/* About how many routes a port carries. */
uint32_t *sv__load_at(sv__mend *m, uint32_t s, unsigned port);

/* Whether packets that start at a switch count, for the destination at hand. */
bool sv__counts(const sv__mend *m, uint32_t s);

/* ---- grow.c ---- */

/*
 * New ways for all broken switches, from those with paths outwards. strict: packets keep their
 * SLs. False: some have none, and nothing is changed.
 */
bool sv__grow(sv__mend *m, bool strict);

/* Another way for one switch, with turns that are added for all that comes through it. */
bool sv__bypass_adding(sv__mend *m, uint32_t s);

/* Makes what is open on a path, and may be used, stay so. */
void sv__pin_path(sv__mend *m, uint32_t s);

/* The same as sv__grow with turns that are added to the orders where no way is open. */
bool sv__grow_adding(sv__mend *m, bool strict);

/* A whole new tree that ascends in one VL; false: there is none in any. */
bool sv__grow_one_vl(sv__mend *m);

/* ---- reorder.c ---- */

/* From here on to the end, orders may change: sv__mend_one adds turns where no way is open. */
sv_status sv__reorder_begin(sv__mend *m);
sv_status sv__reorder_end(sv__mend *m);

/* VLs in which a turn ascends, and those among some in which it can be made to for good. */
sv__vl_set sv__reorder_ascends(const sv__reorder *x, uint32_t in, uint32_t out);
sv__vl_set sv__reorder_add(sv__reorder *x, uint32_t in, uint32_t out, sv__vl_set vls);

/* ---- orders.c ---- */

/* Numbers for the channels of switches that are new to the orders. */
sv_status sv__insert_orders(const sv__carried *c, sv_routes *made);

/* ---- plan.c ---- */

/* How to bring the new tables into the switches; changed: one bit a destination. */
sv_status sv__repair_plan(const sv__carried *c, const sv_routes *made,
                          const sv_repair_request *request, const uint64_t *changed,
                          sv_repair_report *report);

#endif
