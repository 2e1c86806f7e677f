/*
 * groups.c: communicators as groups of world ranks.
 *
 * Idea: a communicator is the list of its world ranks, and how many others with the same list there
 * were before it (its ordinal), which all its ranks count alike without talking to each other:
 * communicators are made by all their ranks in the same order. One that is freed leaves its ordinal
 * to the next. What is known is an attribute of the communicator, which MPI deletes with it.
 *
 * Invariant: MPI_COMM_WORLD is group 0; other groups get a number, and a line in the file, when
 * their first event comes.
 *
 * Cost: O(1) a look-up, O(size) a new one.
 */
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { MAX_GROUPS = 1 << 16 };

static struct {
    rec_group *first;
    MPI_Group world;
    int key;
    uint32_t numbers;
    MPI_Comm last; /* the one that was asked for last */
    const rec_comm *last_known;
} groups;

/* ---- groups ---- */

/* A list that is not in use by another communicator. Takes over ranks. */
static rec_group *take_group(uint32_t *ranks, uint32_t size)
{
    uint32_t ordinal = 0;
    rec_group *g;
    for (g = groups.first; g != NULL; g = g->next) {
        if (g->size != size || memcmp(g->ranks, ranks, size * sizeof *ranks) != 0)
            continue;
        if (!g->used)
            break;
        ordinal++;
    }
    if (g != NULL) {
        free(ranks);
        g->used = true;
        return g;
    }
    g = rec_alloc(sizeof *g);
    if (g == NULL) {
        free(ranks);
        return NULL;
    }
    *g = (rec_group){.ranks = ranks, .size = size, .ordinal = ordinal, .number = UINT32_MAX};
    g->used = true;
    rec_group **end = &groups.first; /* lower ordinals first */
    while (*end != NULL)
        end = &(*end)->next;
    *end = g;
    return g;
}

uint16_t rec_group_number(rec_group *group)
{
    if (group->number == UINT32_MAX) {
        if (groups.numbers == MAX_GROUPS) {
            rec_give_up("more than %d communicators", MAX_GROUPS);
            return 0;
        }
        group->number = groups.numbers++;
        if (!rec_file_group(group->ranks, group->size, group->ordinal))
            rec_give_up("cannot write: %s", rec_file_error());
    }
    return (uint16_t)group->number;
}

/* World ranks of a group of MPI's; NULL: some are not of this world, or there is no memory. */
static uint32_t *world_ranks(MPI_Group group, uint32_t *size)
{
    int count = 0;
    PMPI_Group_size(group, &count);
    int *own = rec_alloc((size_t)count * sizeof *own);
    int *world = rec_alloc((size_t)count * sizeof *world);
    uint32_t *ranks = rec_alloc((size_t)count * sizeof *ranks);
    bool ok = own != NULL && world != NULL && ranks != NULL;
    for (int i = 0; i < count && ok; i++)
        own[i] = i;
    if (ok)
        PMPI_Group_translate_ranks(group, count, own, groups.world, world);
    for (int i = 0; i < count && ok; i++) {
        if (world[i] == MPI_UNDEFINED) {
            rec_cannot("communication with processes that were started later");
            ok = false;
            break;
        }
        ranks[i] = (uint32_t)world[i];
    }
    free(own);
    free(world);
    if (!ok) {
        free(ranks);
        return NULL;
    }
    *size = (uint32_t)count;
    return ranks;
}

static uint32_t lowest(const uint32_t *ranks, uint32_t size)
{
    uint32_t min = UINT32_MAX;
    for (uint32_t i = 0; i < size; i++)
        min = ranks[i] < min ? ranks[i] : min;
    return min;
}

/* ---- communicators ---- */

static void know_inter(MPI_Comm comm, rec_comm *known, uint32_t *mine, uint32_t num_mine)
{
    MPI_Group remote;
    uint32_t num_theirs = 0;
    PMPI_Comm_remote_group(comm, &remote);
    uint32_t *theirs = world_ranks(remote, &num_theirs);
    PMPI_Group_free(&remote);
    rec_group *peers = theirs != NULL ? rec_alloc(sizeof *peers) : NULL;
    uint32_t *both = peers != NULL ? rec_alloc((num_mine + num_theirs) * sizeof *both) : NULL;
    if (both != NULL) {
        bool first = lowest(mine, num_mine) < lowest(theirs, num_theirs);
        memcpy(both + (first ? 0 : num_theirs), mine, num_mine * sizeof *both);
        memcpy(both + (first ? num_mine : 0), theirs, num_theirs * sizeof *both);
        *peers = (rec_group){.ranks = theirs, .size = num_theirs, .number = UINT32_MAX};
        known->peers = peers; /* in no list: it is only looked at */
        known->group = take_group(both, num_mine + num_theirs);
    } else {
        free(theirs);
        free(peers);
    }
    free(mine);
}

/* What is to be known of a communicator; takes a place among those with its ranks. */
static rec_comm *look_at(MPI_Comm comm)
{
    MPI_Group group;
    int inter = 0;
    uint32_t size = 0;
    rec_comm *known = rec_alloc(sizeof *known);
    if (known == NULL)
        return NULL;
    PMPI_Comm_test_inter(comm, &inter);
    PMPI_Comm_rank(comm, &known->me);
    PMPI_Comm_group(comm, &group);
    uint32_t *ranks = world_ranks(group, &size);
    PMPI_Group_free(&group);
    known->inter = inter != 0;
    if (ranks != NULL && inter)
        know_inter(comm, known, ranks, size);
    else if (ranks != NULL)
        known->group = known->peers = take_group(ranks, size);
    return known;
}

static rec_comm *make_known(MPI_Comm comm)
{
    rec_comm *known = look_at(comm);
    if (known != NULL)
        PMPI_Comm_set_attr(comm, groups.key, known);
    return known;
}

rec_comm *rec_comm_begin(MPI_Comm like)
{
    return look_at(like);
}

void rec_comm_made(rec_comm *known, MPI_Comm made)
{
    PMPI_Comm_set_attr(made, groups.key, known);
}

static int forget(MPI_Comm comm, int key, void *value, void *extra)
{
    rec_comm *known = value;
    (void)comm;
    (void)key;
    (void)extra;
    if (known->group != NULL)
        known->group->used = false;
    free(known);
    groups.last = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

const rec_comm *rec_comm_of(MPI_Comm comm)
{
    rec_comm *known = NULL;
    int found = 0;
    if (comm == MPI_COMM_NULL)
        return NULL;
    if (comm != groups.last) {
        PMPI_Comm_get_attr(comm, groups.key, &known, &found);
        if (!found)
            known = make_known(comm);
        groups.last = comm;
        groups.last_known = known;
    }
    return groups.last_known != NULL && groups.last_known->group != NULL ? groups.last_known : NULL;
}

bool rec_groups_begin(void)
{
    groups.last = MPI_COMM_NULL;
    if (PMPI_Comm_group(MPI_COMM_WORLD, &groups.world) != MPI_SUCCESS ||
        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &groups.key, NULL) != MPI_SUCCESS)
        return false;
    const rec_comm *world = rec_comm_of(MPI_COMM_WORLD);
    if (world == NULL)
        return false;
    world->group->number = groups.numbers++;
    return rec_comm_of(MPI_COMM_SELF) != NULL;
}

bool rec_peer(const rec_comm *comm, int rank, uint32_t *peer)
{
    if (comm == NULL || rank < 0 || (uint32_t)rank >= comm->peers->size)
        return false;
    *peer = comm->peers->ranks[rank];
    return true;
}
