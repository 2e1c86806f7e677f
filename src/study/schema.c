/*
 * schema.c: the tables of a study's database, version by version.
 *
 * docs/study.md explains every column. A database says its version in user_version and that it is
 * one of ours in application_id. To change the schema, add a step to the list: a database of an
 * older version goes through the steps that it lacks, in one transaction; one of a newer version is
 * refused.
 *
 * Invariant: nothing that a clock, a machine or a number of threads decides is in any table but
 * spent, so that the others are the same whoever ran the study, and however often it was killed.
 */
#include "study/schema.h"

static const char *const steps[] = {
    /* 1 */
    "CREATE TABLE plan ("
    " id INTEGER PRIMARY KEY,"
    " study TEXT NOT NULL,"
    " words TEXT NOT NULL UNIQUE,"
    " version TEXT NOT NULL,"
    " cells INTEGER NOT NULL);"
    "CREATE TABLE cell ("
    " id INTEGER PRIMARY KEY,"
    " key TEXT NOT NULL UNIQUE,"
    " fabric TEXT NOT NULL,"
    " faults TEXT NOT NULL,"
    " fault_kind TEXT NOT NULL,"
    " fault_unit TEXT NOT NULL,"
    " fault_amount REAL NOT NULL,"
    " seed INTEGER NOT NULL,"
    " engine TEXT NOT NULL,"
    " vls INTEGER NOT NULL,"
    " options TEXT NOT NULL,"
    " traffic TEXT NOT NULL,"
    " profile TEXT NOT NULL,"
    " message INTEGER NOT NULL,"
    " load REAL NOT NULL,"
    " what TEXT NOT NULL);"
    "CREATE TABLE planned ("
    " plan INTEGER NOT NULL REFERENCES plan(id),"
    " place INTEGER NOT NULL,"
    " cell INTEGER NOT NULL REFERENCES cell(id),"
    " PRIMARY KEY (plan, place)) WITHOUT ROWID;"
    "CREATE TABLE result ("
    " cell INTEGER PRIMARY KEY REFERENCES cell(id),"
    " status TEXT NOT NULL,"
    " words TEXT NOT NULL,"
    " links_failed INTEGER, switches_failed INTEGER, adapters_failed INTEGER,"
    " terminals_lost INTEGER,"
    " switches INTEGER, terminals INTEGER, links INTEGER,"
    " vls_needed INTEGER, vls_used INTEGER, sls_used INTEGER, fallbacks INTEGER,"
    " pairs INTEGER, unreachable INTEGER, loops INTEGER, deadlock_free INTEGER,"
    " efi_min INTEGER, efi_avg REAL, efi_max INTEGER, efi_sdv REAL, efi_bound INTEGER,"
    " hops_avg REAL, hops_max INTEGER,"
    " ebb_avg REAL, ebb_min REAL, ebb_max REAL, ebb_sdv REAL, ebb_matchings INTEGER,"
    " sim_status TEXT, throughput REAL, simulated_us REAL, packets INTEGER, packet_hops INTEGER,"
    " latency_avg REAL, latency_p50 REAL, latency_p99 REAL, latency_max REAL,"
    " bw_min REAL, bw_q1 REAL, bw_median REAL, bw_q3 REAL, bw_max REAL, bw_avg REAL);"
    "CREATE TABLE lost ("
    " cell INTEGER NOT NULL REFERENCES cell(id),"
    " kind TEXT NOT NULL,"
    " failures INTEGER NOT NULL,"
    " trials INTEGER NOT NULL,"
    " pairs INTEGER NOT NULL,"
    " expected REAL, min INTEGER, q1 REAL, median REAL, q3 REAL, max INTEGER, mean REAL,"
    " PRIMARY KEY (cell, kind, failures)) WITHOUT ROWID;"
    "CREATE TABLE fabric ("
    " name TEXT PRIMARY KEY,"
    " switches INTEGER NOT NULL, terminals INTEGER NOT NULL, links INTEGER NOT NULL,"
    " body TEXT) WITHOUT ROWID;"
    "CREATE TABLE loads ("
    " cell INTEGER PRIMARY KEY REFERENCES cell(id),"
    " cables BLOB NOT NULL,"
    " nodes BLOB NOT NULL);"
    "CREATE TABLE timeline ("
    " cell INTEGER PRIMARY KEY REFERENCES cell(id),"
    " columns INTEGER NOT NULL,"
    " interval_us REAL NOT NULL,"
    " largest_us REAL NOT NULL,"
    " body BLOB NOT NULL);"
    "CREATE TABLE spent ("
    " cell INTEGER PRIMARY KEY REFERENCES cell(id),"
    " route_seconds REAL, verify_seconds REAL, metrics_seconds REAL, sim_seconds REAL,"
    " seconds REAL NOT NULL,"
    " bytes INTEGER NOT NULL,"
    " machine TEXT NOT NULL,"
    " version TEXT NOT NULL,"
    " finished TEXT NOT NULL);",
};

int sv__schema_version(void)
{
    return sizeof steps / sizeof steps[0];
}

const char *sv__schema_step(int version)
{
    return steps[version - 1];
}
