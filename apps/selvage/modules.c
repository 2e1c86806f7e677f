/*
 * modules.c: where the command's modules are: libraries that talk to MPI and are loaded only when
 * they are needed, so that the command itself runs where there is none.
 *
 * They lie beside the command (in a build directory) or where an installation has them:
 * SELVAGE_MODULES, the way there from the command's directory. Nothing depends on the prefix that
 * was configured, so an installed tree may be moved as a whole, or staged with DESTDIR, and a
 * command never takes the modules of another installation.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "selvage/app.h"

static bool find_in(const char *home, const char *way, const char *name, char found[PATH_MAX])
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s%s", home, way, name);
    return length > 0 && (size_t)length < sizeof path && realpath(path, found) != NULL &&
           access(found, R_OK) == 0;
}

sv_status app_find_module(struct app *app, const char *name, char found[PATH_MAX])
{
    char home[PATH_MAX], path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", home, sizeof home - 1);
    if (length <= 0)
        return sv_fail(app->ctx, SV_UNSUPPORTED, "cannot find '%s' without /proc/self/exe", name);
    home[length] = 0;
    *strrchr(home, '/') = 0;
    if (!find_in(home, "", name, path) && !find_in(home, SELVAGE_MODULES "/", name, path))
        return sv_fail(app->ctx, SV_UNSUPPORTED,
                       "no '%s' in '%s' or '%s/%s': this selvage was built without MPI (Debian: "
                       "libopenmpi-dev), or copied without its modules",
                       name, home, home, SELVAGE_MODULES);
    strcpy(found, path);
    return SV_OK;
}
