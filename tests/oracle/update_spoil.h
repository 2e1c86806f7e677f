/*
 * update_spoil.h: correct plans made wrong, to see whether the judge says so.
 */
#ifndef TESTS_ORACLE_UPDATE_SPOIL_H
#define TESTS_ORACLE_UPDATE_SPOIL_H

#include "update_case.h"
#include "update_oracle.h"

/* Orders that may be unsafe. */
typedef enum spoil {
    SPOIL_SWAP,   /* two entries of a destination change places */
    SPOIL_MERGE,  /* a step and the next become one */
    SPOIL_ONCE,   /* all steps become one */
    SPOIL_MUST,   /* a pair need not be silent */
    SPOIL_BACK,   /* all who must be silent come back before the last step */
    SPOIL_SETTLE, /* nobody waits for packets to leave */
    SPOIL_SLS,    /* all new SLs are told from the start */
    SPOILS
} spoil;

const char *spoil_name(spoil how);
/* False: there is nothing of that kind in the plan. */
bool spoil_plan(update_case *c, const oracle *o, oracle_plan *p, spoil how);

/* Tells a plan in the library's words: u is a copy of what it came from. */
void spoil_apply(const oracle *o, const oracle_plan *p, sv_update *u);

/* Words that are wrong. */
typedef enum tell {
    TELL_WAY,
    TELL_STEPS,
    TELL_VLS,
    TELL_LESS,  /* an entry is missing */
    TELL_TWICE, /* an entry is there twice */
    TELL_STEP,  /* an entry has another step, or would change one that stays */
    TELL_BLOCK,
    TELL_SORT,
    TELL_BLOCKS,
    TELL_WRITES,
    TELL_SLS,
    TELL_FIRST,
    TELL_MOVED,
    TELL_PAIR, /* a pair is missing */
    TELL_SPAN, /* its silence is too short, or too long */
    TELL_MUSTS,
    TELLS
} tell;

const char *tell_name(tell how);
sv_update *spoil_copy(const sv_update *u, uint32_t dests);
void spoil_free(sv_update *u);
bool spoil_told(update_case *c, const oracle *o, sv_update *u, tell how);

#endif
