/*
 * layout.c: chooses how a fabric is drawn.
 *
 * People know their machine by its shape: a torus is a grid to them, a fat tree has levels. So
 * shapes come first (layout_shapes.c, which asks the same code that engines ask). Next come names:
 * where every switch is called by coordinates (sw2-0-5), as those of HyperX and express meshes are,
 * the last one counts along a row, the one before it down, further ones step from block to block.
 * What is left is drawn by distance (layout_distance.c).
 *
 * Invariant: every place is finite, and no two switches of a grid share one. Cost: that of
 * recognising.
 */
#include "picture/layout.h"

#include <stdio.h>
#include <string.h>

enum { MAX_NUMBERS = 6 };

/* The numbers at the end of a name ("sw2-0-5": 2, 0, 5); 0 if letters stand between them. */
static unsigned numbers_of(const char *name, uint32_t numbers[MAX_NUMBERS])
{
    unsigned count = 0;
    for (const char *c = name; *c != 0;) {
        if (*c < '0' || *c > '9') {
            bool between = *c == '-' || *c == '.' || *c == '_' || *c == ',' || *c == ':';
            if (count > 0 && !between)
                return 0;
            c++;
            continue;
        }
        if (count == MAX_NUMBERS)
            return 0;
        uint32_t value = 0;
        for (; *c >= '0' && *c <= '9'; c++)
            value = value < 100000 ? value * 10 + (uint32_t)(*c - '0') : value;
        numbers[count++] = value;
    }
    return count;
}

/* Whether two names are the same but for their numbers. */
static bool alike(const char *a, const char *b)
{
    for (;;) {
        while (*a >= '0' && *a <= '9')
            a++;
        while (*b >= '0' && *b <= '9')
            b++;
        if (*a != *b)
            return false;
        if (*a == 0)
            return true;
        a++;
        b++;
    }
}

/* How many numbers the names of two ends of a cable differ in. */
static unsigned steps_of(const sv__picture_net *net, const sv__picture_wire *wire)
{
    uint32_t a[MAX_NUMBERS], b[MAX_NUMBERS];
    unsigned dims = numbers_of(net->names[wire->a], a), differ = 0;
    numbers_of(net->names[wire->b], b);
    for (unsigned d = 0; d < dims; d++)
        differ += a[d] != b[d];
    return differ;
}

/*
 * Whether names have coordinates: all alike, two to six numbers each, the box that they span not
 * much emptier than full, and most cables along one of them. size: of the box.
 */
static unsigned coordinates(const sv__picture_net *net, uint32_t size[MAX_NUMBERS])
{
    uint32_t numbers[MAX_NUMBERS], along = 0;
    unsigned dims = numbers_of(net->names[0], numbers);
    if (dims < 2)
        return 0;
    for (uint32_t s = 0; s < net->num_switches; s++) {
        if (!alike(net->names[0], net->names[s]) || numbers_of(net->names[s], numbers) != dims)
            return 0;
        for (unsigned d = 0; d < dims; d++)
            size[d] = numbers[d] >= size[d] ? numbers[d] + 1 : size[d];
    }
    uint64_t box = 1;
    for (unsigned d = 0; d < dims; d++)
        box = box > UINT32_MAX ? box : box * size[d];
    if (box > 2 * (uint64_t)net->num_switches)
        return 0;
    for (uint32_t w = 0; w < net->num_wires; w++)
        along += steps_of(net, &net->wires[w]) == 1;
    return along >= net->num_wires - net->num_wires / 4 ? dims : 0;
}

static bool by_names(const sv__picture_net *net, sv__layout *layout)
{
    uint32_t numbers[MAX_NUMBERS], size[MAX_NUMBERS] = {0};
    unsigned dims = coordinates(net, size);
    if (dims == 0)
        return false;
    for (uint32_t s = 0; s < net->num_switches; s++) {
        numbers_of(net->names[s], numbers);
        float at[2] = {0, 0}, step[2] = {1, 1};
        for (unsigned d = dims; d-- > 0;) {
            unsigned axis = (dims - 1 - d) % 2;
            at[axis] += (float)numbers[d] * step[axis];
            step[axis] *= (float)size[d] + 1;
        }
        layout->x[s] = at[0];
        layout->y[s] = at[1];
    }
    layout->kind = "coordinates";
    snprintf(layout->words, sizeof layout->words, "placed by the coordinates in their names");
    return true;
}

/* Where cables would lie on switches or on one another they swerve a little. */
static void bend_long_rows(const sv__picture_net *net, sv__layout *layout)
{
    for (uint32_t w = 0; w < net->num_wires; w++) {
        const sv__picture_wire *wire = &net->wires[w];
        float dx = layout->x[wire->b] - layout->x[wire->a];
        float dy = layout->y[wire->b] - layout->y[wire->a];
        bool row = dx * dy == 0, far = dx * dx + dy * dy > 1.5f;
        if (row && far && layout->bend[w] == 0)
            layout->bend[w] = dx + dy > 0 ? 10 : -10;
    }
}

sv_status sv__layout_find(sv_ctx *ctx, sv_arena *arena, const sv__picture_net *net,
                          sv__layout *layout)
{
    layout->x = SV_ARENA_NEW(arena, float, net->num_switches);
    layout->y = SV_ARENA_NEW(arena, float, net->num_switches);
    layout->bend = SV_ARENA_NEW(arena, int8_t, net->num_wires);
    if (layout->x == NULL || layout->y == NULL || layout->bend == NULL)
        return SV_NO_MEMORY;
    layout->kind = "distance";
    snprintf(layout->words, sizeof layout->words, "placed so that neighbours are near");
    if (net->num_switches == 0)
        return SV_OK;
    bool found = false;
    SV_TRY(sv__layout_by_shape(ctx, arena, net, layout, &found));
    /* the rows of a HyperX are taken for groups, but rows are what its names say */
    if ((!found || strcmp(layout->kind, "groups") == 0) && by_names(net, layout)) {
        bend_long_rows(net, layout);
        return SV_OK;
    }
    return found ? SV_OK : sv__layout_by_distance(arena, net, layout);
}
