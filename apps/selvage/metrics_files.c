/*
 * metrics_files.c: what `selvage metrics` writes into files: the heat map, and loads of channels as
 * comma-separated values (RFC 4180 but for line ends).
 */
#include <stdio.h>
#include <string.h>

#include "base/csv.h"
#include "base/file.h"
#include "selvage/measured.h"

/* The last part of a path, which is what people call it. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL && slash[1] != 0 ? slash + 1 : path;
}

/* "tables: 3 jobs of jobs.txt", "tables: job 4711", "tables: all routes". */
static void heat_title(const struct metrics_options *o, const struct metrics *m, char *title,
                       size_t size)
{
    const char *name = last_part(m->name);
    if (m->map == NULL)
        snprintf(title, size, "%.400s: all routes", name);
    else if (o->job != NULL)
        snprintf(title, size, "%.400s: job %.400s", name, o->job);
    else
        snprintf(title, size, "%.400s: %u job%s of %.400s", name, m->map->num_jobs,
                 m->map->num_jobs == 1 ? "" : "s", last_part(o->jobs));
}

static sv_status write_heat(struct app *app, const struct metrics_options *o,
                            const struct metrics *sets, int count, const sv_sink *sink)
{
    char titles[2][1000];
    sv_heat_panel panels[2];
    const sv_heat heat = {.panels = panels, .count = (uint32_t)count};
    for (int i = 0; i < count; i++) {
        const struct metrics *m = &sets[i];
        heat_title(o, m, titles[i], sizeof titles[i]);
        panels[i] = (sv_heat_panel){.fabric = m->f,
                                    .load = m->map != NULL ? m->effective : m->loads,
                                    .title = titles[i],
                                    .unit = m->map != NULL ? "routes inside jobs" : "routes"};
    }
    return sv_heat_write(app->ctx, &heat, sink);
}

static void write_end(sv_text *out, const sv_fabric *f, sv_channel c)
{
    sv_csv_field(out, sv_node_name(f, f->tail[c.i]));
    sv_text_print(out, ",0x%016llx,%u,", (unsigned long long)sv_node_guid(f, f->tail[c.i]),
                  f->port[c.i]);
}

static void print_links(sv_text *out, const struct metrics *m)
{
    const sv_fabric *f = m->f;
    sv_text_print(out, "from,from_guid,from_port,to,to_guid,to_port,routes,effective_routes,"
                       "jobs\n");
    for (uint32_t i = 0; i < f->num_channels; i++) {
        sv_channel c = {i};
        if (!sv_channel_alive(f, c) || !sv_joins_switches(f, c))
            continue;
        write_end(out, f, c);
        write_end(out, f, f->reverse[i]);
        sv_text_print(out, "%llu,", (unsigned long long)m->loads[i]);
        if (m->map != NULL)
            sv_text_print(out, "%llu,%u\n", (unsigned long long)m->effective[i], m->users[i]);
        else
            sv_text_print(out, ",\n");
    }
}

static sv_status write_links(struct app *app, const struct metrics *m, const sv_sink *sink)
{
    sv_text out;
    sv_text_init(&out, app->ctx, sink);
    print_links(&out, m);
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

sv_status metrics_write_files(struct app *app, const struct metrics_options *o,
                              const struct metrics *sets, int count)
{
    sv_file heat = {.ctx = app->ctx, .descriptor = -1}, links = heat;
    sv_status status = SV_OK;
    if (o->heat != NULL)
        status = sv_file_create(&heat, app->ctx, o->heat);
    if (status == SV_OK && o->heat != NULL)
        status = write_heat(app, o, sets, count, &heat.sink);
    if (status == SV_OK && o->links != NULL)
        status = sv_file_create(&links, app->ctx, o->links);
    if (status == SV_OK && o->links != NULL)
        status = write_links(app, &sets[0], &links.sink);
    if (status == SV_OK)
        status = sv_files_commit((sv_file *const[]){&links, &heat}, 2);
    sv_file_close(&heat);
    sv_file_close(&links);
    return status;
}
