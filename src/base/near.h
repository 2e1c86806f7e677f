/*
 * near.h: the known name that is nearest to an unknown one, for messages:
 *
 *     sv_near near;
 *     return sv_refuse(ctx, "there is no engine '%s'%s (there are %s)", name,
 *                      sv_near_hint(&near, sv_span_of(name), known), known);
 */
#ifndef SV_BASE_NEAR_H
#define SV_BASE_NEAR_H

#include "base/text.h"

typedef struct sv_near {
    char hint[96];
} sv_near;

/*
 * ": did you mean 'weave'?", or nothing if no known name is near. known: "nue, weave, ftree"; what
 * stands behind a name up to the comma does not count. The result is valid as long as near is.
 */
const char *sv_near_hint(sv_near *near, sv_span name, const char *known);

#endif
