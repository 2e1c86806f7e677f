/*
 * quantity.c: numbers with units.
 *
 * A number is read up to the first character that cannot be part of one; what is left is looked up
 * in a table of units. Blanks are nowhere allowed: specs and command lines have none.
 */
#include "simulate/quantity.h"

#include <selvage/simulate.h>

struct unit {
    const char *name;
    double factor;
};

static double scan_digits(sv_scan *scan, int *count)
{
    double value = 0;
    for (*count = 0; scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9'; ++*count)
        value = value * 10 + (*scan->at++ - '0');
    return value;
}

/* Fraction digits go through one division, so that 0.1 is the number nearest to a tenth. */
static bool scan_decimal(sv_scan *scan, double *value)
{
    enum { MOST_DIGITS = 15 };
    int whole, behind = 0;
    double scale = 1, fraction = 0;
    *value = scan_digits(scan, &whole);
    if (sv_scan_char(scan, '.'))
        fraction = scan_digits(scan, &behind);
    if (whole + behind == 0 || whole + behind > MOST_DIGITS)
        return false;
    for (int i = 0; i < behind; i++)
        scale *= 10;
    *value = (*value * scale + fraction) / scale;
    return true;
}

bool sv_span_decimal(sv_span span, double *value)
{
    sv_scan scan = sv_scan_of(span);
    return scan_decimal(&scan, value) && sv_scan_done(&scan);
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

bool sv_span_ticks(sv_span span, double unit_ns, uint64_t *ticks)
{
    static const double most_ns = 864e12;
    static const struct unit units[] = {{"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}, {NULL, 0}};
    sv_scan scan = sv_scan_of(span);
    double value, factor = unit_ns;
    if (!scan_decimal(&scan, &value))
        return false;
    if (!sv_scan_done(&scan) && !scan_unit(&scan, units, &factor))
        return false;
    if (value * factor > most_ns)
        return false;
    *ticks = (uint64_t)(value * factor * SV_TICKS_A_NS + 0.5);
    return true;
}

bool sv_span_bytes(sv_span span, uint64_t most, uint64_t *bytes)
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
    if (!sv_scan_number(&scan, most, &value))
        return false;
    if (!sv_scan_done(&scan) && !scan_unit(&scan, units, &factor))
        return false;
    if ((double)value * factor > (double)most)
        return false;
    *bytes = value * (uint64_t)factor;
    return true;
}
