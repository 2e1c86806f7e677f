/*
 * svg.h: text that may stand in SVG.
 */
#ifndef SV_PICTURE_SVG_H
#define SV_PICTURE_SVG_H

#include "base/text.h"

/*
 * Text between tags or in an attribute with double quotes: markup is escaped; what is no UTF-8, or
 * no character of XML, becomes a question mark. most: characters; of a longer text the last one is
 * "…". 0: all of it. Time: linear.
 */
void sv__svg_text(sv_text *out, const char *text, size_t most);

#endif
