/* svr.h: the binary file of fabric and tables (svr.c, docs/formats.md). */
#ifndef SV_FORMATS_SVR_H
#define SV_FORMATS_SVR_H

#include <selvage/routes.h>

/* routes may be NULL when reading: only the fabric is wanted. */
sv_status sv__read_svr(sv_ctx *ctx, const char *path, sv_fabric **fabric, sv_routes **routes);
/* The same from memory (which is written to, but only where the sums are). */
sv_status sv__parse_svr(sv_ctx *ctx, const char *name, uint8_t *bytes, uint64_t size,
                        sv_fabric **fabric, sv_routes **routes);

/* Puts the sums into the head of a file in memory. */
void sv__svr_seal(uint8_t *bytes, uint64_t size);

sv_status sv__write_svr(sv_ctx *ctx, const sv_fabric *fabric, const sv_routes *routes,
                        const char *path);

#endif
