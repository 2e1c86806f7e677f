/*
 * route_auto.c: what selvage route --engine auto tried, and why it took what it took.
 */
#include <stdio.h>

#include "selvage/app.h"

static const char *const names[] = {"refused", "unproven", "proven", "chosen"};

void app_print_selection(sv_text *out, const sv_selection *s)
{
    sv_text_print(out, "tried          VLs   SLs    busiest     hops   seconds\n");
    for (uint32_t i = 0; i < s->count; i++) {
        const sv_candidate *c = &s->candidates[i];
        if (c->candidacy < SV_CANDIDATE_PROVEN) {
            sv_text_print(out, "  %-11s %s%s\n", c->engine,
                          c->candidacy == SV_CANDIDATE_UNPROVEN ? "its tables do not hold: " : "",
                          c->why);
            continue;
        }
        sv_text_print(out, "  %-11s %6u %5u %10llu %8.4f %9.3f  %s%s\n", c->engine,
                      c->report.vls_needed, c->report.sls_used, (unsigned long long)c->busiest,
                      c->load.hops_avg, (double)c->report.nanoseconds / 1e9,
                      c->candidacy == SV_CANDIDATE_CHOSEN ? "taken: " : "", c->why);
    }
}

void app_json_selection(sv_json *j, const sv_selection *s)
{
    sv_json_begin_array(j, "candidates");
    for (uint32_t i = 0; i < s->count; i++) {
        const sv_candidate *c = &s->candidates[i];
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "engine", c->engine);
        sv_json_text(j, "status", names[c->candidacy]);
        sv_json_text(j, "why", c->why);
        if (c->candidacy >= SV_CANDIDATE_PROVEN) {
            sv_json_number(j, "vls_needed", c->report.vls_needed);
            sv_json_number(j, "sls_used", c->report.sls_used);
            sv_json_number(j, "efi_max", c->load.max);
            sv_json_number(j, "busiest", c->busiest);
            sv_json_real(j, "hops_avg", c->load.hops_avg, 6);
            sv_json_real(j, "route_seconds", (double)c->report.nanoseconds / 1e9, 6);
        }
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}
