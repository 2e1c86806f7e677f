/*
 * profiles.h: the numbers of the simulator's model by name and unit, and sets of them: what
 * somebody published, and what is bought today. Every number of a profile says where it comes from.
 */
#ifndef SELVAGE_PROFILES_H
#define SELVAGE_PROFILES_H

#include <selvage/simulate.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One number (or choice) of the model, as options, help and studies call it. */
typedef struct sv_sim_param {
    const char *name;   /* "cable-ns": with its unit, where it has one */
    const char *values; /* "NS", "BLOCKS", "on|off" … */
    const char *help;
    bool is_number;   /* else a choice */
    const char *word; /* what a number may be instead, or NULL */
} sv_sim_param;

/* The parameters, in the order of the manual; NULL beyond the last. Time: O(1). */
SV_API const sv_sim_param *sv_sim_param_at(size_t i);

/* The value of the i-th parameter in a model, as text, at most room bytes with the zero. Time:
 * O(1).
 */
SV_API void sv_sim_param_text(const sv_sim_model *model, size_t i, char *text, size_t room);

/*
 * Sets a parameter from "name=value". BAD_INPUT: there is none of that name, or not with that
 * value. Whether values fit each other is for sv_simulate to say. Times are rounded to whole ticks,
 * rates to whole ticks a byte. Time: O(1).
 *
 * @example
 * sv_ctx *ctx = sv_ctx_new(NULL);
 * sv_sim_model model;
 * char text[32];
 * if (sv_profile_model(ctx, "qdr", &model) == SV_OK &&
 *     sv_sim_param_set(ctx, &model, "cable-ns=61.5") == SV_OK) {
 *     sv_sim_param_text(&model, 0, text, sizeof text);
 *     printf("%s = %s\n", sv_sim_param_at(0)->name, text);
 * }
 * sv_ctx_free(ctx);
 * @end
 */
SV_API SV_MUST_USE sv_status sv_sim_param_set(sv_ctx *ctx, sv_sim_model *model,
                                              const char *name_value);

/* A value of a profile. */
typedef struct sv_profile_value {
    const char *name_value; /* for sv_sim_param_set */
    bool published;         /* the source says so; else it is our choice, and why */
    const char *why;
} sv_profile_value;

typedef struct sv_profile {
    const char *name, *summary, *source;
    const sv_profile_value *values; /* of each parameter, in their order */
} sv_profile;

/* The profiles, in the order of the manual; NULL beyond the last. Time: O(1). */
SV_API const sv_profile *sv_profile_at(size_t i);

/*
 * The model of a profile. Its VLs are 0, because buffers are for each VL, and a VL that is
 * not used changes nothing: sv_sim_vls says how many tables need. BAD_INPUT: there is no such
 * profile. Time: O(1).
 */
SV_API SV_MUST_USE sv_status sv_profile_model(sv_ctx *ctx, const char *name, sv_sim_model *model);

/*
 * One more than the highest VL that tables have for a service level that terminals use; 1 where
 * nothing is known. Time: O(destinations × nodes) where each has SLs of its own.
 */
SV_API unsigned sv_sim_vls(const sv_fabric *fabric, const sv_routes *routes);

#ifdef __cplusplus
}
#endif
#endif
