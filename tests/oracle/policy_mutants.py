"""Mutants of the fast simulator where packets choose their way (rules 25 to 33 of
docs/simulator.md): what mutate_sim.py tries with oracle_test_sim_policy.
"""
from functools import partial

from support.marks import drop, expr, member, operand, stmt, term, through, token
from support.mutate import mutant

policy = partial(mutant, by="policy")

POLICY_MUTANTS = [
    # ---- VLs and ways ----
    policy("vls_port_one", 25, "VLs of the tables are counted from input port 1 on",
           token("1")),
    policy("vls_node", 25, "of tables by ports those of the node are counted", expr("true")),
    policy("adaptive_first", 25, "adaptive VLs come after those of one segment", through("*")),
    policy("segment_vls", 25, "all segments have the VLs of the first", drop()),
    policy("segment_vl", 25, "a segment begins on the VLs of the first", term("(uint8_t)vl")),
    policy("segment_port", 26, "a segment begins with the input port the packet came by",
           token("1")),
    policy("segment_sl", 26, "a packet keeps its SL in all segments", drop()),
    policy("via_twice", 26, "a switch that is a via twice begins one segment", token("if")),
    policy("first_sl", 26, "the SL of the first segment is that of the destination",
           term("message.destination")),
    policy("via_first", 26, "the first via is left out", token("1")),
    policy("escape_first", 27, "the escape VL is taken before adaptive ones",
           stmt("if (stands(x, channel, w, w->escape, lacking, next)) return true; $0")),
    policy("adaptive_last", 27, "adaptive VLs are tried from the last on",
           term("2 * first + x->adaptive - 1 - $0")),
    policy("adaptive_less", 27, "the last adaptive VL is not taken", term("$0 + 1")),
    policy("adaptive_lack", 27, "a VL that lacks credits for one lacks them for all",
           operand("true")),
    policy("escape_never", 27, "a packet without an adaptive VL waits for one", term("false")),
    policy("escape_vl", 27, "the VL that a packet stood for becomes its escape VL",
           member("vl")),
    # ---- deadlocks ----
    policy("stuck_escape", 27, "a packet is stuck if its escape VL is full", term("0"), seed=93),
    policy("stuck_list", 27, "those who wait for a channel are tried again when VL 0 has room",
           term("(size_t)$2 * x->m->vls + $3"), seed=102),
    policy("stuck_one", 27, "of adaptive VLs one counts", term("($0 > 0)"), at="stuck_escape",
           seed=154),
    policy("stuck_port_zero", 29, "packets at port 0 are not looked at",
           term("x->f->num_channels")),
    # ---- asking ----
    policy("ask_once", 28, "a policy by packet is asked when a message is opened only",
           expr("false")),
    policy("ask_each", 28, "all policies are asked for each packet", expr("$1 && $2"),
           at="ask_once"),
    policy("vl_stays", 28, "a message stays on the VL of its first packet", operand("false")),
    policy("vl_behind", 28, "a message goes behind others after each packet", operand("true"),
           at="vl_stays"),
    policy("offset_before", 28, "offsets are those of the packet before", term("$0 - $0 % 2")),
    policy("header_free", 28, "a policy's header takes no room", drop()),
    # ---- control packets ----
    policy("control_calls", 29, "control packets of a terminal are in the order of calls",
           operand("true")),
    policy("control_last", 29, "of those ready at one time the last call is first", token("<")),
    policy("control_early", 29, "a control packet is injected before it is ready",
           operand("false")),
    policy("control_credit", 29, "a control packet needs no credits", term("true")),
    policy("control_turn", 29, "one that a terminal sends in its own turn is looked at in that "
                               "tick", drop()),
    policy("control_tick", 29, "one that a terminal sends is looked at in the next tick",
           term("1")),
    policy("control_sent", 29, "a control packet is ready at a switch when it is sent", term("$2")),
    policy("control_delay", 29, "a switch's control packet is ready after its delay", drop()),
    policy("control_sl", 29, "a switch's control packet has SL 0", term("0")),
    policy("control_link", 29, "a control packet takes no link", drop()),
    policy("messages_first", 29, "messages go before control packets",
           stmt("SV_TRY(open_messages(x, t)); vls = injectable(x, t, channel, &next); if "
                "(vls == 0) $0"), operand("false")),
    policy("messages_open", 29, "messages are opened before a control packet is injected",
           stmt("SV_TRY(open_messages(x, t)); $0")),
    policy("port_zero_credit", 29, "port 0 gives credits back", operand("true")),
    policy("port_zero_queue", 29, "at port 0 there is one queue for all outputs", through(":")),
    # ---- waiting ----
    policy("waited_sum", 30, "what a packet waited is not summed up", token("=")),
    policy("patience_just", 30, "who waited for as long as patience lasts is told", token("<"),
           seed=439),
    policy("note_lost", 30, "what a hook notes is forgotten", drop()),
    policy("depart_before", 30, "departures are told before the packet is sent on",
           stmt("const sv__sim_want kept = *w; w = &kept; if (x->listens) "
                "SV_TRY(sv__policy_granted(x, w->packet, out, waited)); $0"), expr("SV_OK")),
    # ---- what can be seen ----
    policy("load_kept", 31, "what is granted counts in its switch", drop()),
    policy("waits_kept", 31, "what is granted still waits", drop()),
    policy("waits_vls", 31, "who waits is told by VLs, then by ports",
           operand("(size_t)$2 * (x->first_port[x->outputs[in].head + 1] - "
                   "x->first_port[x->outputs[in].head]) + port")),
    policy("waits_control", 31, "control packets are in the lists of those who wait",
           term("($0 && in >= x->f->num_channels)")),
    policy("backlog_link", 31, "a link's part is not counted", term("0")),
    policy("about_control", 31, "control packets are among those who wait", through("||")),
    policy("about_queue", 31, "all of a queue wait for the channel", expr("$1"),
           at="about_control"),
    policy("packets_full", 32, "a message of full packets has one more", term("$1")),
    policy("packets_none", 32, "a message of nothing has no packet", token("0")),
    # ---- packets that come early ----
    policy("early_none", 32, "a packet is delivered when it arrives", operand("true")),
    policy("early_order", 32, "early ones are in the order in which they arrived",
           stmt("number = pair->due + 1; while ($1 != SV_NONE) number++; $0")),
    policy("ring_half", 32, "a ring that grows forgets half of what it has", term("$0 / 2")),
    policy("ring_places", 32, "a ring that grows keeps places, not numbers", through("+")),
    policy("ring_long", 32, "a ring is as long as the last early packet is ahead", token(">")),
    policy("early_one", 32, "only one of those who were early is delivered at a time",
           stmt("return $1;")),
    policy("pairs_source", 32, "pairs are by source alone", stmt("to = 0; $0")),
    policy("early_header", 32, "headers of early packets count", drop()),
    policy("early_bytes", 32, "bytes that were early stay so", drop()),
    policy("detours_control", 32, "control packets' detours count", expr("1")),
    policy("early_since", 32, "what was early waited since it was injected",
           term("x->cargo[p].injected")),
    policy("hook_after", 33, "sources hear of a message before the hook is called",
           stmt("if (due) { sv_sim_head head = x->heads[p]; SV_TRY(deliver(x, p, to, time)); if "
                "(x->policy->hooks->deliver != NULL) "
                "SV_TRY(x->policy->hooks->deliver(x->policy->hooks->user, x, x->now, to, "
                "&head)); return catch_up(x, pair, to, time); } $0")),
    # ---- when ----
    policy("timer_before", 33, "the timer is called before packets arrive", expr("$1.1 <= $1.2"),
           seed=357),
    policy("timer_after", 33, "the timer is called after switches have granted", expr("$1"),
           at="timer_before"),
    policy("timer_sooner", 33, "what is planned for the timer counts though it asks for "
                               "something earlier", expr("$2")),
    policy("timer_later", 33, "a later call of the timer replaces an earlier one", drop()),
    policy("end_control", 33, "a run waits for control packets", operand("$1.1 == $2.1")),
    policy("end_last", 33, "at the last tick only the last packet arrives", through(":"), seed=396),
    policy("end_tick", 33, "a run goes on to the end of its last tick",
           expr("$2 == x->last_arrival ? $2 : $3"), at="end_last", seed=103),
    # ---- more ----
    policy("loop_segments", 26, "a loop is looked for over all segments", drop()),
    policy("timer_lost", 33, "a timer that is asked for is not called", stmt("(void)$2;")),
    policy("control_vl", 29, "a control packet takes a turn",
           stmt("$0 x->outputs[channel].last_vl = c.vl;"), at="control_link"),
    policy("control_small", 29, "small control packets of switches are not expected", drop()),
    policy("data_small", 29, "small data packets are not expected", drop()),
    policy("control_wants", 29, "control packets that want an output are not counted", drop()),
    policy("control_ready", 29, "a control packet is injected when it is ready", term("$1"),
           at="control_sent"),
    policy("control_note", 29, "control packets come without what is noted", term("0")),
    policy("adaptive_room", 27, "with adaptive VLs an output has room for everything", drop()),
    policy("stuck_target", 26, "a stuck packet is told with the target of its segment",
           through(":"), seed=338),
    policy("timer_again", 33, "a timer is called again in the same tick", drop()),
    policy("pairs_either", 32, "pairs are of one direction or the other",
           stmt("uint32_t least = from < to ? from : to; to = from + to - least; from = least; "
                "$0"), at="pairs_source"),
    policy("backlog_pace", 31, "a link's part goes by the crossing's pace", member("cross")),
]
