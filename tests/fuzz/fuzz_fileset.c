/*
 * fuzz_fileset.c: directories of tables in whatever state: files, stamps, journals. What is read is
 * of one generation. A new set that is written is then the one that is read, byte for byte, and
 * nothing else is left; if it cannot be written, what could be read before still can.
 *
 * Files: see name_of. Contents "@dir", "@pipe", "@link" (which leads nowhere) and "@link e" stand
 * for what they say; all files are of second 1. When they changed last nobody can say beforehand:
 * in the journal that is added to lines that end with the first second. w: which members the new
 * set has, a bit for each, and their text. (Links from one member to another are not tried: who
 * removes one takes both.)
 */
#define _DEFAULT_SOURCE /* DT_DIR */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fileset.h"
#include "files.h"

const size_t fuzz_memory = 16 << 20;

enum { PARTS = 3, MEMBERS = 4 };

static const sv_fileset_part parts[PARTS] = {
    {{"one", NULL}}, {{"two", "other", NULL}}, {{"three", NULL}}};
static const sv_fileset_member members[MEMBERS] = {{"one", SV_STAMP_LINE},
                                                   {"two", SV_STAMP_TAIL},
                                                   {"other", SV_STAMP_LINE},
                                                   {"three", SV_STAMP_TAIL}};

/* Readers wait for writers that may be at work; here is none. */
int nanosleep(const struct timespec *span, struct timespec *left)
{
    (void)span, (void)left;
    return 0;
}

static const char *name_of(char letter)
{
    static const char *const names[] = {"1one",
                                        "2two",
                                        "oother",
                                        "3three",
                                        "j.selvage-next",
                                        "A.selvage-next.one",
                                        "B.selvage-next.two",
                                        "O.selvage-next.other",
                                        "C.selvage-next.three",
                                        "eelsewhere"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i][0] == letter)
            return names[i] + 1;
    return NULL;
}

static bool begins(const struct piece *p, const char *word)
{
    return p->size >= strlen(word) && memcmp(p->at, word, strlen(word)) == 0;
}

/* Of a time that journals can name. */
static void write_old(const char *name, const struct piece *p)
{
    static const struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
    fuzz_write(name, p->at, p->size);
    if (utimensat(AT_FDCWD, fuzz_path(name), times, 0) != 0)
        abort();
}

static void make(const struct piece *p)
{
    const char *name = name_of(p->letter);
    struct stat about;
    if (name == NULL || lstat(fuzz_path(name), &about) == 0)
        return;
    if (begins(p, "@dir"))
        mkdir(fuzz_path(name), 0755);
    else if (begins(p, "@pipe"))
        mkfifo(fuzz_path(name), 0644);
    else if (begins(p, "@link"))
        (void)!symlink(begins(p, "@link e") ? "elsewhere" : "nowhere", fuzz_path(name));
    else
        write_old(name, p);
}

/* When a file that a line of the journal tells of changed last: " 12.000000034", or nothing. */
static void when_changed(const char *line, size_t length, char when[64])
{
    static const char second[] = " 1.000000000";
    const size_t tail = sizeof second - 1;
    char words[300], name[300];
    struct stat about;
    when[0] = 0;
    if (length < tail || memcmp(line + length - tail, second, tail) != 0)
        return;
    snprintf(words, sizeof words, "%.*s", (int)(length < 299 ? length : 299), line);
    if (sscanf(words, "was %299s", name) == 1 && strchr(name, '/') == NULL &&
        stat(fuzz_path(name), &about) == 0)
        snprintf(when, 64, " %lld.%09ld", (long long)about.st_ctim.tv_sec, about.st_ctim.tv_nsec);
}

static void complete_journal(void)
{
    const char *name = name_of('j');
    struct bytes all = {NULL, 0};
    struct stat about;
    size_t size, length;
    if (lstat(fuzz_path(name), &about) != 0 || !S_ISREG(about.st_mode))
        return;
    char *text = fuzz_read(name, &size), when[64];
    for (const char *at = text; at < text + size; at += length) {
        const char *end = memchr(at, '\n', (size_t)(text + size - at));
        length = end != NULL ? (size_t)(end - at) : (size_t)(text + size - at);
        when_changed(at, length, when);
        if (!keep_bytes(&all, at, length) || !keep_bytes(&all, when, strlen(when)) ||
            !keep_bytes(&all, "\n", end != NULL))
            abort();
        length += end != NULL;
    }
    const struct piece whole = {.at = (const uint8_t *)all.at, .size = all.length};
    write_old(name, &whole);
    free(all.at);
    free(text);
}

/* ---- what is read ---- */

struct set {
    sv_status status;
    struct bytes part[PARTS]; /* at NULL: it is not there */
};

/* The generation in a file: 16 digits behind the mark at the end of its first line; else "". */
static void stamp_of(const struct bytes *file, char digits[17])
{
    static const char mark[] = "# selvage generation ";
    const char *end = memchr(file->at, '\n', file->length);
    digits[0] = 0;
    if (end == NULL)
        return;
    if (end > file->at && end[-1] == '\r')
        end--;
    if (end - file->at < (ptrdiff_t)sizeof mark - 1 + 16 ||
        memcmp(end - 16 - (sizeof mark - 1), mark, sizeof mark - 1) != 0)
        return;
    for (int i = 0; i < 16; i++)
        if (end[i - 16] == 0 || strchr("0123456789abcdef", end[i - 16]) == NULL)
            return;
    memcpy(digits, end - 16, 16);
    digits[16] = 0;
    if (strcmp(digits, "0000000000000000") == 0) /* of a file that was never completed */
        digits[0] = 0;
}

static void collect(sv_ctx *ctx, sv_file *file, struct bytes *all)
{
    char piece[512];
    int64_t got;
    MUST(keep_bytes(all, "", 0));
    while ((got = file->source.read(file->source.user, piece, sizeof piece)) > 0)
        MUST(keep_bytes(all, piece, (size_t)got));
    MUST(got == 0);
}

static struct set look(sv_ctx *ctx)
{
    sv_fileset open;
    struct set set = {.status = sv_fileset_open(&open, ctx, fuzz_path("."), parts, PARTS)};
    if (set.status != SV_OK) {
        MUST(set.status == SV_IO || set.status == SV_BAD_INPUT || set.status == SV_NO_MEMORY);
        MUST(sv_ctx_message(ctx)[0] != 0);
        return set;
    }
    char first[17] = "none yet", stamp[17];
    for (unsigned i = 0; i < PARTS; i++) {
        if (open.file[i].descriptor < 0)
            continue;
        collect(ctx, &open.file[i], &set.part[i]);
        stamp_of(&set.part[i], stamp);
        MUST(strcmp(first, "none yet") == 0 || strcmp(first, stamp) == 0);
        strcpy(first, stamp);
    }
    sv_fileset_close(&open);
    return set;
}

static void forget(struct set *set)
{
    for (unsigned i = 0; i < PARTS; i++)
        free(set->part[i].at);
}

static bool same(const struct bytes *a, const struct bytes *b)
{
    return (a->at == NULL) == (b->at == NULL) && a->length == b->length &&
           (a->length == 0 || memcmp(a->at, b->at, a->length) == 0);
}

/* ---- what is written ---- */

static sv_status put(sv_ctx *ctx, unsigned which, const char *text, size_t size)
{
    sv_fileset_writer w;
    sv_status status = sv_fileset_create(&w, ctx, fuzz_path("."), members, MEMBERS);
    for (unsigned i = 0; i < MEMBERS && status == SV_OK; i++) {
        if (!(which >> i & 1))
            continue;
        const sv_sink *sink = sv_fileset_begin(&w, i);
        MUST(sink != NULL && sink->write(sink->user, text, size / 2) &&
             sink->write(sink->user, text + size / 2, size - size / 2));
    }
    if (status == SV_OK)
        status = sv_fileset_commit(&w);
    sv_fileset_end(&w);
    return status;
}

/* A member without its stamp is the text. */
static void must_be(sv_ctx *ctx, const struct bytes *file, sv_stamp kind, const char *text,
                    size_t size)
{
    const size_t stamp = strlen("# selvage generation ") + 16;
    const char *end = memchr(file->at, '\n', file->length);
    MUST(end != NULL);
    size_t head = (size_t)(end - file->at), rest = file->length - head - 1;
    if (kind == SV_STAMP_LINE) {
        MUST(head == stamp && rest == size && memcmp(end + 1, text, size) == 0);
        return;
    }
    const char *line = memchr(text, '\n', size);
    size_t first = line == NULL ? size : (size_t)(line - text);
    MUST(head == first + (first > 0 || line != NULL) + stamp && memcmp(file->at, text, first) == 0);
    MUST(line == NULL ? rest == 0
                      : rest == size - first - 1 && memcmp(end + 1, line + 1, rest) == 0);
}

static bool is_name(const char *name)
{
    for (unsigned i = 0; i < MEMBERS; i++)
        if (strcmp(name, members[i].name) == 0)
            return true;
    return strcmp(name, "elsewhere") == 0;
}

/* Directories that somebody made are not ours to remove. */
static void must_be_alone(sv_ctx *ctx)
{
    DIR *directory = opendir(fuzz_path("."));
    MUST(directory != NULL);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;)
        MUST(is_name(entry->d_name) || entry->d_type == DT_DIR);
    closedir(directory);
}

static void replace(sv_ctx *ctx, const struct set *before, unsigned which, const char *text,
                    size_t size)
{
    static const int member_of[PARTS][2] = {{0, 0}, {1, 2}, {3, 3}};
    sv_status status = put(ctx, which, text, size);
    if (status != SV_OK)
        MUST((status == SV_IO || status == SV_BAD_INPUT) && sv_ctx_message(ctx)[0] != 0);
    struct set after = look(ctx);
    for (unsigned i = 0; i < PARTS && status == SV_OK; i++) {
        int m = which >> member_of[i][0] & 1 ? member_of[i][0] : member_of[i][1];
        MUST(after.status == SV_OK && (after.part[i].at != NULL) == (which >> m & 1));
        if (after.part[i].at != NULL)
            must_be(ctx, &after.part[i], members[m].stamp, text, size);
    }
    if (status == SV_OK)
        must_be_alone(ctx);
    for (unsigned i = 0; i < PARTS && status != SV_OK && before->status == SV_OK; i++)
        MUST(after.status == SV_OK && same(&before->part[i], &after.part[i]));
    forget(&after);
}

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    const uint8_t *text = (const uint8_t *)"15";
    size_t length = 2;
    fuzz_folder();
    for (struct piece p = {.rest = data, .left = size}; fuzz_next_piece(&p);)
        if (p.letter != 'w') {
            make(&p);
        } else if (p.size > 0) {
            text = p.at;
            length = p.size < 3000 ? p.size : 3000;
        }
    complete_journal();
    struct set before = look(ctx);
    replace(ctx, &before, text[0] % 16, (const char *)text + 1, length - 1);
    forget(&before);
}
