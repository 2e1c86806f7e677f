/*
 * quantity.h: numbers as people type them: 0.5, 2KiB, 1.5ms. Whole spans; false if one is anything
 * else, or out of range. Independent of the locale.
 */
#ifndef SV_TEXT_QUANTITY_H
#define SV_TEXT_QUANTITY_H

#include "base/text.h"

/* Digits with at most one point, up to 10^15. */
bool sv_span_decimal(sv_span span, double *value);

/* A time in ticks, rounded: a decimal with ns, us, ms or s behind it, or in units of unit_ns
 * nanoseconds. At most ten days. */
bool sv_span_ticks(sv_span span, double unit_ns, unsigned ticks_per_ns, uint64_t *ticks);

/* Bytes: a whole number with B, kB, MB, GB (of thousands) or KiB, MiB, GiB behind it, or nothing.
 */
bool sv_span_bytes(sv_span span, uint64_t max, uint64_t *bytes);

#endif
