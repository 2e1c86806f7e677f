/*
 * formats.h: fabrics from files and to files.
 *
 * docs/formats.md describes every format. Readers recognise a format by its content. Writers write
 * only what is alive: a fabric with failures is written as the fabric that is left.
 */
#ifndef SELVAGE_FORMATS_H
#define SELVAGE_FORMATS_H

#include <selvage/routes.h>

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
 * *unknown, and a warning tells of the first, unless it is NULL. Time: linear, expected.
 */
SV_API SV_MUST_USE sv_status sv_roles_read(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_source *source, sv_role role, sv_role *roles,
                                           uint32_t *unknown);

/*
 * Reads the switches whose GUIDs a file lists, as in OpenSM's root_guid_file, into
 * roots[num_switches]; *count is how many there are. GUIDs that are no live switch's are counted in
 * *unknown, and a warning tells of the first, unless it is NULL. BAD_INPUT: not one is a live
 * switch's. Time: linear, expected; quadratic in the roots.
 */
SV_API SV_MUST_USE sv_status sv_roots_read(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_source *source, sv_node *roots, size_t *count,
                                           uint32_t *unknown);

/*
 * Reads the terminals whose port GUIDs a file lists, as in OpenSM's guid_routing_order_file, into
 * hosts[num_terminals], each once, in the order of the file; *count is how many there are. GUIDs
 * that are no live terminal's are counted in *unknown, and a warning tells of the first, unless it
 * is NULL. BAD_INPUT: not one is a live terminal's. Time: linear, expected.
 */
SV_API SV_MUST_USE sv_status sv_hosts_read(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_source *source, sv_node *hosts, size_t *count,
                                           uint32_t *unknown);

/* ---- tables ---- */

/*
 * Reads fabric and tables from a directory as OpenSM dumps it (-D 0x43 --dump_files_dir), or as
 * sv_dump_write does, or from a .svr file. What the files do not tell (SLs, VLs) is then unknown
 * in the tables. routes may be NULL: only the fabric is read. Both results are owned by the caller.
 * Time: linear in the files.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * if (sv_dump_read(ctx, "dump", &fabric, &routes) != SV_OK)
 *     printf("%s\n", sv_ctx_message(ctx));
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_dump_read(sv_ctx *ctx, const char *path, sv_fabric **fabric,
                                          sv_routes **routes);

/*
 * Writes fabric and tables into a directory, which is made if need be, or into one file if the name
 * ends in .svr. The files of a directory are replaced as one: a reader gets the old set or the new
 * one, also beside other writers and when this one is killed; on failure the old set stays. Each
 * file carries the generation of its set; sv_dump_read refuses (BAD_INPUT) files of different ones.
 * INFEASIBLE, with the count, when a directory is asked for and there are more destinations than
 * LIDs.
 */
SV_API SV_MUST_USE sv_status sv_dump_write(sv_ctx *ctx, const sv_fabric *fabric,
                                           const sv_routes *routes, const char *path);

/* One more file of the set: repath.txt, or FILE.svr.repath beside FILE.svr. */
typedef struct sv_dump_extra {
    void *user;
    sv_status (*write)(void *user, sv_ctx *ctx, const sv_sink *sink);
} sv_dump_extra;

/* The same with such a file; extra NULL: without, and one that is there goes. */
SV_API SV_MUST_USE sv_status sv_dump_write_with(sv_ctx *ctx, const sv_fabric *fabric,
                                                const sv_routes *routes, const char *path,
                                                const sv_dump_extra *extra);

/* One part of the tables in a format of its own. */
typedef enum sv_routes_format {
    SV_ROUTES_LFTS,        /* opensm-lfts.dump */
    SV_ROUTES_FDBS,        /* opensm.fdbs */
    SV_ROUTES_SL2VL,       /* opensm-sl2vl.dump */
    SV_ROUTES_PSL,         /* opensm.psl */
    SV_ROUTES_IBDMCHK_PSL, /* the same as ibdmchk wants it: by node */
    SV_ROUTES_MCFDBS,      /* opensm.mcfdbs */
    SV_ROUTES_QOS,         /* VL arbitration for opensm.conf */
    SV_ROUTES_FORMAT_COUNT
} sv_routes_format;

/* The format of a name ("ibdmchk-psl"), or SV_ROUTES_FORMAT_COUNT. Time: O(1). */
SV_API sv_routes_format sv_routes_format_named(const char *name);

/* Writes one part of the tables. Time: linear in the output. */
SV_API SV_MUST_USE sv_status sv_routes_write(sv_ctx *ctx, const sv_fabric *fabric,
                                             const sv_routes *routes, sv_routes_format format,
                                             const sv_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
