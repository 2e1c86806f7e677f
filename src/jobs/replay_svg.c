/*
 * replay_svg.c: a replay as a picture: the four plots of thesis Fig. 5.8, one below the other, over
 * days.
 *
 * Idea: a line keeps its height for as long as a scene lasts, so it is drawn in steps, and only
 * where the height changes. Engines are drawn from the last to the first, so that the first is in
 * front. Colours are those of Okabe and Ito, which people with colour blindness can tell apart;
 * lines have dashes of their own as well.
 *
 * Invariants: well-formed XML whatever engines and title are called. Cost: linear in scenes.
 */
#include <math.h>
#include <string.h>

#include "base/text.h"
#include "jobs/replay.h"
#include "picture/svg.h"

enum { WIDTH = 960, LEFT = 90, RIGHT = 20, TOP = 78, HEIGHT = 170, GAP = 34, BOTTOM = 48 };
enum { INNER = WIDTH - LEFT - RIGHT, COLOURS = 8, DAY = 86400 };

static const char *const colours[COLOURS] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                             "#E69F00", "#56B4E9", "#000000", "#8A6D3B"};
static const char *const dashes[2][COLOURS] = {
    {"", "", "6 2", "2 2", "", "6 2", "2 2", "8 2 2 2"},
    {"8 2 2 2", "2 2", "", "8 2 2 2", "6 2", "2 2", "6 2", "2 2"}};

/* The legend: so many characters of a label, which then fits into a row. */
enum { ROW = 18, MARK = 32, LETTER = 8, BETWEEN = 22, MAX_LETTERS = 96 };
_Static_assert((int)SV_MAX_REPLAY_ENGINES <= 2 * COLOURS, "no two engines look alike");
_Static_assert(MARK + LETTER * MAX_LETTERS <= INNER, "a label fits into a row");

static const char *const titles[SV_REPLAY_METRICS] = {
    "most routes inside jobs on a link", "most routes of a job on a link, mean over jobs",
    "dark fibre [%]", "links of a job, mean over jobs"};

static const char *colour_of(uint32_t engine)
{
    return colours[engine % COLOURS];
}

static const char *dash_of(uint32_t engine)
{
    return dashes[engine / COLOURS % 2][engine % COLOURS];
}

/* What a plot shows: values low … high in steps, drawn from y downwards. */
struct plot {
    double low, high, step;
    double y;
};

/* 1, 2 or 5 times a power of ten, so that about count of them make a span. */
static double nice(double span, double count)
{
    double rough = span > 0 ? span / count : 1, power = pow(10, floor(log10(rough)));
    double times = rough / power;
    return power * (times <= 1 ? 1 : times <= 2 ? 2 : times <= 5 ? 5 : 10);
}

/* ---- axes ---- */

static struct plot fit(const sv_replay *r, int metric, int top)
{
    struct plot plot = {.y = top + metric * (HEIGHT + GAP)};
    double min = INFINITY, max = -INFINITY;
    for (uint32_t s = 0; s < r->num_scenes; s++)
        for (uint32_t e = 0; e < r->num_engines; e++) {
            double value = sv__values(r, s, e)[metric];
            min = value < min ? value : min;
            max = value > max ? value : max;
        }
    if (!(min <= max))
        min = max = 0;
    if (metric != SV_REPLAY_DARK) /* shares that never come near nothing may start higher */
        min = 0;
    plot.step = nice(max - min, 4);
    plot.low = floor(min / plot.step) * plot.step;
    plot.high = ceil(max / plot.step) * plot.step;
    if (plot.high <= plot.low)
        plot.high = plot.low + plot.step;
    return plot;
}

static double days_of(const sv_replay *r)
{
    return (double)r->num_samples * (double)r->every / DAY;
}

static double x_of(const sv_replay *r, uint32_t sample)
{
    return LEFT + INNER * ((double)sample / r->num_samples);
}

static double y_of(const struct plot *plot, double value)
{
    return plot->y + HEIGHT * (1 - (value - plot->low) / (plot->high - plot->low));
}

static void draw_axes(sv_text *out, const sv_replay *r, const struct plot *plot, int metric)
{
    double days = days_of(r), step = nice(days, 15);
    int digits = plot->step < 1 ? (int)ceil(-log10(plot->step) - 1e-9) : 0;
    bool last = metric == SV_REPLAY_METRICS - 1;
    sv_text_print(out, "<text x=\"%d\" y=\"%.1f\" font-weight=\"bold\">%s</text>\n", LEFT,
                  plot->y - 8, titles[metric]);
    for (int i = 0; plot->low + i * plot->step <= plot->high + plot->step / 2; i++) {
        double value = plot->low + i * plot->step, y = y_of(plot, value);
        sv_text_print(out,
                      "<path d=\"M%d %.1fH%d\" stroke=\"#ddd\"/>"
                      "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.*f</text>\n",
                      LEFT, y, LEFT + INNER, LEFT - 6, y + 4, digits, value);
    }
    for (int i = 0; i * step <= days * (1 + 1e-9); i++) {
        double x = LEFT + INNER * i * step / days;
        sv_text_print(out, "<path d=\"M%.1f %.1fv4\" stroke=\"#444\"/>", x, plot->y + HEIGHT);
        if (last)
            sv_text_print(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%g</text>", x,
                          plot->y + HEIGHT + 18, i * step);
        sv_text_print(out, "\n");
    }
    sv_text_print(out,
                  "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" fill=\"none\" "
                  "stroke=\"#444\"/>\n",
                  LEFT, plot->y, INNER, HEIGHT);
}

/* ---- lines ---- */

static void draw_line(sv_text *out, const sv_replay *r, const struct plot *plot, int metric,
                      uint32_t engine)
{
    bool drawing = false;
    double height = 0;
    sv_text_print(out, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"1.3\"", colour_of(engine));
    if (dash_of(engine)[0] != 0)
        sv_text_print(out, " stroke-dasharray=\"%s\"", dash_of(engine));
    sv_text_print(out, " d=\"M%d %.1f", LEFT, plot->y + HEIGHT); /* a path is never empty */
    for (uint32_t s = 0; s < r->num_scenes; s++) {
        const sv_replay_scene *scene = &r->scenes[s];
        double value = sv__values(r, s, engine)[metric];
        double from = x_of(r, scene->first), to = x_of(r, scene->first + scene->samples);
        if (isnan(value)) {
            if (drawing)
                sv_text_print(out, "H%.1f", from);
            drawing = false;
            continue;
        }
        double y = round(10 * y_of(plot, value)) / 10;
        if (!drawing)
            sv_text_print(out, "M%.1f %.1f", from, y);
        else if (y != height)
            sv_text_print(out, "H%.1fV%.1f", from, y);
        drawing = true;
        height = y;
        if (s + 1 == r->num_scenes)
            sv_text_print(out, "H%.1f", to);
    }
    sv_text_print(out, "\"/>\n");
}

/* Draws the legend if there is a text to write to; returns its rows. */
static int draw_legend(sv_text *out, const sv_replay *r)
{
    double x = LEFT;
    int row = 0;
    for (uint32_t e = 0; e < r->num_engines; e++) {
        size_t letters = strlen(r->engines[e].label);
        double width = MARK + LETTER * (double)(letters < MAX_LETTERS ? letters : MAX_LETTERS);
        if (x > LEFT && x + width > LEFT + INNER) {
            x = LEFT;
            row++;
        }
        if (out != NULL) {
            sv_text_print(out, "<path d=\"M%.1f %dh26\" stroke=\"%s\" stroke-width=\"3\"", x,
                          36 + row * ROW, colour_of(e));
            if (dash_of(e)[0] != 0)
                sv_text_print(out, " stroke-dasharray=\"%s\"", dash_of(e));
            sv_text_print(out, "/><text x=\"%.1f\" y=\"%d\">", x + MARK, 40 + row * ROW);
            sv__svg_text(out, r->engines[e].label, MAX_LETTERS);
            sv_text_print(out, "</text>\n");
        }
        x += width + BETWEEN;
    }
    return row + 1;
}

sv_status sv_replay_write_svg(sv_ctx *ctx, const sv_replay *replay, const char *title,
                              const sv_sink *sink)
{
    int top = TOP + (draw_legend(NULL, replay) - 1) * ROW;
    int height = top + SV_REPLAY_METRICS * (HEIGHT + GAP) - GAP + BOTTOM;
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_text_print(&out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" font-family=\"sans-serif\" font-size=\"12\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                  "<text x=\"%d\" y=\"20\" font-size=\"15\">",
                  WIDTH, height, WIDTH, height, LEFT);
    sv__svg_text(&out, title, 0);
    sv_text_print(&out, "</text>\n");
    draw_legend(&out, replay);
    for (int m = 0; m < SV_REPLAY_METRICS; m++) {
        struct plot plot = fit(replay, m, top);
        draw_axes(&out, replay, &plot, m);
        for (uint32_t e = replay->num_engines; e-- > 0;)
            draw_line(&out, replay, &plot, m, e);
    }
    sv_text_print(&out, "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">days</text>\n</svg>\n",
                  LEFT + INNER / 2, height - 10);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}
