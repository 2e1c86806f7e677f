/*
 * svg.h: text that may stand in SVG, and colours of heat.
 */
#ifndef SV_PICTURE_SVG_H
#define SV_PICTURE_SVG_H

#include "base/text.h"

/*
 * Text between tags or in an attribute with double quotes: markup is escaped; what is no UTF-8, or
 * no character of XML, becomes a question mark. most: characters; of a longer text the last one is
 * "…". 0: all of it. Time: linear.
 */
void sv__svg_text(sv_text *out, const char *text, size_t max);

/* The colour of step 1 … steps of heat, from the least to the most. Time: O(1). */
void sv__svg_colour(uint32_t step, uint32_t steps, unsigned rgb[3]);

#endif
