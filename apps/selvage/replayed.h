/* replayed.h: what `selvage jobs replay` was asked, and what of it is printed. */
#ifndef SELVAGE_REPLAYED_H
#define SELVAGE_REPLAYED_H

#include "selvage/app.h"

enum { REPLAY_MAX_OPTIONS = 8 };

struct replay_options {
    const char *inputs[2]; /* fabric, history */
    const char *engines_text, *against_text, *every, *begin, *until, *hosts, *format_name;
    const char *csv, *svg;
    uint64_t vls, seed;
    bool json;
    char *names; /* engines_text, cut into pieces; to be released */
    sv_replay_engine engines[SV_MAX_REPLAY_ENGINES];
    const char *options[SV_MAX_REPLAY_ENGINES][REPLAY_MAX_OPTIONS];
    uint32_t num_engines, against;
    sv_jobs_format format;
    sv_replay_plan plan;
};

void replay_print_text(sv_text *out, const struct replay_options *o, const sv_replay *r);
void replay_print_json(sv_text *out, const struct replay_options *o, const sv_replay *r);

#endif
