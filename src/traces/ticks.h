/*
 * ticks.h: logical time: which step of the whole program a message belongs to, without clocks.
 *
 * The communication of a rank is cut into blocks: first it waits for messages, then it sends some.
 * A block ends when something is waited for after something was sent, and when a channel (sender,
 * receiver, tag and group) is used for the same once more; a collective is a block of its own. The
 * tick of a block is the smallest number that is larger than the ticks of the rank's block before
 * it and of all blocks in which messages were sent that it waits for; the tick of a collective is
 * the same for all ranks of its group. A message belongs to the tick of the block that sends it.
 * To begin a collective is a block of its own, too; the tick of the collective is the largest of
 * those blocks', and to wait for it is as for a message of that tick.
 */
#ifndef SV_TRACES_TICKS_H
#define SV_TRACES_TICKS_H

#include <selvage/experimental/traces.h>

/* Told of each message (point to point), and of each collective once, in no particular order. */
typedef struct sv__tick_visitor {
    void *user;
    sv_status (*message)(void *user, uint32_t from, const sv_mpi_event *event, uint32_t tick);
    /* event is that of the group's first rank */
    sv_status (*collective)(void *user, const sv_mpi_event *event, uint32_t tick);
} sv__tick_visitor;

/* Of a trace that sv_mpi_check has accepted. BAD_INPUT: a rank waits for ever. */
sv_status sv__ticks(sv_ctx *ctx, const sv_mpi_trace *trace, const sv__tick_visitor *visitor);

#endif
