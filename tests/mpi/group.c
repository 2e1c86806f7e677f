/* group.c: communicators, and collectives. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "says.h"

#define WORLD MPI_COMM_WORLD

/* "0:1,3": ranks from first on, every step-th. */
static const char *named(int ordinal, int first, int step)
{
    static char text[4096];
    int length = snprintf(text, sizeof text, "%d:", ordinal);
    for (int i = first; i >= 0 && i < size; i += step)
        length +=
            snprintf(text + length, sizeof text - (size_t)length, "%s%d", i == first ? "" : ",", i);
    return text;
}

static void barrier(MPI_Comm comm, const char *group)
{
    MPI_Barrier(comm);
    say("collective MPI_Barrier root 0 bytes 0 in %s", group);
}

void do_comms(void)
{
    MPI_Comm half, same, both, grid, line, back;
    MPI_Group all, turned;
    int value = 0, sizes[1] = {size}, round[1] = {1}, me, keep[1] = {1};
    MPI_Comm_split(WORLD, rank % 2, 0, &half);
    MPI_Comm_rank(half, &me);
    MPI_Bcast(&value, 1, MPI_INT, 0, half);
    say("collective MPI_Bcast root %d bytes 4 in %s", rank % 2, named(0, rank % 2, 2));
    int members;
    MPI_Comm_size(half, &members);
    MPI_Sendrecv_replace(&value, 1, MPI_INT, (me + 1) % members, 4, (me + members - 1) % members, 4,
                         half, MPI_STATUS_IGNORE);
    const char *group = named(0, rank % 2, 2);
    say("isend MPI_Sendrecv to %d tag 4 bytes 4 in %s request 0", (me + 1) % members * 2 + rank % 2,
        group);
    say("irecv - from %d tag 4 bytes 4 in %s request 1",
        (me + members - 1) % members * 2 + rank % 2, group);
    say("wait - request 0");
    say("wait - request 1");
    MPI_Comm_dup(WORLD, &same);
    MPI_Comm_dup(same, &both);
    barrier(both, named(2, 0, 1));
    barrier(same, named(1, 0, 1));
    MPI_Cart_create(WORLD, 1, sizes, round, 0, &grid);
    barrier(grid, named(3, 0, 1));
    MPI_Cart_sub(grid, keep, &line);
    barrier(line, named(4, 0, 1));
    MPI_Comm_group(WORLD, &all);
    int range[1][3] = {{size - 1, 0, -1}};
    MPI_Group_range_incl(all, 1, range, &turned);
    MPI_Comm_create(WORLD, turned, &back);
    MPI_Bcast(&value, 1, MPI_INT, 0, back); /* root is the last of the world */
    say("collective MPI_Bcast root %d bytes 4 in %s", size - 1, named(0, size - 1, -1));
    barrier(MPI_COMM_SELF, named(0, rank, size));
}

/* A communicator that is freed leaves its place to the next. */
void do_again(void)
{
    MPI_Comm one, other;
    for (int i = 0; i < 5; i++) {
        MPI_Comm_dup(WORLD, &one);
        barrier(one, named(1, 0, 1));
        MPI_Comm_dup(WORLD, &other);
        MPI_Comm_free(&one);
        barrier(other, named(2, 0, 1));
        MPI_Comm_free(&other);
    }
}

/* Made without waiting: ranks wait for them, and use them, in different orders. */
void do_duplicates(void)
{
    MPI_Comm made[2];
    MPI_Request q[2];
    int value = 0, first = rank % 2;
    for (int i = 0; i < 2; i++)
        MPI_Comm_idup(WORLD, &made[i], &q[i]);
    MPI_Wait(&q[first], MPI_STATUS_IGNORE);
    MPI_Wait(&q[1 - first], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; i++) {
        int which = i == 0 ? first : 1 - first;
        MPI_Send(&value, 1, MPI_INT, right(), which, made[which]);
        say("send MPI_Send to %d tag %d bytes 4 in %s", right(), which, named(1 + which, 0, 1));
    }
    for (int i = 0; i < 2; i++) {
        MPI_Recv(&value, 1, MPI_INT, left(), i, made[i], MPI_STATUS_IGNORE);
        say("recv MPI_Recv from %d tag %d bytes 4 in %s", left(), i, named(1 + i, 0, 1));
    }
    barrier(made[1], named(2, 0, 1));
    barrier(made[0], named(1, 0, 1));
}

/* Even ranks on one side, odd ones on the other. */
void do_inter(void)
{
    MPI_Comm half, inter, both;
    char group[4096];
    int me, value = 0;
    int length = snprintf(group, sizeof group, "%s", named(0, 0, 2));
    snprintf(group + length, sizeof group - (size_t)length, ",%s", named(0, 1, 2) + 2);
    MPI_Comm_split(WORLD, rank % 2, 0, &half);
    MPI_Comm_rank(half, &me);
    MPI_Intercomm_create(half, 0, WORLD, 1 - rank % 2, 9, &inter);
    int other = 2 * me + 1 - rank % 2;
    if (rank % 2 == 0) {
        MPI_Send(&value, 1, MPI_INT, me, 3, inter);
        say("send MPI_Send to %d tag 3 bytes 4 in %s", other, group);
    } else {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, MPI_STATUS_IGNORE);
        say("recv MPI_Recv from %d tag 3 bytes 4 in %s", other, group);
    }
    barrier(inter, group);
    MPI_Intercomm_merge(inter, rank % 2, &both);
    group[0] = '1'; /* the same ranks in the same order: the second with these */
    barrier(both, group);
}

void do_all(void)
{
    double *many = calloc((size_t)size * 8, sizeof *many);
    double one[8] = {0}, other[8];
    MPI_Bcast(one, 8, MPI_DOUBLE, 1, WORLD);
    say("collective MPI_Bcast root 1 bytes 64 in world");
    MPI_Reduce(one, other, 4, MPI_DOUBLE, MPI_SUM, size - 1, WORLD);
    say("collective MPI_Reduce root %d bytes 32 in world", size - 1);
    MPI_Allreduce(MPI_IN_PLACE, one, 2, MPI_DOUBLE, MPI_MAX, WORLD);
    say("collective MPI_Allreduce root 0 bytes 16 in world");
    MPI_Scan(one, other, 1, MPI_DOUBLE, MPI_SUM, WORLD);
    say("collective MPI_Scan root 0 bytes 8 in world");
    MPI_Exscan(one, other, 2, MPI_DOUBLE, MPI_SUM, WORLD);
    say("collective MPI_Scan root 0 bytes 16 in world");
    MPI_Gather(rank == 0 ? MPI_IN_PLACE : one, 3, MPI_DOUBLE, many, 3, MPI_DOUBLE, 0, WORLD);
    say("collective MPI_Gather root 0 bytes 24 in world");
    MPI_Scatter(many, 2, MPI_DOUBLE, rank == 1 ? MPI_IN_PLACE : other, 2, MPI_DOUBLE, 1, WORLD);
    say("collective MPI_Scatter root 1 bytes 16 in world");
    MPI_Allgather(one, 1, MPI_DOUBLE, many, 1, MPI_DOUBLE, WORLD);
    say("collective MPI_Allgather root 0 bytes 8 in world");
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, many, 2, MPI_DOUBLE, WORLD);
    say("collective MPI_Allgather root 0 bytes 16 in world");
    double *more = calloc((size_t)size * 8, sizeof *more);
    MPI_Alltoall(many, 2, MPI_DOUBLE, more, 2, MPI_DOUBLE, WORLD);
    say("collective MPI_Alltoall root 0 bytes 16 in world");
    MPI_Reduce_scatter_block(many, one, 2, MPI_DOUBLE, MPI_SUM, WORLD);
    say("collective MPI_Reduce_scatter root 0 bytes %d in world", 16 * size);
    free(many);
    free(more);
}

/* ---- different sizes ---- */

static int counts[4][64], starts[64];

static void say_message(const char *call, bool out, int peer, int bytes, int request)
{
    say("%s %s %s %d tag %u bytes %d in world request %d", out ? "isend" : "irecv", call,
        out ? "to" : "from", peer, COLLECTIVE_TAG, bytes, request);
}

/* By pairs: to the next, from the one before; to the one behind that …; none of nothing. */
static void say_pairs(const char *call, const int *out, const int *in, bool later)
{
    int number = 0;
    for (int i = 1; i < size; i++) {
        int to = (rank + i) % size, from = (rank + size - i) % size, begun = number;
        if (out[to] > 0) {
            say_message(call, true, to, out[to], number++);
            call = "-";
        }
        if (in[from] > 0) {
            say_message(call, false, from, in[from], number++);
            call = "-";
        }
        if (!later) {
            for (int k = begun; k < number; k++)
                say("wait - request %d", k);
            number = 0;
        }
    }
}

/* Rank i sends (i + 2 j) % 3 bytes to rank j, each at starts[j]. */
static void lay_out(void)
{
    memset(counts, 0, sizeof counts);
    for (int i = 0; i < size; i++) {
        counts[0][i] = (rank + 2 * i) % 3;
        counts[1][i] = (i + 2 * rank) % 3;
        counts[2][i] = i + 1;
        counts[3][i] = rank + 1;
        starts[i] = 64 * i;
    }
}

static char out_bytes[64 * 64], in_bytes[64 * 64];

void do_vary(void)
{
    int none[64] = {0}, mine[64] = {0};
    lay_out();
    MPI_Alltoallv(out_bytes, counts[0], starts, MPI_CHAR, in_bytes, counts[1], starts, MPI_CHAR,
                  WORLD);
    say_pairs("MPI_Alltoall", counts[0], counts[1], false);
    MPI_Gatherv(out_bytes, rank + 1, MPI_CHAR, in_bytes, counts[2], starts, MPI_CHAR, 1, WORLD);
    mine[1] = rank + 1;
    say_pairs("MPI_Gather", rank == 1 ? none : mine, rank == 1 ? counts[2] : none, false);
    MPI_Scatterv(out_bytes, counts[2], starts, MPI_CHAR, in_bytes, rank + 1, MPI_CHAR, 1, WORLD);
    say_pairs("MPI_Scatter", rank == 1 ? counts[2] : none, rank == 1 ? none : mine, false);
    for (int i = 0; i < size; i++)
        mine[i] = 5;
    MPI_Allgatherv(out_bytes, 5, MPI_CHAR, in_bytes, mine, starts, MPI_CHAR, WORLD);
    say("collective MPI_Allgather root 0 bytes 5 in world");
    MPI_Allgatherv(out_bytes, rank + 1, MPI_CHAR, in_bytes, counts[2], starts, MPI_CHAR, WORLD);
    for (int i = 0; i + 1 < size; i++) { /* around the ring */
        say_message(i == 0 ? "MPI_Allgather" : "-", true, right(), (rank + size - i) % size + 1, 0);
        say_message("-", false, left(), (rank + 2 * size - i - 1) % size + 1, 1);
        say("wait - request 0");
        say("wait - request 1");
    }
    MPI_Reduce_scatter(out_bytes, in_bytes, mine, MPI_CHAR, MPI_MAX, WORLD);
    say("collective MPI_Reduce_scatter root 0 bytes %d in world", 5 * size);
    MPI_Reduce_scatter(out_bytes, in_bytes, counts[2], MPI_CHAR, MPI_MAX, WORLD);
    say_pairs("MPI_Reduce_scatter", counts[2], counts[3], false);
    MPI_Datatype types[64];
    for (int i = 0; i < size; i++)
        types[i] = MPI_CHAR;
    MPI_Alltoallw(out_bytes, counts[0], starts, types, in_bytes, counts[1], starts, types, WORLD);
    say_pairs("MPI_Alltoall", counts[0], counts[1], false);
}

/* ---- begun, and waited for later ---- */

void do_later(void)
{
    int value = 0, sum[2], out = 1, in;
    MPI_Request q[4];
    MPI_Ibarrier(WORLD, &q[0]);
    say("icollective MPI_Ibarrier root 0 bytes 0 in world request 0");
    MPI_Send(&out, 1, MPI_INT, right(), 1, WORLD);
    say("send MPI_Send to %d tag 1 bytes 4 in world", right());
    MPI_Recv(&in, 1, MPI_INT, left(), 1, WORLD, MPI_STATUS_IGNORE);
    say("recv MPI_Recv from %d tag 1 bytes 4 in world", left());
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
    /* Several at once; one of them is waited for earlier by some. */
    MPI_Ibcast(&value, 1, MPI_INT, 1, WORLD, &q[0]);
    say("icollective MPI_Ibcast root 1 bytes 4 in world request 0");
    MPI_Iallreduce(&value, sum, 1, MPI_INT, MPI_SUM, WORLD, &q[1]);
    say("icollective MPI_Iallreduce root 0 bytes 4 in world request 1");
    MPI_Ireduce(&value, sum + 1, 1, MPI_INT, MPI_SUM, 0, WORLD, &q[2]);
    say("icollective MPI_Ireduce root 0 bytes 4 in world request 2");
    MPI_Ibarrier(WORLD, &q[3]);
    say("icollective MPI_Ibarrier root 0 bytes 0 in world request 3");
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
    MPI_Send(&out, 1, MPI_INT, right(), 2, WORLD);
    say("send MPI_Send to %d tag 2 bytes 4 in world", right());
    MPI_Recv(&in, 1, MPI_INT, left(), 2, WORLD, MPI_STATUS_IGNORE);
    say("recv MPI_Recv from %d tag 2 bytes 4 in world", left());
    if (rank % 2) {
        MPI_Wait(&q[2], MPI_STATUS_IGNORE);
        say("wait MPI_Wait request 2");
    }
    MPI_Barrier(WORLD);
    say("collective MPI_Barrier root 0 bytes 0 in world");
    MPI_Waitall(4, q, MPI_STATUSES_IGNORE);
    say("wait MPI_Waitall request 1");
    if (rank % 2 == 0)
        say("wait - request 2");
    say("wait - request 3");
    double blocks[64 * 2], block[2] = {0};
    MPI_Iallgather(block, 1, MPI_DOUBLE, blocks, 1, MPI_DOUBLE, WORLD, &q[0]);
    say("icollective MPI_Iallgather root 0 bytes 8 in world request 0");
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
}

/* Even ranks wait for the sum before they send; odd ones receive that before they wait. */
void do_overlap(void)
{
    int value = 1, sum = 0, in;
    MPI_Request q;
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, WORLD, &q);
    say("icollective MPI_Iallreduce root 0 bytes 4 in world request 0");
    if (rank % 2) {
        MPI_Recv(&in, 1, MPI_INT, rank - 1, 3, WORLD, MPI_STATUS_IGNORE);
        say("recv MPI_Recv from %d tag 3 bytes 4 in world", rank - 1);
    }
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
    if (rank % 2 == 0 && rank + 1 < size) {
        MPI_Send(&sum, 1, MPI_INT, rank + 1, 3, WORLD);
        say("send MPI_Send to %d tag 3 bytes 4 in world", rank + 1);
    }
}

void do_vary_later(void)
{
    MPI_Request q[2];
    int number = 0;
    lay_out();
    MPI_Ialltoallv(out_bytes, counts[0], starts, MPI_CHAR, in_bytes, counts[1], starts, MPI_CHAR,
                   WORLD, &q[0]);
    say_pairs("MPI_Alltoall", counts[0], counts[1], true);
    MPI_Barrier(WORLD);
    say("collective MPI_Barrier root 0 bytes 0 in world");
    MPI_Waitall(1, q, MPI_STATUSES_IGNORE);
    for (int i = 1; i < size; i++) {
        int both = (counts[0][(rank + i) % size] > 0) + (counts[1][(rank + size - i) % size] > 0);
        for (int k = 0; k < both; k++, number++)
            say("wait %s request %d", number == 0 ? "MPI_Waitall" : "-", number);
    }
}

/* A ring as a grid: below first, then above. */
void do_near(void)
{
    MPI_Comm grid;
    int sizes[1] = {size}, round[1] = {1}, one = 1, four[2], two[2] = {0};
    MPI_Cart_create(WORLD, 1, sizes, round, 0, &grid);
    MPI_Neighbor_allgather(&one, 1, MPI_INT, four, 1, MPI_INT, grid);
    const char *group = named(1, 0, 1);
    say("isend MPI_Allgather to %d tag %u bytes 4 in %s request 0", left(), COLLECTIVE_TAG, group);
    say("isend - to %d tag %u bytes 4 in %s request 1", right(), COLLECTIVE_TAG, group);
    say("irecv - from %d tag %u bytes 4 in %s request 2", left(), COLLECTIVE_TAG, group);
    say("irecv - from %d tag %u bytes 4 in %s request 3", right(), COLLECTIVE_TAG, group);
    for (int i = 0; i < 4; i++)
        say("wait - request %d", i);
    MPI_Request q;
    MPI_Ineighbor_alltoall(two, 1, MPI_INT, four, 1, MPI_INT, grid, &q);
    say("isend MPI_Alltoall to %d tag %u bytes 4 in %s request 0", left(), COLLECTIVE_TAG, group);
    say("isend - to %d tag %u bytes 4 in %s request 1", right(), COLLECTIVE_TAG, group);
    say("irecv - from %d tag %u bytes 4 in %s request 2", left(), COLLECTIVE_TAG, group);
    say("irecv - from %d tag %u bytes 4 in %s request 3", right(), COLLECTIVE_TAG, group);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        say("wait %s request %d", i == 0 ? "MPI_Wait" : "-", i);
}
