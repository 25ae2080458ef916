/*
 * onnx_write.c - protobuf's wire format, written by the tables of onnx.def.
 *
 * Fields come in the order of their numbers. What is absent is left out: of single numbers those
 * whose bit in `has` is not set, of the rest what is empty.
 */
#include <string.h>

#include "onnx/onnx_file.h"

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_32 = 5 };

static void put_varint(struct mase_str *out, uint64_t v)
{
    char bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (char)((v & 0x7f) | (v > 0x7f ? 0x80 : 0));
        v >>= 7;
    } while (v);
    mase_str_addn(out, bytes, n);
}

static void put_key(struct mase_str *out, int number, unsigned wire)
{
    put_varint(out, (uint64_t)number << 3 | wire);
}

static void put_bytes(struct mase_str *out, int number, const void *data, size_t size)
{
    put_key(out, number, WIRE_BYTES);
    put_varint(out, size);
    mase_str_addn(out, data, size);
}

/* Little-endian on any machine. */
static void put_fixed(struct mase_str *out, const void *value, size_t size)
{
    uint64_t bits = 0;
    char bytes[8];
    if (size == 4) {
        uint32_t word;
        memcpy(&word, value, sizeof word);
        bits = word;
    } else {
        memcpy(&bits, value, sizeof bits);
    }
    for (size_t i = 0; i < size; i++, bits >>= 8)
        bytes[i] = (char)(bits & 0xff);
    mase_str_addn(out, bytes, size);
}

/* A packed array of numbers. */
static void put_packed(struct mase_str *out, const struct mase_onnx_field *f, const void *items,
                       int count)
{
    struct mase_str packed = { 0 };
    for (int i = 0; i < count; i++) {
        if (f->kind == MASE_ONNX_FLOATS)
            put_fixed(&packed, (const float *)items + i, 4);
        else if (f->kind == MASE_ONNX_DOUBLES)
            put_fixed(&packed, (const double *)items + i, 8);
        else
            put_varint(&packed, ((const uint64_t *)items)[i]);
    }
    put_bytes(out, f->number, mase_str_text(&packed), packed.len);
    mase_str_release(&packed);
}

static void put_part(struct mase_str *out, const struct mase_onnx_field *f, const void *part)
{
    struct mase_str inner = { 0 };
    mase_onnx_print(&inner, f->of, part);
    put_bytes(out, f->number, mase_str_text(&inner), inner.len);
    mase_str_release(&inner);
}

/* Arrays of every kind have this form. */
struct many {
    void *items;
    int count;
};

static void put_many(struct mase_str *out, const struct mase_onnx_field *f, const struct many *m)
{
    const struct mase_onnx_bytes *blob = m->items;
    const char *const *text = m->items;
    const size_t size = f->kind == MASE_ONNX_PARTS ? mase_onnx_messages[f->of].size : 0;
    if (f->kind == MASE_ONNX_TEXTS) {
        for (int i = 0; i < m->count; i++)
            put_bytes(out, f->number, text[i], strlen(text[i]));
    } else if (f->kind == MASE_ONNX_BLOBS) {
        for (int i = 0; i < m->count; i++)
            put_bytes(out, f->number, blob[i].data, blob[i].size);
    } else if (f->kind == MASE_ONNX_PARTS) {
        for (int i = 0; i < m->count; i++)
            put_part(out, f, (const char *)m->items + (size_t)i * size);
    } else if (m->count) {
        put_packed(out, f, m->items, m->count);
    }
}

static void put_one(struct mase_str *out, const struct mase_onnx_field *f, const void *at)
{
    const char *text;
    const struct mase_onnx_bytes *bytes = at;
    const void *part;
    switch (f->kind) {
    case MASE_ONNX_INT:
        put_key(out, f->number, WIRE_VARINT);
        put_varint(out, *(const uint64_t *)at);
        break;
    case MASE_ONNX_FLOAT:
        put_key(out, f->number, WIRE_32);
        put_fixed(out, at, 4);
        break;
    case MASE_ONNX_TEXT:
        text = *(const char *const *)at;
        if (text && *text)
            put_bytes(out, f->number, text, strlen(text));
        break;
    case MASE_ONNX_BYTES:
        if (bytes->size)
            put_bytes(out, f->number, bytes->data, bytes->size);
        break;
    case MASE_ONNX_PART:
        part = *(const void *const *)at;
        if (part)
            put_part(out, f, part);
        break;
    default:
        put_many(out, f, at);
    }
}

void mase_onnx_print(struct mase_str *out, enum mase_onnx_message_id id, const void *message)
{
    const struct mase_onnx_head *head = message;
    for (const struct mase_onnx_field *f = mase_onnx_messages[id].fields; f->number; f++) {
        const bool single = f->kind == MASE_ONNX_INT || f->kind == MASE_ONNX_FLOAT;
        if (!single || mase_onnx_has(head, f->number))
            put_one(out, f, (const char *)message + f->offset);
    }
}
