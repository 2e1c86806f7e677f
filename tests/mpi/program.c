/*
 * program.c: mpi_program NAME [HOW]: one of the programs of says.h. HOW it ends: exit (without
 * MPI_Finalize, code 7), abort (MPI_Abort by the last rank, code 9), kill (the last rank kills
 * itself), code (MPI_Finalize, then exit code 5 of rank 0), elsewhere (in another folder), small
 * (no file may be larger than 100,000 bytes).
 */
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "says.h"

int rank, size;

static FILE *log_file;

void say(const char *format, ...)
{
    va_list args;
    if (log_file == NULL)
        return;
    va_start(args, format);
    vfprintf(log_file, format, args);
    va_end(args);
    fputc('\n', log_file);
}

static void *send_too(void *unused)
{
    int value = 1;
    MPI_Send(&value, 1, MPI_INT, right(), 1, MPI_COMM_WORLD);
    return unused;
}

/* Two threads at the same time. */
static void do_threads(void)
{
    pthread_t other;
    int value;
    pthread_create(&other, NULL, send_too, NULL);
    MPI_Recv(&value, 1, MPI_INT, left(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    pthread_join(other, NULL);
}

static const struct {
    const char *name;
    void (*run)(void);
} programs[] = {
    {"ring", do_ring},
    {"modes", do_modes},
    {"sendrecv", do_sendrecv},
    {"begin", do_begin},
    {"any", do_any},
    {"some", do_some},
    {"test", do_test},
    {"many", do_many},
    {"persistent", do_persistent},
    {"wildcard", do_wildcard},
    {"long", do_long},
    {"never", do_never},
    {"take", do_take},
    {"cancel", do_cancel},
    {"forget", do_forget},
    {"comms", do_comms},
    {"again", do_again},
    {"inter", do_inter},
    {"all", do_all},
    {"vary", do_vary},
    {"later", do_later},
    {"overlap", do_overlap},
    {"vary_later", do_vary_later},
    {"duplicates", do_duplicates},
    {"leave", do_leave},
    {"near", do_near},
    {"errors", do_errors},
    {"threads", do_threads},
};

static void begin(int *argc, char ***argv)
{
    char path[4096];
    int level;
    if (strcmp((*argv)[1], "threads") == 0)
        MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
    else
        MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const char *folder = getenv("SAYS_DIR");
    if (folder != NULL) {
        snprintf(path, sizeof path, "%s/rank-%d.txt", folder, rank);
        log_file = fopen(path, "w");
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    const char *how = argc > 2 ? argv[2] : "";
    begin(&argc, &argv);
    if (strcmp(how, "small") == 0)
        setrlimit(RLIMIT_FSIZE, &(struct rlimit){100000, 100000});
    for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(programs[i].name, argv[1]) == 0)
            programs[i].run();
    if (log_file != NULL)
        fclose(log_file);
    printf("rank %d of %d is done\n", rank, size);
    if (strcmp(how, "abort") == 0 && rank == size - 1)
        MPI_Abort(MPI_COMM_WORLD, 9);
    if (strcmp(how, "kill") == 0 && rank == size - 1)
        raise(SIGKILL);
    if (strcmp(how, "abort") == 0 || strcmp(how, "kill") == 0)
        sleep(60);
    if (strcmp(how, "exit") == 0)
        exit(7);
    if (strcmp(how, "elsewhere") == 0 && chdir("/") != 0)
        return 1;
    MPI_Finalize();
    return strcmp(how, "code") == 0 && rank == 0 ? 5 : 0;
}
