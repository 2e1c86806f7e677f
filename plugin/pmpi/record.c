/*
 * record.c: libselvage_trace.so, to be preloaded under an MPI program: what each rank does is
 * written to a file of its own.
 *
 *     LD_PRELOAD=libselvage_trace.so SELVAGE_TRACE_DIR=folder mpirun … program …
 *
 * Idea: every wrapper calls the real function first and then notes what it did, so the program sees
 * nothing but a little more time. Events stand in the order of calls. The thread's CPU time between
 * two calls is computing; what is spent in MPI, and here, is not. (CPU time: 64 ranks may share two
 * cores.)
 *
 * Invariants: nothing here ends the program or changes what a call returns. After the first thing
 * that goes wrong there is one line on standard error and no more recording; the unfinished file
 * (rank-N.svt.part) tells who reads it. With MPI_THREAD_MULTIPLE calls of several threads have no
 * order: then the second thread that calls is such a thing. A child of fork() is not the program.
 *
 * Cost: two readings of a clock and some look-ups in tables a call.
 */
#define _GNU_SOURCE
#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
    atomic_bool on;
    bool several; /* threads may call at the same time */
    pthread_t owner;
    pid_t process;
    int rank;
    uint32_t ranks;
    uint64_t clock_ns; /* that reading the clock takes */
    unsigned call;
} recorder;

static _Thread_local int depth;
static _Thread_local uint64_t last_ns; /* when this thread's last call ended, of its CPU time */

/* ---- what is behind ---- */

rec_function rec_real(rec_function *slot, const char *name)
{
    union {
        void *object;
        rec_function function;
    } found;
    if (*slot != NULL)
        return *slot;
    found.object = dlsym(RTLD_NEXT, name);
    if (found.object == NULL) {
        fprintf(stderr, "selvage trace: no %s in this MPI library\n", name);
        abort();
    }
    *slot = found.function;
    return found.function;
}

/* ---- what goes wrong ---- */

void rec_give_up(const char *format, ...)
{
    char text[256];
    va_list args;
    if (!atomic_exchange(&recorder.on, false))
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "selvage trace: rank %d is no longer recorded: %s\n", recorder.rank, text);
}

void rec_cannot(const char *what)
{
    static const char *said[16];
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        if (said[i] != NULL && strcmp(said[i], what) == 0)
            return;
        if (said[i] == NULL) {
            said[i] = what;
            if (recorder.rank == 0)
                fprintf(stderr, "selvage trace: not recorded: %s\n", what);
            return;
        }
    }
}

void *rec_alloc(size_t size)
{
    void *memory = calloc(1, size != 0 ? size : 1);
    if (memory == NULL)
        rec_give_up("out of memory");
    return memory;
}

/* ---- calls ---- */

static uint64_t cpu_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool rec_enter(void)
{
    if (depth++ > 0 || !atomic_load_explicit(&recorder.on, memory_order_relaxed))
        return false;
    if (recorder.several && !pthread_equal(recorder.owner, pthread_self())) {
        rec_give_up("several threads call MPI at the same time (MPI_THREAD_MULTIPLE)");
        return false;
    }
    uint64_t now = cpu_ns(), since = now - last_ns;
    rec_compute(since > recorder.clock_ns ? since - recorder.clock_ns : 0);
    recorder.call = SV_CALL_NONE;
    return true;
}

void rec_leave(void)
{
    if (--depth == 0 && atomic_load_explicit(&recorder.on, memory_order_relaxed))
        last_ns = cpu_ns();
}

void rec_call(unsigned call)
{
    recorder.call = call;
}

unsigned rec_take_call(void)
{
    unsigned call = recorder.call;
    recorder.call = SV_CALL_NONE;
    return call;
}

uint64_t rec_bytes(MPI_Aint count, MPI_Datatype type)
{
    MPI_Count size = 0;
    if (count <= 0 || PMPI_Type_size_x(type, &size) != MPI_SUCCESS || size <= 0)
        return 0;
    return (uint64_t)count * (uint64_t)size;
}

int rec_world_rank(void)
{
    return recorder.rank;
}

uint32_t rec_world_size(void)
{
    return recorder.ranks;
}

/* ---- beginning and end ---- */

static void measure_clock(void)
{
    recorder.clock_ns = UINT64_MAX;
    for (int i = 0; i < 64; i++) {
        uint64_t first = cpu_ns(), second = cpu_ns();
        if (second - first < recorder.clock_ns)
            recorder.clock_ns = second - first;
    }
}

static void begin(void)
{
    int ranks = 0;
    const char *folder = getenv("SELVAGE_TRACE_DIR");
    if (folder == NULL || *folder == 0)
        folder = ".";
    PMPI_Comm_rank(MPI_COMM_WORLD, &recorder.rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    recorder.ranks = (uint32_t)ranks;
    recorder.owner = pthread_self();
    recorder.process = getpid();
    measure_clock();
    atomic_store(&recorder.on, true);
    if (!rec_file_begin(folder, program_invocation_short_name, (uint32_t)recorder.rank,
                        recorder.ranks))
        rec_give_up("cannot write to '%s': %s", folder, rec_file_error());
    else if (!rec_groups_begin())
        rec_give_up("cannot note communicators");
}

static void end(const char *what)
{
    rec_requests_end();
    rec_events_end();
    bool whole = atomic_load(&recorder.on);
    if (whole && !rec_file_end(what))
        rec_give_up("cannot write: %s", rec_file_error());
    atomic_store(&recorder.on, false);
}

WRAP(Init);
int PMPI_Init(int *argc, char ***argv)
{
    depth++;
    int code = REAL(Init)(argc, argv);
    if (code == MPI_SUCCESS)
        begin();
    rec_leave();
    return code;
}

WRAP(Init_thread);
int PMPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    int level = MPI_THREAD_SINGLE;
    depth++;
    int code = REAL(Init_thread)(argc, argv, required, &level);
    if (provided != NULL)
        *provided = level;
    recorder.several = level == MPI_THREAD_MULTIPLE;
    if (code == MPI_SUCCESS)
        begin();
    rec_leave();
    return code;
}

WRAP(Finalize);
int PMPI_Finalize(void)
{
    if (rec_enter())
        end(NULL);
    int code = REAL(Finalize)();
    rec_leave();
    return code;
}

WRAP(Abort);
int PMPI_Abort(MPI_Comm comm, int code)
{
    if (rec_enter())
        end("ended by MPI_Abort");
    code = REAL(Abort)(comm, code);
    rec_leave();
    return code;
}

/* The program ends, and did not call MPI_Finalize. */
__attribute__((destructor)) static void leave_behind(void)
{
    if (atomic_load(&recorder.on) && recorder.process == getpid() && depth == 0)
        end("ended without MPI_Finalize");
}
