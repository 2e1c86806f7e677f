/*
 * draft.h: a fabric as a file tells it, before anybody has checked that it makes sense.
 *
 * All readers of fabric files do the same two things: note devices, and note what each port says
 * it is cabled to. sv__draft_finish then checks that the two ends of every cable agree, and builds
 * the fabric. Everything remembers its line, so that every complaint has a place (0: it comes from
 * no file).
 */
#ifndef SV_FORMATS_DRAFT_H
#define SV_FORMATS_DRAFT_H

#include <selvage/fabric.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"

typedef enum sv__draft_kind { SV__SWITCH, SV__HOST, SV__ROUTER } sv__draft_kind;

/* InfiniBand numbers ports with eight bits, and 255 means something else. */
enum { SV__MAX_PORTS = 254 };

typedef struct sv__draft_device {
    sv_span id; /* what ports call it */
    sv__draft_kind kind;
    const char *name;
    uint64_t guid, system_guid;
    uint32_t vendor, device;
    uint16_t ports; /* 0: not told; as many as are used */
    uint16_t lid;
    uint8_t lmc;
    bool enhanced_port0;
    uint64_t line;
} sv__draft_device;

typedef struct sv__draft_end {
    uint32_t device;
    uint16_t port;
    sv_span remote; /* id of the other device */
    uint16_t remote_port;
    uint64_t guid, remote_guid; /* of the ports, where told; else 0 */
    uint16_t lid, remote_lid;   /* of adapters' ports */
    uint8_t lmc;
    sv_link link;
    uint64_t line;
} sv__draft_end;

typedef struct sv__draft {
    sv_ctx *ctx;
    const char *name; /* of the source */
    sv_arena arena;
    SV_ARRAY(sv__draft_device) devices;
    SV_ARRAY(sv__draft_end) ends;
    sv_names ids; /* id to device */
    sv_map ports; /* device << 16 | port to end */
} sv__draft;

void sv__draft_init(sv__draft *draft, sv_ctx *ctx, const char *name);
void sv__draft_release(sv__draft *draft);

/* BAD_INPUT at a line. */
sv_status sv__draft_fail(const sv__draft *draft, uint64_t line, const char *format, ...)
    SV_PRINTF(3, 4);

/* A copy of text that lives as long as the draft. NULL with NO_MEMORY. */
const char *sv__draft_text(sv__draft *draft, sv_span text);

/* The same for a name: control characters, which some descriptions have, become blanks. */
const char *sv__draft_name(sv__draft *draft, sv_span name);

/* Adds a device; its id (copied) must be new. *index is its number. */
sv_status sv__draft_add_device(sv__draft *draft, const sv__draft_device *device, uint32_t *index);

/* The device of an id, or SV_ABSENT. */
uint32_t sv__draft_find(const sv__draft *draft, sv_span id);

/* Adds what a port says; the port must exist and be new. remote is copied. */
sv_status sv__draft_add_end(sv__draft *draft, const sv__draft_end *end);

/* Checks that everything fits together and builds the fabric. */
sv_status sv__draft_finish(sv__draft *draft, sv_fabric **fabric);

/* "4xQDR" and the like. False where it is not. */
bool sv__scan_link(sv_scan *scan, sv_link *link);

#endif
