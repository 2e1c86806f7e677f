/*
 * tree.c: k-ary n-trees and extended generalized fat trees.
 *
 * Idea: XGFT(h; m1…mh; w1…wh) has h + 1 levels of switches; one of level i has m_i children and
 * w_{i+1} parents. A switch of level i is a pair (A, B): A counts the subtrees it belongs to, in
 * digits of m_h … m_{i+1}, and B its copies, in digits of w_1 … w_i. Going up from level i drops
 * A's last digit and puts a new first digit before B; switches that agree in the rest are joined
 * (Öhring et al. 1995). A k-ary n-tree is XGFT(n-1; k…k; k…k): the thesis' Eq. 3.3 as amended in
 * docs/papers.md. Terminals hang on level 0.
 *
 * Numbers: level 0 first, then upwards; within a level A * (copies) + B.
 * Slots: children by digit, then parents by digit.
 * Cost: linear in the cables.
 */
#include "topology/net.h"

struct level {
    uint64_t first, groups, copies; /* switches first … first + groups * copies - 1 */
};

static sv_status lay_out(sv__topology_net *net, uint32_t h, const uint64_t *m, const uint64_t *w,
                         struct level *levels)
{
    uint64_t groups = 1, copies = 1, all = 0, size;
    for (uint32_t i = 0; i < h; i++)
        if (!sv__product(groups, m[i], &groups))
            return sv__spec_infeasible(net->spec, "more than 2^32 leaf switches");
    for (uint32_t i = 0; i <= h; i++) {
        if (!sv__product(groups, copies, &size))
            return sv__spec_infeasible(net->spec, "more than 2^32 switches in level %u", i);
        levels[i] = (struct level){all, groups, copies};
        all += size;
        if (i == h)
            break;
        groups /= m[i];
        if (!sv__product(copies, w[i], &copies))
            return sv__spec_infeasible(net->spec, "more than 2^32 switches in level %u", i + 1);
    }
    return sv__net_begin(net, all);
}

static sv_status name_level(sv__topology_net *net, const struct level *level, uint32_t i)
{
    uint64_t size = level->groups * level->copies;
    for (uint64_t k = 0; k < size; k++) {
        uint32_t s = (uint32_t)(level->first + k);
        net->leaf[s] = i == 0;
        SV_TRY(i == 0 ? sv__net_name(net, s, "leaf%u", (unsigned)k)
                      : sv__net_name(net, s, "l%u-%u", i, (unsigned)k));
    }
    return SV_OK;
}

/* Cables between level i and the one above it: mi children, wi parents. */
static sv_status join(sv__topology_net *net, const struct level *low, const struct level *high,
                      uint64_t mi, uint64_t wi)
{
    uint64_t size = low->groups * low->copies;
    for (uint64_t k = 0; k < size; k++) {
        uint64_t a = k / low->copies, b = k % low->copies;
        for (uint64_t up = 0; up < wi; up++) {
            uint64_t parent = a / mi * high->copies + up * low->copies + b;
            SV_TRY(sv__net_cable(net, (uint32_t)(low->first + k), (uint32_t)(SV__SLOTS / 2 + up),
                                 (uint32_t)(high->first + parent), (uint32_t)(a % mi), 1));
        }
    }
    return SV_OK;
}

sv_status sv__build_xgft(sv__topology_net *net, uint32_t h, const uint64_t *m, const uint64_t *w)
{
    struct level levels[SV__MAX_VALUES + 1];
    SV_TRY(lay_out(net, h, m, w, levels));
    for (uint32_t i = 0; i <= h; i++)
        SV_TRY(name_level(net, &levels[i], i));
    uint64_t ports = 0;
    for (uint32_t i = 0; i < h; i++)
        ports += 2 * levels[i].groups * levels[i].copies * w[i];
    SV_TRY(sv__net_expect(net, ports));
    for (uint32_t i = 0; i < h; i++)
        SV_TRY(join(net, &levels[i], &levels[i + 1], m[i], w[i]));
    return SV_OK;
}

static sv_status build_xgft(sv__topology_net *net)
{
    uint64_t h, m[SV__MAX_VALUES], w[SV__MAX_VALUES];
    size_t num_m, num_w;
    SV_TRY(sv__spec_number(net->spec, "h", 0, SV__MAX_VALUES, SV__REQUIRED, &h));
    SV_TRY(sv__spec_list(net->spec, "m", 1, 60000, m, &num_m));
    SV_TRY(sv__spec_list(net->spec, "w", 1, 60000, w, &num_w));
    if (num_m != h || num_w != h)
        return sv__spec_fail(net->spec, "h=%u needs %u numbers in m= and in w=, not %zu and %zu",
                             (unsigned)h, (unsigned)h, num_m, num_w);
    return sv__build_xgft(net, (uint32_t)h, m, w);
}

static sv_status build_kary(sv__topology_net *net)
{
    uint64_t k, n, all[SV__MAX_VALUES];
    SV_TRY(sv__spec_number(net->spec, "k", 1, 60000, SV__REQUIRED, &k));
    SV_TRY(sv__spec_number(net->spec, "n", 1, SV__MAX_VALUES, SV__REQUIRED, &n));
    for (uint64_t i = 0; i + 1 < n; i++)
        all[i] = k;
    return sv__build_xgft(net, (uint32_t)(n - 1), all, all);
}

const sv__family sv__kary = {
    {"kary", "k-ary n-tree: n levels of k^(n-1) switches, terminals on the leaves",
     "kary:k=10,n=3,hosts=10",
     (const sv_topology_key[]){
         {"k", "children and parents of a switch"}, {"n", "levels of switches"}, {NULL, NULL}}},
    build_kary};
const sv__family sv__xgft = {
    {"xgft", "extended generalized fat tree, terminals on the leaves",
     "xgft:h=2,m=6/6,w=3/3,hosts=12",
     (const sv_topology_key[]){{"h", "levels of switches, less one"},
                               {"m", "children of a switch of level 1, 2, …: m=6/6"},
                               {"w", "parents of a switch of level 0, 1, …: w=3/3"},
                               {NULL, NULL}}},
    build_xgft};
