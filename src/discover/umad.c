/*
 * umad.c: the port of this host that datagrams go through, with libibumad.
 *
 * The system is asked to wait for each answer and to say so when none came (umad_send with a
 * timeout, no retries); who asks again is window.c. Over ibsim the system says nothing, so the
 * window has a timeout of its own, a little longer.
 *
 * Errors here are the ones people meet first, so each has its own line: no device, not that device,
 * a port without a cable, no permission.
 *
 * Cost: one system call to send, two to receive.
 */
#include <errno.h>
#include <infiniband/umad.h>
#include <stdio.h>
#include <string.h>

#include "discover/net.h"

enum { PHYSICAL_LINK_UP = 5, QUERY_PAIR = 1, QUIET_MS = 20, MAX_DRAINED = 4096 };

/* Well-known numbers of the queue pair that all general services share. */
static const unsigned services_qkey = 0x80010000;

static bool has_any_device(void)
{
    char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN];
    int count = umad_get_cas_names(names, UMAD_MAX_DEVICES);
    for (int i = 0; i < count; i++) {
        umad_ca_t about; /* without devices the library makes up a name: look behind it */
        if (umad_get_ca(names[i], &about) == 0) {
            umad_release_ca(&about);
            return true;
        }
    }
    return false;
}

/* The device and port that are meant, by what the system tells of them. */
static sv_status resolve(sv__port *port, const char *device, unsigned number)
{
    umad_port_t about;
    memset(&about, 0, sizeof about);
    if (!has_any_device())
        return sv_fail(port->ctx, SV_IO,
                       "no InfiniBand device here: nothing in %s (is the driver loaded?)",
                       SYS_INFINIBAND);
    if (umad_get_port(device, (int)number, &about) != 0) {
        if (device == NULL)
            return sv_fail(port->ctx, SV_IO, "no InfiniBand device here has a port %u", number);
        return sv_fail(port->ctx, SV_IO,
                       number == 0 ? "no InfiniBand port on device '%s'"
                                   : "no device '%s' with a port %u",
                       device, number);
    }
    snprintf(port->device, sizeof port->device, "%s", about.ca_name);
    port->number = about.portnum;
    unsigned physical = about.phys_state;
    bool ethernet = strcmp(about.link_layer, "Ethernet") == 0;
    umad_release_port(&about);
    if (ethernet)
        return sv_fail(port->ctx, SV_IO, "port %d of '%s' is an Ethernet port", port->number,
                       port->device);
    if (physical != PHYSICAL_LINK_UP)
        return sv_fail(port->ctx, SV_IO, "port %d of '%s' has no link", port->number, port->device);
    return SV_OK;
}

static sv_status open_port(sv__port *port)
{
    errno = 0;
    port->descriptor = umad_open_port(port->device, port->number);
    if (port->descriptor >= 0)
        return SV_OK;
    if (errno == EACCES || errno == EPERM)
        return sv_fail(port->ctx, SV_IO,
                       "no permission to send datagrams through port %d of '%s': "
                       "/dev/infiniband/umad* are usually root's",
                       port->number, port->device);
    return sv_fail(port->ctx, SV_IO, "cannot open port %d of '%s' for datagrams: %s", port->number,
                   port->device, errno != 0 ? strerror(errno) : "is ib_umad loaded?");
}

sv_status sv__port_find(sv__port *port, sv_ctx *ctx, const char *device, unsigned number)
{
    *port = (sv__port){.ctx = ctx, .descriptor = -1, .directed = -1, .sa = -1};
    SV_TRY(resolve(port, device, number));
    if (umad_init() < 0)
        return sv_fail(ctx, SV_IO, "cannot use the datagram interface: is ib_umad loaded?");
    SV_TRY(open_port(port));
    umad_close_port(port->descriptor);
    port->descriptor = -1;
    return SV_OK;
}

sv_status sv__port_open(sv__port *port)
{
    port->buffer = sv_alloc(port->ctx, 1, umad_size() + SV__MAD_BYTES);
    if (port->buffer == NULL)
        return SV_NO_MEMORY;
    SV_TRY(open_port(port));
    port->directed = umad_register(port->descriptor, SV__CLASS_DIRECTED, 1, 0, NULL);
    port->sa = umad_register(port->descriptor, SV__CLASS_SA, 2, 0, NULL);
    if (port->directed < 0 || port->sa < 0)
        return sv_fail(port->ctx, SV_IO, "port %d of '%s' takes no agent for datagrams",
                       port->number, port->device);
    return SV_OK;
}

static sv_status send_datagram(void *user, const uint8_t *mad)
{
    sv__port *port = user;
    bool directed = mad[1] == SV__CLASS_DIRECTED;
    memset(port->buffer, 0, umad_size());
    memcpy(umad_get_mad(port->buffer), mad, SV__MAD_BYTES);
    if (directed)
        umad_set_addr(port->buffer, 0xffff, 0, 0, 0);
    else
        umad_set_addr(port->buffer, port->sm_lid, QUERY_PAIR, port->sm_sl, (int)services_qkey);
    if (umad_send(port->descriptor, directed ? port->directed : port->sa, port->buffer,
                  SV__MAD_BYTES, (int)port->timeout_ms, 0) < 0)
        return sv_fail(port->ctx, SV_IO, "cannot send a datagram through port %d of '%s': %s",
                       port->number, port->device, strerror(errno));
    port->flying++;
    return SV_OK;
}

static sv_status receive_datagram(void *user, uint64_t wait_ns, sv__answer *answer, bool *got)
{
    sv__port *port = user;
    int length = SV__MAD_BYTES, wait_ms = (int)(wait_ns / 1000000) + 1; /* 0: may block */
    errno = 0;
    int result = umad_recv(port->descriptor, port->buffer, &length, wait_ms);
    int why = result < -1 ? -result : errno;
    *got = result >= 0;
    if (!*got && why != ETIMEDOUT && why != EINTR && why != EAGAIN && why != 0)
        return sv_fail(port->ctx, SV_IO, "cannot receive datagrams through port %d of '%s': %s",
                       port->number, port->device, strerror(why));
    if (*got) {
        port->flying -= port->flying > 0;
        answer->lost = umad_status(port->buffer) != 0;
        memcpy(answer->mad, umad_get_mad(port->buffer), SV__MAD_BYTES);
    }
    return SV_OK;
}

/*
 * Takes what is still on its way when asking ended early. A real port does not care; libumad2sim of
 * ibsim 0.10 hangs or crashes if answers come in while the program ends.
 */
static void drain(sv__port *port)
{
    sv__answer answer;
    bool got = port->flying > 0;
    for (int i = 0; got && i < MAX_DRAINED; i++)
        if (receive_datagram(port, QUIET_MS * UINT64_C(1000000), &answer, &got) != SV_OK)
            return;
}

void sv__port_close(sv__port *port)
{
    if (port->descriptor >= 0) {
        drain(port);
        if (port->directed >= 0)
            umad_unregister(port->descriptor, port->directed);
        if (port->sa >= 0)
            umad_unregister(port->descriptor, port->sa);
        umad_close_port(port->descriptor);
    }
    sv_release(port->ctx, port->buffer);
    *port = (sv__port){.ctx = port->ctx, .descriptor = -1, .directed = -1, .sa = -1};
}

sv__discover_wire sv__port_wire(sv__port *port)
{
    return (sv__discover_wire){.user = port, .send = send_datagram, .receive = receive_datagram};
}
