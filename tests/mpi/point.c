/* point.c: messages from one rank to another, and waiting for them. */
#include <stdlib.h>

#include "says.h"

#define WORLD MPI_COMM_WORLD

void do_ring(void)
{
    int value = rank, got;
    for (int i = 0; i < 5; i++) {
        if (rank % 2 == 0) {
            MPI_Send(&value, 1, MPI_INT, right(), i, WORLD);
            say("send MPI_Send to %d tag %d bytes 4 in world", right(), i);
        }
        MPI_Recv(&got, 1, MPI_INT, i % 2 ? MPI_ANY_SOURCE : left(), i < 3 ? i : MPI_ANY_TAG, WORLD,
                 MPI_STATUS_IGNORE);
        say("recv MPI_Recv from %d tag %d bytes 4 in world", left(), i);
        if (rank % 2 == 1) {
            MPI_Send(&value, 1, MPI_INT, right(), i, WORLD);
            say("send MPI_Send to %d tag %d bytes 4 in world", right(), i);
        }
        MPI_Barrier(WORLD); /* so that anybody is who it must be */
        say("collective MPI_Barrier root 0 bytes 0 in world");
    }
}

void do_modes(void)
{
    static char room[1 << 16];
    char data[100] = "";
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(data, 100, MPI_CHAR, right(), 1, WORLD);
    say("isend MPI_Send to %d tag 1 bytes 100 in world request 0", right());
    MPI_Recv(data, 100, MPI_CHAR, left(), 1, WORLD, MPI_STATUS_IGNORE);
    say("recv MPI_Recv from %d tag 1 bytes 100 in world", left());
    MPI_Request late[2];
    MPI_Irecv(data, 100, MPI_CHAR, left(), 2, WORLD, &late[0]);
    say("irecv MPI_Irecv from %d tag 2 bytes 7 in world request 1", left());
    MPI_Irecv(data, 100, MPI_CHAR, left(), 3, WORLD, &late[1]);
    say("irecv MPI_Irecv from %d tag 3 bytes 8 in world request 2", left());
    MPI_Barrier(WORLD);
    say("collective MPI_Barrier root 0 bytes 0 in world");
    MPI_Ssend(data, 7, MPI_CHAR, right(), 2, WORLD);
    say("send MPI_Ssend to %d tag 2 bytes 7 in world", right());
    MPI_Rsend(data, 1, MPI_DOUBLE, right(), 3, WORLD);
    say("send MPI_Send to %d tag 3 bytes 8 in world", right());
    MPI_Waitall(2, late, MPI_STATUSES_IGNORE);
    say("wait MPI_Waitall request 1");
    say("wait - request 2");
    void *address;
    int length;
    MPI_Buffer_detach(&address, &length);
    MPI_Send(data, 3, MPI_CHAR, MPI_PROC_NULL, 0, WORLD); /* nothing */
    MPI_Recv(data, 3, MPI_CHAR, MPI_PROC_NULL, 0, WORLD, MPI_STATUS_IGNORE);
    say("wait - request 0"); /* the buffered one, at the end */
}

void do_sendrecv(void)
{
    double out[4] = {0}, in[8];
    MPI_Sendrecv(out, 4, MPI_DOUBLE, right(), 5, in, 8, MPI_DOUBLE, MPI_ANY_SOURCE, 5, WORLD,
                 MPI_STATUS_IGNORE);
    say("isend MPI_Sendrecv to %d tag 5 bytes 32 in world request 0", right());
    say("irecv - from %d tag 5 bytes 32 in world request 1", left());
    say("wait - request 0");
    say("wait - request 1");
    MPI_Sendrecv_replace(in, 3, MPI_DOUBLE, right(), 6, left(), MPI_ANY_TAG, WORLD,
                         MPI_STATUS_IGNORE);
    say("isend MPI_Sendrecv to %d tag 6 bytes 24 in world request 0", right());
    say("irecv - from %d tag 6 bytes 24 in world request 1", left());
    say("wait - request 0");
    say("wait - request 1");
    /* A line with ends. */
    int next = rank + 1 < size ? rank + 1 : MPI_PROC_NULL;
    int before = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    MPI_Sendrecv(out, 1, MPI_DOUBLE, next, 7, in, 1, MPI_DOUBLE, before, 7, WORLD,
                 MPI_STATUS_IGNORE);
    if (rank + 1 < size)
        say("isend MPI_Sendrecv to %d tag 7 bytes 8 in world request 0", next);
    if (rank > 0)
        say("irecv %s from %d tag 7 bytes 8 in world request %d",
            rank + 1 < size ? "-" : "MPI_Sendrecv", before, rank + 1 < size);
    if (rank + 1 < size)
        say("wait - request 0");
    if (rank > 0)
        say("wait - request %d", rank + 1 < size);
}

void do_begin(void)
{
    int out[2] = {0}, in[2];
    MPI_Request q[4];
    MPI_Irecv(&in[0], 1, MPI_INT, left(), 1, WORLD, &q[0]);
    say("irecv MPI_Irecv from %d tag 1 bytes 4 in world request 0", left());
    MPI_Irecv(&in[1], 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &q[1]);
    MPI_Isend(&out[0], 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &q[2]);
    MPI_Isend(&out[1], 1, MPI_INT, right(), 1, WORLD, &q[3]);
    say("isend MPI_Isend to %d tag 1 bytes 4 in world request 1", right());
    MPI_Wait(&q[2], MPI_STATUS_IGNORE); /* nothing */
    MPI_Wait(&q[3], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 1");
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
    MPI_Wait(&q[1], MPI_STATUS_IGNORE); /* nothing */
    MPI_Wait(&q[1], MPI_STATUS_IGNORE); /* MPI_REQUEST_NULL */
    MPI_Issend(&out[0], 2, MPI_INT, right(), 2, WORLD, &q[0]);
    say("isend MPI_Isend to %d tag 2 bytes 8 in world request 0", right());
    MPI_Recv(in, 2, MPI_INT, left(), 2, WORLD, MPI_STATUS_IGNORE);
    say("recv MPI_Recv from %d tag 2 bytes 8 in world", left());
    MPI_Waitall(1, q, MPI_STATUSES_IGNORE);
    say("wait MPI_Waitall request 0");
}

void do_any(void)
{
    int in[64], out = 1, index;
    MPI_Request q[64];
    for (int i = 0; i < size; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, i, 1, WORLD, &q[i]);
        say("irecv MPI_Irecv from %d tag 1 bytes 4 in world request %d", i, i);
    }
    for (int i = 0; i < size; i++) {
        MPI_Send(&out, 1, MPI_INT, i, 1, WORLD);
        say("send MPI_Send to %d tag 1 bytes 4 in world", i);
    }
    for (int i = 0; i < size; i++) {
        MPI_Waitany(size, q, &index, MPI_STATUS_IGNORE);
        say("wait MPI_Waitany request %d", index);
    }
    MPI_Waitany(size, q, &index, MPI_STATUS_IGNORE); /* nothing left */
}

void do_some(void)
{
    int in[64], out = 1, indices[64], count, left_over = size;
    MPI_Request q[64];
    for (int i = 0; i < size; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, i, 1, WORLD, &q[i]);
        say("irecv MPI_Irecv from %d tag 1 bytes 4 in world request %d", i, i);
    }
    for (int i = 0; i < size; i++) {
        MPI_Send(&out, 1, MPI_INT, i, 1, WORLD);
        say("send MPI_Send to %d tag 1 bytes 4 in world", i);
    }
    for (; left_over > 0; left_over -= count) {
        MPI_Waitsome(size, q, &count, indices, MPI_STATUSES_IGNORE);
        for (int i = 0; i < count; i++)
            say("wait %s request %d", i == 0 ? "MPI_Waitany" : "-", indices[i]);
    }
}

void do_test(void)
{
    int in[3], out = 1, flag = 0, index, count = 0, indices[3];
    MPI_Request q[3];
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < 3; i++) {
            MPI_Irecv(&in[i], 1, MPI_INT, left(), i, WORLD, &q[i]);
            say("irecv MPI_Irecv from %d tag %d bytes 4 in world request %d", left(), i, i);
        }
        MPI_Testall(3, q, &flag, MPI_STATUSES_IGNORE); /* no */
        MPI_Barrier(WORLD);
        say("collective MPI_Barrier root 0 bytes 0 in world");
        for (int i = 0; i < 3; i++) {
            MPI_Send(&out, 1, MPI_INT, right(), i, WORLD);
            say("send MPI_Send to %d tag %d bytes 4 in world", right(), i);
        }
        if (turn == 0)
            for (int i = 2; i >= 0; i--) {
                for (flag = 0; !flag;)
                    MPI_Test(&q[i], &flag, MPI_STATUS_IGNORE);
                say("wait MPI_Test request %d", i);
            }
        else if (turn == 1) {
            for (flag = 0; !flag;)
                MPI_Testall(3, q, &flag, MPI_STATUSES_IGNORE);
            say("wait MPI_Test request 0");
            say("wait - request 1");
            say("wait - request 2");
        } else if (turn == 2)
            for (int i = 0; i < 3; i++) {
                for (flag = 0; !flag;)
                    MPI_Testany(3, q, &index, &flag, MPI_STATUS_IGNORE);
                say("wait MPI_Test request %d", index);
            }
        else
            for (int done = 0; done < 3; done += count) {
                MPI_Testsome(3, q, &count, indices, MPI_STATUSES_IGNORE);
                for (int i = 0; i < count; i++)
                    say("wait %s request %d", i == 0 ? "MPI_Test" : "-", indices[i]);
            }
    }
}

/* More than any table of fixed size; all small sends have one handle in Open MPI. */
void do_many(void)
{
    enum { MANY = 1000 };
    static int out[MANY], in[MANY];
    static MPI_Request q[2 * MANY];
    for (int i = 0; i < MANY; i++) {
        MPI_Isend(&out[i], 1, MPI_INT, right(), i, WORLD, &q[i]);
        say("isend MPI_Isend to %d tag %d bytes 4 in world request %d", right(), i, i);
    }
    for (int i = 0; i < MANY; i++) {
        MPI_Irecv(&in[i], 1, MPI_INT, left(), i, WORLD, &q[MANY + i]);
        say("irecv MPI_Irecv from %d tag %d bytes 4 in world request %d", left(), i, MANY + i);
    }
    MPI_Wait(&q[500], MPI_STATUS_IGNORE); /* not the oldest */
    say("wait MPI_Wait request 500");
    MPI_Waitall(2 * MANY, q, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2 * MANY; i++)
        if (i != 500)
            say("wait %s request %d", i == 0 ? "MPI_Waitall" : "-", i);
}

void do_persistent(void)
{
    int out = 1, in, more;
    MPI_Request q[3];
    MPI_Send_init(&out, 1, MPI_INT, right(), 1, WORLD, &q[0]);
    MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &q[1]);
    MPI_Recv_init(&more, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD, &q[2]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(3, q);
        say("isend MPI_Isend to %d tag 1 bytes 4 in world request 0", right());
        say("irecv MPI_Irecv from %d tag 1 bytes 4 in world request 1", left());
        MPI_Waitall(3, q, MPI_STATUSES_IGNORE);
        say("wait MPI_Waitall request 0");
        say("wait - request 1");
    }
    MPI_Start(&q[1]);
    say("irecv MPI_Irecv from %d tag 1 bytes 4 in world request 0", left());
    MPI_Start(&q[0]);
    say("isend MPI_Isend to %d tag 1 bytes 4 in world request 1", right());
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 1");
    MPI_Wait(&q[0], MPI_STATUS_IGNORE); /* not active: nothing */
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&q[i]);
}
