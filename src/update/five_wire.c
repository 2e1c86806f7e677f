/*
 * five_wire.c: mails of the five phases as bytes.
 *
 *      0  "SVF5"
 *      4  version (1), kind, two zeros
 *      8  subscriber, epoch, serial, counter: four bytes each, the most significant first
 *
 * Invariant: what is packed is unpacked the same on any machine; what is not ours is refused.
 * Cost: O(1).
 */
#include <selvage/experimental/update.h>
#include <string.h>

static const uint8_t beginning[5] = {'S', 'V', 'F', '5', 1};

static void put(uint8_t *at, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(number >> (24 - 8 * i));
}

static uint32_t get(const uint8_t *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

void sv_five_pack(const sv_five_mail *mail, uint32_t counter, uint8_t bytes[SV_FIVE_BYTES])
{
    memset(bytes, 0, SV_FIVE_BYTES);
    memcpy(bytes, beginning, sizeof beginning);
    bytes[5] = (uint8_t)mail->kind;
    put(bytes + 8, mail->subscriber);
    put(bytes + 12, mail->epoch);
    put(bytes + 16, mail->serial);
    put(bytes + 20, counter);
}

bool sv_five_unpack(const uint8_t bytes[SV_FIVE_BYTES], sv_five_mail *mail)
{
    if (memcmp(bytes, beginning, sizeof beginning) != 0 || bytes[5] >= SV_FIVE_KINDS)
        return false;
    *mail = (sv_five_mail){.kind = (sv_five_kind)bytes[5],
                           .subscriber = get(bytes + 8),
                           .epoch = get(bytes + 12),
                           .serial = get(bytes + 16)};
    return true;
}
