/*
 * surface.c: numbers of switches as a surface over them, and over time: latency maps.
 *
 * Idea: the layout of the fabric has rows (lines of a mesh, levels of a tree). If all rows have as
 * many switches, row and place in it are the coordinates of a surface; else each switch is a bar
 * where it is. The plane is seen from above at an angle (a point moves right with one coordinate,
 * left with the other, down with both, up with its height), and is painted from the back to the
 * front, so that what is before hides what is behind.
 *
 * Invariants: one scale of height and colours for all panels of a picture, one for all cells; all
 * is on the paper; a white ground, as heat.c. Cost: that of the layout, and sorting. Source: PR-DRB
 * thesis (Nunez Castillo, 2013), section 4.2, Figs. 4.7, 4.10, 4.11, 4.20.
 */
#include <math.h>
#include <selvage/picture.h>
#include <stdlib.h>
#include <string.h>

#include "picture/scene.h"
#include "picture/svg.h"

enum {
    WIDE = 460,  /* of a panel */
    A_LINE = 3,  /* panels side by side */
    PLANE = 190, /* half of the plane's width */
    TALL = 150,  /* of the highest */
    HEAD = 66,   /* above panels */
    BELOW = 34,  /* below the plane */
    ROWS = 24,   /* of switches over time */
    ROW = 11,    /* pixels of such a row */
    NAMES = 96,  /* pixels for their names */
    LEGEND = 64,
    STEPS = 16,
    MAX_TITLES = 5000
};

/* A switch on the plane: 0 … 1 in both directions. */
struct point {
    double u, v;
    uint32_t net; /* its number in the scene */
};

struct drawing {
    const sv_surface *what;
    sv__scene scene;
    struct point *points;   /* by row, then place; or from the back to the front */
    uint32_t rows, columns; /* of a grid; 0: there is none */
    uint32_t *order;        /* switches over time: the highest first */
    uint32_t shown;
    double max, max_cell, deep; /* deep: the plane's other side by its first */
    bool timed;
    sv_text out;
};

/* ---- the plane ---- */

/* qsort has no argument of its own, so what is compared is in what is sorted. */
struct place {
    float x, y;
    uint32_t net;
};

static int by_row(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (fabsf(p->y - q->y) > 0.5f)
        return p->y < q->y ? -1 : 1;
    if (p->x < q->x || p->x > q->x)
        return p->x < q->x ? -1 : 1;
    return (p->net > q->net) - (p->net < q->net);
}

static int by_depth(const void *a, const void *b)
{
    const struct point *p = a, *q = b;
    double x = p->u + p->v, y = q->u + q->v;
    if (x < y || x > y)
        return x < y ? -1 : 1;
    return (p->net > q->net) - (p->net < q->net);
}

/* Rows of places in order: how many, if they all are as long as the first; else 0. */
static uint32_t count_rows(const struct place *places, uint32_t count)
{
    uint32_t rows = 0, length = 0, first = 0;
    for (uint32_t i = 1; i <= count; i++) {
        if (i < count && fabsf(places[i].y - places[i - 1].y) <= 0.5f)
            continue;
        if (rows > 0 && i - first != length)
            return 0;
        length = i - first;
        first = i;
        rows++;
    }
    return rows > 1 && length > 1 ? rows : 0;
}

static void put_on_grid(struct drawing *d, const struct place *places, uint32_t count)
{
    d->columns = count / d->rows;
    double ratio = (double)d->rows / d->columns;
    d->deep = ratio < 0.45 ? 0.45 : ratio > 1 ? 1 : ratio;
    for (uint32_t i = 0; i < count; i++)
        d->points[i] = (struct point){(double)(i % d->columns) / (d->columns - 1),
                                      d->deep * (i / d->columns) / (d->rows - 1), places[i].net};
}

static void put_freely(struct drawing *d, const struct place *places, uint32_t count)
{
    double width = (double)d->scene.width, height = (double)d->scene.height;
    double larger = width > height ? width : height;
    d->deep = height / larger;
    for (uint32_t i = 0; i < count; i++)
        d->points[i] = (struct point){(double)places[i].x / larger, (double)places[i].y / larger,
                                      places[i].net};
    qsort(d->points, count, sizeof *d->points, by_depth);
}

static sv_status make_plane(sv_arena *arena, struct drawing *d)
{
    uint32_t count = d->scene.net.num_switches;
    struct place *places = SV_ARENA_NEW(arena, struct place, (size_t)count + 1);
    d->points = SV_ARENA_NEW(arena, struct point, (size_t)count + 1);
    if (places == NULL || d->points == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++)
        places[i] = (struct place){d->scene.layout.x[i], d->scene.layout.y[i], i};
    qsort(places, count, sizeof *places, by_row);
    d->columns = 1;
    if (strcmp(d->scene.layout.kind, "groups") != 0 &&
        strcmp(d->scene.layout.kind, "distance") != 0)
        d->rows = count_rows(places, count);
    if (d->rows > 0)
        put_on_grid(d, places, count);
    else
        put_freely(d, places, count);
    return SV_OK;
}

/* Where a point of the plane is in its panel; x from the middle, y from the top of the plane. */
static double across(double u, double v)
{
    return (u - v) * PLANE;
}

static double down(double u, double v)
{
    return (u + v) * PLANE * 0.5;
}

/* ---- numbers ---- */

static double height_of(const struct drawing *d, const sv_surface_panel *p, uint32_t net)
{
    double height = p->height[d->scene.node[net]];
    return isfinite(height) ? height : 0;
}

static double cell_of(const struct drawing *d, const sv_surface_panel *p, uint32_t column,
                      uint32_t net)
{
    return p->cells[(size_t)column * d->what->fabric->num_switches + d->scene.node[net]];
}

static uint32_t step_of(double value, double max)
{
    if (!(value > 0) || !(max > 0))
        return 0;
    double step = ceil(value / max * STEPS);
    return step < 1 ? 1 : step > STEPS ? STEPS : (uint32_t)step;
}

struct high {
    double max;
    uint32_t net;
};

static int by_height(const void *a, const void *b)
{
    const struct high *p = a, *q = b;
    if (p->max < q->max || p->max > q->max)
        return p->max > q->max ? -1 : 1;
    return (p->net > q->net) - (p->net < q->net);
}

/* The largest numbers, and which switches are shown over time. */
static sv_status look(sv_arena *arena, struct drawing *d)
{
    uint32_t count = d->scene.net.num_switches;
    struct high *high = SV_ARENA_NEW(arena, struct high, (size_t)count + 1);
    d->order = SV_ARENA_NEW(arena, uint32_t, ROWS);
    if (high == NULL || d->order == NULL)
        return SV_NO_MEMORY;
    for (uint32_t i = 0; i < count; i++) {
        high[i].net = i;
        for (uint32_t k = 0; k < d->what->count; k++) {
            const sv_surface_panel *p = &d->what->panels[k];
            double height = height_of(d, p, i);
            high[i].max = height > high[i].max ? height : high[i].max;
            for (uint32_t c = 0; p->cells != NULL && c < p->columns; c++) {
                double cell = cell_of(d, p, c, i);
                if (isfinite(cell) && cell > d->max_cell)
                    d->max_cell = cell;
            }
            d->timed = d->timed || (p->cells != NULL && p->columns > 0);
        }
        d->max = high[i].max > d->max ? high[i].max : d->max;
    }
    qsort(high, count, sizeof *high, by_height);
    for (d->shown = 0; d->shown < ROWS && d->shown < count && high[d->shown].max > 0; d->shown++)
        d->order[d->shown] = high[d->shown].net;
    return SV_OK;
}

/* ---- writing ---- */

/* Four digits; thousands of microseconds are milliseconds. */
static void write_number(sv_text *out, double value, const char *unit)
{
    bool thousands = strcmp(unit, "us") == 0 && value >= 1000;
    double told = thousands ? value / 1000 : value;
    if (fabs(told) < 10000)
        sv_text_print(out, "%.4g ", told);
    else /* not 2.12e+05 */
        sv_text_print(out, "%.0f ", told);
    sv__svg_text(out, thousands ? "ms" : unit, 0);
}

static void write_title(struct drawing *d, uint32_t net, double value)
{
    sv_text_print(&d->out, "<title>");
    sv__svg_text(&d->out, d->scene.net.names[net], 0);
    sv_text_print(&d->out, ": ");
    if (isfinite(value))
        write_number(&d->out, value, d->what->unit);
    else
        sv_text_print(&d->out, "nothing");
    sv_text_print(&d->out, "</title>");
}

static void write_style(sv_text *out)
{
    sv_text_print(out, "<style>\n"
                       "text{font-family:sans-serif;font-size:12px;fill:#222}\n"
                       ".title{font-size:15px;font-weight:bold}\n"
                       ".small{font-size:9px}\n"
                       ".floor{fill:#f4f4f4;stroke:#999}\n"
                       ".axis{stroke:#777;fill:none}\n"
                       ".surface polygon{stroke:#fff;stroke-width:.5}\n"
                       ".bar{stroke-width:5}\n"
                       ".point{fill:#222;fill-opacity:.45;stroke:none}\n"
                       "polygon.s0,rect.s0{fill:#dcdcdc}.s0{stroke:#dcdcdc}\n"
                       "rect{stroke:none}\n");
    for (uint32_t k = 1; k <= STEPS; k++) {
        unsigned c[3];
        sv__svg_colour(k, STEPS, c);
        sv_text_print(out, "polygon.s%u,rect.s%u{fill:#%02x%02x%02x}.s%u{stroke:#%02x%02x%02x}\n",
                      k, k, c[0], c[1], c[2], k, c[0], c[1], c[2]);
    }
    sv_text_print(out, "</style>\n");
}

static double rise(const struct drawing *d, double height)
{
    return d->max > 0 ? height / d->max * TALL : 0;
}

/* The ground, the axis and what its ends are called. */
static void write_floor(struct drawing *d)
{
    double v = d->deep, left = across(0, v), bottom = down(0, v);
    sv_text_print(&d->out,
                  "<polygon class=\"floor\" points=\"0,0 %.1f,%.1f %.1f,%.1f %.1f,%.1f\"/>\n",
                  across(1, 0), down(1, 0), across(1, v), down(1, v), left, bottom);
    sv_text_print(&d->out, "<path class=\"axis\" d=\"M%.1f %.1fv%d\"/>\n", left, bottom, -TALL);
    for (int i = 0; i <= 2; i++) {
        sv_text_print(&d->out, "<text class=\"small\" text-anchor=\"end\" x=\"%.1f\" y=\"%.1f\">",
                      left - 3, bottom - TALL * i / 2.0 + 3);
        write_number(&d->out, d->max * i / 2, d->what->unit);
        sv_text_print(&d->out, "</text>\n");
    }
}

static void write_corner(struct drawing *d, uint32_t row, uint32_t column, double x, double y,
                         const char *anchor)
{
    uint32_t net = d->points[row * d->columns + column].net;
    sv_text_print(&d->out, "<text class=\"small\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">",
                  anchor, x, y);
    sv__svg_text(&d->out, d->scene.net.names[net], 14);
    sv_text_print(&d->out, "</text>\n");
}

static void write_corner_names(struct drawing *d)
{
    double v = d->deep;
    write_corner(d, 0, d->columns - 1, across(1, 0), down(1, 0) + 14, "end");
    write_corner(d, d->rows - 1, 0, across(0, v), down(0, v) + 14, "start");
    write_corner(d, d->rows - 1, d->columns - 1, across(1, v), down(1, v) + 14, "middle");
}

static void write_quad(struct drawing *d, const sv_surface_panel *p, uint32_t row, uint32_t column)
{
    const uint32_t at[4] = {row * d->columns + column, row * d->columns + column + 1,
                            (row + 1) * d->columns + column + 1, (row + 1) * d->columns + column};
    double sum = 0, max = 0; /* between mean and most, so that peaks are seen */
    for (int i = 0; i < 4; i++) {
        double height = height_of(d, p, d->points[at[i]].net);
        sum += height;
        max = height > max ? height : max;
    }
    sv_text_print(&d->out, "<polygon class=\"s%u\" points=\"",
                  step_of((sum / 4 + max) / 2, d->max));
    for (int i = 0; i < 4; i++) {
        const struct point *q = &d->points[at[i]];
        sv_text_print(&d->out, "%s%.1f,%.1f", i > 0 ? " " : "", across(q->u, q->v),
                      down(q->u, q->v) - rise(d, height_of(d, p, q->net)));
    }
    sv_text_print(&d->out, "\"/>\n");
}

static void write_point(struct drawing *d, const sv_surface_panel *p, const struct point *q)
{
    double height = height_of(d, p, q->net), x = across(q->u, q->v), y = down(q->u, q->v);
    if (d->rows == 0)
        sv_text_print(&d->out, "<path class=\"bar s%u\" d=\"M%.1f %.1fv%.1f\">",
                      step_of(height, d->max), x, y, -1 - rise(d, height));
    else
        sv_text_print(&d->out, "<circle class=\"point\" cx=\"%.1f\" cy=\"%.1f\" r=\"2\">", x,
                      y - rise(d, height));
    if (d->scene.net.num_switches <= MAX_TITLES)
        write_title(d, q->net, p->height[d->scene.node[q->net]]);
    sv_text_print(&d->out, d->rows == 0 ? "</path>\n" : "</circle>\n");
}

/* From the back to the front, diagonal by diagonal: a point lies on the four patches around it, and
 * patches of later diagonals hide it. */
static void write_diagonal(struct drawing *d, const sv_surface_panel *p, uint32_t sum)
{
    for (uint32_t row = 0; row + 1 < d->rows && row <= sum; row++)
        if (sum - row + 1 < d->columns)
            write_quad(d, p, row, sum - row);
    for (uint32_t row = 0; row < d->rows && row <= sum; row++)
        if (sum - row < d->columns)
            write_point(d, p, &d->points[row * d->columns + sum - row]);
}

static void write_surface(struct drawing *d, const sv_surface_panel *p)
{
    sv_text_print(&d->out, "<g class=\"surface\">\n");
    write_floor(d);
    for (uint32_t sum = 0; d->rows > 0 && sum + 1 < d->rows + d->columns; sum++)
        write_diagonal(d, p, sum);
    for (uint32_t i = 0; d->rows == 0 && i < d->scene.net.num_switches; i++)
        write_point(d, p, &d->points[i]);
    if (d->rows > 0)
        write_corner_names(d);
    sv_text_print(&d->out, "</g>\n");
}

/* Columns from this one on that are one rectangle: those in which nothing was, or a single one. */
static uint32_t alike(const struct drawing *d, const sv_surface_panel *p, uint32_t column,
                      uint32_t net)
{
    uint32_t c = column + 1;
    while (c < p->columns && !isfinite(cell_of(d, p, column, net)) &&
           !isfinite(cell_of(d, p, c, net)))
        c++;
    return c - column;
}

static void write_row(struct drawing *d, const sv_surface_panel *p, uint32_t i, double each)
{
    for (uint32_t c = 0, many; c < p->columns; c += many) {
        double cell = cell_of(d, p, c, d->order[i]);
        many = alike(d, p, c, d->order[i]);
        sv_text_print(&d->out,
                      "<rect class=\"s%u\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\">",
                      step_of(cell, d->max_cell), NAMES + c * each, i * ROW, many * each, ROW - 1);
        write_title(d, d->order[i], cell);
        sv_text_print(&d->out, "</rect>\n");
    }
}

static void write_time(struct drawing *d, const sv_surface_panel *p)
{
    double wide = WIDE - NAMES - 30, each = wide / (p->columns > 0 ? p->columns : 1);
    if (p->cells == NULL || p->columns == 0)
        return;
    sv_text_print(&d->out, "<g class=\"time\">\n");
    for (uint32_t i = 0; i < d->shown; i++) {
        sv_text_print(&d->out, "<text class=\"small\" text-anchor=\"end\" x=\"%d\" y=\"%u\">",
                      NAMES - 4, i * ROW + 9);
        sv__svg_text(&d->out, d->scene.net.names[d->order[i]], 16);
        sv_text_print(&d->out, "</text>\n");
        write_row(d, p, i, each);
    }
    sv_text_print(&d->out, "<text class=\"small\" x=\"%d\" y=\"%u\">0</text>\n", NAMES,
                  d->shown * ROW + 10);
    sv_text_print(&d->out, "<text class=\"small\" text-anchor=\"end\" x=\"%.1f\" y=\"%u\">",
                  NAMES + wide, d->shown * ROW + 10);
    write_number(&d->out, p->columns * p->column, d->what->time_unit);
    sv_text_print(&d->out, "</text>\n</g>\n");
}

static void write_peak(struct drawing *d, const sv_surface_panel *p)
{
    double max = 0;
    uint32_t net = SV_NONE;
    for (uint32_t i = 0; i < d->scene.net.num_switches; i++)
        if (height_of(d, p, i) > max) {
            max = height_of(d, p, i);
            net = i;
        }
    sv_text_print(&d->out, "<text x=\"20\" y=\"34\">");
    if (net == SV_NONE) {
        sv_text_print(&d->out, "nothing waited");
    } else {
        sv_text_print(&d->out, "peak ");
        write_number(&d->out, max, d->what->unit);
        sv_text_print(&d->out, " at ");
        sv__svg_text(&d->out, d->scene.net.names[net], 24);
    }
    sv_text_print(&d->out, "</text>\n");
}

static void write_panel(struct drawing *d, const sv_surface_panel *p, double x, double y)
{
    double plane = down(1, d->deep);
    sv_text_print(&d->out, "<g class=\"panel\" transform=\"translate(%.1f %.1f)\">\n", x, y);
    if (p->title != NULL) {
        sv_text_print(&d->out, "<text class=\"title\" x=\"20\" y=\"16\">");
        sv__svg_text(&d->out, p->title, 46);
        sv_text_print(&d->out, "</text>\n");
    }
    write_peak(d, p);
    sv_text_print(&d->out, "<g transform=\"translate(%.1f %d)\">\n",
                  WIDE / 2.0 + 14 - (1 - d->deep) * PLANE / 2, 44 + TALL);
    write_surface(d, p);
    sv_text_print(&d->out, "</g>\n<g transform=\"translate(0 %.1f)\">\n",
                  44 + TALL + plane + BELOW);
    write_time(d, p);
    sv_text_print(&d->out, "</g>\n</g>\n");
}

static void write_legend(struct drawing *d, double y)
{
    sv_text_print(&d->out, "<g class=\"legend\" transform=\"translate(20 %.1f)\">\n", y);
    for (uint32_t k = 0; k <= STEPS; k++)
        sv_text_print(&d->out,
                      "<rect class=\"s%u\" x=\"%u\" y=\"0\" width=\"14\" height=\"12\"/>\n", k,
                      k * 14);
    sv_text_print(&d->out, "<text class=\"small\" x=\"0\" y=\"24\">surface: 0 … ");
    write_number(&d->out, d->max, d->what->unit);
    if (d->timed) {
        sv_text_print(&d->out, "; over time: 0 … ");
        write_number(&d->out, d->max_cell, d->what->unit);
    }
    sv_text_print(&d->out, "</text>\n</g>\n");
}

static void write_all(struct drawing *d)
{
    uint32_t count = d->what->count, wide = count < A_LINE ? count : A_LINE;
    uint32_t lines = (count + A_LINE - 1) / A_LINE;
    double each = 44 + TALL + down(1, d->deep) + BELOW + (d->timed ? d->shown * ROW + 24.0 : 0);
    double width = (wide > 0 ? wide : 1) * (double)WIDE, height = HEAD + lines * each + LEGEND;
    sv_text_print(&d->out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                  width, height, width, height);
    sv__svg_text(&d->out, d->what->title, 0);
    sv_text_print(&d->out, "</title>\n");
    write_style(&d->out);
    sv_text_print(&d->out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                           "<text class=\"title\" x=\"20\" y=\"26\">");
    sv__svg_text(&d->out, d->what->title, (size_t)((width - 40) / 10));
    sv_text_print(&d->out, "</text>\n<text class=\"small\" x=\"20\" y=\"44\">%u switches, ",
                  d->scene.net.num_switches);
    sv__svg_text(&d->out, d->scene.layout.words, 0);
    sv_text_print(&d->out, "</text>\n");
    for (uint32_t i = 0; i < count; i++)
        write_panel(d, &d->what->panels[i], i % A_LINE * (double)WIDE, HEAD + i / A_LINE * each);
    write_legend(d, height - LEGEND + 20);
    sv_text_print(&d->out, "</svg>\n");
}

sv_status sv_surface_write(sv_ctx *ctx, const sv_surface *surface, const sv_sink *sink)
{
    struct drawing d = {.what = surface};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = sv__scene_make(ctx, &arena, surface->fabric, &d.scene);
    if (status == SV_OK)
        status = make_plane(&arena, &d);
    if (status == SV_OK)
        status = look(&arena, &d);
    if (status == SV_OK) {
        sv_text_init(&d.out, ctx, sink);
        write_all(&d);
        status = sv_text_finish(&d.out);
        sv_text_release(&d.out);
    }
    sv_arena_release(&arena);
    return status;
}
