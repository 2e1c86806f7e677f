/*
 * formats.h: fabrics from files and to files.
 *
 * docs/formats.md describes every format. Readers recognise a format by its content. Writers write
 * only what is alive: a fabric with failures is written as the fabric that is left.
 */
#ifndef SELVAGE_FORMATS_H
#define SELVAGE_FORMATS_H

#include <selvage/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum sv_format {
    SV_FORMAT_AUTO,          /* reading: by content; writing: ibnetdiscover */
    SV_FORMAT_IBNETDISCOVER, /* what ibnetdiscover prints and ibsim reads */
    SV_FORMAT_SUBNET,        /* OpenSM's opensm-subnet.lst */
    SV_FORMAT_NETLOC,        /* netloc's nodes file (read only) */
    SV_FORMAT_CRAY,          /* a Cray XC interconnect dump (read only) */
    SV_FORMAT_DOT,           /* GraphViz (write only), as are all that follow */
    SV_FORMAT_JSON,
    SV_FORMAT_SLURM,      /* topology.conf */
    SV_FORMAT_ROOT_GUIDS, /* OpenSM's root_guid_file */
    SV_FORMAT_CN_GUIDS,   /* cn_guid_file: compute terminals */
    SV_FORMAT_IO_GUIDS,   /* io_guid_file */
    SV_FORMAT_COUNT
} sv_format;

typedef struct sv_format_info {
    const char *name, *summary;
    const char *suffixes; /* of file names, separated by blanks */
    bool reads, writes;
} sv_format_info;

/* What a format is; NULL for SV_FORMAT_AUTO and beyond the last. Time: O(1). */
SV_API const sv_format_info *sv_format_about(sv_format format);

/* The format of a name ("dot"), or SV_FORMAT_COUNT. Time: O(1). */
SV_API sv_format sv_format_named(const char *name);

/* The format a file name suggests by its suffix, or SV_FORMAT_AUTO. Time: O(1). */
SV_API sv_format sv_format_of_path(const char *path);

/*
 * Reads a fabric.
 *
 * format: SV_FORMAT_AUTO to find out. *fabric: the result, owned by the caller (sv_fabric_free).
 * BAD_INPUT: the message is "name:line: what"; IO: the source failed; UNSUPPORTED: the format
 * cannot be read, or not in this build. Time: linear in the input, expected; memory: linear in the
 * fabric.
 */
SV_API SV_MUST_USE sv_status sv_fabric_read(sv_ctx *ctx, const sv_source *source, sv_format format,
                                            sv_fabric **fabric);

/*
 * Reads a fabric from a file ("-": standard input).
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * if (sv_fabric_load(ctx, "my-fabric.txt", &fabric) != SV_OK)
 *     printf("%s\n", sv_ctx_message(ctx));
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_fabric_load(sv_ctx *ctx, const char *path, sv_fabric **fabric);

/*
 * Writes the live part of a fabric. INFEASIBLE when the format cannot hold it (an InfiniBand
 * switch has at most 254 ports). Time: linear in the output.
 */
SV_API SV_MUST_USE sv_status sv_fabric_write(sv_ctx *ctx, const sv_fabric *fabric, sv_format format,
                                             const sv_sink *sink);

/* Writes to a file ("-": standard output), which appears only when it is complete. */
SV_API SV_MUST_USE sv_status sv_fabric_save(sv_ctx *ctx, const sv_fabric *fabric, sv_format format,
                                            const char *path);

/*
 * Gives the terminals whose port GUIDs a file lists, one a line as in OpenSM's GUID files, a role
 * in roles[num_terminals]; others keep theirs. GUIDs that are not in the fabric are counted in
 * *unknown (may be NULL). Time: linear, expected.
 */
SV_API SV_MUST_USE sv_status sv_roles_read(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_source *source, sv_role role, sv_role *roles,
                                           uint32_t *unknown);

#ifdef __cplusplus
}
#endif
#endif
