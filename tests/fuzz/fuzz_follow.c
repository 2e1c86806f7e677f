/*
 * fuzz_follow.c: the state of jobs follow. What is read is written and read again as the same; what
 * is refused says in which line.
 */
#include "files.h"
#include "jobs/follow.h"

const size_t fuzz_memory = 16 << 20;

void fuzz_run(sv_ctx *ctx, const uint8_t *data, size_t size)
{
    const sv_follow_state before = {.rerouted = -5, .retry = -6};
    sv_follow_state state = before, again;
    fuzz_folder();
    fuzz_write("state", data, size);
    sv_status status = sv_follow_state_load(ctx, fuzz_path("state"), &state);
    if (status != SV_OK) {
        must_refuse(ctx, status, fuzz_path("state:"));
        MUST(memcmp(&state, &before, sizeof state) == 0);
        return;
    }
    MUST(state.rerouted >= 0 && state.retry >= 0 && state.failures <= 1000);
    MUST(sv_follow_state_save(ctx, fuzz_path("again"), &state) == SV_OK);
    MUST(sv_follow_state_load(ctx, fuzz_path("again"), &again) == SV_OK);
    MUST(again.rerouted == state.rerouted && again.retry == state.retry &&
         again.failures == state.failures && again.pending == state.pending &&
         again.known == state.known && again.all == state.all);
}
