/*
 * hostlist.c: lists of names as Slurm writes them, host[0-3,7].
 *
 * Idea: a name is a prefix and the digits at its end. Names are sorted by prefix and number; those
 * of one prefix share brackets, and consecutive numbers of one width become a range.
 *
 * Invariants: what is written stands for the same names, each as often as it came. Cost: sorting.
 */
#include "formats/hostlist.h"

#include <stdlib.h>
#include <string.h>

struct name {
    const char *text;
    size_t prefix; /* length without the digits at the end */
    uint64_t number;
    bool numbered, padded; /* padded: the digits start with 0 and are not "0" */
};

static struct name split(const char *text)
{
    struct name name = {.text = text, .prefix = strlen(text)};
    size_t length = name.prefix;
    while (name.prefix > 0 && text[name.prefix - 1] >= '0' && text[name.prefix - 1] <= '9' &&
           length - name.prefix < 9)
        name.prefix--;
    name.numbered = name.prefix < length && name.prefix > 0;
    if (!name.numbered)
        name.prefix = length;
    for (size_t i = name.prefix; i < length; i++)
        name.number = name.number * 10 + (uint64_t)(text[i] - '0');
    name.padded = name.numbered && text[name.prefix] == '0' && length - name.prefix > 1;
    return name;
}

int sv_hostname_order(const void *a, const void *b)
{
    struct name x = split(*(const char *const *)a), y = split(*(const char *const *)b);
    size_t common = x.prefix < y.prefix ? x.prefix : y.prefix;
    int order = strncmp(x.text, y.text, common);
    if (order != 0)
        return order;
    if (x.prefix != y.prefix)
        return x.prefix < y.prefix ? -1 : 1;
    if (x.number != y.number)
        return x.number < y.number ? -1 : 1;
    return strcmp(x.text, y.text);
}

static bool follows(const struct name *before, const struct name *after)
{
    return before->numbered && after->numbered && after->number == before->number + 1 &&
           ((!before->padded && !after->padded) || strlen(before->text) == strlen(after->text));
}

static bool same_prefix(const struct name *a, const struct name *b)
{
    return a->numbered && b->numbered && a->prefix == b->prefix &&
           strncmp(a->text, b->text, a->prefix) == 0;
}

void sv_hostlist_write(sv_text *out, const char **names, size_t count)
{
    qsort(names, count, sizeof *names, sv_hostname_order);
    for (size_t i = 0; i < count;) {
        struct name first = split(names[i]);
        size_t end = i + 1;
        while (end < count) {
            struct name next = split(names[end]);
            if (!same_prefix(&first, &next))
                break;
            end++;
        }
        if (i > 0)
            sv_text_print(out, ",");
        if (end == i + 1) {
            sv_text_print(out, "%s", names[i++]);
            continue;
        }
        sv_text_print(out, "%.*s[", (int)first.prefix, first.text);
        for (size_t from = i; from < end;) {
            size_t to = from;
            struct name last = split(names[from]), next;
            while (to + 1 < end && (next = split(names[to + 1]), follows(&last, &next))) {
                last = next;
                to++;
            }
            sv_text_print(out, "%s%s", from == i ? "" : ",", names[from] + first.prefix);
            if (to > from)
                sv_text_print(out, "-%s", names[to] + first.prefix);
            from = to + 1;
        }
        sv_text_print(out, "]");
        i = end;
    }
}
