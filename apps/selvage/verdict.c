/*
 * verdict.c: what sv_verify found, for people and for programs.
 */
#include <stdio.h>

#include "selvage/app.h"

static const char *const verdict_names[SV_VERDICT_COUNT] = {"not judged", "yes", "no", "undecided"};
static const char *const traffic_names[] = {"terminal_terminal", "terminal_switch",
                                            "switch_switch"};
static const char *const traffic_texts[] = {"terminal to terminal", "and terminal to switch",
                                            "and switch to switch"};

sv_verdict app_verdict(const sv_verification *v, sv_traffic traffic)
{
    if (v->together[traffic] == SV_VERDICT_NO || v->multicast == SV_VERDICT_NO)
        return SV_VERDICT_NO;
    if (v->together[traffic] == SV_VERDICT_YES && v->multicast == SV_VERDICT_YES)
        return SV_VERDICT_YES;
    return SV_VERDICT_UNKNOWN;
}

void app_json_verdict(sv_json *json, const char *key, sv_verdict verdict)
{
    if (verdict == SV_VERDICT_YES || verdict == SV_VERDICT_NO)
        sv_json_bool(json, key, verdict == SV_VERDICT_YES);
    else
        sv_json_null(json, key);
}

void app_print_wait(sv_text *out, const sv_fabric *f, const sv_wait *wait)
{
    sv_text_print(out, "%s port %u VL%u", sv_node_name(f, f->tail[wait->channel.i]),
                  f->port[wait->channel.i], wait->vl);
}

void app_print_cycle(sv_text *out, const sv_fabric *f, const sv_routes *r, const sv_wait *cycle,
                     size_t length)
{
    enum { MAX = 40 };
    for (size_t i = 0; i < length; i++) {
        if (i == MAX) {
            sv_text_print(out, "  … and %zu more\n", length - i);
            break;
        }
        const sv_wait *w = &cycle[i];
        sv_text_print(out, i == 0 ? "  " : "  → ");
        app_print_wait(out, f, w);
        sv_text_print(out, " to %s", sv_node_name(f, f->head[w->channel.i]));
        if (w->from.i != SV_NONE)
            sv_text_print(out, "   (%s to %s, SL %u)", sv_node_name(f, w->from),
                          sv_node_name(f, r->node[w->destination]), w->sl);
        else if (w->multicast)
            sv_text_print(out, "   (multicast)");
        sv_text_print(out, "\n");
    }
    if (length > 0) {
        sv_text_print(out, "  → ");
        app_print_wait(out, f, &cycle[0]);
        sv_text_print(out, ", where it began\n");
    }
}

void app_json_cycle(sv_json *j, const sv_fabric *f, const sv_routes *r, const sv_wait *cycle,
                    size_t length)
{
    if (length == 0) {
        sv_json_null(j, "cycle");
        return;
    }
    sv_json_begin_array(j, "cycle");
    for (size_t i = 0; i < length; i++) {
        const sv_wait *w = &cycle[i];
        sv_json_begin_row(j, NULL, '{');
        sv_json_text(j, "switch", sv_node_name(f, f->tail[w->channel.i]));
        sv_json_guid(j, "guid", sv_node_guid(f, f->tail[w->channel.i]));
        sv_json_number(j, "port", f->port[w->channel.i]);
        sv_json_number(j, "vl", w->vl);
        if (w->from.i != SV_NONE) {
            sv_json_text(j, "source", sv_node_name(f, w->from));
            sv_json_text(j, "destination", sv_node_name(f, r->node[w->destination]));
            sv_json_number(j, "lid", r->lid[w->destination]);
            sv_json_number(j, "sl", w->sl);
        } else if (w->multicast) {
            sv_json_bool(j, "multicast", true);
        }
        sv_json_end(j, '}');
    }
    sv_json_end(j, ']');
}

static uint64_t all_lost(const sv_verification *v)
{
    return v->unreachable[0] + v->unreachable[1] + v->unreachable[2] + v->unreachable[3];
}

static void print_reach(sv_text *out, const sv_fabric *f, const sv_routes *r,
                        const sv_verification *v)
{
    uint64_t lost = v->unreachable[SV_PAIRS_TERMINAL_TERMINAL];
    if (lost == 0)
        sv_text_print(out, "connected      yes: all %llu pairs of terminals\n",
                      (unsigned long long)v->pairs[SV_PAIRS_TERMINAL_TERMINAL]);
    else
        sv_text_print(out, "connected      no: %llu of %llu pairs of terminals cannot talk\n",
                      (unsigned long long)lost,
                      (unsigned long long)v->pairs[SV_PAIRS_TERMINAL_TERMINAL]);
    if (v->split_pairs > 0)
        sv_text_print(out, "               %llu of them are in different parts of the fabric\n",
                      (unsigned long long)v->split_pairs);
    if (lost > 0 && v->lost.from.i != SV_NONE)
        sv_text_print(out, "               for example %s to %s: %s, at %s\n",
                      sv_node_name(f, v->lost.from), sv_node_name(f, r->node[v->lost.destination]),
                      sv_trace_end_name((sv_trace_end)v->lost.why), sv_node_name(f, v->lost.at));
    if (all_lost(v) > lost)
        sv_text_print(out, "               %llu pairs with switches cannot talk\n",
                      (unsigned long long)(all_lost(v) - lost));
    if (v->loops == 0) {
        sv_text_print(out, "loops          none\n");
        return;
    }
    sv_text_print(out, "loops          %llu, for example to %s at %s\n",
                  (unsigned long long)v->loops, sv_node_name(f, r->node[v->loop_destination]),
                  sv_node_name(f, v->loop_at));
}

void app_print_verification(sv_text *out, const sv_fabric *f, const sv_routes *r,
                            const sv_verification *v, sv_traffic traffic)
{
    print_reach(out, f, r, v);
    sv_text_print(out, "deadlock-free  %s", verdict_names[app_verdict(v, traffic)]);
    sv_text_print(out, ": %llu dependencies between channels, %u VL%s\n",
                  (unsigned long long)v->dependencies, v->vls_used, v->vls_used == 1 ? "" : "s");
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++) {
        sv_text_print(out, "  %-24s %s%s\n", traffic_texts[k], verdict_names[v->deadlock_free[k]],
                      k > (int)traffic ? " (does not count)" : "");
        if (v->deadlock_free[k] == SV_VERDICT_UNKNOWN)
            sv_text_print(out, "    if everything used SL 0: %s\n", verdict_names[v->on_sl0[k]]);
    }
    if (r->num_groups > 0) {
        sv_text_print(out, "  %-24s %s\n", "multicast alone", verdict_names[v->multicast]);
        sv_text_print(out, "  %-24s %s\n", "multicast and unicast",
                      verdict_names[v->together[traffic]]);
    }
    if (v->sl_unknown)
        sv_text_print(out, "unknown        service levels: %s\n",
                      r->sl_form == SV_SL_UNKNOWN ? "there is no opensm.psl"
                                                  : "opensm.psl does not tell all");
    if (v->vls_unknown)
        sv_text_print(out, "unknown        VLs: there is no opensm-sl2vl.dump\n");
    if (v->cycle_length > 0) {
        sv_text_print(out, "%zu channels %s wait for each other (%s%s):\n", v->cycle_length,
                      v->cycle_certain ? "can" : "might", v->cycle_multicast ? "multicast, " : "",
                      traffic_texts[v->cycle_traffic] + (v->cycle_traffic > 0 ? 4 : 0));
        app_print_cycle(out, f, r, v->cycle, v->cycle_length);
    }
}

void app_json_verification(sv_json *j, const sv_fabric *f, const sv_routes *r,
                           const sv_verification *v, sv_traffic traffic)
{
    static const char *const pairs[] = {"terminal_terminal", "terminal_switch", "switch_terminal",
                                        "switch_switch"};
    sv_json_bool(j, "connected", v->unreachable[SV_PAIRS_TERMINAL_TERMINAL] == 0);
    sv_json_number(j, "unreachable_pairs", v->unreachable[SV_PAIRS_TERMINAL_TERMINAL]);
    sv_json_number(j, "split_pairs", v->split_pairs);
    sv_json_begin_row(j, "unreachable", '{');
    for (int i = 0; i < SV_PAIRS_COUNT; i++)
        sv_json_number(j, pairs[i], v->unreachable[i]);
    sv_json_end(j, '}');
    if (v->lost.from.i == SV_NONE) {
        sv_json_null(j, "lost");
    } else {
        sv_json_begin_row(j, "lost", '{');
        sv_json_text(j, "source", sv_node_name(f, v->lost.from));
        sv_json_text(j, "destination", sv_node_name(f, r->node[v->lost.destination]));
        sv_json_text(j, "at", sv_node_name(f, v->lost.at));
        sv_json_text(j, "why", sv_trace_end_name((sv_trace_end)v->lost.why));
        sv_json_end(j, '}');
    }
    sv_json_number(j, "loops", v->loops);
    app_json_verdict(j, "deadlock_free", app_verdict(v, traffic));
    sv_json_begin_row(j, "verdicts", '{');
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
        app_json_verdict(j, traffic_names[k], v->deadlock_free[k]);
    app_json_verdict(j, "multicast", v->multicast);
    app_json_verdict(j, "multicast_and_unicast", v->together[traffic]);
    sv_json_end(j, '}');
    sv_json_begin_row(j, "on_sl0", '{');
    for (int k = 0; k < SV_TRAFFIC_COUNT; k++)
        app_json_verdict(j, traffic_names[k], v->on_sl0[k]);
    sv_json_end(j, '}');
    sv_json_text(j, "judged", traffic_names[traffic]);
    sv_json_number(j, "dependencies", v->dependencies);
    sv_json_number(j, "vls_used", v->vls_used);
    sv_json_bool(j, "sl_known", !v->sl_unknown);
    sv_json_bool(j, "sl2vl_known", !v->vls_unknown);
    app_json_cycle(j, f, r, v->cycle, v->cycle_length);
}
