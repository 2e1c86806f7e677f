/*
 * collective.c: collectives as messages, for groups of any size and any root (docs/traces.md has
 * the table).
 *
 * Idea: a schedule is a function of the rank and the number of the step, so nothing is stored. In
 * trees (broadcast, reduce, gather, scatter) ranks count from the root on, v = rank - root modulo
 * size: the parent of v is v without its lowest bit, its children are v + 2^k for all 2^k below
 * that bit (below size, for 0) that are ranks. Their subtrees are v + 2^k … v + 2^(k+1) - 1.
 *
 * Recursive doubling and halving want a power of two. Of size = p + e ranks, p = 2^m the largest
 * power of two, the first 2 e form pairs: the even one hands what it has to the odd one, which
 * stands for both among p core ranks, and hands back what it is to get: core rank v is rank 2 v + 1
 * if v < e, else v + e.
 *
 * A vector in pieces: rank i has the i-th of size pieces, the first (bytes modulo size) of which
 * are a byte longer. Core ranks a … b - 1 have the pieces of the ranks they stand for.
 *
 * Invariants: what a rank sends to another in its k-th step towards it is what that one waits for
 * in its k-th step from it, and is as long. A rank sends and waits in one step only where that is
 * an exchange.
 * Sources: Thakur, Rabenseifner, Gropp (2005): Optimization of collective communication operations
 * in MPICH; sizes from which on another algorithm is used are those of MPICH's defaults.
 * Cost: O(log size) a step.
 */
#include "traces/collective.h"

enum {
    SHORT_REDUCE = 2048,   /* bytes of a vector: recursive doubling up to this */
    LONG_SCATTER = 524288, /* of a vector: reduce-scatter by pairs above */
    LONG_GATHER = 524288,  /* of all blocks: all-gather by a ring above … */
    SHORT_GATHER = 81920   /* … or above this, where size is no power of two */
};

static const sv__coll_step nothing = {.to = SV_NONE, .from = SV_NONE};

/* ---- shapes ---- */

static uint32_t log_below(uint32_t size) /* the largest m with 2^m <= size */
{
    return 31u - (uint32_t)__builtin_clz(size | 1);
}

static uint32_t turn(const sv__coll *c, uint32_t by) /* the rank that many further, going round */
{
    return by >= c->size - c->me ? by - (c->size - c->me) : c->me + by;
}

static uint64_t times(uint64_t bytes, uint64_t count)
{
    return count > 0 && bytes > UINT64_MAX / count ? UINT64_MAX : bytes * count;
}

/* Bytes of the pieces of ranks 0 … i - 1. */
static uint64_t pieces_before(const sv__coll *c, uint32_t i)
{
    uint64_t longer = c->bytes % c->size;
    return c->bytes / c->size * i + (i < longer ? i : longer);
}

static uint64_t piece_of(const sv__coll *c, uint32_t i)
{
    return pieces_before(c, i + 1) - pieces_before(c, i);
}

/* ---- trees ---- */

struct tree {
    uint32_t v, size; /* counted from the root */
    uint32_t bits;    /* children are v + 2^k, k below that, if they are ranks */
    uint32_t children;
};

static struct tree tree_of(const sv__coll *c)
{
    struct tree t = {.size = c->size};
    t.v = c->me >= c->root ? c->me - c->root : c->me + (c->size - c->root);
    while (t.bits < 32 && UINT32_C(1) << t.bits < t.size && !(t.v >> t.bits & 1))
        t.bits++;
    while (t.children < t.bits && UINT32_C(1) << t.children < t.size - t.v)
        t.children++;
    return t;
}

static uint32_t real_rank(const sv__coll *c, uint32_t v)
{
    return v >= c->size - c->root ? v - (c->size - c->root) : v + c->root;
}

static uint32_t parent(const sv__coll *c, const struct tree *t)
{
    return real_rank(c, t->v & (t->v - 1));
}

/* How many ranks are in the subtree of v, whose children are v + 2^k, k below bits. */
static uint32_t subtree(const struct tree *t, uint32_t v, uint32_t bits)
{
    uint64_t all = UINT64_C(1) << bits, left = t->size - v;
    return (uint32_t)(all < left ? all : left);
}

/* From the root down: from the parent, then to children, the largest subtree first. */
static bool down(const sv__coll *c, uint32_t step, bool blocks, sv__coll_step *s)
{
    struct tree t = tree_of(c);
    if (t.v != 0 && step == 0) {
        s->from = parent(c, &t);
        s->from_bytes = times(c->bytes, blocks ? subtree(&t, t.v, t.bits) : 1);
        return true;
    }
    step -= t.v != 0;
    if (step >= t.children)
        return false;
    uint32_t k = t.children - 1 - step, child = t.v + (UINT32_C(1) << k);
    s->to = real_rank(c, child);
    s->to_bytes = times(c->bytes, blocks ? subtree(&t, child, k) : 1);
    return true;
}

/* The other way round. */
static bool up(const sv__coll *c, uint32_t step, bool blocks, sv__coll_step *s)
{
    struct tree t = tree_of(c);
    if (step < t.children) {
        uint32_t child = t.v + (UINT32_C(1) << step);
        s->from = real_rank(c, child);
        s->from_bytes = times(c->bytes, blocks ? subtree(&t, child, step) : 1);
        return true;
    }
    if (t.v == 0 || step > t.children)
        return false;
    s->to = parent(c, &t);
    s->to_bytes = times(c->bytes, blocks ? subtree(&t, t.v, t.bits) : 1);
    return true;
}

/* ---- powers of two, and what is beyond ---- */

struct core {
    uint32_t m, extra; /* size = 2^m + extra */
    uint32_t v;        /* among core ranks */
    bool left_out, doubled;
};

static struct core core_of(const sv__coll *c)
{
    struct core o = {.m = log_below(c->size)};
    o.extra = c->size - (UINT32_C(1) << o.m);
    bool paired = c->me < 2 * o.extra;
    o.left_out = paired && c->me % 2 == 0;
    o.doubled = paired && c->me % 2 == 1;
    o.v = paired ? c->me / 2 : c->me - o.extra;
    return o;
}

static uint32_t core_rank(const struct core *o, uint32_t v)
{
    return v < o->extra ? 2 * v + 1 : v + o->extra;
}

/* The bytes of a vector's pieces that core ranks from … until - 1 stand for. */
static uint64_t core_pieces(const sv__coll *c, const struct core *o, uint32_t from, uint32_t until)
{
    uint32_t first = from < o->extra ? 2 * from : from + o->extra;
    uint32_t end = until < o->extra ? 2 * until : until + o->extra;
    return pieces_before(c, end) - pieces_before(c, first);
}

static void exchange(const struct core *o, uint32_t with, uint64_t to, uint64_t from,
                     sv__coll_step *s)
{
    s->to = s->from = core_rank(o, with);
    s->to_bytes = to;
    s->from_bytes = from;
}

/* The steps of a pair outside of the core: the whole vector there, back bytes back. True: it was
 * one of them; else *step is that of the core (or beyond it). */
static bool pair_step(const sv__coll *c, const struct core *o, uint32_t core_steps, uint64_t back,
                      uint32_t *step, sv__coll_step *s)
{
    bool there = *step == 0, again = *step == (o->left_out ? 1 : core_steps + 1);
    if (o->left_out && there) {
        s->to = c->me + 1;
        s->to_bytes = c->bytes;
    } else if (o->left_out && again) {
        s->from = c->me + 1;
        s->from_bytes = back;
    } else if (o->doubled && there) {
        s->from = c->me - 1;
        s->from_bytes = c->bytes;
    } else if (o->doubled && again) {
        s->to = c->me - 1;
        s->to_bytes = back;
    } else {
        *step = o->left_out ? UINT32_MAX : *step - o->doubled;
        return false;
    }
    return true;
}

/* Halving, step k of m: with v xor 2^(m-1-k); the half that one keeps is that where one is. */
static void halve(const sv__coll *c, const struct core *o, uint32_t k, sv__coll_step *s)
{
    uint32_t bit = UINT32_C(1) << (o->m - 1 - k), with = o->v ^ bit;
    uint32_t mine = o->v / bit * bit, others = with / bit * bit;
    exchange(o, with, core_pieces(c, o, others, others + bit), core_pieces(c, o, mine, mine + bit),
             s);
}

/* Doubling, step k of m: with v xor 2^k; all that one has of a vector's pieces. */
static void regain(const sv__coll *c, const struct core *o, uint32_t k, sv__coll_step *s)
{
    uint32_t bit = UINT32_C(1) << k, with = o->v ^ bit;
    uint32_t mine = o->v / bit * bit, others = with / bit * bit;
    exchange(o, with, core_pieces(c, o, mine, mine + bit), core_pieces(c, o, others, others + bit),
             s);
}

static bool all_reduce(const sv__coll *c, uint32_t step, sv__coll_step *s)
{
    struct core o = core_of(c);
    bool large = c->bytes > SHORT_REDUCE && c->bytes >= UINT64_C(1) << o.m;
    uint32_t steps = large ? 2 * o.m : o.m;
    if (pair_step(c, &o, steps, c->bytes, &step, s))
        return true;
    if (step >= steps)
        return false;
    if (!large)
        exchange(&o, o.v ^ UINT32_C(1) << step, c->bytes, c->bytes, s);
    else if (step < o.m)
        halve(c, &o, step, s);
    else
        regain(c, &o, step - o.m, s);
    return true;
}

/* To all others in turn, k further at step k - 1. */
static bool pairs(const sv__coll *c, uint32_t step, sv__coll_step *s)
{
    if (step >= c->size - 1)
        return false;
    bool power = (c->size & (c->size - 1)) == 0;
    s->to = power ? c->me ^ (step + 1) : turn(c, step + 1);
    s->from = power ? c->me ^ (step + 1) : turn(c, c->size - (step + 1));
    return true;
}

static bool reduce_scatter(const sv__coll *c, uint32_t step, sv__coll_step *s)
{
    if (c->bytes > LONG_SCATTER) {
        if (!pairs(c, step, s))
            return false;
        s->to_bytes = piece_of(c, s->to);
        s->from_bytes = piece_of(c, c->me);
        return true;
    }
    struct core o = core_of(c);
    uint64_t back = o.left_out || o.doubled ? piece_of(c, c->me - o.doubled) : 0;
    if (pair_step(c, &o, o.m, back, &step, s))
        return true;
    if (step >= o.m)
        return false;
    halve(c, &o, step, s);
    return true;
}

/* ---- the rest ---- */

static bool all_gather(const sv__coll *c, uint32_t step, sv__coll_step *s)
{
    bool power = (c->size & (c->size - 1)) == 0;
    uint64_t all = times(c->bytes, c->size);
    if (all > (power ? LONG_GATHER : SHORT_GATHER)) { /* a ring */
        if (step >= c->size - 1)
            return false;
        s->to = turn(c, 1);
        s->from = turn(c, c->size - 1);
        s->to_bytes = s->from_bytes = c->bytes;
        return true;
    }
    if (step > 31 || UINT32_C(1) << step >= c->size)
        return false;
    uint32_t far = UINT32_C(1) << step, blocks = far < c->size - far ? far : c->size - far;
    s->to = power ? c->me ^ far : turn(c, c->size - far); /* doubling, or Bruck's way */
    s->from = power ? c->me ^ far : turn(c, far);
    s->to_bytes = s->from_bytes = times(c->bytes, blocks);
    return true;
}

static bool barrier(const sv__coll *c, uint32_t step, sv__coll_step *s)
{
    if (step > 31 || UINT32_C(1) << step >= c->size)
        return false;
    s->to = turn(c, UINT32_C(1) << step);
    s->from = turn(c, c->size - (UINT32_C(1) << step));
    return true;
}

static bool all_to_all(const sv__coll *c, uint32_t step, sv__coll_step *s)
{
    s->to_bytes = s->from_bytes = c->bytes;
    return pairs(c, step, s);
}

/* The step-th of the partners rank xor 2^k that are there. */
static bool scan(const sv__coll *c, uint32_t step, sv__coll_step *s)
{
    for (uint32_t k = 0; k < 32 && UINT32_C(1) << k < c->size; k++) {
        uint32_t with = c->me ^ UINT32_C(1) << k;
        if (with >= c->size || step-- > 0)
            continue;
        *s = (sv__coll_step){with, with, c->bytes, c->bytes};
        return true;
    }
    return false;
}

bool sv__coll_step_at(const sv__coll *c, uint32_t step, sv__coll_step *found)
{
    *found = nothing;
    switch (c->size < 2 ? SV_CALL_NONE : c->call) {
    case SV_CALL_BARRIER:
        return barrier(c, step, found);
    case SV_CALL_BCAST:
        return down(c, step, false, found);
    case SV_CALL_SCATTER:
        return down(c, step, true, found);
    case SV_CALL_REDUCE:
        return up(c, step, false, found);
    case SV_CALL_GATHER:
        return up(c, step, true, found);
    case SV_CALL_ALLREDUCE:
        return all_reduce(c, step, found);
    case SV_CALL_ALLGATHER:
        return all_gather(c, step, found);
    case SV_CALL_ALLTOALL:
        return all_to_all(c, step, found);
    case SV_CALL_REDUCE_SCATTER:
        return reduce_scatter(c, step, found);
    case SV_CALL_SCAN:
        return scan(c, step, found);
    default:
        return false;
    }
}
