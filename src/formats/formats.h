/*
 * formats.h: the table of formats, and what its files share. To add a format: one file with a read
 * or write function, a line in the table of formats.c, a name in selvage/formats.h, a fuzz target
 * if it reads, a section in docs/formats.md.
 */
#ifndef SV_FORMATS_FORMATS_H
#define SV_FORMATS_FORMATS_H

#include <selvage/formats.h>

#include "base/text.h"

/* Reads from lines that nobody has taken anything from yet. */
typedef sv_status sv__read_fn(sv_lines *lines, sv_fabric **fabric);
typedef sv_status sv__write_fn(sv_text *out, const sv_fabric *fabric);

sv__read_fn sv__read_ibnetdiscover, sv__read_subnet, sv__read_netloc, sv__read_cray;
sv__write_fn sv__write_ibnetdiscover, sv__write_subnet, sv__write_dot, sv__write_json,
    sv__write_slurm, sv__write_root_guids, sv__write_cn_guids, sv__write_io_guids;

/*
 * INFEASIBLE when a format of InfiniBand's cannot hold the fabric: a node with more ports than can
 * be numbered, without a GUID of its own, or with a line break in its name. live: of adapters.
 */
sv_status sv__fits_infiniband(sv_ctx *ctx, const sv_fabric *fabric, const bool *live);

#endif
