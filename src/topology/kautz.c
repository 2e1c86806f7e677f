/*
 * kautz.c: Kautz graphs with full-duplex cables.
 *
 * Idea: switches are the strings of k symbols out of d + 1 in which neighbours differ; one is
 * joined to every string that drops its first symbol and appends another (thesis Eq. 3.4, 3.5).
 * Every arc is a cable, also where the reverse arc exists: those pairs get two cables, as the
 * link counts of the thesis' tables require (docs/papers.md).
 *
 * Numbers: the first symbol, then each next one's rank among the d that differ from its
 * predecessor, as one number with digits (d + 1), d, d, ….
 * Slots: arcs out by the appended symbol's rank, then arcs in by the dropped one's.
 * Cost: linear in the cables, times k.
 */
#include "topology/net.h"

static uint64_t rank_after(uint64_t previous, uint64_t symbol)
{
    return symbol < previous ? symbol : symbol - 1;
}

static uint64_t symbol_after(uint64_t previous, uint64_t rank)
{
    return rank < previous ? rank : rank + 1;
}

static void to_string(uint64_t number, uint64_t d, uint64_t k, uint64_t *string)
{
    uint64_t ranks[SV__MAX_VALUES];
    for (uint64_t i = k; i-- > 1; number /= d)
        ranks[i] = number % d;
    string[0] = number;
    for (uint64_t i = 1; i < k; i++)
        string[i] = symbol_after(string[i - 1], ranks[i]);
}

static uint64_t to_number(const uint64_t *string, uint64_t d, uint64_t k)
{
    uint64_t number = string[0];
    for (uint64_t i = 1; i < k; i++)
        number = number * d + rank_after(string[i - 1], string[i]);
    return number;
}

static sv_status name_string(sv__topology_net *net, uint32_t s, const uint64_t *string, uint64_t k)
{
    char name[96];
    size_t length = 0;
    for (uint64_t i = 0; i < k && length + 8 < sizeof name; i++) {
        if (i > 0)
            name[length++] = '.';
        char digits[8];
        size_t count = 0;
        uint64_t symbol = string[i];
        do
            digits[count++] = (char)('0' + symbol % 10);
        while ((symbol /= 10) > 0);
        while (count > 0)
            name[length++] = digits[--count];
    }
    name[length] = 0;
    return sv__net_name(net, s, "sw%s", name);
}

static sv_status build_kautz(sv__topology_net *net)
{
    uint64_t d, k, switches, string[SV__MAX_VALUES], next[SV__MAX_VALUES];
    SV_TRY(sv__spec_number(net->spec, "d", 1, 30000, SV__REQUIRED, &d));
    SV_TRY(sv__spec_number(net->spec, "k", 1, SV__MAX_VALUES, SV__REQUIRED, &k));
    switches = d + 1;
    for (uint64_t i = 1; i < k; i++)
        if (!sv__product(switches, d, &switches))
            return sv__spec_infeasible(net->spec, "more than 2^32 switches");
    SV_TRY(sv__net_begin(net, switches));
    SV_TRY(sv__net_expect(net, 2 * switches * d));
    for (uint32_t s = 0; s < net->num_switches; s++) {
        to_string(s, d, k, string);
        SV_TRY(name_string(net, s, string, k));
        for (uint64_t i = 1; i < k; i++)
            next[i - 1] = string[i];
        for (uint64_t rank = 0; rank < d; rank++) {
            next[k - 1] = symbol_after(string[k - 1], rank);
            uint64_t dropped =
                k > 1 ? rank_after(string[1], string[0]) : rank_after(next[0], string[0]);
            SV_TRY(sv__net_cable(net, s, (uint32_t)rank, (uint32_t)to_number(next, d, k),
                                 (uint32_t)(d + dropped), 1));
        }
    }
    return SV_OK;
}

const sv__family sv__kautz = {
    {"kautz", "Kautz graph of degree d and diameter k, every arc a full-duplex cable",
     "kautz:d=2,k=4",
     (const sv_topology_key[]){
         {"d", "arcs out of a switch"}, {"k", "symbols of a switch's string"}, {NULL, NULL}}},
    build_kautz};
