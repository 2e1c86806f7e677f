/*
 * scene.c: a fabric on paper.
 *
 * The layout has units of its own. The paper is as large as the number of switches asks for, but
 * never larger than screens are wide times two; switches are as large as the nearest ones of a row
 * allow. A cable is a line, cut in two in its middle; one that goes around the back of a torus is
 * two stubs. Parallel cables share what two switches are wide: the more there are, the thinner.
 *
 * Invariant: every number is finite and every place within the paper. Cost: that of the layout, and
 * sorting switches and cables.
 */
#include "picture/scene.h"

#include <math.h>
#include <stdlib.h>

/* ---- the net ---- */

static sv_status scene_init(sv__scene *s, sv_arena *arena, uint32_t **place)
{
    const sv_fabric *f = s->fabric;
    uint32_t n = f->live_switches;
    s->node = SV_ARENA_NEW(arena, uint32_t, n);
    s->net.names = SV_ARENA_NEW(arena, const char *, n);
    s->net.terminals = SV_ARENA_NEW(arena, uint32_t, n);
    s->net.wires = SV_ARENA_NEW(arena, sv__picture_wire, f->num_channels / 2 + 1);
    s->halves = SV_ARENA_NEW(arena, sv__half, f->num_channels);
    *place = SV_ARENA_NEW(arena, uint32_t, f->num_switches);
    if (s->node == NULL || s->net.names == NULL || s->net.terminals == NULL ||
        s->net.wires == NULL || s->halves == NULL || *place == NULL)
        return SV_NO_MEMORY;
    return SV_OK;
}

/* Live switches, and the live cables between different ones: two halves each. */
static sv_status take_fabric(sv__scene *s, sv_arena *arena)
{
    const sv_fabric *f = s->fabric;
    uint32_t *place = NULL;
    SV_TRY(scene_init(s, arena, &place));
    for (uint32_t v = 0; v < f->num_switches; v++)
        if (sv_node_alive(f, (sv_node){v})) {
            place[v] = s->net.num_switches;
            s->node[s->net.num_switches] = v;
            s->net.names[s->net.num_switches++] = f->switches[v].name;
        }
    for (uint32_t i = 0; i < s->net.num_switches; i++)
        SV_FOR_HOPS (f, ((sv_node){s->node[i]}), hop) {
            sv_channel c = hop->channel, back = f->reverse[c.i];
            s->net.terminals[i] += !sv_is_switch(f, hop->to);
            if (!sv_is_cable(f, c) || !sv_joins_switches(f, c))
                continue;
            s->net.wires[s->net.num_wires++] =
                (sv__picture_wire){i, place[hop->to.i], f->port[c.i], f->port[back.i]};
            s->halves[s->num_halves++].channel = c;
            s->halves[s->num_halves++].channel = back;
        }
    return SV_OK;
}

/* ---- sizes ---- */

static float extent(const float *at, uint32_t count)
{
    float low = count > 0 ? at[0] : 0, high = low;
    for (uint32_t i = 0; i < count; i++) {
        low = at[i] < low ? at[i] : low;
        high = at[i] > high ? at[i] : high;
    }
    return high - low;
}

typedef struct spot {
    float x, y;
} spot;

static int by_row(const void *a, const void *b)
{
    const spot *p = a, *q = b;
    if (p->y != q->y)
        return p->y < q->y ? -1 : 1;
    return p->x < q->x ? -1 : p->x > q->x;
}

/* How near neighbours of a row are, and how near all would be if spread evenly: the lesser. */
static sv_status nearest(const sv__scene *s, sv_arena *arena, float wide, float high, float *gap)
{
    uint32_t n = s->net.num_switches;
    spot *spots = SV_ARENA_NEW(arena, spot, n);
    if (spots == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < n; i++)
        spots[i] = (spot){s->layout.x[i], s->layout.y[i]};
    if (n > 1)
        qsort(spots, n, sizeof *spots, by_row);
    float min = wide > high ? wide : high;
    if (wide > 0 && high > 0 && sqrtf(wide * high / (float)n) < min)
        min = sqrtf(wide * high / (float)n);
    for (uint32_t i = 1; i < n; i++)
        if (spots[i].y == spots[i - 1].y && spots[i].x - spots[i - 1].x < min)
            min = spots[i].x - spots[i - 1].x;
    *gap = min;
    return SV_OK;
}

static float clamp(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

/* From the units of the layout to pixels. */
static sv_status scale(sv__scene *s, sv_arena *arena)
{
    uint32_t n = s->net.num_switches;
    float wide = extent(s->layout.x, n), high = extent(s->layout.y, n), gap = 0;
    float larger = wide > high ? wide : high;
    float paper = 560 + 1640 * sqrtf(clamp((float)n / 2000, 0, 1));
    float factor = larger > 0 ? paper / larger : 1;
    factor = factor > 120 ? 120 : factor; /* of a few switches none is far from the next */
    SV_TRY(nearest(s, arena, wide, high, &gap));
    s->radius = clamp(0.28f * gap * factor, 0.8f, 9);
    s->stroke = clamp(0.28f * s->radius, 0.4f, 2);
    for (uint32_t i = 0; i < n; i++) {
        s->layout.x[i] *= factor;
        s->layout.y[i] *= factor;
    }
    return SV_OK;
}

/* ---- cables ---- */

typedef struct twin {
    uint32_t low, high, wire;
} twin;

static int by_ends(const void *a, const void *b)
{
    const twin *p = a, *q = b;
    if (p->low != q->low)
        return p->low < q->low ? -1 : 1;
    if (p->high != q->high)
        return p->high < q->high ? -1 : 1;
    return p->wire < q->wire ? -1 : p->wire > q->wire;
}

static void point(float at[2], float x, float y)
{
    at[0] = x;
    at[1] = y;
}

/* Both halves of a cable, aside by some pixels to the left of low → high. */
static void draw_wire(sv__scene *s, uint32_t w, float aside, float line)
{
    const sv__picture_wire *wire = &s->net.wires[w];
    const sv__layout *l = &s->layout;
    bool turned = wire->a > wire->b;
    float ax = l->x[wire->a], ay = l->y[wire->a], bx = l->x[wire->b], by = l->y[wire->b];
    float dx = bx - ax, dy = by - ay, length = sqrtf(dx * dx + dy * dy);
    length = length > 0 ? length : 1;
    float off = turned ? -aside : aside, nx = dy / length, ny = -dx / length;
    ax += nx * off, bx += nx * off, ay += ny * off, by += ny * off;
    sv__half *out = &s->halves[2 * w], *back = out + 1;
    out->line = back->line = line;
    out->curved = back->curved = false;
    point(out->at[0], ax, ay);
    point(back->at[0], bx, by);
    if (l->bend[w] >= SV__AROUND) {
        int steps = l->bend[w] - SV__AROUND;
        float reach = 0.45f / (float)(steps > 0 ? steps : 1);
        point(out->at[2], ax - dx * reach, ay - dy * reach);
        point(back->at[2], bx + dx * reach, by + dy * reach);
        return;
    }
    float swerve = (float)l->bend[w] / 64 * length;
    float mx = (ax + bx) / 2 + nx * swerve, my = (ay + by) / 2 + ny * swerve;
    point(out->at[2], mx, my);
    point(back->at[2], mx, my);
    if (l->bend[w] == 0)
        return;
    out->curved = back->curved = true;
    /* a parabola through the middle: its two halves are parabolas again */
    point(out->at[1], (ax + mx) / 2 + nx * swerve / 2, (ay + my) / 2 + ny * swerve / 2);
    point(back->at[1], (bx + mx) / 2 + nx * swerve / 2, (by + my) / 2 + ny * swerve / 2);
}

/* Parallel cables are side by side, together no wider than a switch. */
static sv_status draw_wires(sv__scene *s, sv_arena *arena)
{
    uint32_t count = s->net.num_wires;
    twin *twins = SV_ARENA_NEW(arena, twin, count);
    if (twins == NULL)
        return SV_NO_MEMORY;
    for (uint32_t w = 0; w < count; w++) {
        uint32_t a = s->net.wires[w].a, b = s->net.wires[w].b;
        twins[w] = (twin){a < b ? a : b, a < b ? b : a, w};
    }
    if (count > 1)
        qsort(twins, count, sizeof *twins, by_ends);
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i;
             end < count && twins[end].low == twins[i].low && twins[end].high == twins[i].high;)
            end++;
        uint32_t several = end - i;
        float gap = 2 * s->stroke, room = 1.8f * s->radius;
        if (several > 1 && gap * (float)(several - 1) > room)
            gap = room / (float)(several - 1);
        float line = several > 1 && 0.8f * gap < s->stroke ? 0.8f * gap : s->stroke;
        for (uint32_t k = 0; k < several; k++)
            draw_wire(s, twins[i + k].wire, ((float)k - (float)(several - 1) / 2) * gap, line);
    }
    return SV_OK;
}

/* ---- the paper ---- */

/* What is drawn, from where to where: the points of halves, curves being inside theirs. */
static void bounds(const sv__scene *s, float low[2], float high[2])
{
    const float *at[2] = {s->layout.x, s->layout.y};
    for (int k = 0; k < 2; k++) {
        low[k] = high[k] = s->net.num_switches > 0 ? at[k][0] : 0;
        for (uint32_t i = 0; i < s->net.num_switches; i++) {
            low[k] = at[k][i] < low[k] ? at[k][i] : low[k];
            high[k] = at[k][i] > high[k] ? at[k][i] : high[k];
        }
        for (uint32_t h = 0; h < s->num_halves; h++) {
            float end = s->halves[h].at[2][k];
            low[k] = end < low[k] ? end : low[k];
            high[k] = end > high[k] ? end : high[k];
        }
    }
}

static void fit_paper(sv__scene *s)
{
    float low[2], high[2], margin = 16 + s->radius;
    bounds(s, low, high);
    for (uint32_t i = 0; i < s->net.num_switches; i++) {
        s->layout.x[i] += margin - low[0];
        s->layout.y[i] += margin - low[1];
    }
    for (uint32_t h = 0; h < s->num_halves; h++)
        for (int p = 0; p < 3; p++)
            for (int k = 0; k < 2; k++)
                s->halves[h].at[p][k] += margin - low[k];
    s->width = high[0] - low[0] + 2 * margin;
    s->height = high[1] - low[1] + 2 * margin;
}

sv_status sv__scene_make(sv_ctx *ctx, sv_arena *arena, const sv_fabric *fabric, sv__scene *scene)
{
    *scene = (sv__scene){.fabric = fabric};
    SV_TRY(take_fabric(scene, arena));
    SV_TRY(sv__layout_find(ctx, arena, &scene->net, &scene->layout));
    SV_TRY(scale(scene, arena));
    SV_TRY(draw_wires(scene, arena));
    fit_paper(scene);
    return SV_OK;
}
