/*
 * topology.h: fabrics from one line of text.
 *
 * A spec string is "family:size,key=value,…" ("torus:4x4x3,hosts=4", "dragonfly:a=4,p=2,h=2,g=9")
 * or the name of a preset, which stands for such a string ("t61-torus"). The manual
 * (docs/topologies.md) describes every family; sv_topology_at lists them.
 *
 * What is promised for all of them, unless a family says otherwise: one terminal on each (leaf)
 * switch; a total that does not divide gives one more to the switches with the lowest numbers;
 * ports in the order terminals, then dimensions from the lowest (minus before plus) or levels from
 * below; the same spec gives the same fabric on every machine.
 */
#ifndef SELVAGE_TOPOLOGY_H
#define SELVAGE_TOPOLOGY_H

#include <selvage/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A key of a family and what it means. */
typedef struct sv_topology_key {
    const char *name, *meaning;
} sv_topology_key;

typedef struct sv_topology_info {
    const char *name, *summary, *example;
    const sv_topology_key *keys; /* ends with a NULL name; those of all families are not listed */
} sv_topology_info;

/* A published configuration under a name. The counts are the published ones; 0 if there is none. */
typedef struct sv_preset {
    const char *name, *spec, *source;
    uint32_t switches, terminals, links;
} sv_preset;

/*
 * Generates a fabric.
 *
 * spec: as above. *fabric: the result, owned by the caller (sv_fabric_free).
 * BAD_INPUT: the string is wrong, the message says where; INFEASIBLE: it describes something that
 * cannot be built (a switch with more cables than ports, named in the message).
 * Time and memory: linear in the size of the fabric, but for jellyfish (times the degree).
 */
SV_API SV_MUST_USE sv_status sv_topology_generate(sv_ctx *ctx, const char *spec,
                                                  sv_fabric **fabric);

/*
 * Whether a spec has a family or preset that there is, and keys that it has, without making the
 * fabric; values are not looked at. BAD_INPUT (sv_ctx_in_request). Time: linear in the spec.
 */
SV_API SV_MUST_USE sv_status sv_topology_check(sv_ctx *ctx, const char *spec);

/* Whether a string starts with the name of a family or preset: a spec, and not a file's name. */
SV_API bool sv_topology_is_spec(const char *text);

/* The families, in the order of the manual; NULL beyond the last. Time: O(1). */
SV_API const sv_topology_info *sv_topology_at(size_t i);

/* The keys that every family knows; ends with a NULL name. Time: O(1). */
SV_API const sv_topology_key *sv_topology_common_keys(void);

/* The presets; NULL beyond the last. Time: O(1). */
SV_API const sv_preset *sv_preset_at(size_t i);

#ifdef __cplusplus
}
#endif
#endif
