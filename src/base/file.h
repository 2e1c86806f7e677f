/*
 * file.h: files as sources and sinks.
 *
 * A file is written out of sight and takes its place only when all of it is there
 * (sv_file_commit). So nobody ever sees half of it, and a failed run leaves what was there before.
 * Things that are no regular files (terminals, pipes, /dev/null) are written as they come.
 *
 * A privileged host (base.h) reads and replaces regular files only, follows no links that others
 * can make, and new files are for its group alone unless they are said to be public.
 */
#ifndef SV_BASE_FILE_H
#define SV_BASE_FILE_H

#include <sys/types.h>

#include "base/folder.h"

typedef struct sv_file {
    sv_ctx *ctx;
    int descriptor;
    char *path;         /* as it is known to users */
    sv_folder folder;   /* the directory it is to be in; only of one that replaces */
    char *name;         /* in there */
    char temporary[24]; /* its name until then; empty: none */
    bool replaces;      /* is to be put in place by sv_file_commit */
    bool removes;       /* there is to be no file of that name */
    bool waits;         /* what is read may keep us waiting: a pipe, a terminal */
    sv_source source;
    sv_sink sink;
} sv_file;

/* Opens a file for reading; file->source is the result. "-" is standard input, but not for a
 * privileged host, which would wait for it. */
sv_status sv_file_open(sv_file *file, sv_ctx *ctx, const char *path);

/*
 * Opens a regular file of a directory that is open; path: for messages. SV_IO if there is none
 * (*there false and no message), or it is a pipe, say.
 */
sv_status sv_file_open_in(sv_file *file, sv_ctx *ctx, const sv_folder *folder, const char *name,
                          const char *path, bool *there);

/* Starts a file; file->sink is where its bytes go. "-" is standard output. */
sv_status sv_file_create(sv_file *file, sv_ctx *ctx, const char *path);

/* The same; everybody may read it, whoever writes it. */
sv_status sv_file_create_public(sv_file *file, sv_ctx *ctx, const char *path);

/*
 * Whether sv_file_create could, and the name is one that sv_file_commit can give: to be asked
 * before something takes long. Leaves nothing behind; does not open pipes, whose readers would
 * notice.
 */
sv_status sv_file_try(sv_ctx *ctx, const char *path);

/* Starts the removal of a file, if there is one, which is done by sv_files_commit. */
sv_status sv_file_remove(sv_file *file, sv_ctx *ctx, const char *path);

/* Puts what was written in its place. Ends the file however it went. */
sv_status sv_file_commit(sv_file *file);

/*
 * Puts several files (NULL: none) in their places, one after the other, all or none: if one of them
 * cannot be, all is as it was (but for what pipes and terminals have got, and on file systems
 * without hard links). Ends them all however it went.
 */
sv_status sv_files_commit(sv_file *const *files, unsigned count);

/* Ends a file that was opened, or forgets one that was started. Fine after a commit, too. */
void sv_file_close(sv_file *file);

/* ---- for whoever puts files in their places by himself (fileset.c) ---- */

/*
 * A file without a name in a directory, or with a temporary one, that is to take the place of name;
 * its mode is that of the one that is there, or what the umask says. public: everybody may read it,
 * whoever writes it. temporary: gets its name, or "".
 */
int sv_file_nameless(const sv_ctx *ctx, const sv_folder *folder, const char *name, bool public,
                     char temporary[24]);

/* Gives such a file a name that is not taken. False and errno: it cannot be. */
bool sv_file_name(const sv_folder *folder, int descriptor, char temporary[24], const char *name);

/* Writes all of it, again when interrupted. False and errno: it could not be. */
bool sv_write_all(const sv_ctx *ctx, int descriptor, const void *bytes, size_t size);

/* A source that reads from memory. The struct must outlive the source. */
typedef struct sv_memory {
    const char *at;
    size_t left;
} sv_memory;

sv_source sv_memory_source(sv_memory *memory, const char *name);

#endif
