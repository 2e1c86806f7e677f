/*
 * cliques.c: groups as complete graphs of a size, where likeness does not tell.
 *
 * Where switches have more cables between groups than inside, what two ends of a cable have in
 * common says little. But complete graphs of the size of a group are rare outside groups, so most
 * switches are in one such graph of the switches that are left, and in no other: those are taken as
 * groups, which leaves fewer for the rest. Only if everybody is in several, the first one's first
 * is taken. When there are none of the size any more, the next smaller size is looked for.
 *
 * Cost: at most as many steps as the caller allows. What is left without a group then stays alone.
 */
#include <string.h>

#include "structure/dragonfly.h"

enum { MAX_SIZE = 256, STEPS = 20000 };

struct search {
    const sv_dragonfly *d;
    const uint32_t *group; /* SV_NONE: not yet in one */
    uint32_t size, found;
    uint32_t chosen[MAX_SIZE], first[MAX_SIZE];
    uint32_t steps;
};

static bool are_neighbours(const sv_dragonfly *d, uint32_t a, uint32_t b)
{
    uint32_t low = d->near_first[a], high = d->near_first[a + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (d->near[middle] < b)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->near_first[a + 1] && d->near[low] == b;
}

/* Goes on from what is chosen with others of a list; stops at the second that is found. */
static void extend(struct search *x, uint32_t chosen, const uint32_t *list, uint32_t count)
{
    uint32_t rest[MAX_SIZE];
    if (chosen == x->size) {
        if (x->found++ == 0)
            memcpy(x->first, x->chosen, x->size * sizeof *x->first);
        return;
    }
    for (uint32_t i = 0; i < count && chosen + count - i >= x->size && x->found < 2; i++) {
        uint32_t left = 0;
        if (x->steps++ >= STEPS)
            return;
        x->chosen[chosen] = list[i];
        for (uint32_t k = i + 1; k < count; k++)
            if (are_neighbours(x->d, list[i], list[k]))
                rest[left++] = list[k];
        extend(x, chosen + 1, rest, left);
    }
}

/* How many complete graphs of the size a switch is in, 2 for more; the first is in x->first. */
static uint32_t count_of(struct search *x, uint32_t s)
{
    const sv_dragonfly *d = x->d;
    uint32_t list[MAX_SIZE], count = 0;
    for (uint32_t k = d->near_first[s]; k < d->near_first[s + 1] && count < MAX_SIZE; k++)
        if (x->group[d->near[k]] == SV_NONE)
            list[count++] = d->near[k];
    x->found = x->steps = 0;
    x->chosen[0] = s;
    extend(x, 1, list, count);
    return x->found;
}

void sv__cliques_group(const sv_dragonfly *d, uint32_t size, const bool *live, uint32_t *group,
                       uint64_t *steps)
{
    uint32_t n = d->core->num_switches;
    memset(group, 0xff, n * sizeof *group);
    for (; size > 0; size--) {
        struct search x = {.d = d, .group = group, .size = size};
        for (bool guess = false;;) {
            bool some = false, several = false;
            for (uint32_t s = 0; s < n; s++) {
                if (!live[s] || group[s] != SV_NONE)
                    continue;
                uint32_t count = *steps == 0 ? 0 : count_of(&x, s);
                *steps -= x.steps < *steps ? x.steps : *steps;
                several |= count > 1;
                if (count != 1 && !(guess && count > 1))
                    continue;
                for (uint32_t i = 0; i < size; i++)
                    group[x.first[i]] = s;
                some = true;
                guess = false;
            }
            if (!some && !several)
                break;
            guess = !some;
        }
    }
    for (uint32_t s = 0; s < n; s++)
        group[s] = live[s] && group[s] == SV_NONE ? s : group[s];
}
