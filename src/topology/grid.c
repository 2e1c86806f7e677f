/*
 * grid.c: meshes, tori, hypercubes and express meshes.
 *
 * Idea: switches are points of an n-dimensional box, the last coordinate counting fastest; in each
 * dimension a switch is cabled to its neighbour on the plus side (thesis Eq. 3.1, 3.2). A torus
 * closes each line of three or more to a ring; a ring of two is one cable, of one none. A hypercube
 * is a mesh of twos. An express mesh adds, in each ring, cables between switches at distance 1 +
 * gap, 1 + 2 gap, … (as the CODES simulator has it): gap 1 is a HyperX, a large one a torus.
 *
 * Slots: dimension k has slots from k * width on: for grids minus is 0 and plus is 1, so that port
 * order is dimension order, which is what dimension-order routing goes by. In express meshes nearer
 * cables of a dimension come before farther ones, each minus before plus.
 * Cost: linear in the cables.
 */
#include <stdio.h>

#include "topology/net.h"

struct grid {
    uint64_t dims[SV__MAX_VALUES], stride[SV__MAX_VALUES];
    size_t count;
};

static sv_status grid_begin(sv__topology_net *net, struct grid *grid)
{
    uint64_t switches = 1;
    for (size_t k = grid->count; k-- > 0;) {
        grid->stride[k] = switches;
        if (!sv__product(switches, grid->dims[k], &switches))
            return sv__spec_infeasible(net->spec, "more than 2^32 switches");
    }
    return sv__net_begin(net, switches);
}

static uint64_t coordinate(const struct grid *grid, uint64_t s, size_t k)
{
    return s / grid->stride[k] % grid->dims[k];
}

/* "sw" and the coordinates: sw0-3-1. */
static sv_status name_points(sv__topology_net *net, const struct grid *grid)
{
    for (uint32_t s = 0; s < net->num_switches; s++) {
        char name[96];
        int length = snprintf(name, sizeof name, "sw");
        for (size_t k = 0; k < grid->count; k++)
            length += snprintf(name + length, sizeof name - (size_t)length, "%s%u",
                               k == 0 ? "" : "-", (unsigned)coordinate(grid, s, k));
        SV_TRY(sv__net_name(net, s, "%s", name));
    }
    return SV_OK;
}

/* The switch an offset further along a dimension, around the ring. */
static uint32_t step(const struct grid *grid, uint32_t s, size_t k, uint64_t offset)
{
    uint64_t x = coordinate(grid, s, k), to = (x + offset) % grid->dims[k];
    return (uint32_t)(s + to * grid->stride[k] - x * grid->stride[k]);
}

static sv_status cable_grid(sv__topology_net *net, const struct grid *grid, bool wrap)
{
    for (size_t k = 0; k < grid->count; k++) {
        uint32_t minus = 2 * (uint32_t)k, plus = minus + 1;
        for (uint32_t s = 0; s < net->num_switches; s++) {
            bool last = coordinate(grid, s, k) + 1 == grid->dims[k];
            if (last && !(wrap && grid->dims[k] > 2))
                continue;
            SV_TRY(sv__net_cable(net, s, plus, step(grid, s, k, 1), minus, 1));
        }
    }
    return SV_OK;
}

static sv_status build_grid(sv__topology_net *net, bool wrap)
{
    struct grid grid;
    SV_TRY(sv__spec_dims(net->spec, 1, 1 << 22, grid.dims, &grid.count));
    SV_TRY(grid_begin(net, &grid));
    SV_TRY(name_points(net, &grid));
    return cable_grid(net, &grid, wrap);
}

static sv_status build_mesh(sv__topology_net *net)
{
    return build_grid(net, false);
}

static sv_status build_torus(sv__topology_net *net)
{
    return build_grid(net, true);
}

static sv_status build_hypercube(sv__topology_net *net)
{
    struct grid grid = {.count = 0};
    uint64_t n;
    SV_TRY(sv__spec_size(net->spec, 0, 22, &n));
    for (; grid.count < n; grid.count++)
        grid.dims[grid.count] = 2;
    SV_TRY(grid_begin(net, &grid));
    return cable_grid(net, &grid, false);
}

static sv_status build_expressmesh(sv__topology_net *net)
{
    struct grid grid;
    uint64_t gap;
    uint32_t base = 0;
    SV_TRY(sv__spec_dims(net->spec, 1, 60000, grid.dims, &grid.count));
    SV_TRY(sv__spec_number(net->spec, "gap", 1, 1 << 22, SV__REQUIRED, &gap));
    SV_TRY(grid_begin(net, &grid));
    SV_TRY(name_points(net, &grid));
    for (size_t k = 0; k < grid.count; k++) {
        uint64_t d = grid.dims[k];
        for (uint32_t s = 0; s < net->num_switches; s++)
            for (uint64_t o = 1; 2 * o <= d; o += gap) {
                if (2 * o == d && 2 * coordinate(&grid, s, k) >= d)
                    continue; /* the two ends of a diameter are each other's: one cable */
                uint32_t minus = base + 2 * (uint32_t)o;
                SV_TRY(sv__net_cable(net, s, minus + 1, step(&grid, s, k, o), minus, 1));
            }
        base += 2 * (uint32_t)d;
    }
    return SV_OK;
}

const sv__family sv__mesh = {{"mesh", "n-dimensional mesh", "mesh:5x5", NULL}, build_mesh};
const sv__family sv__torus = {{"torus", "n-dimensional torus", "torus:4x4x3,hosts=4", NULL},
                              build_torus};
const sv__family sv__hypercube = {{"hypercube", "hypercube of n dimensions", "hypercube:6", NULL},
                                  build_hypercube};
const sv__family sv__expressmesh = {
    {"expressmesh", "rings with express cables at distance 1 + i * gap", "expressmesh:8x6,gap=2",
     (const sv_topology_key[]){{"gap", "distance between express cables; 1 is a HyperX"},
                               {NULL, NULL}}},
    build_expressmesh};
