/* online.h: paths put into VLs one by one. */
#ifndef SV_VLS_ONLINE_H
#define SV_VLS_ONLINE_H

#include "vls/vls.h"

typedef struct sv_packer {
    sv_layering *x;
    sv_cdg cdg;
    unsigned max;
    const uint32_t *start; /* the order that further VLs begin with, or NULL */
    sv_vl_mask *open;      /* [switches]: VLs that have all turns of its path */
    uint32_t *added;       /* scratch */
    sv_vl_mask *closed;    /* [turns]: VLs in which it closes a cycle, and always will */
} sv_packer;

sv_status sv_packer_init(sv_packer *p, sv_layering *x, unsigned max);

/* Goes on to the tree of a destination. */
void sv_packer_begin(sv_packer *p, uint32_t destination);

/* The VLs that have all turns of the path from a switch, as far as known of those nearer. */
sv_vl_mask sv_packer_open(const sv_packer *p, uint32_t s);

/*
 * The first VL that takes the path of a switch, which must come after those it sends through;
 * SV_NO_SL if none does.
 */
sv_status sv_packer_path(sv_packer *p, uint32_t s, unsigned *vl);

#endif
