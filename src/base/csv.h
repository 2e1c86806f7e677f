/*
 * csv.h: texts as fields of comma-separated values, for every writer of them.
 */
#ifndef SV_BASE_CSV_H
#define SV_BASE_CSV_H

#include "base/text.h"

/*
 * A text as one field: in quotes where it has commas, quotes, line ends or blanks at its ends (RFC
 * 4180). Where a spreadsheet would take it for a formula (it begins with =, +, -, @, a tab or a
 * carriage return and is no number), or it begins with an apostrophe, it gets one in front: whoever
 * reads it drops the apostrophe that a field begins with.
 */
void sv_csv_field(sv_text *out, const char *text);

#endif
