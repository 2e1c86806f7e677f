/*
 * svg.c: text that may stand in SVG, and colours of heat.
 *
 * XML knows five characters with a meaning, and some (control characters, U+FFFE and U+FFFF)
 * that it must not have at all, not even escaped; names in fabrics can have both.
 *
 * Invariant: what comes out is UTF-8 that any reader of XML takes. Cost: linear.
 * Source: XML 1.0, 2.2.
 */
#include "picture/svg.h"

#include <string.h>

/* Whether XML has the character of a sequence of that length. */
static bool is_xml(const char *c, size_t length)
{
    const unsigned char *u = (const unsigned char *)c;
    if (length == 1)
        return u[0] >= 0x20 ? u[0] != 0x7f : u[0] == '\t';
    return !(length == 3 && u[0] == 0xef && u[1] == 0xbf && u[2] >= 0xbe);
}

static size_t count_characters(const char *text)
{
    size_t count = 0;
    for (; *text != 0; count++) {
        size_t length = sv_utf8_length(text);
        text += length > 0 ? length : 1;
    }
    return count;
}

void sv__svg_text(sv_text *out, const char *text, size_t max)
{
    static const char marks[] = "&<>\"'";
    static const char *const escaped[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    bool cut = max > 0 && count_characters(text) > max;
    for (size_t i = 0; *text != 0; i++) {
        if (cut && i + 1 == max) {
            sv_text_print(out, "…");
            return;
        }
        size_t length = sv_utf8_length(text);
        const char *mark = strchr(marks, *text);
        if (mark != NULL)
            sv_text_print(out, "%s", escaped[mark - marks]);
        else if (length == 0 || !is_xml(text, length))
            sv_text_add(out, "?", 1);
        else
            sv_text_add(out, text, length);
        text += length > 0 ? length : 1;
    }
}

/* Light blue, blue, violet, red, dark red: the lightest is still seen on white. */
static const uint8_t ramp[][3] = {{127, 180, 224}, {84, 124, 206}, {131, 82, 184},
                                  {186, 44, 122},  {206, 22, 46},  {112, 0, 12}};

void sv__svg_colour(uint32_t step, uint32_t steps, unsigned rgb[3])
{
    enum { LAST = sizeof ramp / sizeof ramp[0] - 1 };
    /* the one colour of a picture with one is the hottest */
    double at = steps > 1 ? (double)(step - 1) / (steps - 1) * LAST : LAST;
    unsigned i = at >= LAST ? LAST - 1 : (unsigned)at;
    for (int k = 0; k < 3; k++)
        rgb[k] = (unsigned)(ramp[i][k] + (ramp[i + 1][k] - ramp[i][k]) * (at - i) + 0.5);
}
