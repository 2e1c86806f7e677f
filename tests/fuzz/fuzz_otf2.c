/*
 * fuzz_otf2.c: OTF2 archives. The library itself writes them, with definitions and events that make
 * no sense, in any order; then files are missing, empty or in the place of others. What can be read
 * is a trace like any other; what is refused says of which file.
 *
 * Pieces (files.h): d, definitions instead of the usual ones; 0 to 3, events of that location;
 * l, a mapping of local definitions; x, files and what becomes of them. Definitions, events and
 * mappings are letters with operands, a byte each, counted from '0': see the functions that write
 * them.
 *
 * Bytes inside files do not change: the library (3.0.2) does not bear that. It uses memory that it
 * has not read, and writes and frees where it must not, so that one input would be blamed for
 * another. It also leaks when a file is not what it should be; that is not told either. Whatever is
 * not damaged must leave nothing behind.
 */
#include <otf2/otf2.h>
#include <sanitizer/lsan_interface.h>

#include "files.h"
#include "fuzz_traces.h"

const size_t fuzz_memory = 16 << 20;

enum { LOCATIONS = 4 };

/* Ranks 0 and 1, all of MPI; regions 0 to 7, communicators 0 (world), 1 (self). */
static const char DEFINITIONS[] = "C1S00S11S22S33S44S55S66S77L0L1R000R110R220R330R440R550R660R770"
                                  "G040201G150201G2600M01M12";

/* ---- operands ---- */

/* The next; the last ones are those that overflow. */
static uint64_t operand(struct piece *p)
{
    static const uint64_t large[] = {UINT64_MAX, UINT32_MAX,        (uint64_t)UINT32_MAX + 1,
                                     INT32_MAX,  (uint64_t)1 << 63, UINT64_MAX - 47,
                                     1 << 20,    (uint64_t)1 << 40};
    if (p->size == 0)
        return 0;
    uint8_t byte = (uint8_t)(*p->at - '0');
    p->at++;
    p->size--;
    return byte < 248 ? byte : large[byte - 248];
}

static uint32_t small(struct piece *p)
{
    return (uint32_t)operand(p);
}

/* ---- what is written ---- */

static OTF2_FlushType flush(void *user, OTF2_FileType file, OTF2_LocationRef location, void *data,
                            bool last)
{
    (void)user, (void)file, (void)location, (void)data, (void)last;
    return OTF2_FLUSH;
}

static const OTF2_FlushCallbacks flushes = {.otf2_pre_flush = flush};

static OTF2_ErrorCode say_nothing(void *user, const char *file, uint64_t line, const char *function,
                                  OTF2_ErrorCode code, const char *format, va_list args)
{
    (void)user, (void)file, (void)line, (void)function, (void)format, (void)args;
    return code;
}

static void write_group(OTF2_GlobalDefWriter *w, struct piece *p)
{
    static const OTF2_Paradigm paradigms[] = {OTF2_PARADIGM_MPI, OTF2_PARADIGM_OPENMP};
    uint64_t members[16];
    uint32_t self = small(p), type = small(p), paradigm = small(p), count = small(p) % 17;
    for (uint32_t i = 0; i < count; i++)
        members[i] = operand(p);
    OTF2_GlobalDefWriter_WriteGroup(w, self, 0, (OTF2_GroupType)type, paradigms[paradigm % 2],
                                    OTF2_GROUP_FLAG_NONE, count, members);
}

/* Clock (which resolution), String (which name), Location, Region (name, paradigm), Group (type,
 * paradigm, members), coMmunicator (group). */
static void write_definition(OTF2_GlobalDefWriter *w, struct piece *p)
{
    static const char *const names[] = {
        "MPI_Send",    "MPI_Recv", "MPI_Isend", "MPI_Irecv", "MPI_Wait",        "MPI_Sendrecv",
        "MPI_Waitall", "MPI_Test", "a name",    "",          "with\nlines \xff"};
    static const uint64_t resolutions[] = {0, 1000000000, 1, 3, 3000000000, UINT64_MAX, 1ull << 63};
    uint8_t letter = *p->at++;
    p->size--;
    uint32_t self = letter == 'C' ? 0 : small(p);
    if (letter == 'C')
        OTF2_GlobalDefWriter_WriteClockProperties(w, resolutions[operand(p) % 7], 0, 1000,
                                                  OTF2_UNDEFINED_TIMESTAMP);
    else if (letter == 'S')
        OTF2_GlobalDefWriter_WriteString(w, self, names[operand(p) % 11]);
    else if (letter == 'L')
        OTF2_GlobalDefWriter_WriteLocation(w, self, 0, OTF2_LOCATION_TYPE_CPU_THREAD, 9, self);
    else if (letter == 'R') {
        uint32_t name = small(p);
        OTF2_Paradigm paradigm = operand(p) == 0 ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER;
        OTF2_GlobalDefWriter_WriteRegion(w, self, name, name, name, OTF2_REGION_ROLE_POINT2POINT,
                                         paradigm, OTF2_REGION_FLAG_NONE, 0, 0, 0);
    } else if (letter == 'M')
        OTF2_GlobalDefWriter_WriteComm(w, self, 0, small(p), OTF2_UNDEFINED_COMM,
                                       OTF2_COMM_FLAG_NONE);
}

static void write_definitions(OTF2_Archive *archive, struct piece p)
{
    OTF2_GlobalDefWriter *w = OTF2_Archive_GetGlobalDefWriter(archive);
    if (w == NULL)
        abort();
    while (p.size > 0) {
        if (*p.at == 'G') {
            p.at++;
            p.size--;
            write_group(w, &p);
        } else {
            write_definition(w, &p);
        }
    }
    OTF2_Archive_CloseGlobalDefWriter(archive, w);
}

/* Send, Recv, Isend (req.), Q: irecv's request, q: its end, C: collective, n: the end of one that
 * was begun. */
static void write_message(OTF2_EvtWriter *w, uint8_t letter, uint64_t t, struct piece *p)
{
    uint32_t peer = small(p), comm = small(p), third = small(p);
    uint64_t length = operand(p);
    OTF2_CollectiveOp op = (OTF2_CollectiveOp)peer;
    if (letter == 'S')
        OTF2_EvtWriter_MpiSend(w, NULL, t, peer, comm, third, length);
    else if (letter == 'R')
        OTF2_EvtWriter_MpiRecv(w, NULL, t, peer, comm, third, length);
    else if (letter == 'I')
        OTF2_EvtWriter_MpiIsend(w, NULL, t, peer, comm, third, length, operand(p));
    else if (letter == 'q')
        OTF2_EvtWriter_MpiIrecv(w, NULL, t, peer, comm, third, length, operand(p));
    else if (letter == 'C')
        OTF2_EvtWriter_MpiCollectiveEnd(w, NULL, t, op, comm, third, length, operand(p));
#if OTF2_VERSION_MAJOR >= 3
    else if (letter == 'n') {
        uint64_t received = operand(p);
        OTF2_EvtWriter_NonBlockingCollectiveComplete(w, NULL, t, op, comm, third, length, received,
                                                     operand(p));
    }
#endif
}

/* Time goes on by one, or (T) by a lot, or back. Enter, Leave; i: an isend's request ends; Begin of
 * a collective, N: of one that has a request; X: something else. */
static void write_events(OTF2_Archive *archive, uint64_t location, struct piece p)
{
    OTF2_EvtWriter *w = OTF2_Archive_GetEvtWriter(archive, location);
    uint64_t t = 100;
    if (w == NULL)
        abort();
    while (p.size > 0) {
        uint8_t letter = *p.at++;
        p.size--;
        t++;
        if (letter == 'T')
            t += operand(&p);
        else if (letter == 'E')
            OTF2_EvtWriter_Enter(w, NULL, t, small(&p));
        else if (letter == 'L')
            OTF2_EvtWriter_Leave(w, NULL, t, small(&p));
        else if (letter == 'i')
            OTF2_EvtWriter_MpiIsendComplete(w, NULL, t, operand(&p));
        else if (letter == 'Q')
            OTF2_EvtWriter_MpiIrecvRequest(w, NULL, t, operand(&p));
        else if (letter == 'B')
            OTF2_EvtWriter_MpiCollectiveBegin(w, NULL, t);
#if OTF2_VERSION_MAJOR >= 3
        else if (letter == 'N')
            OTF2_EvtWriter_NonBlockingCollectiveRequest(w, NULL, t, operand(&p));
#endif
        else if (letter == 'X')
            OTF2_EvtWriter_ThreadFork(w, NULL, t, OTF2_PARADIGM_OPENMP, small(&p));
        else
            write_message(w, letter, t, &p);
    }
    OTF2_Archive_CloseEvtWriter(archive, w);
}

/* A location, what is mapped, and to what: all numbers from 0 on. */
static void write_mapping(OTF2_Archive *archive, struct piece p)
{
    uint64_t location = operand(&p) % LOCATIONS, to[16];
    OTF2_MappingType type = (OTF2_MappingType)(operand(&p) % OTF2_MAPPING_MAX); /* others leak */
    uint64_t count = operand(&p) % 17;
    OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(archive, location);
    if (w == NULL)
        abort();
    for (uint64_t i = 0; i < count; i++)
        to[i] = operand(&p);
    OTF2_IdMap *map = OTF2_IdMap_CreateFromUint64Array(count, to, false);
    if (map != NULL) {
        OTF2_DefWriter_WriteMappingTable(w, type, map);
        OTF2_IdMap_Free(map);
    }
    OTF2_Archive_CloseDefWriter(archive, w);
}

struct wish {
    struct piece definitions, events[LOCATIONS], mapping, damage;
};

static void write_archive(const struct wish *wish)
{
    OTF2_Archive *archive =
        OTF2_Archive_Open(fuzz_path("."), "traces", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_MIN,
                          OTF2_CHUNK_SIZE_MIN, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (archive == NULL)
        abort();
    OTF2_Archive_SetFlushCallbacks(archive, &flushes, NULL);
    OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    OTF2_Archive_OpenEvtFiles(archive);
    for (uint64_t location = 0; location < LOCATIONS; location++)
        if (location < 2 || wish->events[location].at != NULL)
            write_events(archive, location, wish->events[location]);
    OTF2_Archive_CloseEvtFiles(archive);
    if (wish->mapping.at != NULL) {
        OTF2_Archive_OpenDefFiles(archive);
        write_mapping(archive, wish->mapping);
        OTF2_Archive_CloseDefFiles(archive);
    }
    write_definitions(archive, wish->definitions);
    OTF2_Archive_Close(archive);
}

/* ---- damage ---- */

/* A file that is gone, is empty, or is a copy of another. */
static void damage(struct piece p)
{
    static const char *const names[] = {"traces.def",   "traces/0.evt", "traces/1.evt",
                                        "traces/0.def", "traces/1.def", "traces.otf2"};
    for (; p.size >= 2; p.at += 2, p.size -= 2) {
        const char *name = names[p.at[0] % 5];
        uint8_t with = p.at[1] % 8;
        size_t size = 0;
        char *bytes = with < 6 ? fuzz_read(names[with], &size) : NULL;
        if (with == 6)
            remove(fuzz_path(name));
        else if (with == 7 || bytes != NULL)
            fuzz_write(name, bytes, size);
        free(bytes);
    }
}

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    struct wish wish = {
        .definitions = {.at = (const uint8_t *)DEFINITIONS, .size = sizeof DEFINITIONS - 1}};
    sv_mpi_trace *trace = NULL;
    for (struct piece p = {.rest = data, .left = size}; fuzz_next_piece(&p);)
        if (p.letter == 'd')
            wish.definitions = p;
        else if (p.letter >= '0' && p.letter < '0' + LOCATIONS)
            wish.events[p.letter - '0'] = p;
        else if (p.letter == 'l')
            wish.mapping = p;
        else if (p.letter == 'x')
            wish.damage = p;
    fuzz_folder();
    OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(say_nothing, NULL);
    write_archive(&wish);
    OTF2_Error_RegisterCallback(before, NULL);
    damage(wish.damage);
    bool damaged = wish.damage.size > 0;
    if (damaged)
        __lsan_disable(); /* the library's leaks; our memory is counted */
    sv_status status = sv_mpi_load(ctx, fuzz_path("traces.otf2"), &trace);
    if (damaged)
        __lsan_enable();
    if (status == SV_OK)
        try_trace(ctx, trace);
    else
        must_refuse(ctx, status, fuzz_path("traces.otf2:"));
    sv_mpi_free(trace);
}
