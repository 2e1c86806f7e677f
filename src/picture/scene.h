/*
 * scene.h: a fabric on paper: where its switches and the halves of its cables are, in pixels.
 */
#ifndef SV_PICTURE_SCENE_H
#define SV_PICTURE_SCENE_H

#include "picture/layout.h"

/* Half of a cable, from the switch that sends to where the other half begins. */
typedef struct sv__half {
    sv_channel channel;
    bool curved;    /* then through via */
    float line;     /* the widest that it may be, so that parallel ones stay apart */
    float at[3][2]; /* begin, via, end */
} sv__half;

typedef struct sv__scene {
    const sv_fabric *fabric;
    sv__picture_net net; /* its live switches and the cables between them */
    sv__layout layout;   /* in pixels; bend as before */
    uint32_t *node;      /* [switches of the net]: their numbers in the fabric */
    sv__half *halves;    /* [num_halves]: two a cable, one after the other */
    uint32_t num_halves;
    float width, height;  /* of all of it */
    float radius, stroke; /* of switches, and of lines that have room */
} sv__scene;

/*
 * Places a fabric, in the arena; all is within 0 … width and 0 … height. NO_MEMORY or CANCELLED.
 * Time: that of sv__layout_find, and sorting.
 */
sv_status sv__scene_make(sv_ctx *ctx, sv_arena *arena, const sv_fabric *fabric, sv__scene *scene);

#endif
