/*
 * report.h: a study's database as one page that a browser opens from disk.
 *
 * Part of the library selvage-study, because it needs SQLite.
 */
#ifndef SELVAGE_REPORT_H
#define SELVAGE_REPORT_H

#include <selvage/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct sv_report_request {
    const char *database;        /* a file that selvage study made */
    const char *title;           /* of the page; NULL: one that says what was studied */
    const char *const *pictures; /* SVG files that are shown as they are, each under its name … */
    size_t num_pictures;
    size_t max_bytes; /* of the page; what does not fit is left out and the page says so.
                          0: ten million */
} sv_report_request;

/*
 * Writes the page: HTML that needs nothing but itself.
 *
 * The database is only read. BAD_INPUT: it is none of a study, or damaged. UNSUPPORTED: a newer
 * selvage wrote it.
 * Time: linear in the database, and the drawing of each fabric (a second for some thousand switches
 * of no known shape).
 */
SV_API SV_MUST_USE sv_status sv_report_write(sv_ctx *ctx, const sv_report_request *request,
                                             const sv_sink *sink);

#ifdef __cplusplus
}
#endif
#endif
