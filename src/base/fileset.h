/*
 * fileset.h: files of one directory that belong together and change as one.
 *
 * Forwarding tables are several files (LFTs, SL2VL tables, SLs of paths …). Two sets that are each
 * proven make, mixed, one that can deadlock. So a set is replaced as a whole: whoever reads it sees
 * the old or the new one, whenever the writer is killed, and of two writers the last one's. And
 * each file carries the generation of its set, so that a mixture that came about in another way (a
 * copy by hand, another tool) is recognised.
 */
#ifndef SV_BASE_FILESET_H
#define SV_BASE_FILESET_H

#include <sys/stat.h>

#include "base/file.h"

enum { SV_FILESET_MAX = 16 };

/* ---- reading ---- */

/* What a reader wants: the first of some names (of equal meaning) that is there. */
typedef struct sv_fileset_part {
    const char *names[4]; /* ends with NULL */
} sv_fileset_part;

typedef struct sv_fileset {
    sv_ctx *ctx;
    unsigned count;
    sv_file file[SV_FILESET_MAX]; /* of each part; descriptor -1: it is not there */
    uint64_t stamp[SV_FILESET_MAX];
    struct stat opened[SV_FILESET_MAX]; /* what they were then */
} sv_fileset;

/*
 * Opens all parts of a set, those of one generation. BAD_INPUT: they are of several. Who wants some
 * of the parts only gives only these. The struct must stay where it is until sv_fileset_close.
 */
sv_status sv_fileset_open(sv_fileset *set, sv_ctx *ctx, const char *directory,
                          const sv_fileset_part *parts, unsigned count);
void sv_fileset_close(sv_fileset *set);

/*
 * Whether what was read from the files is what was in them when they were opened. Writers of ours
 * replace files and so change none that is open; but others write into them (OpenSM, cp).
 */
bool sv_fileset_settled(const sv_fileset *set);

/* ---- writing ---- */

/* Where the generation of a set stands in a file: none of these readers stumbles over it. */
typedef enum sv_stamp {
    SV_STAMP_LINE, /* a comment of its own, the first line */
    SV_STAMP_TAIL  /* a comment at the end of the first line */
} sv_stamp;

typedef struct sv_fileset_member {
    const char *name;
    sv_stamp stamp;
} sv_fileset_member;

/* A file on its way. */
typedef struct sv_fileset_new {
    struct sv_fileset_writer *writer;
    int descriptor; /* -1: not begun: the set will not have it */
    char temporary[24];
    uint64_t at, stamp_at; /* bytes written; where the stamp is, UINT64_MAX: not yet */
    sv_sink sink;
} sv_fileset_new;

typedef struct sv_fileset_writer {
    sv_ctx *ctx;
    const char *path;
    sv_folder folder;
    const sv_fileset_member *members;
    unsigned count;
    uint64_t digest;
    sv_fileset_new file[SV_FILESET_MAX];
} sv_fileset_writer;

/*
 * Begins a new set in a directory that is there. members: all that such a set may have; those that
 * are not begun until the commit are gone after it. directory and members must outlive the writer,
 * which must stay where it is.
 */
sv_status sv_fileset_create(sv_fileset_writer *writer, sv_ctx *ctx, const char *directory,
                            const sv_fileset_member *members, unsigned count);

/* Begins the next member (in their order): where its bytes go. NULL: it could not be begun. */
const sv_sink *sv_fileset_begin(sv_fileset_writer *writer, unsigned member);

/* Replaces the set that was there. On failure that one stays. To be closed in any case. */
sv_status sv_fileset_commit(sv_fileset_writer *writer);

/* Forgets what was not committed. */
void sv_fileset_end(sv_fileset_writer *writer);

#endif
