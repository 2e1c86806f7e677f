"""Wrong versions of the fast simulator where packets choose their way (rules 25 to 33): what
mutate_sim.py tries with oracle_test_sim_policy."""
from collections import namedtuple

# same: why nothing changes, where that is so.
Mutation = namedtuple("Mutation", "file rule what old new same", defaults=(None,))

POLICY_MUTATIONS = [
    # ---- policy.c: lanes and ways ----
    Mutation("policy.c", 25, "lanes of the tables are counted from input port 1 on",
             "for (unsigned in = 0; in <= f->switches[v].ports; in++)",
             "for (unsigned in = 1; in <= f->switches[v].ports; in++)"),
    Mutation("policy.c", 25, "of tables by ports those of the node are counted",
             "if (v >= f->num_switches || r->lanes_by_ports[v] == NULL) {", "if (true) {"),
    Mutation("policy.c", 25, "adaptive lanes come after those of one segment",
             "x->policy->first_adaptive = p->segments * lanes;",
             "x->policy->first_adaptive = lanes;"),
    Mutation("switch.c", 25, "all segments have the lanes of the first",
             "packet->out_lane += (uint8_t)(packet->segment * x->lane_step);", ";"),
    Mutation("policy.c", 25, "a segment begins on the lanes of the first",
             "(uint8_t)(lane + packet->segment * x->lane_step)", "(uint8_t)lane"),
    Mutation("policy.c", 26, "a segment begins with the input port the packet came by",
             "sv_route_lanes(x->r, x->f, at, 0, port)", "sv_route_lanes(x->r, x->f, at, 1, port)"),
    Mutation("policy.c", 26, "a packet keeps its SL in all segments",
             "    packet->sl = (uint8_t)sl;\n    packet->out = out;", "    packet->out = out;"),
    Mutation("policy.c", 26, "a switch that is a via twice begins one segment",
             "while (x->r->node[packet->destination].i == at.i && head->segment < head->way.vias) {",
             "if (x->r->node[packet->destination].i == at.i && head->segment < head->way.vias) {"),
    Mutation("policy.c", 26, "the SL of the first segment is that of the destination",
             "sv_route_sl(x->r, (sv_node){x->f->num_switches + t}, target)",
             "sv_route_sl(x->r, (sv_node){x->f->num_switches + t}, message.destination)"),
    Mutation("policy.c", 26, "the first via is left out",
             "packet->destination = target_of(&plan->way, packet->destination, 0);",
             "packet->destination = target_of(&plan->way, packet->destination, 1);"),
    Mutation("policy.c", 27, "the escape lane is taken before adaptive ones",
             "    unsigned first = x->policy->first_adaptive;\n    for (unsigned lane",
             "    unsigned first = x->policy->first_adaptive;\n"
             "    if (stands(x, channel, w, w->escape, lacking, next))\n        return true;\n"
             "    for (unsigned lane"),
    Mutation("policy.c", 27, "adaptive lanes are tried from the last on",
             "if (stands(x, channel, w, lane, lacking, next))\n            return true;",
             "if (stands(x, channel, w, 2 * first + x->adaptive - 1 - lane, lacking, next))\n"
             "            return true;"),
    Mutation("policy.c", 27, "the last adaptive lane is not taken",
             "lane < first + x->adaptive; lane++", "lane + 1 < first + x->adaptive; lane++"),
    Mutation("policy.c", 27, "a lane that lacks credits for one lacks them for all",
             "if (w->blocks == x->least)\n        *lacking", "*lacking"),
    Mutation("policy.c", 27, "a packet without an adaptive lane waits for one",
             "return stands(x, channel, w, w->escape, lacking, next);", "return false;"),
    Mutation("switch.c", 27, "the lane that a packet stood for becomes its escape lane",
             ".escape = p->out_lane", ".escape = p->lane"),
    # ---- deadlock.c ----
    Mutation("deadlock.c", 27, "a packet is stuck if its escape lane is full",
             "for (uint32_t i = 0; i < x->adaptive && full; i++)",
             "for (uint32_t i = 0; i < 0 && full; i++)"),
    Mutation("deadlock.c", 27, "those who wait for a channel are tried again when lane 0 has room",
             "size_t in = list_of(t, t->channel[q], packet->lane);",
             "size_t in = (size_t)t->channel[q] * x->m->lanes + packet->lane;"),
    Mutation("deadlock.c", 27, "of adaptive lanes one counts",
             "for (uint32_t i = 0; i < x->adaptive && full; i++)",
             "for (uint32_t i = 0; i < (x->adaptive > 0) && full; i++)"),
    Mutation("deadlock.c", 29, "packets at port 0 are not looked at",
             "for (uint32_t c = 0; c < x->num_inputs; c++)\n        for (uint32_t q",
             "for (uint32_t c = 0; c < x->f->num_channels; c++)\n        for (uint32_t q"),
    # ---- asking ----
    Mutation("adapter.c", 28, "a policy by packet is asked when a message is opened only",
             "bool again = !packet->last && x->policy != NULL && sv__policy_by_packet(x);",
             "bool again = false;"),
    Mutation("adapter.c", 28, "all policies are asked for each packet",
             "x->policy != NULL && sv__policy_by_packet(x);", "x->policy != NULL;"),
    Mutation("adapter.c", 28, "a message stays on the lane of its first packet",
             "if (other != lane)\n", "if (false)\n"),
    Mutation("adapter.c", 28, "a message goes behind others after each packet",
             "if (other != lane)\n", "if (true)\n"),
    Mutation("policy.c", 28, "offsets are those of the packet before",
             "&message, x->opened[i].sent, &way)",
             "&message, x->opened[i].sent - x->opened[i].sent % 2, &way)"),
    Mutation("run.c", 28, "a policy's header takes no room",
             "header += setup->policy->header_bytes;", ";"),
    # ---- control.c ----
    Mutation("control.c", 29, "control packets of a terminal are in the order of calls",
             "} else if (at[box->last].ready <= at[i].ready) {", "} else if (true) {"),
    Mutation("control.c", 29, "of those ready at one time the last call is first",
             "while (at[*link].ready <= at[i].ready)", "while (at[*link].ready < at[i].ready)"),
    Mutation("control.c", 29, "a control packet is injected before it is ready",
             "if (c.ready > x->now)\n        when = c.ready;\n    else\n", ""),
    Mutation("control.c", 29, "a control packet needs no credits",
             "may = sv__credits_there(x, channel, c.lane, sv__blocks(c.length), &when);",
             "may = true;"),
    Mutation("control.c", 29, "one that a terminal sends in its own turn is looked at in that tick",
             "sv__max(c->ready, x->now + (t < k->turns))", "sv__max(c->ready, x->now)"),
    Mutation("control.c", 29, "one that a terminal sends is looked at in the next tick",
             "sv__max(c->ready, x->now + (t < k->turns))", "sv__max(c->ready, x->now + 1)"),
    Mutation("control.c", 29, "a control packet is ready at a switch when it is sent",
             "uint64_t injected = sv__max(c->ready, x->now);", "uint64_t injected = x->now;"),
    Mutation("control.c", 29, "a switch's control packet is ready after its delay",
             "injected - x->m->switch_delay - x->m->cable", "injected - x->m->cable"),
    Mutation("control.c", 29, "a switch's control packet has SL 0",
             "packet->sl = way.sl;", "packet->sl = 0;"),
    Mutation("control.c", 29, "a control packet takes no link",
             "    sv__take_link(x, channel, c.lane, c.length);\n", ""),
    Mutation("adapter.c", 29, "messages go before control packets",
             "    if (x->policy != NULL)\n        SV_TRY(sv__control_inject(x, t, channel, &sent, "
             "&next));\n    if (!sent) {\n        SV_TRY(open_messages(x, t));\n"
             "        lanes = injectable(x, t, channel, &next);\n    }",
             "    SV_TRY(open_messages(x, t));\n    lanes = injectable(x, t, channel, &next);\n"
             "    if (x->policy != NULL && lanes == 0)\n"
             "        SV_TRY(sv__control_inject(x, t, channel, &sent, &next));"),
    Mutation("adapter.c", 29, "messages are opened before a control packet is injected",
             "    if (x->policy != NULL)\n        SV_TRY(sv__control_inject(",
             "    SV_TRY(open_messages(x, t));\n    if (x->policy != NULL)\n"
             "        SV_TRY(sv__control_inject("),
    Mutation("switch.c", 29, "port 0 gives credits back",
             "if (w->in < x->f->num_channels)", "if (true)"),
    Mutation("setup.c", 29, "at port 0 there is one queue for all outputs",
             "queues += x->m->voq ? x->first_port[s + 1] - x->first_port[s] : 1;", "queues += 1;"),
    # ---- waiting ----
    Mutation("policy.c", 30, "what a packet waited is not summed up",
             "x->waited[p] += waited;", "x->waited[p] = waited;"),
    Mutation("policy.c", 30, "who waited for as long as patience lasts is told",
             "waited <= hooks->patience", "waited < hooks->patience"),
    Mutation("policy.c", 30, "what a hook notes is forgotten",
             "    x->heads[p].note = head.note;\n", ""),
    Mutation("switch.c", 30, "departures are told before the packet is sent on",
             "    SV_TRY(sv__send(x, w->packet, out, w->lane, start, here));\n"
             "    if (here && x->load != NULL)\n        sv__waiting_add(x, w->packet, out);\n"
             "    return x->listens ? sv__policy_granted(x, w->packet, out, waited) : SV_OK;",
             "    uint32_t p = w->packet; unsigned to = w->lane;\n"
             "    if (x->listens)\n        SV_TRY(sv__policy_granted(x, p, out, waited));\n"
             "    SV_TRY(sv__send(x, p, out, to, start, here));\n"
             "    if (here && x->load != NULL)\n        sv__waiting_add(x, p, out);\n"
             "    return SV_OK;"),
    # ---- what can be seen ----
    Mutation("waiting.c", 31, "what is granted counts in its switch",
             "    x->load[out] -= x->packets[p].length;\n", ""),
    Mutation("waiting.c", 31, "what is granted still waits",
             "    list->first = w->next[p];\n", ""),
    Mutation("waiting.c", 31, "who waits is told by lanes, then by ports",
             "return (size_t)port * x->m->lanes + lane;",
             "return (size_t)lane * (x->first_port[x->outputs[in].head + 1] - "
             "x->first_port[x->outputs[in].head]) + port;"),
    Mutation("waiting.c", 31, "control packets are in the lists of those who wait",
             "    if (w->lists == NULL || packet->control)\n        return;\n"
             "    sv__queue *list = list_of(x, in, packet->lane, packet->out);",
             "    if (w->lists == NULL || (packet->control && in >= x->f->num_channels))\n"
             "        return;\n"
             "    sv__queue *list = list_of(x, in, packet->lane, packet->out);"),
    Mutation("waiting.c", 31, "a link's part is not counted",
             "(o->link_free > x->now ? (o->link_free - x->now) / o->byte : 0)", "0"),
    Mutation("waiting.c", 31, "control packets are among those who wait",
             "if (packet->control || packet->out != out)", "if (packet->out != out)"),
    Mutation("waiting.c", 31, "all of a queue wait for the channel",
             "if (packet->control || packet->out != out)", "if (packet->control)"),
    Mutation("policy.c", 32, "a message of full packets has one more",
             "(message->bytes - 1) / x->m->mtu_bytes + 1", "message->bytes / x->m->mtu_bytes + 1"),
    Mutation("policy.c", 32, "a message of nothing has no packet",
             "message->bytes == 0 ? 1 :", "message->bytes == 0 ? 0 :"),
    # ---- reorder.c ----
    Mutation("reorder.c", 32, "a packet is delivered when it arrives",
             "bool due = sequence == x->policy->pairs.at[pair].due;", "bool due = true;"),
    Mutation("reorder.c", 32, "early ones are in the order in which they arrived",
             "pair->early[number & (pair->room - 1)] = p;",
             "number = pair->due + 1;\n    while (pair->early[number & (pair->room - 1)] != SV_NONE)"
             "\n        number++;\n    pair->early[number & (pair->room - 1)] = p;"),
    Mutation("reorder.c", 32, "a ring that grows forgets half of what it has",
             "i < pair->room; i++", "i < pair->room / 2; i++"),
    Mutation("reorder.c", 32, "a ring that grows keeps places, not numbers",
             "uint32_t number = pair->due + i;", "uint32_t number = i;"),
    Mutation("reorder.c", 32, "a ring is as long as the last early packet is ahead",
             "ahead >= pair->room", "ahead > pair->room"),
    Mutation("reorder.c", 32, "only one of those who were early is delivered at a time",
             "        SV_TRY(deliver(x, p, to, time));\n    }\n}",
             "        return deliver(x, p, to, time);\n    }\n}"),
    Mutation("reorder.c", 32, "pairs are by source alone",
             "*pair = sv_cells_get(", "to = 0;\n    *pair = sv_cells_get("),
    Mutation("reorder.c", 32, "headers of early packets count",
             "k->early[to] += x->packets[p].length - x->header;",
             "k->early[to] += x->packets[p].length;"),
    Mutation("reorder.c", 32, "bytes that were early stay so",
             "        k->early[to] -= packet->length - x->header;\n", ""),
    Mutation("policy.c", 32, "control packets' detours count",
             "x->result->detours += plan->way.vias > 0;", "x->result->detours++;"),
    Mutation("reorder.c", 32, "what was early waited since it was injected",
             "    x->packets[p].start = time;\n    k->early", "    x->packets[p].start = "
             "x->cargo[p].injected;\n    k->early"),
    Mutation("reorder.c", 33, "sources hear of a message before the hook is called",
             "    if (x->policy->hooks->deliver != NULL)\n        SV_TRY(hear(x, p, to));\n"
             "    if (!due)\n",
             "    if (due) {\n        sv_sim_head head = x->heads[p];\n"
             "        SV_TRY(deliver(x, p, to, time));\n"
             "        if (x->policy->hooks->deliver != NULL)\n"
             "            SV_TRY(x->policy->hooks->deliver(x->policy->hooks->user, x, x->now, to, "
             "&head));\n        return catch_up(x, pair, to, time);\n    }\n"
             "    if (x->policy->hooks->deliver != NULL)\n        SV_TRY(hear(x, p, to));\n"
             "    if (!due)\n"),
    # ---- when ----
    Mutation("policy.c", 33, "the timer is called before packets arrive",
             "if (k->next < event || (k->next == event && !sv__events_arrives(x))) {",
             "if (k->next <= event) {"),
    Mutation("policy.c", 33, "the timer is called after switches have granted",
             "if (k->next < event || (k->next == event && !sv__events_arrives(x))) {",
             "if (k->next < event) {"),
    Mutation("policy.c", 33, "what is planned for the timer counts though it asks for something "
             "earlier", "k->next = again < k->next ? again : k->next;", "k->next = again;"),
    Mutation("policy.c", 33, "a later call of the timer replaces an earlier one",
             "if (k->hooks->timer != NULL && time < k->next)", "if (k->hooks->timer != NULL)"),
    Mutation("policy.c", 33, "a run waits for control packets",
             "return x->pending == 0 && x->injected - x->control_injected == x->arrived - "
             "x->control_arrived;", "return x->pending == 0 && x->injected == x->arrived;"),
    Mutation("policy.c", 33, "at the last tick only the last packet arrives",
             "return arrives ? next : SV_NEVER;", "return SV_NEVER;"),
    Mutation("policy.c", 33, "a run goes on to the end of its last tick",
             "return arrives ? next : SV_NEVER;", "return next == x->last_arrival ? next : SV_NEVER;"),
    # ---- more ----
    Mutation("policy.c", 26, "a loop is looked for over all segments",
             "    packet->hops = 1;\n", ""),
    Mutation("policy.c", 33, "a timer that is asked for is not called",
             "        k->next = time;\n", "        (void)time;\n"),
    Mutation("control.c", 29, "a control packet takes a turn",
             "    sv__take_link(x, channel, c.lane, c.length);\n",
             "    sv__take_link(x, channel, c.lane, c.length);\n"
             "    x->outputs[channel].last_lane = c.lane;\n"),
    Mutation("control.c", 29, "small control packets of switches are not expected",
             "    x->least = blocks < x->least ? blocks : x->least;\n", ""),
    Mutation("policy.c", 29, "small data packets are not expected",
             "    x->least_data = blocks < x->least_data ? blocks : x->least_data;\n",
             "    (void)blocks;\n"),
    Mutation("switch.c", 29, "control packets that want an output are not counted",
             "        x->controls[p->out]++;\n", "        (void)0;\n"),
    Mutation("control.c", 29, "a control packet is injected when it is ready",
             "uint64_t injected = sv__max(c->ready, x->now);", "uint64_t injected = c->ready;"),
    Mutation("control.c", 29, "control packets come without what is noted",
             ".note = c->note,", ".note = 0,"),
    Mutation("switch.c", 27, "with adaptive lanes an output has room for everything",
             "        if (time <= x->now)\n            time = sv__room(x, o, w->blocks);\n", ""),
    Mutation("deadlock.c", 26, "a stuck packet is told with the target of its segment",
             "x->policy != NULL ? x->heads[p].destination : packet->destination",
             "packet->destination"),
    Mutation("stage.c", 33, "a timer is called again in the same tick",
             "time = sv__max(time, x->now + 1);", "time = sv__max(time, x->now);"),
    Mutation("reorder.c", 32, "pairs are of one direction or the other",
             "*pair = sv_cells_get(", "uint32_t least = from < to ? from : to;\n"
             "    to = from + to - least;\n    from = least;\n    *pair = sv_cells_get("),
    Mutation("waiting.c", 31, "a link's part goes by the crossing's pace",
             "(o->link_free - x->now) / o->byte", "(o->link_free - x->now) / o->cross"),
]
