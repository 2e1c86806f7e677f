/*
 * load.c: FABRIC arguments in, results out.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ctx.h"
#include "base/file.h"
#include "base/near.h"
#include "selvage/app.h"

bool app_is_svr(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".svr") == 0;
}

sv_status app_load_tables(struct app *app, const char *argument, sv_fabric **fabric,
                          sv_routes **routes)
{
    return sv_dump_read(app->ctx, argument, fabric, routes);
}

sv_status app_load(struct app *app, const char *argument, sv_fabric **fabric)
{
    struct stat about;
    bool standard = strcmp(argument, "-") == 0, exists = stat(argument, &about) == 0;
    int why = errno;
    bool folder = exists && S_ISDIR(about.st_mode);
    if (exists && (folder ? !sv_topology_is_spec(argument) : app_is_svr(argument)))
        return sv_dump_read(app->ctx, argument, fabric, NULL);
    if (standard || (exists && !folder))
        return sv_fabric_load(app->ctx, argument, fabric);
    bool like_spec = strpbrk(argument, ":,=") != NULL && strchr(argument, '/') == NULL;
    if (sv_topology_is_spec(argument) || like_spec)
        return sv_topology_generate(app->ctx, argument, fabric);
    return sv_fail(app->ctx, SV_IO, "cannot open '%s': %s (and it is no topology spec)", argument,
                   strerror(why));
}

int app_check_engine(struct app *app, const char *engine, const sv_route_request *request)
{
    sv_status status = SV_OK;
    if (strcmp(engine, "auto") != 0)
        status = sv_route_check(app->ctx, engine, request);
    else if (request->num_options > 0)
        status = sv_refuse(app->ctx, "auto passes no options on: '%.200s'", request->options[0]);
    return status == SV_OK ? -1 : app_exit(app, status);
}

/* Reads one GUID file into roles. */
static sv_status read_roles(struct app *app, const sv_fabric *fabric, const char *path,
                            sv_role role, sv_role *roles)
{
    sv_file file;
    uint32_t unknown = 0;
    SV_TRY(sv_file_open(&file, app->ctx, path));
    sv_status status = sv_roles_read(app->ctx, fabric, &file.source, role, roles, &unknown);
    sv_file_close(&file);
    return status;
}

sv_status app_load_roles(struct app *app, const char *argument, const char *cn_guids,
                         const char *io_guids, sv_fabric **fabric)
{
    sv_fabric *read = NULL;
    SV_TRY(app_load(app, argument, &read));
    if (cn_guids == NULL && io_guids == NULL) {
        *fabric = read;
        return SV_OK;
    }
    sv_role *roles = sv_alloc(app->ctx, read->num_terminals, sizeof *roles);
    sv_status status = roles == NULL ? SV_NO_MEMORY : SV_OK;
    for (uint32_t t = 0; status == SV_OK && t < read->num_terminals; t++) {
        roles[t] = (sv_role)read->terminals[t].role;
        if (cn_guids != NULL && roles[t] == SV_ROLE_COMPUTE)
            roles[t] = SV_ROLE_OTHER; /* with a list, only those in it compute */
    }
    if (status == SV_OK && cn_guids != NULL)
        status = read_roles(app, read, cn_guids, SV_ROLE_COMPUTE, roles);
    if (status == SV_OK && io_guids != NULL)
        status = read_roles(app, read, io_guids, SV_ROLE_IO, roles);
    if (status == SV_OK)
        status = sv_fabric_with_roles(app->ctx, read, roles, fabric);
    sv_release(app->ctx, roles);
    sv_fabric_free(read);
    return status;
}

static int unknown_format(struct app *app, const char *name)
{
    char known[300] = "";
    size_t used = 0;
    sv_near near;
    for (int i = SV_FORMAT_AUTO + 1; i < SV_FORMAT_COUNT; i++)
        if (sv_format_about((sv_format)i)->writes)
            used += (size_t)snprintf(known + used, sizeof known - used, "%s%s",
                                     used > 0 ? ", " : "", sv_format_about((sv_format)i)->name);
    return app_usage_error(app, "unknown format '%s'%s (there are %s)", name,
                           sv_near_hint(&near, sv_span_of(name), known), known);
}

/* What stands behind the last dot of a file's name, or NULL; a name that begins with a dot has one
 * less. */
static const char *suffix_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    const char *dot = *name != 0 ? strrchr(name + 1, '.') : NULL;
    return dot != NULL ? dot + 1 : NULL;
}

static int unknown_suffix(struct app *app, const char *output)
{
    char known[300] = "";
    size_t used = 0;
    for (int i = SV_FORMAT_AUTO + 1; i < SV_FORMAT_COUNT; i++) {
        const sv_format_info *about = sv_format_about((sv_format)i);
        sv_scan scan = sv_scan_of(sv_span_of(about->writes ? about->suffixes : ""));
        for (sv_span word; sv_scan_word(&scan, &word); sv_scan_blanks(&scan))
            used += (size_t)snprintf(known + used, sizeof known - used, "%s.%.*s",
                                     used > 0 ? ", " : "", SV_SPAN(word));
    }
    return app_usage_error(app, "'%s' ends in none of %s, and there is no --format", output, known);
}

int app_format(struct app *app, const char *name, const char *output, sv_format *format)
{
    if (name == NULL) {
        *format = sv_format_of_path(output);
        if (*format == SV_FORMAT_AUTO && suffix_of(output) != NULL)
            return unknown_suffix(app, output);
        const sv_format_info *about = sv_format_about(*format);
        if (about != NULL && !about->writes)
            return app_usage_error(app, "'%s' looks like %s, which can only be read: give --format",
                                   output, about->name);
        return -1;
    }
    *format = sv_format_named(name);
    const sv_format_info *about = sv_format_about(*format);
    if (about == NULL)
        return unknown_format(app, name);
    if (!about->writes)
        return app_usage_error(app, "format %s can only be read", name);
    return -1;
}

static bool write_stdout(void *user, const void *bytes, size_t size)
{
    const struct app *app = user;
    const char *at = bytes;
    while (size > 0) {
        ssize_t put = write(STDOUT_FILENO, at, size);
        if (put < 0 && errno == EINTR && !sv_cancelled(app->ctx))
            continue;
        if (put < 0)
            return false;
        at += put;
        size -= (size_t)put;
    }
    return true;
}

sv_status app_print_begin(struct app *app, sv_text *out)
{
    app->standard_output = (sv_sink){"<stdout>", app, write_stdout};
    sv_text_init(out, app->ctx, &app->standard_output);
    return SV_OK;
}

sv_status app_print_end(struct app *app, sv_text *out)
{
    (void)app;
    sv_status status = sv_text_finish(out);
    sv_text_release(out);
    return status;
}

uint32_t app_count_links(const sv_fabric *f, uint32_t *others)
{
    uint32_t links = 0, rest = 0;
    for (uint32_t c = 0; c < f->num_channels; c++) {
        sv_channel channel = {c};
        if (!sv_channel_alive(f, channel) || !sv_is_cable(f, channel))
            continue;
        if (sv_joins_switches(f, channel))
            links++;
        else
            rest++;
    }
    if (others != NULL)
        *others = rest;
    return links;
}
