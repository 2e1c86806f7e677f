/*
 * hostlist.h: lists of host names as Slurm reads and writes them: "n[001-018,33]-ib,login".
 */
#ifndef SV_TEXT_HOSTLIST_H
#define SV_TEXT_HOSTLIST_H

#include "base/text.h"

/* Gets a name, which is valid during the call; anything but SV_OK ends the expansion with it. */
typedef sv_status sv__host_fn(void *user, const char *name, size_t length);

/* Hands out all names of a list, in its order. BAD_INPUT, before any: it is none. Time: linear. */
sv_status sv__hostlist_expand(sv_ctx *ctx, const char *text, size_t length, sv__host_fn *take,
                              void *user);

/* Whether a name stands for itself in a list that sv__hostlist_expand reads. Time: linear. */
bool sv__host_listable(const char *name);

/* For qsort of const char *: by what stands before the digits at the end, then by their number. */
int sv_hostname_order(const void *a, const void *b);

/* Sorts names and writes them, consecutive numbers as ranges: host[0-3,7]. */
void sv_hostlist_write(sv_text *out, const char **names, size_t count);

#endif
