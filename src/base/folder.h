/*
 * folder.h: directories that are opened once, so that nobody can put another in their place while
 * files in them are read, written and renamed.
 */
#ifndef SV_BASE_FOLDER_H
#define SV_BASE_FOLDER_H

#include <limits.h>

#include "base/ctx.h"

typedef struct sv_folder {
    int descriptor; /* -1: not open */
} sv_folder;

/*
 * Opens a directory. A symbolic link on the way that is of somebody else in a directory such as
 * /tmp is refused, and with a privileged host (base.h) any that stands in a directory that others
 * can write. SV_IO and a message that names what cannot be done, and to which path.
 */
sv_status sv_folder_open(sv_folder *folder, sv_ctx *ctx, const char *what, const char *path);

/*
 * Opens the directory that the last part of a path is in, symbolic links followed (a link that
 * leads to a file that is not there yet, too): name gets that part. The same refusals.
 */
sv_status sv_folder_above(sv_folder *folder, sv_ctx *ctx, const char *what, const char *path,
                          char name[NAME_MAX + 1]);

void sv_folder_close(sv_folder *folder);

/* Makes what happened in it last: new names, renames, removals. */
sv_status sv_folder_sync(const sv_folder *folder, sv_ctx *ctx, const char *path);

#endif
