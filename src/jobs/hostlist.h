/*
 * hostlist.h: which names lists of hosts can hold.
 */
#ifndef SV_JOBS_HOSTLIST_H
#define SV_JOBS_HOSTLIST_H

#include <stdbool.h>

/* Whether a name stands for itself in a list that sv_hostlist_expand reads. Time: linear. */
bool sv__host_listable(const char *name);

#endif
