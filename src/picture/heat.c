/*
 * heat.c: loads of channels as colours of a picture of the fabric, and their histogram.
 *
 * Each half of a cable belongs to the switch that it touches: its colour is what that switch sends.
 * Halves are written colour by colour, so that busier ones lie above others, and what nobody uses
 * is below all in grey. The bars of the histogram stand on the colour bar, one a colour, so one
 * drawing explains the colours and counts them.
 *
 * Invariants: one element a live channel between different switches, with the class of its colour;
 * the numbers above the bars add up to them. A white ground of its own, so that it can be read in
 * viewers that are dark. Colours get darker as well as redder, and lines wider, for those who see
 * no red. Cost: that of the layout, and colours × channels.
 * Source: thesis Fig. 5.2, 5.9, 5.10 (heat maps) and 5.11 (histogram).
 */
#include <selvage/picture.h>
#include <stdio.h>

#include "base/file.h"
#include "picture/scene.h"
#include "picture/svg.h"

enum {
    MAX_TITLES = 20000, /* halves; with more of them a title each would be most of the file */
    MAX_LABELS = 40,    /* switches with their names beside them */
    MIN_WIDTH = 640,
    HEADER = 66,
    LEGEND = 150,
    BARS = 70 /* height of the longest */
};

/* One fabric, ready to be written. */
typedef struct panel {
    const sv_heat_panel *about;
    sv__scene scene;
    uint32_t counts[SV_HEAT_STEPS + 1]; /* channels of each colour */
    uint64_t max;
    float width, height; /* of all, header and legend included */
} panel;

typedef struct drawing {
    panel panels[2];
    uint32_t count, steps, tallest; /* tallest: the longest bar of all panels */
    uint64_t max;
    sv_text out;
} drawing;

uint32_t sv_heat_step(uint64_t load, uint64_t max, uint32_t *steps)
{
    uint32_t all = max < SV_HEAT_STEPS ? (uint32_t)max : SV_HEAT_STEPS;
    if (steps != NULL)
        *steps = all;
    if (load == 0 || all == 0)
        return 0;
    if (load >= max)
        return all;
    /* the first k with load <= floor(k × most / all); in two parts, lest it overflow */
    uint32_t k = 1;
    while (k < all && load > max / all * k + max % all * k / all)
        k++;
    return k;
}

/* The last load of a colour. */
static uint64_t end_of(const drawing *d, uint32_t step)
{
    return d->max / d->steps * step + d->max % d->steps * step / d->steps;
}

/* ---- colours ---- */

static void write_style(drawing *d)
{
    sv_text *out = &d->out;
    sv_text_print(out, "<style>\n"
                       "text{font-family:sans-serif;font-size:12px;fill:#222}\n"
                       ".title{font-size:15px;font-weight:bold}\n"
                       ".small{font-size:9px}\n"
                       ".cables path{fill:none;stroke-linecap:round}\n"
                       ".switch{fill:#fff;stroke:#333}\n"
                       ".leaf{fill:#555;stroke:#333}\n"
                       ".name{font-size:9px;stroke:#fff;stroke-width:2.5px;paint-order:stroke}\n"
                       ".dark{stroke:#c4c4c4}\n"
                       "rect.dark{stroke:none;fill:#c4c4c4}\n");
    for (uint32_t k = 1; k <= d->steps; k++) {
        unsigned rgb[3];
        sv__svg_colour(k, d->steps, rgb);
        sv_text_print(out, ".h%u{stroke:#%02x%02x%02x}rect.h%u{stroke:none;fill:#%02x%02x%02x}\n",
                      k, rgb[0], rgb[1], rgb[2], k, rgb[0], rgb[1], rgb[2]);
    }
    sv_text_print(out, "</style>\n");
}

/* ---- the fabric ---- */

static void write_end(sv_text *out, const sv_fabric *f, sv_channel c)
{
    sv__svg_text(out, sv_node_name(f, f->tail[c.i]), 0);
    sv_text_print(out, " port %u", f->port[c.i]);
}

static void write_half(sv_text *out, const panel *p, const sv__half *half)
{
    const sv_fabric *f = p->scene.fabric;
    uint64_t load = p->about->load[half->channel.i];
    sv_text_print(out, "<path d=\"M%.1f %.1f", (double)half->at[0][0], (double)half->at[0][1]);
    if (half->curved)
        sv_text_print(out, "Q%.1f %.1f ", (double)half->at[1][0], (double)half->at[1][1]);
    else
        sv_text_print(out, "L");
    sv_text_print(out, "%.1f %.1f\"", (double)half->at[2][0], (double)half->at[2][1]);
    if (half->line < p->scene.stroke)
        sv_text_print(out, " style=\"stroke-width:%.2f\"", (double)half->line);
    if (p->scene.num_halves > MAX_TITLES) {
        sv_text_print(out, "/>\n");
        return;
    }
    sv_text_print(out, "><title>");
    write_end(out, f, half->channel);
    sv_text_print(out, " → ");
    write_end(out, f, f->reverse[half->channel.i]);
    sv_text_print(out, ": %llu</title></path>\n", (unsigned long long)load);
}

/* Halves of one colour after the other; the busier, the wider. */
static void write_cables(drawing *d, const panel *p)
{
    sv_text_print(&d->out, "<g class=\"cables\">\n");
    for (uint32_t k = 0; k <= d->steps; k++) {
        if (p->counts[k] == 0)
            continue;
        double wider = d->steps > 1 ? 1 + 0.8 * k / d->steps : 1.5;
        char name[16] = "dark";
        if (k > 0)
            snprintf(name, sizeof name, "h%u", k);
        sv_text_print(&d->out, "<g class=\"%s\" stroke-width=\"%.2f\">\n", name,
                      (double)p->scene.stroke * wider);
        for (uint32_t i = 0; i < p->scene.num_halves; i++) {
            const sv__half *half = &p->scene.halves[i];
            if (sv_heat_step(p->about->load[half->channel.i], d->max, NULL) == k)
                write_half(&d->out, p, half);
        }
        sv_text_print(&d->out, "</g>\n");
    }
    sv_text_print(&d->out, "</g>\n");
}

static void write_switches(drawing *d, const panel *p)
{
    const sv__scene *s = &p->scene;
    sv_text_print(&d->out, "<g class=\"switches\" stroke-width=\"%.2f\">\n",
                  (double)(s->radius > 4 ? 1 : s->radius / 4));
    for (uint32_t i = 0; i < s->net.num_switches; i++) {
        sv_text_print(&d->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"><title>",
                      s->net.terminals[i] > 0 ? "leaf" : "switch", (double)s->layout.x[i],
                      (double)s->layout.y[i], (double)s->radius);
        sv__svg_text(&d->out, s->net.names[i], 0);
        sv_text_print(&d->out, ": %u terminals</title></circle>\n", s->net.terminals[i]);
    }
    sv_text_print(&d->out, "</g>\n");
    if (s->net.num_switches > MAX_LABELS)
        return;
    for (uint32_t i = 0; i < s->net.num_switches; i++) {
        bool above = s->layout.y[i] < s->height / 2;
        float y = above ? s->layout.y[i] - s->radius - 4 : s->layout.y[i] + s->radius + 11;
        sv_text_print(&d->out, "<text class=\"name\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">",
                      (double)s->layout.x[i], (double)y);
        sv__svg_text(&d->out, s->net.names[i], 14);
        sv_text_print(&d->out, "</text>\n");
    }
}

/* ---- header and legend ---- */

static void write_header(drawing *d, const panel *p)
{
    const sv__scene *s = &p->scene;
    double channels = s->num_halves;
    const char *unit = p->about->unit != NULL ? p->about->unit : "routes";
    if (p->about->title != NULL) {
        sv_text_print(&d->out, "<text class=\"title\" x=\"20\" y=\"24\">");
        sv__svg_text(&d->out, p->about->title, (size_t)(p->width / 10));
        sv_text_print(&d->out, "</text>\n");
    }
    sv_text_print(&d->out, "<text x=\"20\" y=\"43\">%u switch%s, %u cable%s between them; ",
                  s->net.num_switches, s->net.num_switches == 1 ? "" : "es", s->net.num_wires,
                  s->net.num_wires == 1 ? "" : "s");
    sv__svg_text(&d->out, s->layout.words, 0);
    sv_text_print(&d->out, "</text>\n<text x=\"20\" y=\"60\">most on a channel: %llu ",
                  (unsigned long long)p->max);
    sv__svg_text(&d->out, unit, 40);
    sv_text_print(&d->out, "; dark fibre: %.2f %% (%u of %u channels)</text>\n",
                  channels > 0 ? 100 * p->counts[0] / channels : 0, p->counts[0], s->num_halves);
}

/* One bar on its piece of the colour bar; label: its last load. */
static void write_bar(drawing *d, const panel *p, uint32_t step, double x, double width)
{
    sv_text *out = &d->out;
    uint32_t count = p->counts[step];
    double top = d->tallest > 0 ? (double)BARS * count / d->tallest : 0;
    double middle = x + width / 2;
    char name[16] = "dark";
    if (step > 0)
        snprintf(name, sizeof name, "h%u", step);
    sv_text_print(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"8\"/>\n",
                  name, x, BARS + 4, width);
    if (count > 0) {
        sv_text_print(out,
                      "<rect class=\"%s bar\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
                      "height=\"%.1f\"><title>%u channels</title></rect>\n",
                      name, x + 1, BARS - top, width - 2, top, count);
        sv_text_print(out,
                      "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">%u"
                      "</text>\n",
                      middle, BARS - top - 2, count);
    }
    bool crowded = d->max > 999999 && step % 2 != d->steps % 2;
    if (step == 0 || !crowded)
        sv_text_print(out,
                      "<text class=\"small\" text-anchor=\"middle\" x=\"%.1f\" y=\"%d\">%llu"
                      "</text>\n",
                      middle, BARS + 23, step == 0 ? 0ull : (unsigned long long)end_of(d, step));
}

static void write_legend(drawing *d, const panel *p)
{
    double width = (MIN_WIDTH - 60.0) / (SV_HEAT_STEPS + 1.5);
    sv_text_print(&d->out, "<g class=\"histogram\" transform=\"translate(20 %.1f)\">\n",
                  (double)(p->height - LEGEND + 14));
    for (uint32_t k = 0; k <= d->steps; k++)
        write_bar(d, p, k, k == 0 ? 0 : (k + 0.5) * width, width);
    sv_text_print(&d->out,
                  "<text x=\"0\" y=\"%d\">up to so many on a channel, and how many channels "
                  "(of both directions of a cable)</text>\n"
                  "<text class=\"small\" x=\"0\" y=\"%d\">the half of a cable at a switch shows "
                  "what that switch sends; full circles have terminals</text>\n</g>\n",
                  BARS + 40, BARS + 54);
}

/* ---- all of it ---- */

static sv_status prepare(sv_ctx *ctx, sv_arena *arena, const sv_heat *heat, drawing *d)
{
    d->count = heat->count < 2 ? heat->count : 2;
    for (uint32_t i = 0; i < d->count; i++) {
        panel *p = &d->panels[i];
        p->about = &heat->panels[i];
        SV_TRY(sv__scene_make(ctx, arena, p->about->fabric, &p->scene));
        for (uint32_t h = 0; h < p->scene.num_halves; h++) {
            uint64_t load = p->about->load[p->scene.halves[h].channel.i];
            p->max = load > p->max ? load : p->max;
        }
        d->max = p->max > d->max ? p->max : d->max;
        p->width = p->scene.width > MIN_WIDTH ? p->scene.width : MIN_WIDTH;
        p->height = HEADER + p->scene.height + LEGEND;
    }
    d->max = heat->max > d->max ? heat->max : d->max;
    sv_heat_step(0, d->max, &d->steps);
    for (uint32_t i = 0; i < d->count; i++) {
        panel *p = &d->panels[i];
        for (uint32_t h = 0; h < p->scene.num_halves; h++)
            p->counts[sv_heat_step(p->about->load[p->scene.halves[h].channel.i], d->max, NULL)]++;
        for (uint32_t k = 0; k <= d->steps; k++)
            d->tallest = p->counts[k] > d->tallest ? p->counts[k] : d->tallest;
    }
    return SV_OK;
}

static void write_panel(drawing *d, const panel *p, double x)
{
    double aside = (double)(p->width - p->scene.width) / 2;
    sv_text_print(&d->out, "<g class=\"panel\" transform=\"translate(%.1f 0)\">\n", x);
    write_header(d, p);
    sv_text_print(&d->out, "<g class=\"fabric\" transform=\"translate(%.1f %d)\">\n", aside,
                  HEADER);
    write_cables(d, p);
    write_switches(d, p);
    sv_text_print(&d->out, "</g>\n");
    write_legend(d, p);
    sv_text_print(&d->out, "</g>\n");
}

static void write_all(drawing *d)
{
    double width = 0, height = 0, x = 0;
    for (uint32_t i = 0; i < d->count; i++) {
        width += (double)d->panels[i].width;
        height = (double)d->panels[i].height > height ? (double)d->panels[i].height : height;
    }
    sv_text_print(&d->out,
                  "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
                  "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
                  width, height, width, height);
    const char *title = d->count > 0 ? d->panels[0].about->title : NULL;
    sv__svg_text(&d->out, title != NULL ? title : "heat map", 0);
    sv_text_print(&d->out, "</title>\n");
    write_style(d);
    sv_text_print(&d->out, "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n");
    for (uint32_t i = 0; i < d->count; i++) {
        write_panel(d, &d->panels[i], x);
        x += (double)d->panels[i].width;
    }
    sv_text_print(&d->out, "</svg>\n");
}

sv_status sv_heat_write(sv_ctx *ctx, const sv_heat *heat, const sv_sink *sink)
{
    drawing d = {0};
    sv_arena arena;
    sv_arena_init(&arena, ctx);
    sv_status status = prepare(ctx, &arena, heat, &d);
    if (status == SV_OK) {
        sv_text_init(&d.out, ctx, sink);
        write_all(&d);
        status = sv_text_finish(&d.out);
        sv_text_release(&d.out);
    }
    sv_arena_release(&arena);
    return status;
}

sv_status sv_heat_save(sv_ctx *ctx, const sv_heat *heat, const char *path)
{
    sv_file file;
    SV_TRY(sv_file_create(&file, ctx, path));
    sv_status status = sv_heat_write(ctx, heat, &file.sink);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    sv_file_close(&file);
    return status;
}
