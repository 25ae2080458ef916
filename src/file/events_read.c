/*
 * events_read.c - TensorBoard's event files, read; events.c says how they are built.
 *
 * Of a message the step and the scalars are taken, all else (the graph, images, texts) is passed
 * over. Other programs' files may hold it, and fields that came later.
 */
#include <mase/events.h>

#include <inttypes.h>
#include <string.h>

#include <mase/cursor.h>

#include "file/events_wire.h"

enum { EVENT_STEP = 2, EVENT_SUMMARY = 5, SUMMARY_VALUE = 1, VALUE_TAG = 1, VALUE_SIMPLE = 2 };
enum { TAG_MAX = 1024 };

struct reading {
    mase_event_fn *fn;
    void *data;
    uint32_t crc_table[256];
    int64_t step; /* of the message */
};

struct field {
    uint64_t number;
    enum mase_wire wire;
    uint64_t value;          /* varint, fixed */
    struct mase_cursor body; /* bytes */
};

/* ---- protocol buffers ---- */

static enum mase_status get_varint(struct mase_cursor *c, uint64_t *v, struct mase_err *err)
{
    uint8_t byte = 0x80;
    *v = 0;
    for (int shift = 0; byte & 0x80; shift += 7) {
        if (shift > 63)
            return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c),
                                "an integer of more than 64 bits");
        MASE_TRY(mase_get_u8(c, &byte, err));
        *v |= (uint64_t)(byte & 0x7f) << shift;
    }
    return MASE_OK;
}

static enum mase_status get_body(struct mase_cursor *c, struct field *f, struct mase_err *err)
{
    const unsigned char *skipped;
    uint64_t size = 0;
    MASE_TRY(get_varint(c, &size, err));
    f->body = *c;
    MASE_TRY(mase_get_bytes(c, &skipped, size, err));
    f->body.size = c->pos;
    return MASE_OK;
}

static enum mase_status get_field(struct mase_cursor *c, struct field *f, struct mase_err *err)
{
    uint64_t key = 0;
    uint32_t half = 0;
    MASE_TRY(get_varint(c, &key, err));
    f->number = key >> 3;
    f->wire = (enum mase_wire)(key & 7);
    switch (f->wire) {
    case MASE_WIRE_VARINT:
        return get_varint(c, &f->value, err);
    case MASE_WIRE_FIXED64:
        return mase_get_u64(c, &f->value, err);
    case MASE_WIRE_BYTES:
        return get_body(c, f, err);
    case MASE_WIRE_FIXED32:
        MASE_TRY(mase_get_u32(c, &half, err));
        f->value = half;
        return MASE_OK;
    }
    return mase_fail_at(err, MASE_EPARSE, mase_cursor_at(c), "a field of the unknown kind %d",
                        (int)(key & 7));
}

/* ---- messages ---- */

static enum mase_status read_value(const struct reading *r, struct mase_cursor *c,
                                   struct mase_err *err)
{
    struct field f = { 0 };
    char tag[TAG_MAX] = "";
    uint32_t bits = 0;
    bool scalar = false;
    while (c->pos < c->size) {
        MASE_TRY(get_field(c, &f, err));
        const size_t n = f.body.size - f.body.pos;
        if (f.number == VALUE_TAG && f.wire == MASE_WIRE_BYTES && n < sizeof tag) {
            memcpy(tag, f.body.data + f.body.pos, n);
            tag[n] = '\0';
        } else if (f.number == VALUE_SIMPLE && f.wire == MASE_WIRE_FIXED32) {
            bits = (uint32_t)f.value;
            scalar = true;
        }
    }
    float value;
    memcpy(&value, &bits, sizeof value);
    if (scalar)
        r->fn(tag, r->step, value, r->data);
    return MASE_OK;
}

static enum mase_status read_summary(const struct reading *r, struct mase_cursor *c,
                                     struct mase_err *err)
{
    struct field f = { 0 };
    while (c->pos < c->size) {
        MASE_TRY(get_field(c, &f, err));
        if (f.number == SUMMARY_VALUE && f.wire == MASE_WIRE_BYTES)
            MASE_TRY(read_value(r, &f.body, err));
    }
    return MASE_OK;
}

/* The step may follow the summary, so it is searched first. */
static enum mase_status read_event(struct reading *r, const struct mase_cursor *message,
                                   struct mase_err *err)
{
    struct field f = { 0 };
    r->step = 0;
    for (struct mase_cursor c = *message; c.pos < c.size;) {
        MASE_TRY(get_field(&c, &f, err));
        if (f.number == EVENT_STEP && f.wire == MASE_WIRE_VARINT)
            r->step = (int64_t)f.value;
    }
    for (struct mase_cursor c = *message; c.pos < c.size;) {
        MASE_TRY(get_field(&c, &f, err));
        if (f.number == EVENT_SUMMARY && f.wire == MASE_WIRE_BYTES)
            MASE_TRY(read_summary(r, &f.body, err));
    }
    return MASE_OK;
}

/* ---- records ---- */

static enum mase_status check_crc(const struct reading *r, struct mase_cursor *c, const void *data,
                                  size_t n, struct mase_err *err)
{
    const struct mase_loc at = mase_cursor_at(c);
    uint32_t crc = 0;
    MASE_TRY(mase_get_u32(c, &crc, err));
    if (crc != mase_events_crc(r->crc_table, data, n))
        return mase_fail_at(err, MASE_EPARSE, at, "a damaged record: its checksum does not agree");
    return MASE_OK;
}

/* Is there a whole record at the cursor? A length that lies is found out by its checksum. */
static bool is_whole(const struct mase_cursor *c)
{
    const size_t left = c->size - c->pos;
    uint64_t size = 0;
    for (int i = 0; left >= 12 && i < 8; i++)
        size |= (uint64_t)c->data[c->pos + (size_t)i] << 8 * i;
    return left >= 16 && size <= left - 16;
}

static enum mase_status read_record(struct reading *r, struct mase_cursor *c, struct mase_err *err)
{
    const unsigned char *length = c->data + c->pos, *message = NULL;
    uint64_t size = 0;
    MASE_TRY(mase_get_u64(c, &size, err));
    MASE_TRY(check_crc(r, c, length, 8, err));
    struct mase_cursor body = *c;
    MASE_TRY(mase_get_bytes(c, &message, size, err));
    body.size = c->pos;
    MASE_TRY(check_crc(r, c, message, (size_t)size, err));
    return read_event(r, &body, err);
}

/* The checksum of a length that reaches beyond the end: damage, or a record not yet whole? */
static enum mase_status check_rest(const struct reading *r, struct mase_cursor *c,
                                   struct mase_err *err)
{
    if (c->size - c->pos < 12)
        return MASE_OK;
    const unsigned char *length = c->data + c->pos;
    c->pos += 8;
    return check_crc(r, c, length, 8, err);
}

enum mase_status mase_events_parse(struct mase_cursor *c, mase_event_fn *fn, void *data,
                                   struct mase_err *err)
{
    struct reading r = { .fn = fn, .data = data };
    mase_events_crc_table(r.crc_table);
    while (is_whole(c))
        MASE_TRY(read_record(&r, c, err));
    return check_rest(&r, c, err);
}

enum mase_status mase_events_read(const char *path, mase_event_fn *fn, void *data,
                                  struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    struct mase_cursor c = mase_cursor_of(&f);
    const enum mase_status st = mase_events_parse(&c, fn, data, err);
    mase_file_close(&f);
    return st;
}
