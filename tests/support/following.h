/*
 * following.h: what tests of live routing that follows jobs share: a directory with a job map and
 * a state file. Whoever includes it defines _DEFAULT_SOURCE first.
 */
#ifndef SELVAGE_FOLLOWING_H
#define SELVAGE_FOLLOWING_H

#include "support/living.h"

static char folder[64], map_path[80], state_path[80];

static int begin_folder(void **state)
{
    snprintf(folder, sizeof folder, "/tmp/selvage-test-XXXXXX");
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(map_path, sizeof map_path, "%s/jobs", folder);
    snprintf(state_path, sizeof state_path, "%s/state.svr", folder);
    return begin(state);
}

static int end_folder(void **state)
{
    char key[96];
    snprintf(key, sizeof key, "%s.jobs", state_path);
    unlink(map_path);
    unlink(state_path);
    unlink(key);
    rmdir(folder);
    return end(state);
}

static void put(const char *text)
{
    FILE *file = fopen(map_path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* A line for each of count hosts from first on, step apart: "node17 name". */
static void write_jobs(FILE *file, const sv_fabric *f, const char *name, unsigned first,
                       unsigned step, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        fprintf(file, "%s %s\n", f->adapters[(first + i * step) % f->num_adapters].name, name);
}

static sv_live_options following(void)
{
    sv_live_options options = defaults();
    options.jobs_path = map_path;
    return options;
}

#endif
