/*
 * slurm.c: topology.conf for Slurm's topology/tree plugin.
 *
 * Slurm wants a tree of switches: leaves with the nodes on them, others with the switches below
 * them. Real fabrics are no trees, so this writes the tree of what is near: every switch with
 * compute terminals is a leaf; going up one level at a time (distance from the terminals), groups
 * of leaves that the switches of a level join become one Slurm switch, named after the first
 * switch that joins them. What is still apart at the top but cabled to each other (all switches of
 * a torus, say) is put under one last switch, "fabric". Pieces without a cable between them stay
 * apart.
 *
 * A host's name is what stands before the first blank of its adapter's description. Descriptions
 * that name a product instead ("MT25408 ConnectX Mellanox Technologies") give way to the port's
 * GUID. A host with ports on several leaves is listed once, where most of them are.
 *
 * Cost: O(n log n) for sorting names.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "fabric/derive.h"
#include "formats/formats.h"
#include "text/hostlist.h"

/* ---- names that Slurm accepts ---- */

static bool harmless(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_' || c == '.';
}

/* A name with everything odd replaced, made different from all in taken by a number. */
static const char *switch_name(sv_arena *arena, sv_names *taken, const char *name)
{
    char text[128];
    size_t length = 0;
    for (; name[length] != 0 && length < 100; length++)
        text[length] = harmless(name[length]) ? name[length] : '_';
    if (length == 0)
        text[length++] = 's';
    text[length] = 0;
    for (unsigned n = 2; sv_names_get(taken, sv_span_of(text)) != SV_ABSENT; n++)
        snprintf(text + length, sizeof text - length, "-%u", n);
    const char *kept = sv_arena_text(arena, text, strlen(text));
    if (kept == NULL || sv_names_add(taken, sv_span_of(kept), 0, NULL) != SV_OK)
        return NULL;
    return kept;
}

static const char *host_name(sv_arena *arena, const sv_fabric *f, uint32_t t)
{
    const char *name = f->adapters[f->terminals[t].adapter].name;
    size_t length = strcspn(name, " \t");
    bool product = strstr(name, "Mellanox") != NULL || strstr(name, "ConnectX") != NULL ||
                   strstr(name, "InfiniHost") != NULL || strstr(name, "QLogic") != NULL;
    bool good = length > 0 && !product;
    for (size_t i = 0; good && i < length; i++)
        good = harmless(name[i]);
    if (good)
        return sv_arena_text(arena, name, length);
    char guid[24];
    snprintf(guid, sizeof guid, "0x%llx", (unsigned long long)f->terminals[t].guid);
    return sv_arena_text(arena, guid, strlen(guid));
}

/* ---- which host is on which leaf ---- */

struct tree {
    const sv_fabric *f;
    sv_text *out;
    sv_arena *arena;
    sv_names taken;
    uint32_t *parent;        /* union-find over switches */
    const char **group_name; /* of a group, at its root; NULL while it has no leaf */
    struct place {
        const char *host;
        uint32_t leaf;
    } * places;
    size_t num_places;
};

static int by_host(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int order = strcmp(x->host, y->host);
    return order != 0 ? order : x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

static int by_leaf(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    return x->leaf != y->leaf ? (x->leaf < y->leaf ? -1 : 1) : strcmp(x->host, y->host);
}

/* Each host once, on the leaf that has most of its ports, sorted by leaf. */
static sv_status place_hosts(struct tree *tree)
{
    const sv_fabric *f = tree->f;
    tree->places = SV_ARENA_NEW(tree->arena, struct place, f->num_terminals);
    if (tree->places == NULL)
        return SV_NO_MEMORY;
    for (uint32_t t = 0; t < f->num_terminals; t++) {
        sv_node v = {f->num_switches + t}, s = sv_switch_of(f, v);
        if (!sv_node_alive(f, v) || s.i == SV_NONE || f->terminals[t].role != SV_ROLE_COMPUTE)
            continue;
        const char *host = host_name(tree->arena, f, t);
        if (host == NULL)
            return SV_NO_MEMORY;
        tree->places[tree->num_places++] = (struct place){host, s.i};
    }
    qsort(tree->places, tree->num_places, sizeof *tree->places, by_host);
    size_t kept = 0, elsewhere = 0;
    for (size_t i = 0; i < tree->num_places;) {
        size_t end = i, max = 0;
        uint32_t leaf = tree->places[i].leaf;
        for (size_t run = i;
             end < tree->num_places && strcmp(tree->places[end].host, tree->places[i].host) == 0;
             end++) {
            if (tree->places[end].leaf != tree->places[run].leaf)
                run = end;
            if (end - run + 1 > max) {
                max = end - run + 1;
                leaf = tree->places[end].leaf;
            }
        }
        elsewhere += max < end - i;
        tree->places[kept++] = (struct place){tree->places[i].host, leaf};
        i = end;
    }
    tree->num_places = kept;
    qsort(tree->places, kept, sizeof *tree->places, by_leaf);
    if (elsewhere > 0)
        sv_note(tree->out->ctx,
                "%zu host(s) have ports on several leaf switches: each is listed on one of them",
                elsewhere);
    return SV_OK;
}

static sv_status write_leaves(struct tree *tree)
{
    const char **hosts = SV_ARENA_NEW(tree->arena, const char *, tree->num_places);
    if (hosts == NULL)
        return SV_NO_MEMORY;
    for (size_t i = 0; i < tree->num_places;) {
        uint32_t leaf = tree->places[i].leaf;
        size_t count = 0;
        for (; i < tree->num_places && tree->places[i].leaf == leaf; i++)
            hosts[count++] = tree->places[i].host;
        const char *name = switch_name(tree->arena, &tree->taken, tree->f->switches[leaf].name);
        if (name == NULL)
            return SV_NO_MEMORY;
        tree->group_name[leaf] = name;
        sv_text_print(tree->out, "SwitchName=%s Nodes=", name);
        sv_hostlist_write(tree->out, hosts, count);
        sv_text_print(tree->out, "\n");
    }
    return SV_OK;
}

/* ---- groups ---- */

static uint32_t root_of(const struct tree *tree, uint32_t s)
{
    while (tree->parent[s] != s)
        s = tree->parent[s] = tree->parent[tree->parent[s]];
    return s;
}

/* A group about to be merged into another: old root, new root. */
struct merge {
    uint32_t root, child;
};

static int by_root(const void *a, const void *b)
{
    const struct merge *x = a, *y = b;
    return x->root != y->root ? (x->root < y->root ? -1 : 1) : x->child < y->child ? -1 : 1;
}

/* Writes a Slurm switch for every group that now holds several named ones. */
static sv_status write_merged(struct tree *tree, const uint32_t *before, const uint32_t *joiner,
                              const char *fallback)
{
    const sv_fabric *f = tree->f;
    struct merge *merges = SV_ARENA_NEW(tree->arena, struct merge, f->num_switches);
    const char **names = SV_ARENA_NEW(tree->arena, const char *, f->num_switches);
    size_t count = 0;
    if (merges == NULL || names == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++)
        if (before[s] == s && tree->group_name[s] != NULL)
            merges[count++] = (struct merge){root_of(tree, s), s};
    qsort(merges, count, sizeof *merges, by_root);
    for (size_t i = 0; i < count;) {
        uint32_t root = merges[i].root;
        size_t children = 0;
        for (; i < count && merges[i].root == root; i++) {
            names[children++] = tree->group_name[merges[i].child];
            tree->group_name[merges[i].child] = NULL;
        }
        tree->group_name[root] = names[0];
        if (children < 2)
            continue;
        const char *basis = joiner[root] != SV_NONE ? f->switches[joiner[root]].name : fallback;
        const char *name = switch_name(tree->arena, &tree->taken, basis);
        if (name == NULL)
            return SV_NO_MEMORY;
        tree->group_name[root] = name;
        sv_text_print(tree->out, "SwitchName=%s Switches=", name);
        sv_hostlist_write(tree->out, names, children);
        sv_text_print(tree->out, "\n");
    }
    return SV_OK;
}

/*
 * Joins each switch of one level with its neighbours up to that level (all switches with all their
 * neighbours when level is SV_NONE), and writes what came of it.
 */
static sv_status climb(struct tree *tree, const uint32_t *levels, uint32_t level)
{
    const sv_fabric *f = tree->f;
    uint32_t *before = SV_ARENA_NEW(tree->arena, uint32_t, f->num_switches);
    uint32_t *joiner = SV_ARENA_NEW(tree->arena, uint32_t, f->num_switches);
    if (before == NULL || joiner == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++) {
        before[s] = root_of(tree, s);
        joiner[s] = SV_NONE;
    }
    for (uint32_t s = 0; s < f->num_switches; s++) {
        if (level != SV_NONE && levels[s] != level)
            continue;
        SV_FOR_HOPS (f, ((sv_node){s}), hop)
            if (sv_is_switch(f, hop->to) && (level == SV_NONE || levels[hop->to.i] <= level))
                tree->parent[root_of(tree, hop->to.i)] = root_of(tree, s);
    }
    for (uint32_t s = f->num_switches; level != SV_NONE && s-- > 0;)
        if (levels[s] == level)
            joiner[root_of(tree, s)] = s; /* the lowest one wins */
    return write_merged(tree, before, joiner, "fabric");
}

static sv_status write_tree(struct tree *tree)
{
    const sv_fabric *f = tree->f;
    uint32_t highest, *levels = sv_switch_levels(tree->arena, f, &highest);
    tree->parent = SV_ARENA_NEW(tree->arena, uint32_t, f->num_switches);
    tree->group_name = SV_ARENA_NEW(tree->arena, const char *, f->num_switches);
    if (levels == NULL || tree->parent == NULL || tree->group_name == NULL)
        return SV_NO_MEMORY;
    for (uint32_t s = 0; s < f->num_switches; s++)
        tree->parent[s] = s;
    sv_text_print(tree->out, "# topology.conf for topology/tree, written by selvage %s\n",
                  sv_version());
    SV_TRY(place_hosts(tree));
    SV_TRY(write_leaves(tree));
    for (uint32_t level = 1; level <= highest; level++)
        SV_TRY(climb(tree, levels, level));
    SV_TRY(climb(tree, levels, SV_NONE));
    return tree->out->status;
}

sv_status sv__write_slurm(sv_text *out, const sv_fabric *fabric)
{
    sv_arena arena;
    sv_arena_init(&arena, out->ctx);
    struct tree tree = {.f = fabric, .out = out, .arena = &arena};
    sv_names_init(&tree.taken, out->ctx);
    sv_status status = write_tree(&tree);
    sv_names_release(&tree.taken);
    sv_arena_release(&arena);
    return status;
}
