/*
 * file.h: files as sources and sinks.
 *
 * A file is written out of sight and takes its place only when all of it is there
 * (sv_file_commit). So nobody ever sees half of it, and a failed run leaves what was there before.
 * Things that are no regular files (terminals, pipes, /dev/null) are written as they come.
 */
#ifndef SV_BASE_FILE_H
#define SV_BASE_FILE_H

#include "base/ctx.h"

typedef struct sv_file {
    sv_ctx *ctx;
    int descriptor;
    char *path;      /* where it is, or is to be; links followed */
    char *temporary; /* its name until then, if it has one */
    bool replaces;   /* is to be put in place by sv_file_commit */
    sv_source source;
    sv_sink sink;
} sv_file;

/* Opens a file for reading; file->source is the result. "-" is standard input. */
sv_status sv_file_open(sv_file *file, sv_ctx *ctx, const char *path);

/* Starts a file; file->sink is where its bytes go. "-" is standard output. */
sv_status sv_file_create(sv_file *file, sv_ctx *ctx, const char *path);

/*
 * Whether sv_file_create could, and the name is one that sv_file_commit can give: to be asked
 * before something takes long. Leaves nothing behind; does not open pipes, whose readers would
 * notice.
 */
sv_status sv_file_try(sv_ctx *ctx, const char *path);

/*
 * Does all of sv_file_commit that can go wrong but the last step, so that several files can be put
 * in their places together. The file has still to be committed or closed.
 */
sv_status sv_file_prepare(sv_file *file);

/* Puts what was written in its place. Ends the file however it went. */
sv_status sv_file_commit(sv_file *file);

/* Ends a file that was opened, or forgets one that was started. Fine after a commit, too. */
void sv_file_close(sv_file *file);

/* A source that reads from memory. The struct must outlive the source. */
typedef struct sv_memory {
    const char *at;
    size_t left;
} sv_memory;

sv_source sv_memory_source(sv_memory *memory, const char *name);

#endif
