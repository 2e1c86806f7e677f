"""Wrong versions of distributed routing balancing: each is built and must be found out.

Each of the mutations below changes a few words of src/adapt, as somebody might who has not read docs/decisions/0028-policies.md to
its end: a point (its number is in front) that does not hold any more. They are linked with oracle/test_adapt_drb, which works out
all of it a second time, and with the unit tests of these files, one after the other; one of them must fail.

Compiler, options and libraries are those of the build, in mutate_drb.txt there.

Run: SELVAGE_BUILD=build python3 -B tests/oracle/mutate_drb.py
"""
import os
import sys
from collections import namedtuple

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from support.mutate import SOURCE, find_out  # noqa: E402

ROOM = os.path.join(SOURCE, "src", "adapt")
# Tests, and how many trials.
TESTS = {"drb": "600", "unit_decide": "", "unit_store": "", "unit_drb": ""}

Mutation = namedtuple("Mutation", "file what old new")

MUTATIONS = [
    # ---- paths, latencies, zones ----
    Mutation("decide.c", "1: one path less than there may be", "if (p->meta.count >= b->a->set.paths)",
             "if (p->meta.count + 1 >= b->a->set.paths)"),
    Mutation("decide.c", "2: candidates from the last on", "uint32_t path = p->order[i];",
             "uint32_t path = p->order[p->num_order - 1 - i];"),
    Mutation("metapath.c", "3: the first acknowledgement is smoothed, too",
             "o->heard ? share * waited + (1 - share) * o->waited : waited",
             "share * waited + (1 - share) * o->waited"),
    Mutation("metapath.c", "3: the share is that of what was known",
             "share * waited + (1 - share) * o->waited", "(1 - share) * waited + share * o->waited"),
    Mutation("metapath.c", "3: a path that is opened was heard of", ".waited = waited, .path", ".waited = waited, .heard = true, .path"),
    Mutation("decide.c", "3: paths take as long empty as path 0",
             "return (double)sv__ways_empty(b->a, p->from, p->paths[path].channels, b->full);",
             "return (void)path, p->base;"),
    Mutation("pairs.c", "3: packets without payload are what counts", "p->paths[0].channels, b->full)",
             "p->paths[0].channels, b->full - a->model.mtu_bytes)"),
    Mutation("metapath.c", "4: the metapath's latency is that of its best path",
             "        capacity += 1 / sv__open_latency(&m->at[i]);\n    return 1 / capacity;",
             "        capacity = capacity > 1 / sv__open_latency(&m->at[i]) ? capacity : 1 / sv__open_latency(&m->at[i]);\n"
             "    return 1 / capacity;"),
    Mutation("metapath.c", "5: high and low are one", "latency < low ? SV__LOW : SV__MEDIUM", "SV__LOW"),
    Mutation("decide.c", "5: thresholds are of the metapath's first latency, not of path 0 empty",
             "high_at = set->high * p->base;", "high_at = set->high * sv__open_latency(&p->meta.at[0]);"),
    Mutation("decide.c", "6: paths are opened though the last was not heard of",
             "} else if (p->probe != SV__NO_PATH) {", "} else if (0) {"),
    Mutation("decide.c", "6: any acknowledgement is one of the path that was opened", "if (p->probe == path)",
             "if (p->probe != SV__NO_PATH)"),
    Mutation("decide.c", "6: nothing is closed", "    uint32_t path = sv__metapath_close(&p->meta);\n",
             "    return;\n    uint32_t path = sv__metapath_close(&p->meta);\n"),
    Mutation("decide.c", "6: closed where it is medium, too", "    if (zone == SV__LOW) {", "    if (zone <= SV__MEDIUM) {"),
    Mutation("metapath.c", "7: all paths are as likely", "if (at * capacity < sum)", "if (at * m->count < i + 1)"),
    Mutation("metapath.c", "7: slow paths are the likely ones", "        sum += 1 / sv__open_latency(&m->at[i]);\n        if (at",
             "        sum += 1 / sv__open_latency(&m->at[m->count - 1 - i]);\n        if (at"),
    Mutation("balance.c", "7: it is the same draw each time", "(double)(sv_rng_next(rng) >> 11) * 0x1p-53", "(void)rng, 0.3"),
    # ---- acknowledgements and watchdogs ----
    Mutation("monitor.c", "8: all packets are acknowledged", "bool answers = head->last || a->set.ack_packets;",
             "bool answers = true;"),
    Mutation("monitor.c", "8: acknowledgements tell nothing of waiting", "    n->waited = head->waited;\n", ""),
    Mutation("monitor.c", "8: acknowledgements are sent a tick later",
             "bytes, now, n->mark, note);", "bytes, now + 1, n->mark, note);"),
    Mutation("balance.c", "9: only the first packet of a message counts", " +\n                     sv__ways_stream(a, p->from, others)",
             " + 0 * others"),
    Mutation("balance.c", "9: the way back does not count", "(double)(there + p->back)", "(double)there"),
    Mutation("pairs.c", "9: the way back is as long as the way there", ": channels + 1;", ": p->paths[0].channels;"),
    Mutation("empty.c", "9: adapters are as fast as links", "larger(byte, larger(a->model.inject, a->model.drain))", "byte"),
    Mutation("watchdog.c", "9: younger messages begin anew alone",
             "for (uint32_t i = 0; i < o->count; i++)\n            o->at[(o->first + i) & (o->room - 1)].since = now;",
             "for (uint32_t i = 0; i < 1; i++)\n            o->at[(o->first + i) & (o->room - 1)].since = now;"),
    Mutation("watchdog.c", "9: alarms of messages that were acknowledged hold",
             "return due < o->alarm ? arm(b, stage, pair, due) : SV_OK;", "return SV_OK;"),
    Mutation("watchdog.c", "9: alarms of messages that are all acknowledged hold",
             "bool sooner = o->count == 1 && now + span < o->alarm;", "bool sooner = false;"),
    Mutation("watchdog.c", "9: a watchdog runs out once", "    o->alarm = oldest->since + oldest->span;\n    return put(",
             "    if (oldest->since == now)\n        return SV_OK;\n    o->alarm = oldest->since + oldest->span;\n    return put("),
    Mutation("watchdog.c", "9: any acknowledgement is of the oldest", "o->at[(o->first + behind) & (o->room - 1)].acknowledged",
             "o->at[o->first].acknowledged"),
    Mutation("balance.c", "9: packets that choose for themselves know their message",
             "b->a->set.by_packet ? p->sent.serial : n->mark >> 8", "n->mark >> 8"),
    Mutation("balance.c", "9: each packet acknowledges its message", "if (b->fast && n->last)", "if (b->fast)"),
    Mutation("decide.c", "9: late acknowledgements end trials", "return p->trial > 0 ? SV_OK : high(b, p, now);",
             "return high(b, p, now);"),
    Mutation("decide.c", "9: nobody is late as long as a path was not heard of", "return p->trial > 0 ? SV_OK : high(b, p, now);",
             "return p->trial > 0 || p->probe != SV__NO_PATH ? SV_OK : high(b, p, now);"),
    # ---- contending flows ----
    Mutation("monitor.c", "10: one flow contends", "if (b->found.count < 2)", "if (b->found.count < 1)"),
    Mutation("monitor.c", "10: flows count by packets", "t->at[i].bytes += w->bytes;", "t->at[i].bytes += 1;"),
    Mutation("monitor.c", "10: the packet that leaves does not count", "    add(tallies, granted);\n", ""),
    Mutation("monitor.c", "10: those that contribute least", "a->bytes > b->bytes : a->flow", "a->bytes < b->bytes : a->flow"),
    Mutation("monitor.c", "10: small shares count", "if ((double)t->bytes >= share * (double)total)", "if (share >= 0 && total > 0)"),
    Mutation("monitor.c", "10: looks do not wait for each other", "if (now >= b->looked[out.i]) {", "if (1) {"),
    Mutation("monitor.c", "10: looks are as far apart whatever was seen", "now + b->look * b->found.count",
             "now + b->look"),
    Mutation("monitor.c", "10: what was seen is told once", "    head->note = a->set.by_router ? TOLD : note;\n",
             "    if (b->looked[out.i] != now + b->look * b->found.count)\n        return SV_OK;\n"
             "    head->note = a->set.by_router ? TOLD : note;\n"),
    Mutation("monitor.c", "11: packets that carry flows are looked for others", "(!a->set.by_router && head->note != 0)", "0"),
    Mutation("monitor.c", "11: control packets are looked for, too", "if (head->control || ", "if ("),
    Mutation("monitor.c", "11: what was told once is told again", "    p->carried = 0;\n", ""),
    Mutation("monitor.c", "11: the first flows stay", "    if (carries) {\n", "    if (carries && p->carried == 0) {\n"),
    Mutation("monitor.c", "11: only one source is told", "        n->uses++;\n        SV_TRY(sv_sim_send(",
             "        if (i > 0)\n            continue;\n        n->uses++;\n        SV_TRY(sv_sim_send("),
    Mutation("monitor.c", "11: a source is told for each of its flows",
             "if (i > 0 && sv__flow_from(n->flows.at[i - 1]) == source)", "if (0)"),
    Mutation("monitor.c", "11: acknowledgements with flows are no longer",
             "        bytes += sv__wire_predictive_bytes(sv__notes_at(&b->notes, n->told)->flows.count);\n", "        ;\n"),
    Mutation("balance.c", "11: there is no room for flows", "    if (!a->set.by_router)\n        a->policy.header_bytes +=",
             "    if (0)\n        a->policy.header_bytes +="),
    Mutation("balance.c", "11: a notice is for the first pair of its source",
             "                SV_TRY(sv__decide_notice(b, b->pairs.at[pair], now, &n->flows));\n",
             "                return sv__decide_notice(b, b->pairs.at[pair], now, &n->flows);\n"),
    Mutation("balance.c", "11: a notice is for the first address of a destination", "d < a->r->first[to + 1]; d++",
             "d < a->r->first[to] + 1; d++"),
    Mutation("store_file.c", "14: a better solution of a file is counted twice", "            a->routers[s->flows.router].patterns--;\n",
             "            ;\n"),
    # ---- solutions ----
    Mutation("store.c", "12: similarity by the smaller set", "a->count > b->count ? a->count : b->count, common",
             "a->count < b->count ? a->count : b->count, common"),
    Mutation("store.c", "12: alike is above", "similarity >= similar", "similarity > similar"),
    Mutation("store.c", "13: the first that is alike", "similarity > most) {", "best == NULL) {"),
    Mutation("store.c", "13: of several the newest", "&& similarity > most", "&& similarity >= most && similarity > 0"),
    Mutation("decide.c", "13: flows of other times count", "        p->newest.count = 0;\n", ""),
    Mutation("decide.c", "13: flows that come late do not count",
             "        begin_episode(p, flows); /* the first that come while it is */", "        ;"),
    Mutation("decide.c", "13: the newest flows count, not the first",
             "if (p->zone == SV__HIGH && p->episode.count == 0)", "if (p->zone == SV__HIGH && !p->asked)"),
    Mutation("decide.c", "13: paths that are open begin anew", "made.at[made.count++] = p->meta.at[at];",
             "sv__metapath_open(&made, path, empty_of(b, p, path), s->paths[i].waited);"),
    Mutation("decide.c", "13: a solution's paths begin empty", "empty_of(b, p, path), s->paths[i].waited);", "empty_of(b, p, path), 0);"),
    Mutation("decide.c", "13: what is open already is applied", "    if (sv__solution_covered(s, &p->meta)) {\n        s->failed = true;",
             "    if (0) {\n        s->failed = true;"),
    Mutation("decide.c", "13: what is open already has not failed", "        s->failed = true;\n        return SV_OK;",
             "        return SV_OK;"),
    Mutation("decide.c", "13: a trial is one longer", "p->trial = b->a->set.trial;", "p->trial = b->a->set.trial + 1;"),
    Mutation("decide.c", "13: solutions do not fail", "        p->applied->failed = true;\n", ""),
    Mutation("decide.c", "13: a solution's path is waited for", "    p->probe = SV__NO_PATH;\n    p->trial", "    p->trial"),
    Mutation("decide.c", "13: notices do not care for episodes", "    if (p->trial > 0 || known)", "    if (p->trial > 0)"),
    Mutation("decide.c", "13: a notice that is applied is no episode", "    p->zone = SV__HIGH;\n    begin_episode(p, &p->newest);",
             "    begin_episode(p, &p->newest);"),
    Mutation("decide.c", "14: path 0 alone is kept", "flows->count == 0 || p->meta.count < 2", "flows->count == 0"),
    Mutation("decide.c", "14: the newest is the best", "!added && latency >= s->latency && !s->failed", "0"),
    Mutation("decide.c", "14: what failed stays", "latency >= s->latency && !s->failed", "latency >= s->latency"),
    Mutation("store.c", "14: what failed once has failed for ever", "    s->failed = false;\n", ""),
    Mutation("decide.c", "14: kept whenever it is not high", "    if (p->zone == SV__HIGH)\n        SV_TRY(sv__decide_keep",
             "    if (p->zone != SV__LOW)\n        SV_TRY(sv__decide_keep"),
    # ---- the trend ----
    Mutation("trend.c", "15: a line that falls", "return slope > 0 ?", "return slope != 0 ?"),
    Mutation("trend.c", "15: through fewer samples", "if (t->count < t->room || t->room < 2)", "if (t->count < 2 || t->room < 2)"),
    Mutation("trend.c", "15: where it is now", " + slope * (double)(time - newest) : 0", " + 0 * (double)(time - newest) : 0"),
    Mutation("decide.c", "15: ahead by what it takes there", "set->ahead * (double)p->round", "set->ahead * p->base"),
    Mutation("decide.c", "15: nothing is forgotten", "    if (p->trend != NULL)\n        sv__trend_forget(p->trend);\n", ""),
    # ---- unasked ----
    Mutation("decide.c", "17: what was applied unasked is closed", "        if (!p->held)\n", "        if (1)\n"),
    Mutation("decide.c", "17: held though it has failed", "        p->held = false;\n", ""),
    Mutation("decide.c", "17: another solution ends what is held", "    p->applied = p->last = s;\n",
             "    p->applied = p->last = s;\n    p->held = false;\n"),
    Mutation("decide.c", "17: path 0 alone opens paths", "if (p->held && p->meta.count == 1)", "if (0)"),
    Mutation("decide.c", "17: what is held opens no paths", "if (p->held && p->meta.count == 1)", "if (p->held)"),
    Mutation("decide.c", "17: the oldest, path 0 alone or not", "if (!s->failed && s->num_paths > 1)", "if (!s->failed)"),
    Mutation("decide.c", "17: failed ones, too", "if (!s->failed && s->num_paths > 1)", "if (s->num_paths > 1)"),
    Mutation("decide.c", "17: path 0 alone that has failed", "if (!s->failed && alone == NULL)", "if (alone == NULL)"),
    Mutation("decide.c", "17: never path 0 alone", "    return alone;\n", "    return NULL;\n"),
    Mutation("decide.c", "17: the oldest, not the last", "    if (p->last != NULL && !p->last->failed)\n", "    if (0)\n"),
    Mutation("decide.c", "17: the last though it has failed", "    if (p->last != NULL && !p->last->failed)\n",
             "    if (p->last != NULL)\n"),
    Mutation("decide.c", "17: path 0 alone is applied", "    if (s->num_paths > 1)\n        SV_TRY(apply", "    if (1)\n        SV_TRY(apply"),
    Mutation("decide.c", "17: path 0 alone counts", "report.unasked += s->num_paths > 1;", "report.unasked += 1;"),
    Mutation("balance.c", "17: before every packet", "if (offset == 0 && a->set.unasked)", "if (a->set.unasked)"),
    Mutation("balance.c", "17: asked or not", "if (offset == 0 && a->set.unasked)", "if (offset == 0 && b->predictive)"),
    # ---- packets as bytes (Figs. 3.16 to 3.18) ----
    Mutation("wire.c", "formats: the second via is the first", "put32(bytes + 8, header->via[1]);", "put32(bytes + 8, header->via[0]);"),
    Mutation("wire.c", "formats: Header_id has one bit", "(bits >> BIT_ID) & 3", "(bits >> BIT_ID) & 1"),
    Mutation("wire.c", "formats: latencies are ticks", "uint64_t ns = ticks / SV_TICKS_A_NS;", "uint64_t ns = ticks;"),
    Mutation("wire.c", "formats: acknowledgements have no F", "(uint32_t)header->final << BIT_F",
             "(uint32_t)(header->final && !header->ack) << BIT_F"),
    Mutation("wire.c", "formats: MPI_sequence tells no path", "put32(bytes + 28, header->mpi_sequence);",
             "put32(bytes + 28, header->mpi_sequence & ~0xffu);"),
    Mutation("wire.c", "formats: router ids begin with 0", "p->router = get16(bytes + 4);",
             "p->router = (uint16_t)(get16(bytes + 4) - (get16(bytes + 4) > 0));"),
    Mutation("wire.c", "formats: flows without what is reserved", "put32(bytes + SV__WIRE_PREDICTIVE + SV__WIRE_FLOW * i, p->flows[i]);",
             "put32(bytes + SV__WIRE_PREDICTIVE - 2 + SV__WIRE_FLOW * i, p->flows[i]);"),
    # ---- kinds ----
    Mutation("fr_drb.c", "fr-drb is drb", "sv__balance_make(a, true, false)", "sv__balance_make(a, false, false)"),
    Mutation("pr_drb.c", "pr-drb is pr-fr-drb", "sv__balance_make(a, false, true)", "sv__balance_make(a, true, true)"),
    Mutation("pr_fr_drb.c", "pr-fr-drb is pr-drb", "sv__balance_make(a, true, true)", "sv__balance_make(a, false, true)"),
    Mutation("drb.c", "drb is fr-drb", "sv__balance_make(a, false, false)", "sv__balance_make(a, true, false)"),
]


if __name__ == "__main__":
    sys.exit(find_out("mutate_drb", "policies", ROOM, MUTATIONS, TESTS))
