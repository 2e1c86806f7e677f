/*
 * slimfly.c: Slim Fly on McKay-Miller-Siran graphs: diameter 2, degree (3q - e) / 2.
 *
 * Idea (Besta and Hoefler 2014, Hafner 2004): for a prime power q = 4w + e, e in {-1, 0, 1}, take
 * the field of q elements with primitive element x and two sets of its powers, X and X'. Switches
 * are (0, i, j) and (1, m, c) with i, j, m, c in the field;
 *   (0, i, j) - (0, i, j')  when j - j' is in X,
 *   (1, m, c) - (1, m, c')  when c - c' is in X',
 *   (0, i, j) - (1, m, c)   when j = m i + c.
 * e =  1: X even powers, X' odd powers of x;
 * e =  0: X even powers 0 … q-2, X' odd powers 1 … q-1;
 * e = -1: X  = x^0, x^2 … x^(2w-2) and x^(2w-1), x^(2w+1) … x^(4w-3),
 *         X' = x^1, x^3 … x^(2w-1) and x^(2w), x^(2w+2) … x^(4w-2).
 *
 * The field of p^n elements is built from polynomials over the integers mod p; elements are
 * numbers whose digits in base p are the coefficients. A suitable modulus is found by search: the
 * first monic polynomial for which x (or, for n = 1, some number) generates all q - 1 powers.
 *
 * Slots: inside the half by the peer's last coordinate, then across by the peer's column.
 * Cost: O(q^3) cables; the search for the modulus is O(q^2) at worst.
 */
#include "topology/net.h"

enum { MAX_Q = 512, MAX_DEGREE = 9 };

struct field {
    uint32_t q, p, n;
    uint32_t power[MAX_Q]; /* x^0 … x^(q-2) */
    uint32_t log[MAX_Q];   /* of the non-zero elements */
};

/* Whether q is p^n for a prime p. */
static bool prime_power(uint32_t q, uint32_t *p, uint32_t *n)
{
    uint32_t factor = 2;
    while (factor * factor <= q && q % factor != 0)
        factor++;
    if (q % factor != 0)
        factor = q;
    *p = factor;
    for (*n = 0; q % factor == 0; q /= factor)
        ++*n;
    return q == 1;
}

/* element * x modulo a monic polynomial whose lower coefficients are the digits of modulus. */
static uint32_t times_x(const struct field *f, uint32_t element, uint32_t modulus)
{
    uint32_t top_weight = f->q / f->p, top = element / top_weight;
    uint32_t shifted = element % top_weight * f->p, result = 0;
    for (uint32_t weight = 1; weight < f->q; weight *= f->p) {
        uint32_t digit = shifted / weight % f->p + (f->p - modulus / weight % f->p) * top;
        result += digit % f->p * weight;
    }
    return result;
}

/* Fills the powers of a candidate; false if it does not generate all non-zero elements. */
static bool try_generator(struct field *f, uint32_t candidate)
{
    uint32_t element = 1;
    for (uint32_t k = 0; k < f->q - 1; k++) {
        f->power[k] = element;
        f->log[element] = k;
        element = f->n == 1 ? (uint32_t)((uint64_t)element * candidate % f->p)
                            : times_x(f, element, candidate);
        if ((element == 1) != (k + 1 == f->q - 1) || element == 0)
            return element == 1 && k + 1 == f->q - 1;
    }
    return true;
}

static bool make_field(struct field *f, uint32_t q)
{
    f->q = q;
    if (!prime_power(q, &f->p, &f->n) || f->n > MAX_DEGREE)
        return false;
    for (uint32_t candidate = 1; candidate < q; candidate++)
        if (try_generator(f, candidate))
            return true;
    return false;
}

/* a + b, or a - b, digit by digit in base p. */
static uint32_t combine(const struct field *f, uint32_t a, uint32_t b, bool minus)
{
    uint32_t result = 0;
    for (uint32_t weight = 1; weight < f->q; weight *= f->p) {
        uint32_t x = a / weight % f->p, y = b / weight % f->p;
        result += (minus ? x + f->p - y : x + y) % f->p * weight;
    }
    return result;
}

static uint32_t multiply(const struct field *f, uint32_t a, uint32_t b)
{
    return a == 0 || b == 0 ? 0 : f->power[(f->log[a] + f->log[b]) % (f->q - 1)];
}

/* Marks the members of X (half 0) or X' (half 1). */
static void mark_set(const struct field *f, int half, bool *member)
{
    uint32_t q = f->q, w = (q + 1) / 4;
    if (q % 4 != 3) {
        for (uint32_t k = (uint32_t)half; k < q - (half == 0 ? 1 : 0); k += 2)
            member[f->power[k % (q - 1)]] = true;
        return;
    }
    for (uint32_t k = (uint32_t)half; k <= 2 * w - 2 + (uint32_t)half; k += 2)
        member[f->power[k]] = true;
    for (uint32_t k = 2 * w - 1 + (uint32_t)half; k <= 4 * w - 3 + (uint32_t)half; k += 2)
        member[f->power[k % (q - 1)]] = true;
}

/* Cables within the columns of one half. */
static sv_status join_columns(sv__topology_net *net, const struct field *f, uint32_t half)
{
    bool member[MAX_Q] = {false};
    mark_set(f, (int)half, member);
    for (uint32_t column = 0; column < f->q; column++) {
        uint32_t first = (half * f->q + column) * f->q;
        for (uint32_t j = 0; j < f->q; j++)
            for (uint32_t to = j + 1; to < f->q; to++)
                if (member[combine(f, j, to, true)])
                    SV_TRY(sv__net_cable(net, first + j, to, first + to, j, 1));
    }
    return SV_OK;
}

static sv_status build_slimfly(sv__topology_net *net)
{
    uint64_t q;
    struct field f = {0};
    SV_TRY(sv__spec_number(net->spec, "q", 3, MAX_Q - 1, SV__REQUIRED, &q));
    if (q % 4 == 2 || !make_field(&f, (uint32_t)q))
        return sv__spec_infeasible(net->spec, "q=%u is not a prime power 4w-1, 4w or 4w+1",
                                   (unsigned)q);
    SV_TRY(sv__net_begin(net, 2 * q * q));
    for (uint32_t s = 0; s < net->num_switches; s++)
        SV_TRY(sv__net_name(net, s, "sw%u-%u-%u", s / (f.q * f.q), s / f.q % f.q, s % f.q));
    SV_TRY(join_columns(net, &f, 0));
    SV_TRY(join_columns(net, &f, 1));
    for (uint32_t i = 0; i < f.q; i++)
        for (uint32_t m = 0; m < f.q; m++)
            for (uint32_t c = 0; c < f.q; c++) {
                uint32_t j = combine(&f, multiply(&f, m, i), c, false);
                SV_TRY(sv__net_cable(net, i * f.q + j, f.q + m, (f.q + m) * f.q + c, f.q + i, 1));
            }
    return SV_OK;
}

const sv__family sv__slimfly = {
    {"slimfly", "Slim Fly (MMS graph): 2 q^2 switches, diameter 2", "slimfly:q=5",
     (const sv_topology_key[]){{"q", "a prime power 4w-1, 4w or 4w+1"}, {NULL, NULL}}},
    build_slimfly};
