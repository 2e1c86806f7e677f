/*
 * quantity.c: numbers with units.
 *
 * A number is read up to the first character that cannot be part of one; what is left is looked up
 * in a table of units. Blanks are nowhere allowed: specs and command lines have none.
 *
 * Cost: linear in the text.
 */
#include "text/quantity.h"

#include "text/times.h"

struct unit {
    const char *name;
    double factor;
};

bool sv_span_decimal(sv_span span, double *value)
{
    sv_scan scan = sv_scan_of(span);
    return sv__scan_plain(&scan, value) && sv_scan_done(&scan);
}

static bool scan_unit(const sv_scan *scan, const struct unit *units, double *factor)
{
    for (; units->name != NULL; units++)
        if (sv_span_is(sv_scan_rest(scan), units->name)) {
            *factor = units->factor;
            return true;
        }
    return false;
}

bool sv_span_ticks(sv_span span, double unit_ns, unsigned ticks_per_ns, uint64_t *ticks)
{
    static const double max_ns = 864e12;
    static const struct unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
    sv_scan scan = sv_scan_of(span);
    double value, factor = unit_ns;
    if (!sv__scan_plain(&scan, &value))
        return false;
    if (!sv_scan_done(&scan) && !scan_unit(&scan, units, &factor))
        return false;
    if (value * factor > max_ns)
        return false;
    *ticks = (uint64_t)(value * factor * ticks_per_ns + 0.5);
    return true;
}

bool sv_span_bytes(sv_span span, uint64_t max, uint64_t *bytes)
{
    static const struct unit units[] = {{"B", 1},
                                        {"kB", 1e3},
                                        {"MB", 1e6},
                                        {"GB", 1e9},
                                        {"KiB", 1024},
                                        {"MiB", 1u << 20},
                                        {"GiB", 1024.0 * (1u << 20)},
                                        {NULL, 0}};
    sv_scan scan = sv_scan_of(span);
    uint64_t value;
    double factor = 1;
    if (!sv_scan_number(&scan, max, &value))
        return false;
    if (!sv_scan_done(&scan) && !scan_unit(&scan, units, &factor))
        return false;
    if ((double)value * factor > (double)max)
        return false;
    *bytes = value * (uint64_t)factor;
    return true;
}
