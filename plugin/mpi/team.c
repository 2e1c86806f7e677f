/*
 * team.c: the processes that mpirun started, as a team for a study.
 *
 * A module that the command loads only where a launcher of MPI has started it, so that nobody else
 * waits for MPI or needs it. One thread of each process talks (MPI_THREAD_FUNNELED), in whole
 * messages of bytes with one tag.
 *
 * Cost: a probe for each question whether there is something.
 */
#include "team.h"

#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

struct mpi_team {
    sv_study_team team; /* first: a pointer to one is a pointer to the other */
    char *buffer;
    int room;
    int neighbours; /* processes on this machine */
};

static sv_status failed(sv_ctx *ctx, int code, const char *doing)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int length;
    MPI_Error_string(code, why, &length);
    return selvage_team_fail(ctx, doing, why);
}

static sv_status team_send(void *user, sv_ctx *ctx, unsigned to, const void *bytes, size_t length)
{
    (void)user;
    if (length > INT_MAX)
        return selvage_team_fail(ctx, "send", "a message of more than 2 GiB");
    int code = MPI_Send(bytes, (int)length, MPI_BYTE, (int)to, 0, MPI_COMM_WORLD);
    return code == MPI_SUCCESS ? SV_OK : failed(ctx, code, "send");
}

static sv_status team_receive(void *user, sv_ctx *ctx, unsigned *from, const void **bytes,
                              size_t *length, bool *there)
{
    struct mpi_team *t = user;
    MPI_Status about;
    int flag, count;
    int code = MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &flag, &about);
    *there = false;
    if (code != MPI_SUCCESS)
        return failed(ctx, code, "listen");
    if (!flag)
        return SV_OK;
    MPI_Get_count(&about, MPI_BYTE, &count);
    if (count > t->room) {
        char *buffer = realloc(t->buffer, (size_t)count);
        if (buffer == NULL)
            return selvage_team_fail(ctx, "receive", "out of memory");
        t->buffer = buffer;
        t->room = count;
    }
    code = MPI_Recv(t->buffer, count, MPI_BYTE, about.MPI_SOURCE, 0, MPI_COMM_WORLD, &about);
    if (code != MPI_SUCCESS)
        return failed(ctx, code, "receive");
    *from = (unsigned)about.MPI_SOURCE;
    *bytes = t->buffer;
    *length = (size_t)count;
    *there = true;
    return SV_OK;
}

static int neighbours(void)
{
    MPI_Comm here;
    int size = 1;
    if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here) !=
        MPI_SUCCESS)
        return 1;
    MPI_Comm_size(here, &size);
    MPI_Comm_free(&here);
    return size;
}

const sv_study_team *selvage_team_open(unsigned *on_this_machine)
{
    int given, rank, size;
    struct mpi_team *t = calloc(1, sizeof *t);
    if (t == NULL || MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &given) != MPI_SUCCESS ||
        given < MPI_THREAD_FUNNELED) {
        free(t);
        return NULL;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    *on_this_machine = (unsigned)neighbours();
    t->team = (sv_study_team){.user = t,
                              .rank = (unsigned)rank,
                              .size = (unsigned)size,
                              .send = team_send,
                              .receive = team_receive};
    return &t->team;
}

void selvage_team_close(const sv_study_team *team)
{
    struct mpi_team *t = team->user;
    MPI_Finalize();
    free(t->buffer);
    free(t);
}
