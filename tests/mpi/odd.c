/* odd.c: receives from anybody, messages that are taken first, what is cancelled and forgotten,
 * errors. */
#include <stdio.h>

#include "says.h"

#define WORLD MPI_COMM_WORLD

/* Posted first, known last: it must stand where it was posted, with whom it came from. */
void do_wildcard(void)
{
    char in[100], out[100] = "";
    MPI_Request q;
    int others = 0;
    if (rank == 0) {
        MPI_Irecv(in, 100, MPI_CHAR, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, &q);
        say("irecv MPI_Irecv from %d tag 77 bytes 13 in world request 0", size - 1);
    }
    for (int i = 0; i < 10; i++) {
        MPI_Allreduce(&i, &others, 1, MPI_INT, MPI_SUM, WORLD);
        say("collective MPI_Allreduce root 0 bytes 4 in world");
    }
    if (rank == size - 1) {
        MPI_Send(out, 13, MPI_CHAR, 0, 77, WORLD);
        say("send MPI_Send to 0 tag 77 bytes 13 in world");
    }
    if (rank == 0) {
        MPI_Wait(&q, MPI_STATUS_IGNORE);
        say("wait MPI_Wait request 0");
    }
}

/* The same, with more between than is held: written as it was asked for. */
void do_long(void)
{
    enum { MORE = 300000 };
    int in, value = 0;
    MPI_Request q;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &q);
    say("irecv MPI_Irecv from any tag 1 bytes 4 in world request 0");
    for (int i = 0; i < MORE; i++) {
        MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 2, WORLD);
        MPI_Barrier(MPI_COMM_SELF);
        say("collective MPI_Barrier root 0 bytes 0 in 0:%d", rank);
    }
    MPI_Send(&value, 1, MPI_INT, right(), 1, WORLD);
    say("send MPI_Send to %d tag 1 bytes 4 in world", right());
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
}

/* One that never comes, and is given up long after it was posted. */
void do_never(void)
{
    enum { MORE = 300000 };
    int in;
    MPI_Request q;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 1, WORLD, &q);
    for (int i = 0; i < MORE; i++)
        MPI_Barrier(MPI_COMM_SELF);
    MPI_Cancel(&q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
}

void do_take(void)
{
    char in[100], out[100] = "";
    MPI_Message message;
    MPI_Status status;
    MPI_Request q;
    int flag = 0;
    for (int i = 0; i < 3; i++) {
        MPI_Send(out, 10 + i, MPI_CHAR, right(), i, WORLD);
        say("send MPI_Send to %d tag %d bytes %d in world", right(), i, 10 + i);
    }
    while (!flag)
        MPI_Iprobe(MPI_ANY_SOURCE, 0, WORLD, &flag, &status);
    MPI_Probe(MPI_ANY_SOURCE, 0, WORLD, MPI_STATUS_IGNORE);
    MPI_Mprobe(MPI_ANY_SOURCE, 2, WORLD, &message, MPI_STATUS_IGNORE);
    say("irecv - from %d tag 2 bytes 12 in world request 0", left());
    MPI_Recv(in, 100, MPI_CHAR, left(), 0, WORLD, MPI_STATUS_IGNORE);
    say("recv MPI_Recv from %d tag 0 bytes 10 in world", left());
    MPI_Mrecv(in, 100, MPI_CHAR, &message, MPI_STATUS_IGNORE);
    say("wait MPI_Recv request 0");
    for (flag = 0; !flag;)
        MPI_Improbe(left(), MPI_ANY_TAG, WORLD, &flag, &message, &status);
    say("irecv - from %d tag 1 bytes 11 in world request 0", left());
    MPI_Imrecv(in, 100, MPI_CHAR, &message, &q);
    MPI_Wait(&q, MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 0");
}

/* What was cancelled, or never came, did not happen. */
void do_cancel(void)
{
    int in[3], out = 0;
    MPI_Request q[3];
    MPI_Irecv(&in[0], 1, MPI_INT, left(), 1, WORLD, &q[0]);
    MPI_Irecv(&in[1], 1, MPI_INT, left(), 2, WORLD, &q[1]);
    say("irecv MPI_Irecv from %d tag 2 bytes 4 in world request 1", left());
    MPI_Irecv(&in[2], 1, MPI_INT, MPI_ANY_SOURCE, 3, WORLD, &q[2]); /* never */
    MPI_Send(&out, 1, MPI_INT, right(), 2, WORLD);
    say("send MPI_Send to %d tag 2 bytes 4 in world", right());
    MPI_Cancel(&q[0]);
    MPI_Wait(&q[0], MPI_STATUS_IGNORE);
    MPI_Wait(&q[1], MPI_STATUS_IGNORE);
    say("wait MPI_Wait request 1");
}

/* Forgotten sends are waited for at the end. */
void do_forget(void)
{
    int out = 0, in;
    MPI_Request q;
    for (int i = 0; i < 3; i++) {
        MPI_Issend(&out, 1, MPI_INT, right(), i, WORLD, &q);
        say("isend MPI_Isend to %d tag %d bytes 4 in world request %d", right(), i, i);
        MPI_Request_free(&q);
    }
    for (int i = 0; i < 3; i++) {
        MPI_Recv(&in, 1, MPI_INT, left(), i, WORLD, MPI_STATUS_IGNORE);
        say("recv MPI_Recv from %d tag %d bytes 4 in world", left(), i);
    }
    for (int i = 0; i < 3; i++)
        say("wait - request %d", i);
}

/* Very many that nobody ever waits for, at one address. */
void do_leave(void)
{
    enum { MANY = 100000 };
    int out = 0, in;
    MPI_Request q;
    for (int i = 0; i < MANY; i++) {
        MPI_Isend(&out, 1, MPI_INT, right(), 1, WORLD, &q);
        say("isend MPI_Isend to %d tag 1 bytes 4 in world request %d", right(), i);
        MPI_Recv(&in, 1, MPI_INT, left(), 1, WORLD, MPI_STATUS_IGNORE);
        say("recv MPI_Recv from %d tag 1 bytes 4 in world", left());
    }
    for (int i = 0; i < MANY; i++)
        say("wait - request %d", i);
}

/* Calls that fail return what they return, and are not in the trace. */
void do_errors(void)
{
    int value = 0, class;
    MPI_Request q = MPI_REQUEST_NULL;
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Send(&value, 1, MPI_INT, size + 5, 1, WORLD), &class);
    printf("rank %d: %s\n", rank, class == MPI_ERR_RANK ? "no such rank" : "?");
    MPI_Error_class(MPI_Irecv(&value, -1, MPI_INT, 0, 1, WORLD, &q), &class);
    printf("rank %d: %s\n", rank, class == MPI_ERR_COUNT ? "no such count" : "?");
    MPI_Error_class(MPI_Bcast(&value, 1, MPI_INT, -3, WORLD), &class);
    printf("rank %d: %s\n", rank, class == MPI_ERR_ROOT ? "no such root" : "?");
    MPI_Barrier(WORLD);
    say("collective MPI_Barrier root 0 bytes 0 in world");
}
