/*
 * files.h: inputs that are files, or directories of them, for what reads those by their paths. They
 * are in memory (a tmpfs), in a directory of this process.
 */
#ifndef SELVAGE_FUZZ_FILES_H
#define SELVAGE_FUZZ_FILES_H

#include "fuzz.h"

/* The directory, empty: what an earlier input left there is gone. */
const char *fuzz_folder(void);
/* The path of a name in it, until the next call but three. */
const char *fuzz_path(const char *name);
/* Writes a file in it; names may have a directory in front, which is made. */
void fuzz_write(const char *name, const void *bytes, size_t size);
/* All of a file in it, terminated, to be freed; NULL: there is none. */
char *fuzz_read(const char *name, size_t *size);

/*
 * The next file of an input that holds several: "== X\n", X one character that stands for its name,
 * then its bytes, up to "\n== Y\n" or the end. What stands before the first is nobody's.
 *
 *     for (struct piece p = {.rest = data, .left = size}; fuzz_next_piece(&p);)
 *         fuzz_write(name_of(p.letter), p.at, p.size);
 */
struct piece {
    const uint8_t *rest;
    size_t left;
    char letter;
    const uint8_t *at;
    size_t size;
};
bool fuzz_next_piece(struct piece *piece);

#endif
