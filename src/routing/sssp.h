/* sssp.h: the search of engine sssp, for engines that build on its paths. */
#ifndef SV_ROUTING_SSSP_H
#define SV_ROUTING_SSSP_H

#include "routing/engine.h"

/* What a search from a destination knows of a switch. */
struct sv__reached {
    uint64_t weight; /* of its path */
    uint32_t hops;   /* SV_NONE: not reached */
    uint32_t via;    /* the entry of the core that it leaves by */
    uint32_t next;   /* the switch it leaves for */
    uint32_t routes; /* from terminals behind it, itself included */
};

typedef struct sv__sssp {
    sv__job *job;
    sv__core core;
    uint64_t *weight; /* [entries] */
    struct sv__reached *at;
    uint32_t *queue;
} sv__sssp;

sv_status sv__sssp_init(sv__sssp *x, sv__job *job);

/* Routes one destination and, if it is a terminal, adds its routes to the weights. */
sv_status sv__sssp_route(sv__sssp *x, uint32_t destination);

/* Adds the routes of all terminals to the weights; queue holds the switches, nearest first. */
void sv__sssp_weigh(sv__sssp *x, uint32_t reached);

#endif
