/*
 * csv.c: texts as fields of comma-separated values.
 *
 * Names come from files and from whoever called a host so. A spreadsheet that opens a CSV file runs
 * what begins with =, +, - or @; an apostrophe in front keeps it a text (OWASP, "CSV injection").
 * So that names can be had back, names that begin with an apostrophe get one more.
 *
 * Cost: linear.
 */
#include "base/csv.h"

#include <string.h>

/* "-12.5e3": the whole of it. */
static bool is_number(const char *text)
{
    size_t digits = 0;
    text += *text == '+' || *text == '-';
    for (int point = 0; (*text >= '0' && *text <= '9') || (*text == '.' && point == 0); text++) {
        digits += *text != '.';
        point += *text == '.';
    }
    if (digits > 0 && (*text == 'e' || *text == 'E')) {
        text++;
        text += *text == '+' || *text == '-';
        digits = strspn(text, "0123456789");
        text += digits;
    }
    return digits > 0 && *text == 0;
}

void sv_csv_field(sv_text *out, const char *text)
{
    size_t length = strlen(text);
    bool formula = length > 1 && strchr("=+-@\t\r", text[0]) != NULL && !is_number(text);
    bool marked = formula || text[0] == '\'';
    bool quoted = strpbrk(text, ",\"\r\n") != NULL ||
                  (length > 0 && (text[0] == ' ' || text[length - 1] == ' '));
    if (quoted)
        sv_text_add(out, "\"", 1);
    if (marked)
        sv_text_add(out, "'", 1);
    for (; *text != 0; text++)
        sv_text_add(out, *text == '"' ? "\"\"" : text, *text == '"' ? 2 : 1);
    if (quoted)
        sv_text_add(out, "\"", 1);
}
