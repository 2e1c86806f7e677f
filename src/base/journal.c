/*
 * journal.c: generations and the journal of a set of files (journal.h; fileset.c says what they are
 * for).
 *
 *     selvage-next 1
 *     generation 0123456789abcdef
 *     has opensm.psl                            the new set has that
 *     was opensm.psl 12694 1763349901.001234567 1763349901.003456789
 *                                               and this was there: size, when it was written and
 *                                               when anything about it changed last
 *     drops selvage.orders                      the new set does not have that any more
 *
 * A writer can die between the journal and its removal, and others may come to the directory then
 * who do not know of it: OpenSM, somebody who copies tables. What they leave is neither of the new
 * generation nor what was there before.
 *
 * The last of these times cannot be set by anybody, so what is copied over a file is foreign even
 * if the copy keeps sizes and times. An exchange changes it, too; but what was exchanged is in its
 * place and has the new generation.
 *
 * Cost: reading the first line of a file; a search in 4 KiB for a member.
 */
#define _GNU_SOURCE /* pread */
#include "base/journal.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    BLOCK = 4096,        /* bytes that are read at a time */
    FIRST_LINE = 1 << 17 /* has the stamp in it, however long the names in it are */
};

/* ---- generations ---- */

/* Sixteen lower-case hexadecimal digits; SV__NO_STAMP if they are none. */
static uint64_t parse_digits(const char *text)
{
    uint64_t value = 0;
    for (int i = 0; i < SV__STAMP_DIGITS; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            value = value << 4 | (uint64_t)(text[i] - '0');
        else if (text[i] >= 'a' && text[i] <= 'f')
            value = value << 4 | (uint64_t)(text[i] - 'a' + 10);
        else
            return SV__NO_STAMP;
    }
    return value;
}

uint64_t sv__stamp_of(int descriptor)
{
    enum { MARKED = sizeof SV__MARK - 1, LENGTH = MARKED + SV__STAMP_DIGITS };
    char text[LENGTH + 1 + BLOCK]; /* the end of what was read before, and what is read next */
    size_t kept = 0;
    for (off_t at = 0; at < FIRST_LINE; at += BLOCK) {
        ssize_t got = pread(descriptor, text + kept, BLOCK, at);
        const char *end = got <= 0 ? NULL : memchr(text + kept, '\n', (size_t)got);
        if (end != NULL) {
            if (end > text && end[-1] == '\r')
                end--;
            bool marked = end - text >= LENGTH && memcmp(end - LENGTH, SV__MARK, MARKED) == 0;
            return marked ? parse_digits(end - SV__STAMP_DIGITS) : SV__NO_STAMP;
        }
        if (got < BLOCK)
            break;
        memmove(text, text + kept + BLOCK - (LENGTH + 1), LENGTH + 1);
        kept = LENGTH + 1;
    }
    return SV__NO_STAMP;
}

/* ---- the journal ---- */

int sv__journal_old(char *line, size_t size, const char *name, const struct stat *old)
{
    return snprintf(line, size, "was %s %lld %lld.%09ld %lld.%09ld\n", name,
                    (long long)old->st_size, (long long)old->st_mtim.tv_sec, old->st_mtim.tv_nsec,
                    (long long)old->st_ctim.tv_sec, old->st_ctim.tv_nsec);
}

bool sv__journal_has(const sv__journal *j, const char *word, const char *name)
{
    char line[NAME_MAX + 16];
    snprintf(line, sizeof line, "\n%s %s\n", word, name);
    return j->there && strstr(j->text, line) != NULL;
}

bool sv__journal_foreign(const sv__journal *j, const char *name, const struct stat *now)
{
    char line[NAME_MAX + 120] = "\n";
    if (now != NULL)
        sv__journal_old(line + 1, sizeof line - 1, name, now);
    else
        snprintf(line, sizeof line, "\nwas %s ", name);
    bool was = strstr(j->text, line) != NULL;
    return now != NULL ? !was : was && sv__journal_has(j, "has", name);
}

sv_status sv__journal_read(sv__journal *j, sv_ctx *ctx, const sv_folder *folder,
                           const char *directory)
{
    static const char begin[] = "selvage-next 1\ngeneration ";
    sv_file file;
    char path[PATH_MAX];
    *j = (sv__journal){.there = false};
    snprintf(path, sizeof path, "%s/" SV__JOURNAL, directory);
    sv_status status = sv_file_open_in(&file, ctx, folder, SV__JOURNAL, path, &j->there);
    if (status != SV_OK)
        return j->there ? status : SV_OK;
    ssize_t got = pread(file.descriptor, j->text, sizeof j->text - 1, 0);
    sv_file_close(&file);
    if (got < 0)
        return sv_fail(ctx, SV_IO, "cannot read '%s': %s", path, strerror(errno));
    if (strncmp(j->text, begin, sizeof begin - 1) == 0)
        j->generation = parse_digits(j->text + sizeof begin - 1);
    if (j->generation == SV__NO_STAMP)
        return sv_fail(ctx, SV_BAD_INPUT,
                       "%s:1: not what selvage writes while it replaces tables: remove it", path);
    return SV_OK;
}
