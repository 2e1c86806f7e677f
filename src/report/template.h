/*
 * template.h: the page without its data, as bytes in the library: web/dist/page.html, cut in three
 * when selvage is built (cmake/embed.cmake).
 */
#ifndef SV_REPORT_TEMPLATE_H
#define SV_REPORT_TEMPLATE_H

#include <stddef.h>

/* head, title, middle, data, tail. */
typedef struct sv__page_template {
    const char *head, *middle, *tail;
    size_t head_length, middle_length, tail_length;
} sv__page_template;

extern const sv__page_template sv__template;

#endif
