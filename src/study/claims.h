/*
 * claims.h: studies that run on one database at a time, each a process: who runs which cell, who
 * may change how the database is kept, and who is the last to leave.
 */
#ifndef SV_STUDY_CLAIMS_H
#define SV_STUDY_CLAIMS_H

#include "base/ctx.h"

typedef struct sv__claims {
    sv_ctx *ctx;
    char *path;
    int descriptor; /* -1: nobody else can be told of anything, and all is granted */
} sv__claims;

/* Goes in, and stands at the door: nobody else comes in or leaves. database: its canonical name. */
sv_status sv__claims_open(sv__claims *claims, sv_ctx *ctx, const char *database);
/* Leaves the door to others. */
void sv__claims_enter(const sv__claims *claims);

/* Takes a cell; false: another process has it. It is given back by sv__claims_drop or at the end.
 */
bool sv__claims_take(const sv__claims *claims, int64_t cell);
void sv__claims_drop(const sv__claims *claims, int64_t cell);

/* Back to the door, to leave; whether nobody else is inside. */
bool sv__claims_leave(const sv__claims *claims);
/* Ends it; last: what sv__claims_leave said. Fine if it was never opened. */
void sv__claims_close(sv__claims *claims, bool last);

#endif
