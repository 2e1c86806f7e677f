/*
 * files.c: inputs as files (files.h). The directory is made in SELVAGE_FUZZ_FOLDER, where
 * tools/fuzz.sh removes it even if a target crashed, or in /dev/shm, where an exit does.
 */
#define _GNU_SOURCE
#include "files.h"

#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX];

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *at)
{
    (void)about, (void)kind;
    return at->level == 0 ? 0 : remove(path);
}

static void clear(void)
{
    if (nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
        abort();
}

static void end(void)
{
    clear();
    rmdir(folder);
}

const char *fuzz_folder(void)
{
    const char *where = getenv("SELVAGE_FUZZ_FOLDER");
    if (folder[0] == 0) {
        if (where == NULL)
            where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
        snprintf(folder, sizeof folder, "%s/selvage-fuzz-XXXXXX", where);
        if (mkdtemp(folder) == NULL || atexit(end) != 0)
            abort();
    } else {
        clear();
    }
    return folder;
}

const char *fuzz_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 300, folder, name);
    return path;
}

void fuzz_write(const char *name, const void *bytes, size_t size)
{
    const char *slash = strrchr(name, '/');
    char above[256];
    if (slash != NULL) {
        snprintf(above, sizeof above, "%.*s", (int)(slash - name), name);
        mkdir(fuzz_path(above), 0755);
    }
    FILE *file = fopen(fuzz_path(name), "w");
    if (file == NULL || (size > 0 && fwrite(bytes, 1, size, file) != size) || fclose(file) != 0)
        abort();
}

char *fuzz_read(const char *name, size_t *size)
{
    struct bytes all = {0};
    char piece[4096];
    FILE *file = fopen(fuzz_path(name), "r");
    if (file == NULL)
        return NULL;
    size_t got = 0;
    do {
        got = fread(piece, 1, sizeof piece, file);
        if (!keep_bytes(&all, piece, got))
            abort();
    } while (got > 0);
    fclose(file);
    *size = all.length;
    return all.at;
}

/* Where the next line "== X" begins; NULL: nowhere. */
static const uint8_t *find_mark(const uint8_t *at, const uint8_t *end)
{
    for (bool start = true; end - at >= 5; at++) {
        if (start && memcmp(at, "== ", 3) == 0 && at[4] == '\n')
            return at;
        start = *at == '\n';
    }
    return NULL;
}

bool fuzz_next_piece(struct piece *p)
{
    const uint8_t *end = p->rest + p->left;
    const uint8_t *mark = p->left == 0 ? NULL : find_mark(p->rest, end);
    if (mark == NULL)
        return false;
    p->letter = (char)mark[3];
    p->at = mark + 5;
    p->rest = find_mark(p->at, end);
    if (p->rest == NULL)
        p->rest = end;
    p->left = (size_t)(end - p->rest);
    /* the newline in front of the next mark is the mark's */
    p->size = (size_t)(p->rest - p->at) - (p->left > 0 && p->rest > p->at);
    return true;
}
