/*
 * study_kinds.c: the studies that have a name, with what they do unless told otherwise: what the
 * papers did, where a paper did it.
 */
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "selvage/study_shared.h"

#define TORI                                                                                       \
    "torus:{2x2x2,2x2x3,2x3x3,3x3x3,3x3x4,3x4x4,4x4x4,4x4x5,4x5x5,5x5x5,5x5x6,5x6x6,6x6x6,6x6x7,"  \
    "6x7x7,7x7x7,7x7x8,7x8x8,8x8x8,8x8x9,8x9x9,9x9x9,9x9x10,9x10x10,10x10x10},hosts=4"

static const study_kind kinds[] = {
    {.name = "run"},
    {.name = "usability",
     /* thesis, Table 4.3 */
     .answer = "usability"},
    {.name = "degradation",
     /* thesis, Figs. 4.4-4.6, Tables 4.4-4.6 */
     .links = "0,1%,3%,5%,10%,20%,40%",
     .seeds = "1..10",
     .answer = "degradation"},
    {.name = "lost",
     /* thesis, Fig. 4.2 */
     .fabric = "kary:k=10,n=3,total=1024",
     .engines = "dfsssp,ftree,updn",
     .lost = "links/1,2,5,10,20,50,100/100",
     .no_sim = true,
     .answer = "lost"},
    {.name = "vls",
     /* IPDPS, Fig. 9 */
     .fabric =
         "random:switches=128,links={192,256,384,512,768,1024},hosts=16,radix=32,seed={1..100}",
     .engines = "dfsssp,lash",
     .vls = "15",
     .no_sim = true,
     .answer = "vls"},
    {.name = "balance",
     /* thesis, Fig. 6.10 */
     .fabric = "random:switches=125,links=1000,hosts=8,seed={1..1000}",
     .engines = "nue",
     .vls = "1..8",
     .no_sim = true,
     .answer = "balance"},
    {.name = "runtime",
     /* thesis, Fig. 6.12; IPDPS, Fig. 7 */
     .fabric = TORI,
     .links = "1%",
     .engines = "nue,dfsssp,lash,torus2qos",
     .vls = "8",
     .no_sim = true,
     .answer = "runtime"},
    {.name = "ebb",
     /* IPDPS, Figs. 4-6 */
     .engines = "minhop,updn,ftree,dor,lash,sssp,dfsssp",
     .ebb = 1000,
     .no_sim = true,
     .answer = "ebb"},
    {.name = "lifetime",
     .years = "0..8",
     .model = "tsubame2",
     .seeds = "1..10",
     .answer = "lifetime"},
    {.name = "compare", .no_run = true, .answer = "compare"},
    {.name = "summary", .no_run = true, .answer = "summary"},
    {.name = "merge", .no_run = true},
};

enum { NUM_KINDS = sizeof kinds / sizeof kinds[0] };

const study_kind *study_kind_named(const char *name)
{
    for (size_t i = 0; i < NUM_KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0)
            return &kinds[i];
    return NULL;
}

int study_kind_unknown(struct app *app, const char *name)
{
    char known[200] = "";
    size_t used = 0;
    sv_near near;
    for (size_t i = 0; i < NUM_KINDS; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "",
                                 kinds[i].name);
    return app_usage_error(app, "there is no study '%s'%s (there are %s)", name,
                           sv_near_hint(&near, sv_span_of(name), known), known);
}
