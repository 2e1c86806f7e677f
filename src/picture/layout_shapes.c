/*
 * layout_shapes.c: tori, meshes, fat trees and dragonflies, drawn as what they are.
 *
 * The fabric is built from the database's switches and cables (a terminal stands for all of a
 * switch: whether there are any is what recognising a tree needs), and the code of structure/
 * asked.
 * - Torus or mesh: two dimensions are a grid. A third one steps aside within each square, along its
 *   diagonal, so that no switch hides another and rows stay rows; further ones are grids of grids.
 *   Cables around the back are cut in two, each half at its end of the row. Pieces of a broken one
 * stand side by side.
 * - Tree: roots on top; leaves in tree order, so that those of a subtree are side by side; above
 *   them each level in the order of the middle of what hangs below.
 * - Dragonfly: groups on a circle, their switches on small ones.
 *
 * Cost: that of recognising, and sorting.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "picture/layout.h"
#include "structure/bundles.h"
#include "structure/dragonfly.h"
#include "structure/torus.h"
#include "structure/tree.h"

static const double two_pi = 6.283185307179586;

/* ---- the fabric ---- */

/* A port of a switch that no cable has; 0: none. */
static uint16_t free_port(const uint8_t *used)
{
    for (unsigned port = 1; port < 255; port++)
        if (!((used[port / 8] >> port % 8) & 1))
            return (uint16_t)port;
    return 0;
}

static void add_switches(sv_builder *builder, const sv__picture_net *net)
{
    for (uint32_t s = 0; s < net->num_switches; s++) {
        sv_switch_info about = {.name = net->names[s], .guid = (uint64_t)s + 1, .ports = 254};
        sv_builder_add_switch(builder, &about, NULL);
    }
}

static void add_terminal(sv_builder *builder, uint32_t s, uint16_t port)
{
    uint32_t card = 0, end = 0;
    sv_adapter_info adapter = {.name = "", .guid = ((uint64_t)1 << 40) + s, .ports = 1};
    sv_link link = {.width = 4, .speed = SV_SPEED_QDR};
    sv_builder_add_adapter(builder, &adapter, &card);
    sv_terminal_info about = {.guid = ((uint64_t)2 << 40) + s, .adapter = card, .port = 1};
    sv_builder_add_terminal(builder, &about, &end);
    sv_builder_add_cable(builder, (sv_end){.index = s, .port = port},
                         (sv_end){.terminal = true, .index = end, .port = 1}, &link);
}

static sv_status build(sv_ctx *ctx, sv_arena *arena, const sv__picture_net *net, sv_fabric **fabric)
{
    uint8_t(*used)[32] = sv_arena_alloc(arena, net->num_switches, sizeof *used);
    sv_builder *builder = used == NULL ? NULL : sv_builder_new(ctx);
    sv_link link = {.width = 4, .speed = SV_SPEED_QDR};
    if (builder == NULL)
        return SV_NO_MEMORY;
    add_switches(builder, net);
    for (uint32_t w = 0; w < net->num_wires; w++) {
        const sv__picture_wire *wire = &net->wires[w];
        sv_builder_add_cable(builder, (sv_end){.index = wire->a, .port = wire->port_a},
                             (sv_end){.index = wire->b, .port = wire->port_b}, &link);
        if (wire->port_a < 255 && wire->port_b < 255) {
            used[wire->a][wire->port_a / 8] |= (uint8_t)(1u << wire->port_a % 8);
            used[wire->b][wire->port_b / 8] |= (uint8_t)(1u << wire->port_b % 8);
        }
    }
    for (uint32_t s = 0; s < net->num_switches; s++) {
        uint16_t port = net->terminals[s] == 0 ? 0 : free_port(used[s]);
        if (port > 0)
            add_terminal(builder, s, port);
    }
    return sv_builder_finish(builder, fabric);
}

/* ---- grids ---- */

/* Where a point is; box: how much room all of the grid takes. */
static void grid_place(const sv_torus *t, uint32_t point, float at[2], float box[2])
{
    uint32_t deep = t->dims > 2 ? t->size[2] : 1;
    float step[2] = {(float)deep, (float)deep};
    at[0] = at[1] = 0;
    for (uint32_t d = 0; d < t->dims; d++) {
        uint32_t c = sv_torus_coordinate(t, point, d);
        if (d == 2) { /* along the diagonal of a square */
            at[0] += (float)c * 0.8f;
            at[1] -= (float)c * 0.62f;
            continue;
        }
        unsigned axis = d < 2 ? d : (d - 3) % 2;
        at[axis] += (float)c * step[axis];
        step[axis] *= (float)t->size[d];
        if (d >= 1)
            step[axis] += (float)deep;
    }
    box[0] = step[0] + 1;
    box[1] = step[1] + 1;
}

static void grid_words(const sv_tori *tori, sv__layout *layout)
{
    const sv_torus *t = &tori->pieces[0];
    bool wraps = false, open = false;
    for (uint32_t d = 0; d < t->dims; d++) {
        wraps = wraps || t->wraps[d];
        open = open || (!t->wraps[d] && t->size[d] > 2);
    }
    size_t room = sizeof layout->words;
    int length = snprintf(layout->words, room, "a %s of ", wraps && !open ? "torus" : "mesh");
    for (uint32_t d = 0; d < t->dims && (size_t)length < room; d++)
        length += snprintf(layout->words + length, room - (size_t)length, "%s%u",
                           d == 0 ? "" : " × ", t->size[d]);
    if ((size_t)length < room)
        snprintf(layout->words + length, room - (size_t)length, " switches%s",
                 tori->count > 1 ? ", in pieces" : "");
}

/* A step around the back of a ring leaves the drawing on one side and comes in on the other. */
static int8_t grid_bend(const sv_torus *t, uint32_t a, uint32_t b)
{
    for (uint32_t d = 0; d < t->dims; d++) {
        uint32_t from = sv_torus_coordinate(t, a, d), to = sv_torus_coordinate(t, b, d);
        uint32_t steps = from > to ? from - to : to - from;
        if (steps > 1)
            return (int8_t)(SV__AROUND + (steps < 27 ? steps : 27));
    }
    return 0;
}

static sv_status as_grid(sv_ctx *ctx, sv_arena *arena, const sv_fabric *f,
                         const sv__picture_net *net, sv__layout *layout, bool *found)
{
    sv_bundles g;
    sv_tori tori;
    SV_TRY(sv_bundles_init(&g, arena, f));
    sv_status status = sv_tori_find(ctx, arena, f, &g, NULL, &tori);
    if (status == SV_NO_MEMORY || status == SV_CANCELLED)
        return status;
    if (status != SV_OK || tori.count == 0 || tori.pieces[0].dims < 2)
        return SV_OK;
    float aside = 0;
    for (uint32_t p = 0; p < tori.count; p++) {
        float box[2] = {0, 0};
        for (uint32_t s = 0; s < net->num_switches; s++) {
            float at[2];
            if (tori.piece[s] != p)
                continue;
            grid_place(&tori.pieces[p], tori.point[s], at, box);
            layout->x[s] = at[0] + aside;
            layout->y[s] = at[1];
        }
        aside += box[0];
    }
    for (uint32_t w = 0; w < net->num_wires; w++) {
        const sv__picture_wire *wire = &net->wires[w];
        layout->bend[w] =
            grid_bend(&tori.pieces[tori.piece[wire->a]], tori.point[wire->a], tori.point[wire->b]);
    }
    layout->kind = "grid";
    grid_words(&tori, layout);
    *found = true;
    return SV_OK;
}

/* ---- trees ---- */

typedef struct stand {
    double middle;
    uint32_t s;
} stand;

static int by_middle(const void *a, const void *b)
{
    const stand *x = a, *y = b;
    if (x->middle != y->middle)
        return x->middle < y->middle ? -1 : 1;
    return x->s < y->s ? -1 : x->s > y->s;
}

/* Where a switch would like to be: in the middle of what hangs below it; leaves in tree order. */
static double middle_of(const sv_fabric *f, const sv_fat_tree *tree, uint32_t s,
                        const sv__layout *layout)
{
    double sum = 0, below = 0;
    if (tree->level[s] == 0)
        return layout->x[s];
    SV_FOR_HOPS (f, ((sv_node){s}), hop)
        if (sv_is_switch(f, hop->to) && tree->level[hop->to.i] < tree->level[s]) {
            sum += layout->x[hop->to.i];
            below++;
        }
    return below > 0 ? sum / below : 0;
}

/* The switches of a level in that order, evenly over the width. */
static void place_level(const sv_fabric *f, const sv_fat_tree *tree, uint32_t level, double width,
                        stand *line, sv__layout *layout)
{
    uint32_t count = 0;
    double height = width / tree->levels * 0.7 + 1;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (tree->level[s] == level)
            line[count++] = (stand){middle_of(f, tree, s, layout), s};
    qsort(line, count, sizeof *line, by_middle);
    for (uint32_t i = 0; i < count; i++) {
        layout->x[line[i].s] = (float)((i + 0.5) * width / count);
        layout->y[line[i].s] = (float)((tree->levels - 1 - level) * height);
    }
}

static void place_tree(const sv_fabric *f, const sv_fat_tree *tree, stand *line, sv__layout *layout)
{
    double width = 1;
    uint32_t beside = 0;
    for (uint32_t level = 0; level < tree->levels; level++)
        width = tree->count[level] > width ? tree->count[level] : width;
    for (uint32_t i = 0; i < tree->num_leaves; i++)
        layout->x[tree->leaves[i]] = (float)i;
    for (uint32_t level = 0; level < tree->levels; level++)
        place_level(f, tree, level, width, line, layout);
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (tree->level[s] == SV_NONE) { /* has no way to a leaf: beside the tree */
            layout->x[s] = (float)width + 1;
            layout->y[s] = (float)beside++;
        }
}

static sv_status as_tree(sv_ctx *ctx, sv_arena *arena, const sv_fabric *f, const sv_core *core,
                         sv__layout *layout, bool *found)
{
    sv_fat_tree tree;
    SV_TRY(sv_fat_tree_find(&tree, arena, f, core, NULL, 0));
    sv_status status = sv_fat_tree_fits(ctx, &tree, f, "layout");
    if (status == SV_NO_MEMORY || status == SV_CANCELLED)
        return status;
    if (status != SV_OK || tree.levels < 2)
        return SV_OK;
    stand *line = SV_ARENA_NEW(arena, stand, f->num_switches);
    if (line == NULL)
        return SV_NO_MEMORY;
    place_tree(f, &tree, line, layout);
    layout->kind = "tree";
    snprintf(layout->words, sizeof layout->words, "a tree of %u levels, %u switches at the bottom",
             tree.levels, tree.count[0]);
    *found = true;
    return SV_OK;
}

/* ---- dragonflies ---- */

static sv_status as_groups(sv_arena *arena, const sv_fabric *f, const sv_core *core,
                           sv__layout *layout, bool *found)
{
    sv_dragonfly d;
    SV_TRY(sv_dragonfly_find(&d, arena, core, f, 0));
    if (!d.found || d.num_groups < 3 || d.largest < 2)
        return SV_OK;
    double small = d.largest / two_pi + 0.3, big = d.num_groups * 2.7 * small / two_pi + small;
    for (uint32_t g = 0; g < d.num_groups; g++) {
        double angle = two_pi * g / d.num_groups;
        uint32_t count = d.first[g + 1] - d.first[g];
        for (uint32_t i = 0; i < count; i++) {
            uint32_t s = d.members[d.first[g] + i];
            double turn = angle + two_pi * (i + 0.5) / count;
            layout->x[s] = (float)(big * sin(angle) + small * sin(turn));
            layout->y[s] = (float)(-big * cos(angle) - small * cos(turn));
        }
    }
    layout->kind = "groups";
    snprintf(layout->words, sizeof layout->words, "%u groups of %u%s%.0u switches", d.num_groups,
             d.smallest, d.largest > d.smallest ? " to " : "",
             d.largest > d.smallest ? d.largest : 0);
    *found = true;
    return SV_OK;
}

sv_status sv__layout_by_shape(sv_ctx *ctx, sv_arena *arena, const sv__picture_net *net,
                              sv__layout *layout, bool *found)
{
    sv_fabric *f = NULL;
    sv_core core;
    sv_status status = build(ctx, arena, net, &f);
    if (status == SV_BAD_INPUT) /* one that the library would not take is drawn by distance */
        return SV_OK;
    SV_TRY(status);
    status = as_grid(ctx, arena, f, net, layout, found);
    if (status == SV_OK && !*found)
        status = sv_core_init(&core, arena, f);
    if (status == SV_OK && !*found)
        status = as_tree(ctx, arena, f, &core, layout, found);
    if (status == SV_OK && !*found)
        status = as_groups(arena, f, &core, layout, found);
    sv_fabric_free(f);
    return status;
}
