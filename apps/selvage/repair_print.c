/*
 * repair_print.c: what a repair did and how to bring it into the switches, as text and JSON; pairs
 * that must be re-pathed as a file.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "selvage/app.h"

static const char *const safety_names[] = {"unjudged", "any_order", "steps", "quiet", "none"};

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

/* Whether an entry is in another block or step than the one before it. */
static bool begins_block(const sv_repair_report *r, uint64_t i)
{
    const sv_repair_entry *a = &r->entry[i], *b = a - 1;
    return i == 0 || a->step != b->step || a->block != b->block || a->s.i != b->s.i;
}

static void print_steps(sv_text *out, const sv_fabric *f, const sv_repair_report *r)
{
    enum { MAX = 10 };
    uint64_t i = 0;
    for (uint32_t step = 0; step < r->steps && step < MAX; step++) {
        uint64_t first = i, blocks = 0;
        for (; i < r->listed && r->entry[i].step == step; i++)
            blocks += begins_block(r, i);
        sv_text_print(out, "  step %u: %llu block%s, for example %u of %s\n", step + 1,
                      (unsigned long long)blocks, blocks == 1 ? "" : "s", r->entry[first].block,
                      sv_node_name(f, r->entry[first].s));
    }
    if (r->steps > MAX)
        sv_text_print(out, "  … and %u more steps\n", r->steps - MAX);
}

static void print_safety(sv_text *out, const sv_fabric *f, const sv_repair_report *r,
                         const char *pairs)
{
    static const char *const texts[] = {
        "not judged", "in any order", "in steps, in any order within each",
        "if pairs whose service level changes are quiet until all is done",
        "if pairs are quiet until all is done, some of which keep their service level"};
    if (r->blocks == 0 && r->num_pairs == 0)
        return;
    sv_text_print(out, "safe           %s\n", texts[r->safety]);
    if (r->steps > 1)
        print_steps(out, f, r);
    if (r->num_pairs > 0)
        sv_text_print(out, "re-path        %llu pairs of a switch or host and a destination%s%s\n",
                      (unsigned long long)r->num_pairs, pairs != NULL ? ": " : "",
                      pairs != NULL ? pairs : "");
}

void app_print_repair(sv_text *out, const sv_fabric *f, const sv_repair_report *r,
                      const char *engine, const char *pairs)
{
    if (r->full)
        sv_text_print(out, "repair         everything routed anew by %s: %s\n", engine, r->why);
    else
        sv_text_print(out, "repair         keeps to the orders of the old tables%s%s\n",
                      r->orders_found ? ", which had to be found" : "",
                      r->reordered == 0 ? ""
                      : r->orders_found ? " and changed"
                                        : ", changed");
    sv_text_print(out,
                  "changes        %llu entries, %llu blocks of 64 LIDs, %llu service levels, to "
                  "%llu destinations\n",
                  (unsigned long long)r->entries, (unsigned long long)r->blocks,
                  (unsigned long long)r->sls, (unsigned long long)r->destinations);
    if (r->new_lids > 0)
        sv_text_print(out, "new LIDs       %llu\n", (unsigned long long)r->new_lids);
    print_safety(out, f, r, pairs);
    sv_text_print(out,
                  "time           %.3f s to prove the old tables, %.3f s to repair, %.3f s to "
                  "verify the change\n",
                  seconds(r->prove_ns), seconds(r->repair_ns), seconds(r->verify_ns));
}

static void json_node(sv_json *j, const sv_fabric *f, const char *key, sv_node v)
{
    sv_json_text(j, key, sv_node_name(f, v));
    sv_json_guid(j, "guid", sv_node_guid(f, v));
}

static void json_steps(sv_json *j, const sv_fabric *f, const sv_routes *routes,
                       const sv_repair_report *r)
{
    uint64_t i = 0;
    sv_json_begin_array(j, "steps");
    for (uint32_t step = 0; step < r->steps && r->listed > 0; step++) {
        sv_json_begin_array(j, NULL);
        while (i < r->listed && r->entry[i].step == step) {
            uint64_t first = i;
            sv_json_begin_row(j, NULL, '{');
            json_node(j, f, "switch", r->entry[i].s);
            sv_json_number(j, "block", r->entry[i].block);
            sv_json_begin_row(j, "lids", '[');
            for (; i < r->listed && (i == first || !begins_block(r, i)); i++)
                sv_json_number(j, NULL, routes->lid[r->entry[i].destination]);
            sv_json_end(j, ']');
            sv_json_end(j, '}');
        }
        sv_json_end(j, ']');
    }
    sv_json_end(j, ']');
}

static void json_pairs(sv_json *j, const sv_fabric *f, const sv_routes *routes,
                       const sv_repair_report *r)
{
    enum { MAX = 10000 };
    sv_json_number(j, "repath_pairs", r->num_pairs);
    sv_json_begin_array(j, "repath");
    for (uint64_t i = 0; r->pairs != NULL && i < r->num_pairs && i < MAX; i++) {
        uint32_t d = r->pairs[i].destination;
        sv_json_begin_row(j, NULL, '{');
        json_node(j, f, "source", r->pairs[i].from);
        sv_json_text(j, "destination", sv_node_name(f, routes->node[d]));
        sv_json_number(j, "lid", routes->lid[d]);
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

void app_json_repair(sv_json *j, const sv_fabric *f, const sv_routes *routes,
                     const sv_repair_report *r, const char *engine, const char *pairs)
{
    sv_json_text(j, "engine", engine);
    sv_json_bool(j, "full", r->full);
    sv_json_text(j, "why", r->why);
    sv_json_bool(j, "orders_found", r->orders_found);
    sv_json_number(j, "reordered_destinations", r->reordered);
    sv_json_number(j, "changed_entries", r->entries);
    sv_json_number(j, "changed_blocks", r->blocks);
    sv_json_number(j, "block_writes", r->writes);
    sv_json_number(j, "changed_sls", r->sls);
    sv_json_number(j, "changed_destinations", r->destinations);
    sv_json_number(j, "new_lids", r->new_lids);
    sv_json_text(j, "safe", safety_names[r->safety]);
    json_steps(j, f, routes, r);
    json_pairs(j, f, routes, r);
    sv_json_text(j, "repath_file", pairs);
    sv_json_real(j, "prove_seconds", seconds(r->prove_ns), 6);
    sv_json_real(j, "repair_seconds", seconds(r->repair_ns), 6);
    sv_json_real(j, "verify_seconds", seconds(r->verify_ns), 6);
}

/* A line a pair, as in opensm.psl: who, the LID (or the destination's GUID), the SL from now on. */
static sv_status write_pairs(void *user, sv_ctx *ctx, const sv_sink *sink)
{
    const app_pairs *pairs = user;
    const sv_fabric *f = pairs->fabric;
    const sv_routes *r = pairs->routes;
    const sv_repair_report *report = pairs->report;
    sv_text out;
    sv_text_init(&out, ctx, sink);
    sv_text_print(&out, "# pairs that must be re-pathed: source, destination LID, service level\n");
    for (uint64_t i = 0; i < report->num_pairs && out.status == SV_OK; i++) {
        sv_node from = report->pairs[i].from;
        uint32_t d = report->pairs[i].destination;
        sv_text_print(&out, "%s0x%016llx %u %u # %s to %s\n", sv_is_switch(f, from) ? "@" : "",
                      (unsigned long long)sv_node_guid(f, from), r->lid[d], sv_route_sl(r, from, d),
                      sv_node_name(f, from), sv_node_name(f, r->node[d]));
    }
    sv_status status = sv_text_finish(&out);
    sv_text_release(&out);
    return status;
}

sv_status app_pairs_init(app_pairs *pairs, struct app *app, const sv_fabric *f, const sv_routes *r,
                         const sv_repair_report *report, const char *output)
{
    size_t length = output == NULL ? 0 : strlen(output);
    bool svr = length > 4 && strcmp(output + length - 4, ".svr") == 0;
    *pairs = (app_pairs){.fabric = f, .routes = r, .report = report};
    if (report->num_pairs == 0 || report->pairs == NULL || output == NULL)
        return SV_OK;
    pairs->path = sv_alloc(app->ctx, length + 16, 1);
    if (pairs->path == NULL)
        return SV_NO_MEMORY;
    snprintf(pairs->path, length + 16, "%s%s", output, svr ? ".repath" : "/repath.txt");
    pairs->extra = (sv_dump_extra){pairs, write_pairs};
    return SV_OK;
}
