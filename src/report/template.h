/*
 * template.h: the page without its data, as bytes in the library: made from web/ when selvage is
 * built, or (template_none.c) absent.
 */
#ifndef SV_REPORT_TEMPLATE_H
#define SV_REPORT_TEMPLATE_H

#include <stddef.h>

/* head, title, middle, data, tail. head is NULL if this build has no page. */
typedef struct sv__page_template {
    const char *head, *middle, *tail;
    size_t head_length, middle_length, tail_length;
} sv__page_template;

extern const sv__page_template sv__template;

#endif
