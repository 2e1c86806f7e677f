/*
 * faults.h: failures: chosen at random and repeatably, or listed in a file.
 *
 * Random failures are never critical: two terminals that could talk before, and that still exist,
 * can talk afterwards. A draw that would break this is skipped and another one made; when no choice
 * is left the call says so. A switch takes its terminals with it; that is not critical by itself.
 */
#ifndef SELVAGE_FAULTS_H
#define SELVAGE_FAULTS_H

#include <selvage/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How many of something: a count, or a percentage of what there is to choose from in millionths
 * (1 % is 10,000), rounded down.
 */
typedef struct sv_amount {
    bool relative;
    uint64_t value;
} sv_amount;

/* Reads "12", "1%" or "0.5%". BAD_INPUT for anything else. Time: O(length). */
SV_API SV_MUST_USE sv_status sv_amount_parse(sv_ctx *ctx, const char *text, sv_amount *amount);

/* Reads "1:13", switches to links; BAD_INPUT for anything else. Time: O(length). */
SV_API SV_MUST_USE sv_status sv_ratio_parse(sv_ctx *ctx, const char *text, uint32_t *switches,
                                            uint32_t *links);

typedef struct sv_fault_plan {
    uint64_t seed;
    sv_amount links; /* cables between different switches */
    sv_amount switches;
    sv_amount adapters; /* host adapters, with all their ports */
    /*
     * Both in a ratio: ratio_switches to ratio_links (1:13). both is then the number of links (a
     * percentage is of the links to choose from), and switches follow, rounded down.
     */
    sv_amount both;
    uint32_t ratio_switches, ratio_links;
    /*
     * Only switches of one level, and links whose lower end is of it: the distance to the nearest
     * switch with terminals. Used when limit_level is set.
     */
    bool limit_level;
    uint32_t level;
    /* Only switches whose name fits the pattern (as in file names), links with both ends so. */
    const char *only;
    /* Only switches whose name fits, links with at least one end so. */
    const char *touching;
    /* Never a switch that has terminals. */
    bool keep_terminals;
} sv_fault_plan;

typedef struct sv_fault_report {
    uint32_t links, switches, adapters; /* failed by choice or by the list */
    uint32_t lost_terminals;            /* that went with them */
    uint32_t critical;                  /* draws that were skipped */
} sv_fault_report;

/*
 * Draws failures and adds them to the mask. Switches are drawn first, then links, then adapters.
 * The same fabric, plan and seed give the same failures; with more failures asked for, those of a
 * smaller number of the same kind are among them (as long as nothing else in the plan differs).
 * What failed before must be part of fabric (sv_fabric_mask it first): what the mask holds already
 * is not looked at. INFEASIBLE when fewer can fail than asked for; the mask is then unchanged.
 * Time: O(failures * degree) expected on fabrics with short detours, linear a failure at worst.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *whole = NULL, *broken = NULL;
 * sv_fault_plan plan = {.seed = 7};
 * sv_fault_report report;
 * if (sv_topology_generate(ctx, "torus:10x10x10,hosts=4", &whole) == SV_OK &&
 *     sv_amount_parse(ctx, "1%", &plan.links) == SV_OK) {
 *     sv_mask *mask = sv_mask_new(ctx, whole);
 *     if (sv_faults_draw(ctx, whole, &plan, mask, &report) == SV_OK &&
 *         sv_fabric_mask(ctx, whole, mask, &broken) == SV_OK)
 *         printf("%u of 3000 links failed\n", report.links);
 *     sv_mask_free(mask);
 * }
 * sv_fabric_free(broken);
 * sv_fabric_free(whole);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_faults_draw(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_fault_plan *plan, sv_mask *mask,
                                            sv_fault_report *report);

/*
 * Reads a list of failures, one a line, and adds them to the mask (see docs/formats.md):
 *
 *     switch NODE
 *     adapter NODE
 *     port NODE PORT
 *     link NODE PORT NODE PORT
 *
 * NODE as sv_index_find takes it, in double quotes if it has blanks; # starts a comment.
 * BAD_INPUT with file and line when something is not there; the mask is then unchanged.
 * Time: linear in the fabric and the file.
 */
SV_API SV_MUST_USE sv_status sv_faults_read(sv_ctx *ctx, const sv_fabric *fabric,
                                            const sv_source *source, sv_mask *mask,
                                            sv_fault_report *report);

/*
 * Fails one thing: the words of one line of such a list. name (of a file, an option) goes into
 * messages. The report's counts go up.
 */
SV_API SV_MUST_USE sv_status sv_faults_add(sv_ctx *ctx, const sv_index *index,
                                           const sv_fabric *fabric, const char *line, sv_mask *mask,
                                           sv_fault_report *report);

/*
 * Writes the failures of a mask as such a list, without what is dead in fabric already. Time:
 * linear in the fabric.
 */
SV_API SV_MUST_USE sv_status sv_faults_write(sv_ctx *ctx, const sv_fabric *fabric,
                                             const sv_mask *mask, const sv_sink *sink);

/*
 * How many of the live terminals are cut off from the largest group of terminals that can talk to
 * each other. Time: linear.
 */
SV_API SV_MUST_USE sv_status sv_faults_cut_off(sv_ctx *ctx, const sv_fabric *fabric,
                                               uint32_t *terminals);

#ifdef __cplusplus
}
#endif
#endif
