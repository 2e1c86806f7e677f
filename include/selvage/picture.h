/*
 * picture.h: pictures of fabrics, as SVG.
 *
 * Switches are placed by what the fabric is: trees by level, tori as grids, dragonflies by group,
 * all else so that neighbours are near.
 */
#ifndef SELVAGE_PICTURE_H
#define SELVAGE_PICTURE_H

#include <selvage/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Colours from the least load above 0 to the largest. */
#define SV_HEAT_STEPS 16

/* One fabric in a heat map. */
typedef struct sv_heat_panel {
    const sv_fabric *fabric;
    const uint64_t *load; /* [num_channels]: as sv_routes_load and sv_jobs_count give them */
    const char *title;    /* a line above it, in UTF-8; NULL: none */
    const char *unit;     /* what is counted: "routes"; NULL: "routes" */
} sv_heat_panel;

typedef struct sv_heat {
    const sv_heat_panel *panels; /* side by side, with the same colours for the same loads */
    uint32_t count;              /* 1 or 2 */
    uint64_t max; /* the load of the last colour; 0, or less than the largest: that */
} sv_heat;

/*
 * The colour of a load: 0 for 0, then 1 … steps, the last for most. *steps (may be NULL) is
 * SV_HEAT_STEPS, or most where that is less. Step k ends with the load floor(k × most / steps).
 * Time: O(1).
 */
SV_API uint32_t sv_heat_step(uint64_t load, uint64_t max, uint32_t *steps);

/*
 * Writes a heat map (thesis Fig. 5.2, 5.9 and 5.10) with its histogram (Fig. 5.11) as SVG.
 *
 * Every live cable between different switches is a line of two halves: the half at a switch has the
 * colour of what that switch sends into the cable, grey for nothing ("dark fibre"). Parallel cables
 * are all drawn, side by side; busier ones lie above others. Below each fabric is how many channels
 * have each colour. Elements carry their class (dark, h1, h2, … h16), and up to 20,000 channels a
 * <title> with ends, ports and load, which viewers show. Same input, same bytes.
 *
 * Fails with NO_MEMORY, CANCELLED, and what the sink returns. Time: that of placing the
 * switches (a second for some thousand of no known shape), else linear, and sorting.
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_fabric *fabric = NULL;
 * sv_routes *routes = NULL;
 * uint64_t load[96]; // 16 switches with 4 cables and a host each
 * sv_load about;
 * if (sv_topology_generate(ctx, "torus:4x4", &fabric) == SV_OK && fabric->num_channels == 96 &&
 *     sv_route(ctx, fabric, "sssp", NULL, &routes, NULL) == SV_OK &&
 *     sv_routes_load(ctx, fabric, routes, load, &about) == SV_OK) {
 *     sv_heat_panel panel = {.fabric = fabric, .load = load, .title = "a small torus"};
 *     sv_heat heat = {.panels = &panel, .count = 1};
 *     if (sv_heat_save(ctx, &heat, "-") != SV_OK)
 *         printf("%s\n", sv_ctx_message(ctx));
 * }
 * sv_routes_free(routes);
 * sv_fabric_free(fabric);
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_heat_write(sv_ctx *ctx, const sv_heat *heat, const sv_sink *sink);

/* The same into a file, which appears whole or not at all. "-": standard output. */
SV_API SV_MUST_USE sv_status sv_heat_save(sv_ctx *ctx, const sv_heat *heat, const char *path);

/* ---- latency maps ---- */

/* One surface over the switches of a fabric. */
typedef struct sv_surface_panel {
    const char *title;    /* in UTF-8; NULL: none */
    const double *height; /* [num_switches]: at least 0; NAN: there was nothing */
    /* Over time, or NULL: [columns × num_switches], NAN as above. */
    const double *cells;
    uint32_t columns;
    double column; /* how long one is, in the unit of time */
} sv_surface_panel;

typedef struct sv_surface {
    const sv_fabric *fabric;
    const sv_surface_panel *panels; /* side by side, with the same scale */
    uint32_t count;
    const char *title, *unit, *time_unit; /* "us"; never NULL */
} sv_surface;

/*
 * Writes latency maps (PR-DRB thesis, Figs. 4.7, 4.10, 4.20) as SVG: for each panel the heights as
 * a surface over the switches, seen from above at an angle: meshes by coordinate, trees by level
 * and index, what is no such grid as bars where its switches are. Below it, if cells are given,
 * those switches that are highest as rows, time from left to right. Points, bars and cells carry
 * <title>s with name and number. Same input, same bytes.
 *
 * Fails with NO_MEMORY, CANCELLED, and what the sink returns. Time: that of placing the switches,
 * and sorting.
 */
SV_API SV_MUST_USE sv_status sv_surface_write(sv_ctx *ctx, const sv_surface *surface,
                                              const sv_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
