/*
 * hyperx.c: HyperX, flattened butterflies and full meshes.
 *
 * Idea: switches are points of an n-dimensional box; two that differ in one coordinate only are
 * joined (Ahn et al. 2009), by as many cables as that dimension's copies say. A k-ary n-flat
 * flattened butterfly (Kim et al. 2007) is a HyperX of n - 1 dimensions of k; a full mesh one of
 * one dimension.
 *
 * Slots: dimension by dimension, by the peer's coordinate.
 * Cost: linear in the cables.
 */
#include <stdio.h>

#include "topology/net.h"

static sv_status name_point(sv__topology_net *net, uint32_t s, const uint64_t *dims, size_t count)
{
    char name[96];
    uint64_t rest = s, x[SV__MAX_VALUES];
    for (size_t k = count; k-- > 0; rest /= dims[k])
        x[k] = rest % dims[k];
    int length = snprintf(name, sizeof name, "sw");
    for (size_t k = 0; k < count; k++)
        length += snprintf(name + length, sizeof name - (size_t)length, "%s%u", k == 0 ? "" : "-",
                           (unsigned)x[k]);
    return sv__net_name(net, s, "%s", name);
}

sv_status sv__build_hyperx(sv__topology_net *net, const uint64_t *dims, size_t count,
                           const uint64_t *copies)
{
    uint64_t switches = 1, stride = 1;
    for (size_t k = 0; k < count; k++)
        if (!sv__product(switches, dims[k], &switches))
            return sv__spec_infeasible(net->spec, "more than 2^32 switches");
    uint64_t ports = 0;
    for (size_t k = 0; k < count; k++)
        ports += (dims[k] - 1) * copies[k];
    SV_TRY(sv__net_begin(net, switches));
    SV_TRY(sv__net_expect(net, switches * ports));
    for (uint32_t s = 0; s < net->num_switches; s++)
        SV_TRY(name_point(net, s, dims, count));
    uint32_t base = 0;
    for (size_t k = 0; k < count; k++)
        base += (uint32_t)dims[k];
    for (size_t k = count; k-- > 0; stride *= dims[k]) {
        base -= (uint32_t)dims[k];
        for (uint32_t s = 0; s < net->num_switches; s++) {
            uint64_t x = s / stride % dims[k];
            for (uint64_t to = x + 1; to < dims[k]; to++)
                SV_TRY(sv__net_cable(net, s, base + (uint32_t)to, (uint32_t)(s + (to - x) * stride),
                                     base + (uint32_t)x, (uint32_t)copies[k]));
        }
    }
    return SV_OK;
}

static sv_status build_hyperx(sv__topology_net *net)
{
    uint64_t dims[SV__MAX_VALUES], copies[SV__MAX_VALUES];
    size_t count, num_copies;
    SV_TRY(sv__spec_dims(net->spec, 1, 60000, dims, &count));
    SV_TRY(sv__spec_list(net->spec, "k", 1, 1000, copies, &num_copies));
    if (num_copies != 0 && num_copies != count)
        return sv__spec_fail(net->spec, "k= has %zu numbers for %zu dimensions", num_copies, count);
    for (size_t i = num_copies; i < count; i++)
        copies[i] = 1;
    return sv__build_hyperx(net, dims, count, copies);
}

static sv_status build_flatfly(sv__topology_net *net)
{
    uint64_t k, n, dims[SV__MAX_VALUES], copies[SV__MAX_VALUES];
    SV_TRY(sv__spec_number(net->spec, "k", 1, 60000, SV__REQUIRED, &k));
    SV_TRY(sv__spec_number(net->spec, "n", 1, SV__MAX_VALUES, SV__REQUIRED, &n));
    for (uint64_t i = 0; i + 1 < n; i++) {
        dims[i] = k;
        copies[i] = 1;
    }
    return sv__build_hyperx(net, dims, (size_t)n - 1, copies);
}

static sv_status build_fullmesh(sv__topology_net *net)
{
    uint64_t size, one = 1;
    SV_TRY(sv__spec_size(net->spec, 1, 60000, &size));
    return sv__build_hyperx(net, &size, 1, &one);
}

const sv__family sv__hyperx = {
    {"hyperx", "HyperX: complete graphs in every dimension", "hyperx:12x8",
     (const sv_topology_key[]){{"k", "cables between two switches, by dimension: k=1/2"},
                               {NULL, NULL}}},
    build_hyperx};
const sv__family sv__flatfly = {
    {"flatfly", "k-ary n-flat flattened butterfly", "flatfly:k=4,n=3,hosts=4",
     (const sv_topology_key[]){
         {"k", "switches in a dimension"}, {"n", "dimensions, plus one"}, {NULL, NULL}}},
    build_flatfly};
const sv__family sv__fullmesh = {
    {"fullmesh", "every switch joined to every other", "fullmesh:16", NULL}, build_fullmesh};
