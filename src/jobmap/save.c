/*
 * save.c: job maps as text, as jobmap.c reads them.
 *
 * Idea: a job's terminals are told by the names of their adapters: by the part before the first
 * blank if all adapters that answer to it run the job (it is what the batch system calls the node),
 * else by the whole name.
 *
 * Invariants: what is written reads back as the same jobs in the same order; if names are not
 * unique enough for that, nothing is written.
 * Cost: linear in the fabric and in the map, times the adapters of a name.
 */
#include <string.h>

#include "base/file.h"
#include "jobmap/jobmap.h"

struct writer {
    sv__mapper names;
    sv_text out;
    uint32_t *held; /* of each adapter: 1 + the last job that has it */
    uint32_t *told; /* and that has told of it */
};

void sv__jobmap_word(sv_text *out, const char *word)
{
    if (word[0] != 0 && strpbrk(word, " \t\r\"\\#") == NULL) {
        sv_text_add(out, word, strlen(word));
        return;
    }
    sv_text_add(out, "\"", 1);
    for (; *word != 0; word++) {
        if (*word == '"' || *word == '\\')
            sv_text_add(out, "\\", 1);
        sv_text_add(out, word, 1);
    }
    sv_text_add(out, "\"", 1);
}

/* Whether all adapters of a name with live ports run the job. */
static bool all_held(const struct writer *w, uint32_t link, uint32_t mark)
{
    for (; link != SV_NONE; link = w->names.links.at[link].next) {
        uint32_t a = w->names.links.at[link].adapter;
        if (w->held[a] != mark && w->names.first[a] < w->names.first[a + 1])
            return false;
    }
    return true;
}

static sv_status write_adapter(struct writer *w, uint32_t adapter, const char *job, uint32_t mark)
{
    sv_span whole = sv_span_of(w->names.f->adapters[adapter].name);
    sv_span word = {whole.at, strcspn(whole.at, " \t")};
    uint32_t link = sv__mapper_find(&w->names, word);
    char *name = sv_arena_text(&w->names.arena, word.at, word.length);
    if (name == NULL)
        return SV_NO_MEMORY;
    if (word.length == 0 || link == SV_NONE || !all_held(w, link, mark)) {
        link = sv__mapper_find(&w->names, whole);
        name = sv_arena_text(&w->names.arena, whole.at, whole.length);
        if (name == NULL)
            return SV_NO_MEMORY;
    }
    if (link == SV_NONE || !all_held(w, link, mark) || strchr(name, '\n') != NULL)
        return sv_fail(w->names.ctx, SV_UNSUPPORTED, "a map cannot name '%.200s': %s", whole.at,
                       whole.length == 0 ? "it has no name" : "other adapters answer to it, too");
    for (; link != SV_NONE; link = w->names.links.at[link].next)
        w->told[w->names.links.at[link].adapter] = mark;
    sv__jobmap_word(&w->out, name);
    sv_text_add(&w->out, " ", 1);
    sv__jobmap_word(&w->out, job);
    sv_text_add(&w->out, "\n", 1);
    return SV_OK;
}

static sv_status write_map(struct writer *w, const sv_jobmap *map)
{
    const sv_fabric *f = w->names.f;
    w->held = SV_ARENA_NEW(&w->names.arena, uint32_t, f->num_adapters);
    w->told = SV_ARENA_NEW(&w->names.arena, uint32_t, f->num_adapters);
    if (w->held == NULL || w->told == NULL)
        return SV_NO_MEMORY;
    sv_text_print(&w->out, "# job map: NODE JOB\n");
    for (uint32_t j = 0; j < map->num_jobs; j++) {
        const sv_job *job = &map->jobs[j];
        for (uint32_t i = 0; i < job->num_terminals; i++)
            w->held[sv_terminal_of(f, job->terminals[i])->adapter] = j + 1;
        for (uint32_t i = 0; i < job->num_terminals; i++) {
            uint32_t adapter = sv_terminal_of(f, job->terminals[i])->adapter;
            if (w->told[adapter] != j + 1)
                SV_TRY(write_adapter(w, adapter, job->name, j + 1));
        }
    }
    return sv_text_finish(&w->out);
}

sv_status sv_jobmap_save(sv_ctx *ctx, const sv_fabric *fabric, const sv_jobmap *map,
                         const char *path)
{
    struct writer w = {.held = NULL};
    sv_file file;
    SV_TRY(sv_file_create(&file, ctx, path));
    sv_text_init(&w.out, ctx, &file.sink);
    sv_status status = sv__mapper_init(&w.names, ctx, fabric);
    if (status == SV_OK)
        status = write_map(&w, map);
    if (status == SV_OK)
        status = sv_file_commit(&file);
    sv_text_release(&w.out);
    sv__mapper_release(&w.names);
    sv_file_close(&file);
    return status;
}
