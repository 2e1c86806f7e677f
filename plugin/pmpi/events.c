/*
 * events.c: the events of this rank in order.
 *
 * Idea: an event stands where its call was made, but of a receive it is known only later whom it
 * was from, how much came, and whether it came at all. So receives are held, and all that follows
 * waits with them, in a queue; what is in front and not held goes to the file.
 *
 * Invariants: places are numbers that only grow; the queue has those from head to tail. It has at
 * most MOST events: a receive that is open for longer is written as it was asked for (from anybody,
 * if that was so).
 *
 * Computing is rounded to so many binary digits that a loop's turns are alike, and left out below
 * MIN_NS, where clocks are noise.
 *
 * Cost: O(1) an event; a number for a request O(1) as a rule, at worst O(open requests / 64).
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { MAX = 1 << 18, MIN_NS = 1000, DIGITS = 3 };

enum { READY, HELD, DROPPED };

typedef struct entry {
    sv_mpi_event event;
    uint8_t state;
} entry;

static struct {
    entry *at; /* by place modulo room, a power of two */
    uint64_t head, tail, room;
    uint64_t compute_ns;
    uint64_t *taken;      /* bits of requests' numbers */
    uint32_t words, full; /* as many words, from the first on, have no bit left */
} queue;

/* ---- to the file ---- */

static void write_front(void)
{
    const entry *e = &queue.at[queue.head & (queue.room - 1)];
    if (e->state != DROPPED && !rec_file_event(&e->event))
        rec_give_up("cannot write: %s", rec_file_error());
    queue.head++;
}

static void write_ready(void)
{
    while (queue.head < queue.tail && queue.at[queue.head & (queue.room - 1)].state != HELD)
        write_front();
}

static bool make_room(void)
{
    if (queue.tail - queue.head < queue.room)
        return true;
    if (queue.room == MAX) {
        write_front();
        write_ready();
        return true;
    }
    uint64_t room = queue.room == 0 ? 1024 : 2 * queue.room;
    entry *at = rec_alloc(room * sizeof *at);
    if (at == NULL)
        return false;
    for (uint64_t i = queue.head; i < queue.tail; i++)
        at[i & (room - 1)] = queue.at[i & (queue.room - 1)];
    free(queue.at);
    queue.at = at;
    queue.room = room;
    return true;
}

static uint64_t add(const sv_mpi_event *event, uint8_t state)
{
    if (!make_room())
        return 0;
    queue.at[queue.tail & (queue.room - 1)] = (entry){*event, state};
    queue.tail++;
    write_ready();
    return queue.tail - 1;
}

/* ---- computing ---- */

static uint64_t rounded(uint64_t ns)
{
    unsigned shift = 0;
    while (ns >> shift >= 1u << DIGITS)
        shift++;
    return shift == 0 ? ns : (ns + (UINT64_C(1) << (shift - 1))) >> shift << shift;
}

void rec_compute(uint64_t ns)
{
    queue.compute_ns += ns;
}

static void add_computing(void)
{
    sv_mpi_event event = {.kind = SV_MPI_COMPUTE, .amount = rounded(queue.compute_ns)};
    if (queue.compute_ns >= MIN_NS)
        add(&event, READY);
    queue.compute_ns = 0;
}

/* ---- events ---- */

uint64_t rec_event(const sv_mpi_event *event)
{
    add_computing();
    return add(event, READY);
}

uint64_t rec_hold(const sv_mpi_event *event)
{
    add_computing();
    return add(event, HELD);
}

void rec_settle(uint64_t place, const sv_mpi_event *event)
{
    if (place < queue.head || queue.room == 0)
        return;
    queue.at[place & (queue.room - 1)] = (entry){*event, READY};
    write_ready();
}

void rec_drop(uint64_t place)
{
    if (place < queue.head) {
        rec_cannot("a receive that was cancelled long after it was posted");
        return;
    }
    queue.at[place & (queue.room - 1)].state = DROPPED;
    write_ready();
}

void rec_events_end(void)
{
    add_computing();
    while (queue.head < queue.tail)
        write_front();
    free(queue.at);
    free(queue.taken);
    memset(&queue, 0, sizeof queue);
}

/* ---- numbers ---- */

uint32_t rec_number(void)
{
    uint32_t word = queue.full, bit = 0;
    while (word < queue.words && queue.taken[word] == UINT64_MAX)
        word++;
    if (word == queue.words) {
        uint64_t *more = realloc(queue.taken, (2 * (size_t)word + 1) * sizeof *more);
        if (more == NULL) {
            rec_give_up("out of memory");
            return 0;
        }
        memset(more + word, 0, (word + 1) * sizeof *more);
        queue.taken = more;
        queue.words = 2 * word + 1;
    }
    while (queue.taken[word] >> bit & 1)
        bit++;
    queue.taken[word] |= UINT64_C(1) << bit;
    queue.full = word;
    return 64 * word + bit;
}

void rec_number_free(uint32_t number)
{
    if (number / 64 >= queue.words)
        return;
    queue.taken[number / 64] &= ~(UINT64_C(1) << number % 64);
    if (number / 64 < queue.full)
        queue.full = number / 64;
}
