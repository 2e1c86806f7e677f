/*
 * journal.h: what tells which files of a directory belong together (fileset.h): the generation in
 * each of them, and the journal of a writer that is replacing them, or died in it.
 */
#ifndef SV_BASE_JOURNAL_H
#define SV_BASE_JOURNAL_H

#include <sys/stat.h>

#include "base/file.h"

#define SV__JOURNAL ".selvage-next"
#define SV__MARK    "# selvage generation "

enum {
    SV__STAMP_DIGITS = 16,
    SV__NO_STAMP = 0, /* the generation of a file that has none */
    SV__JOURNAL_MAX = 4096
};

/* The generation that a file says it is of: its first line is a stamp, or ends with one. */
uint64_t sv__stamp_of(int descriptor);

typedef struct sv__journal {
    bool there;
    uint64_t generation;
    char text[SV__JOURNAL_MAX];
} sv__journal;

sv_status sv__journal_read(sv__journal *j, sv_ctx *ctx, const sv_folder *folder,
                           const char *directory);

/* Whether it has a line: a word (has, drops) and the name of a member. */
bool sv__journal_has(const sv__journal *j, const char *word, const char *name);

/* The line that tells what was in the place of a member when the journal was written. */
int sv__journal_old(char *line, size_t size, const char *name, const struct stat *old);

/*
 * Whether somebody has put something else in the place of a member since the journal was written,
 * or removed it. now: what is there and is not of the new generation; NULL: nothing.
 */
bool sv__journal_foreign(const sv__journal *j, const char *name, const struct stat *now);

#endif
