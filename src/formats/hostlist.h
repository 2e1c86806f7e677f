/*
 * hostlist.h: lists of names as Slurm writes them.
 */
#ifndef SV_FORMATS_HOSTLIST_H
#define SV_FORMATS_HOSTLIST_H

#include "base/text.h"

/* For qsort of const char *: by what stands before the digits at the end, then by their number. */
int sv_hostname_order(const void *a, const void *b);

/* Sorts names and writes them, consecutive numbers as ranges: host[0-3,7]. */
void sv_hostlist_write(sv_text *out, const char **names, size_t count);

#endif
