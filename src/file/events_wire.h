/*
 * events_wire.h - what writing and reading of event files share: checksums, kinds of fields.
 */
#ifndef MASE_FILE_EVENTS_WIRE_H
#define MASE_FILE_EVENTS_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <mase/cursor.h>
#include <mase/events.h>

/* How a field of a protocol buffer lies in the bytes. */
enum mase_wire {
    MASE_WIRE_VARINT = 0,
    MASE_WIRE_FIXED64 = 1,
    MASE_WIRE_BYTES = 2,
    MASE_WIRE_FIXED32 = 5
};

/* CRC-32C of each single byte, and the masked one of many (events.c). */
void mase_events_crc_table(uint32_t table[256]);
uint32_t mase_events_crc(const uint32_t table[256], const void *data, size_t n);

/* mase_events_read of bytes in memory. */
enum mase_status mase_events_parse(struct mase_cursor *c, mase_event_fn *fn, void *data,
                                   struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FILE_EVENTS_WIRE_H */
