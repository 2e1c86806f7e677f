/*
 * layout_distance.c: places switches by distance, for fabrics without a shape that is known.
 *
 * First pivot MDS (Brandes and Pich, 2007): hops from some switches that lie far apart, and of
 * those numbers the two directions in which they differ most, by power iteration. That unfolds the
 * whole; what would then lie on one place is spread by some rounds of forces (Fruchterman and
 * Reingold, 1991), neighbours pulling and all pushing.
 *
 * Invariants: all places are finite; no randomness, so the same fabric is always drawn the same
 * way. Switches without a way to the others stand behind the farthest.
 * Cost: O(pivots × cables + pivots² × switches), and rounds × switches², rounds being such that
 * this is at most about 2 × 10⁸.
 */
#include <math.h>

#include "picture/layout.h"

enum { MAX_PIVOTS = 48, MAX_ROUNDS = 150, STEPS_OF_POWER = 60 };

typedef struct web {
    const sv__picture_net *net;
    uint32_t *first, *near; /* neighbours, parallel cables several times */
    uint32_t *hops, *queue;
    double *centred; /* [pivots][switches] */
    uint32_t pivots;
} web;

static sv_status web_init(web *w, sv_arena *arena, const sv__picture_net *net)
{
    uint32_t n = net->num_switches;
    w->net = net;
    w->pivots = n < MAX_PIVOTS ? n : MAX_PIVOTS;
    w->first = SV_ARENA_NEW(arena, uint32_t, n + 2);
    w->near = SV_ARENA_NEW(arena, uint32_t, 2 * (size_t)net->num_wires + 1);
    w->hops = SV_ARENA_NEW(arena, uint32_t, n);
    w->queue = SV_ARENA_NEW(arena, uint32_t, n);
    w->centred = SV_ARENA_NEW(arena, double, (size_t)w->pivots *n);
    if (!w->first || !w->near || !w->hops || !w->queue || !w->centred)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < net->num_wires; i++) {
        w->first[net->wires[i].a + 2]++;
        w->first[net->wires[i].b + 2]++;
    }
    for (uint32_t s = 0; s < n; s++)
        w->first[s + 2] += w->first[s + 1];
    for (uint32_t i = 0; i < net->num_wires; i++) {
        const sv__picture_wire *wire = &net->wires[i];
        w->near[w->first[wire->a + 1]++] = wire->b;
        w->near[w->first[wire->b + 1]++] = wire->a;
    }
    return SV_OK;
}

/* Hops from a switch; those without a way are two further than the farthest. */
static void measure(web *w, uint32_t from)
{
    uint32_t n = w->net->num_switches, head = 0, tail = 0;
    for (uint32_t s = 0; s < n; s++)
        w->hops[s] = SV_NONE;
    w->hops[from] = 0;
    w->queue[tail++] = from;
    while (head < tail) {
        uint32_t s = w->queue[head++];
        for (uint32_t i = w->first[s]; i < w->first[s + 1]; i++)
            if (w->hops[w->near[i]] == SV_NONE) {
                w->hops[w->near[i]] = w->hops[s] + 1;
                w->queue[tail++] = w->near[i];
            }
    }
    uint32_t far = w->hops[w->queue[tail - 1]] + 2;
    for (uint32_t s = 0; s < n; s++)
        w->hops[s] = w->hops[s] == SV_NONE ? far : w->hops[s];
}

/* Each pivot is the switch that is farthest from those before it. */
static sv_status take_pivots(web *w, sv_arena *arena)
{
    uint32_t n = w->net->num_switches, pivot = 0;
    uint32_t *nearest = SV_ARENA_NEW(arena, uint32_t, n);
    if (nearest == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < n; s++)
        nearest[s] = SV_NONE;
    for (uint32_t p = 0; p < w->pivots; p++) {
        measure(w, pivot);
        for (uint32_t s = 0; s < n; s++) {
            double hops = w->hops[s];
            w->centred[(size_t)p * n + s] = hops * hops;
            nearest[s] = w->hops[s] < nearest[s] ? w->hops[s] : nearest[s];
        }
        for (uint32_t s = pivot = 0; s < n; s++)
            pivot = nearest[s] > nearest[pivot] ? s : pivot;
    }
    return SV_OK;
}

/* Takes the means of rows and columns off, as classical scaling does. */
static sv_status centre(web *w, sv_arena *arena)
{
    uint32_t n = w->net->num_switches;
    double *column = SV_ARENA_NEW(arena, double, n), all = 0;
    if (column == NULL)
        return SV_NO_MEMORY;
    for (uint32_t p = 0; p < w->pivots; p++)
        for (uint32_t s = 0; s < n; s++) {
            column[s] += w->centred[(size_t)p * n + s] / w->pivots;
            all += w->centred[(size_t)p * n + s] / w->pivots / n;
        }
    for (uint32_t p = 0; p < w->pivots; p++) {
        double row = 0, *at = w->centred + (size_t)p * n;
        for (uint32_t s = 0; s < n; s++)
            row += at[s] / n;
        for (uint32_t s = 0; s < n; s++)
            at[s] = -0.5 * (at[s] - row - column[s] + all);
    }
    return SV_OK;
}

/* Scales to length 1 after taking off what lies along another; false if nothing is left. */
static bool straighten(double *v, const double *other, uint32_t count)
{
    double along = 0, length = 0;
    for (uint32_t i = 0; other != NULL && i < count; i++)
        along += v[i] * other[i];
    for (uint32_t i = 0; i < count; i++) {
        v[i] -= other == NULL ? 0 : along * other[i];
        length += v[i] * v[i];
    }
    length = sqrt(length);
    for (uint32_t i = 0; i < count; i++)
        v[i] = length > 1e-9 ? v[i] / length : 0;
    return length > 1e-9;
}

/* The direction in which pivots differ most (and square to another one), onto the switches. */
static void project(const web *w, double *v, const double *other, float *out)
{
    uint32_t n = w->net->num_switches;
    double next[MAX_PIVOTS];
    for (uint32_t p = 0; p < w->pivots; p++)
        v[p] = 1 + (double)((p * 7 + (other == NULL ? 0 : 3)) % 11);
    straighten(v, other, w->pivots);
    for (int step = 0; step < STEPS_OF_POWER; step++) {
        for (uint32_t p = 0; p < w->pivots; p++)
            next[p] = 0;
        for (uint32_t s = 0; s < n; s++) {
            double sum = 0;
            for (uint32_t p = 0; p < w->pivots; p++)
                sum += w->centred[(size_t)p * n + s] * v[p];
            for (uint32_t p = 0; p < w->pivots; p++)
                next[p] += w->centred[(size_t)p * n + s] * sum;
        }
        for (uint32_t p = 0; p < w->pivots; p++)
            v[p] = next[p];
        if (!straighten(v, other, w->pivots))
            break;
    }
    for (uint32_t s = 0; s < n; s++) {
        double sum = 0;
        for (uint32_t p = 0; p < w->pivots; p++)
            sum += w->centred[(size_t)p * n + s] * v[p];
        out[s] = (float)sum;
    }
}

/* Both directions to a spread of about the square root of the number of switches. */
static void scale(float *x, uint32_t n)
{
    double mean = 0, square = 0;
    for (uint32_t s = 0; s < n; s++)
        mean += x[s] / (double)n;
    for (uint32_t s = 0; s < n; s++)
        square += (x[s] - mean) * (x[s] - mean) / n;
    double factor = square > 1e-12 ? sqrt((double)n) / 3 / sqrt(square) : 0;
    for (uint32_t s = 0; s < n; s++)
        /* a trace of their numbers keeps apart those that nothing tells apart */
        x[s] = (float)((x[s] - mean) * factor) + (float)(s % 97) * 1e-3f;
}

/* What all others push, on one switch. */
static void push(const float *x, const float *y, uint32_t n, uint32_t s, float *fx, float *fy)
{
    float sx = 0, sy = 0, x0 = x[s], y0 = y[s];
    for (uint32_t t = 0; t < n; t++) {
        float dx = x0 - x[t], dy = y0 - y[t];
        float over = 1 / (dx * dx + dy * dy + 0.01f);
        sx += dx * over;
        sy += dy * over;
    }
    fx[s] = sx;
    fy[s] = sy;
}

static void pull(const web *w, const sv__layout *l, uint32_t s, float *fx, float *fy)
{
    uint32_t count = w->first[s + 1] - w->first[s];
    /* so that many cables do not pull all into one place */
    float strength = count == 0 ? 0 : 1 / (1 + sqrtf((float)count) / 2);
    for (uint32_t i = w->first[s]; i < w->first[s + 1]; i++) {
        float dx = l->x[w->near[i]] - l->x[s], dy = l->y[w->near[i]] - l->y[s];
        float far = sqrtf(dx * dx + dy * dy);
        fx[s] += dx * far * strength;
        fy[s] += dy * far * strength;
    }
}

static sv_status spread(const web *w, sv_arena *arena, sv__layout *l)
{
    uint32_t n = w->net->num_switches;
    float *fx = SV_ARENA_NEW(arena, float, n), *fy = SV_ARENA_NEW(arena, float, n);
    if (fx == NULL || fy == NULL)
        return SV_NO_MEMORY;
    uint64_t rounds = 200000000 / ((uint64_t)n * n + 1);
    rounds = rounds > MAX_ROUNDS ? MAX_ROUNDS : rounds;
    for (uint64_t round = 0; round < rounds; round++) {
        float max = sqrtf((float)n) * 0.1f * (1 - (float)round / (float)rounds) + 0.01f;
        for (uint32_t s = 0; s < n; s++) {
            push(l->x, l->y, n, s, fx, fy);
            pull(w, l, s, fx, fy);
        }
        for (uint32_t s = 0; s < n; s++) {
            float length = sqrtf(fx[s] * fx[s] + fy[s] * fy[s]);
            float step = length > max ? max / length : 1;
            l->x[s] += fx[s] * step;
            l->y[s] += fy[s] * step;
        }
    }
    return SV_OK;
}

sv_status sv__layout_by_distance(sv_arena *arena, const sv__picture_net *net, sv__layout *layout)
{
    web w = {0};
    double first[MAX_PIVOTS], second[MAX_PIVOTS];
    SV_TRY(web_init(&w, arena, net));
    SV_TRY(take_pivots(&w, arena));
    SV_TRY(centre(&w, arena));
    project(&w, first, NULL, layout->x);
    project(&w, second, first, layout->y);
    scale(layout->x, net->num_switches);
    scale(layout->y, net->num_switches);
    return spread(&w, arena, layout);
}
