/*
 * onnx_wire.c - protobuf's wire format, read by the tables of onnx.def.
 *
 *     a message   any number of fields, one behind the other
 *     a field     varint of number * 8 + wire type, then
 *       0         a varint: 7 bits a byte, lowest first, the top bit says that more follow
 *       1         8 bytes, little-endian
 *       2         a varint of length and as many bytes: text, a message, numbers packed
 *       5         4 bytes, little-endian
 *
 * A message is walked over twice: to count what it has of each field, and to take it. What lies
 * inside is passed over by its length the first time, so that the whole takes linear time.
 */
#include <limits.h>
#include <stddef.h>
#include <string.h>

#include <mase/cursor.h>

#include "base/limit.h"
#include "onnx/onnx_file.h"

/* ---- tables ---- */

#define FIELD(message, number, kind, name) \
    { number, MASE_ONNX_##kind, #name, offsetof(struct mase_onnx_##message, name), 0 },
#define PART(message, number, name, of)                                          \
    { number, MASE_ONNX_PART, #name, offsetof(struct mase_onnx_##message, name), \
      MASE_ONNX_MESSAGE_##of },
#define PARTS(message, number, name, of)                                          \
    { number, MASE_ONNX_PARTS, #name, offsetof(struct mase_onnx_##message, name), \
      MASE_ONNX_MESSAGE_##of },
#define MESSAGE(message) static const struct mase_onnx_field fields_of_##message[] = {
#define END(message) \
    {                \
        0            \
    }                \
    }                \
    ;
#include "onnx/onnx.def"

const struct mase_onnx_message mase_onnx_messages[MASE_ONNX_MESSAGE_COUNT] = {
#define MESSAGE(message)  \
    [MASE_ONNX_MESSAGE_## \
        message] = { #message, sizeof(struct mase_onnx_##message), fields_of_##message },
#include "onnx/onnx.def"
};

/* The limits of protobuf's own readers. */
enum { MOST_DEEP = 100, MOST_FIELDS = 64 };

enum { WIRE_VARINT, WIRE_64, WIRE_BYTES, WIRE_START, WIRE_END, WIRE_32 };

/* Wire type of an element of a field, unpacked, and its size in a struct. */
static const struct {
    int wire;
    size_t size;
} kinds[] = {
    [MASE_ONNX_INT] = { WIRE_VARINT, sizeof(int64_t) },
    [MASE_ONNX_FLOAT] = { WIRE_32, sizeof(float) },
    [MASE_ONNX_TEXT] = { WIRE_BYTES, sizeof(const char *) },
    [MASE_ONNX_BYTES] = { WIRE_BYTES, sizeof(struct mase_onnx_bytes) },
    [MASE_ONNX_PART] = { WIRE_BYTES, 0 },
    [MASE_ONNX_INTS] = { WIRE_VARINT, sizeof(int64_t) },
    [MASE_ONNX_UINTS] = { WIRE_VARINT, sizeof(uint64_t) },
    [MASE_ONNX_FLOATS] = { WIRE_32, sizeof(float) },
    [MASE_ONNX_DOUBLES] = { WIRE_64, sizeof(double) },
    [MASE_ONNX_TEXTS] = { WIRE_BYTES, sizeof(const char *) },
    [MASE_ONNX_BLOBS] = { WIRE_BYTES, sizeof(struct mase_onnx_bytes) },
    [MASE_ONNX_PARTS] = { WIRE_BYTES, 0 },
};

struct wire {
    struct mase_arena *arena;
    uint64_t limit; /* of the arena */
    int depth;
    struct mase_err *err;
};

/* One field of the file. */
struct token {
    int number, wire;
    uint64_t value;          /* of a varint, or of 4 or 8 bytes */
    struct mase_cursor body; /* the content of a length-delimited field */
    struct mase_loc at;
};

/* ---- tokens ---- */

static enum mase_status get_varint(struct wire *w, struct mase_cursor *c, uint64_t *v)
{
    const struct mase_loc at = mase_cursor_at(c);
    *v = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        uint8_t byte;
        MASE_TRY(mase_get_u8(c, &byte, w->err));
        if (shift == 63 && byte > 1)
            break;
        *v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return MASE_OK;
    }
    return mase_fail_at(w->err, MASE_EPARSE, at, "a varint has more than 64 bits");
}

/* The next length bytes as a cursor of their own, with places in the file. */
static enum mase_status get_body(struct wire *w, struct mase_cursor *c, struct token *t)
{
    const unsigned char *p;
    MASE_TRY(get_varint(w, c, &t->value));
    if (t->value > c->size - c->pos)
        return mase_fail_at(w->err, MASE_EPARSE, t->at,
                            "field %d has %llu bytes, but only %zu are left in its message",
                            t->number, (unsigned long long)t->value, c->size - c->pos);
    t->body = *c;
    t->body.size = c->pos + (size_t)t->value;
    return mase_get_bytes(c, &p, t->value, w->err);
}

static enum mase_status next(struct wire *w, struct mase_cursor *c, struct token *t)
{
    uint64_t key;
    uint32_t bits;
    t->at = mase_cursor_at(c);
    MASE_TRY(get_varint(w, c, &key));
    if (key >> 3 == 0 || key >> 3 > INT_MAX)
        return mase_fail_at(w->err, MASE_EPARSE, t->at, "there is no field of number %llu",
                            (unsigned long long)(key >> 3));
    t->number = (int)(key >> 3);
    t->wire = (int)(key & 7);
    switch (t->wire) {
    case WIRE_VARINT:
        return get_varint(w, c, &t->value);
    case WIRE_64:
        return mase_get_u64(c, &t->value, w->err);
    case WIRE_BYTES:
        return get_body(w, c, t);
    case WIRE_32:
        MASE_TRY(mase_get_u32(c, &bits, w->err));
        t->value = bits;
        return MASE_OK;
    default:
        return mase_fail_at(w->err, MASE_EPARSE, t->at,
                            "field %d is of wire type %d; expected 0, 1, 2 or 5", t->number,
                            t->wire);
    }
}

static const struct mase_onnx_field *find_field(const struct mase_onnx_message *m, int number)
{
    for (const struct mase_onnx_field *f = m->fields; f->number; f++)
        if (f->number == number)
            return f;
    return NULL;
}

static bool is_many(const struct mase_onnx_field *f)
{
    return f->kind >= MASE_ONNX_INTS;
}

/* Are the numbers of the field packed? */
static bool is_packed(const struct mase_onnx_field *f, const struct token *t)
{
    return is_many(f) && kinds[f->kind].wire != WIRE_BYTES && t->wire == WIRE_BYTES;
}

static enum mase_status check_wire(struct wire *w, const struct mase_onnx_message *m,
                                   const struct mase_onnx_field *f, const struct token *t)
{
    if (t->wire == kinds[f->kind].wire || is_packed(f, t))
        return MASE_OK;
    return mase_fail_at(w->err, MASE_EPARSE, t->at, "%s of a %s is of wire type %d; expected %d",
                        f->name, m->name, t->wire, kinds[f->kind].wire);
}

/* ---- first pass: count elements ---- */

static uint64_t count_packed(const struct mase_onnx_field *f, const struct mase_cursor *body)
{
    const size_t bytes = body->size - body->pos;
    uint64_t n = 0;
    if (kinds[f->kind].wire != WIRE_VARINT)
        return bytes / (kinds[f->kind].wire == WIRE_32 ? 4 : 8);
    for (size_t i = body->pos; i < body->size; i++)
        n += !(body->data[i] & 0x80);
    return n;
}

static enum mase_status count_fields(struct wire *w, const struct mase_onnx_message *m,
                                     struct mase_cursor c, uint64_t count[MOST_FIELDS])
{
    struct token t;
    while (c.pos < c.size) {
        MASE_TRY(next(w, &c, &t));
        const struct mase_onnx_field *f = find_field(m, t.number);
        if (!f)
            continue;
        MASE_TRY(check_wire(w, m, f, &t));
        count[f->number] += is_packed(f, &t) ? count_packed(f, &t.body) : 1;
        if (f->kind == MASE_ONNX_PART && count[f->number] > 1)
            return mase_fail_at(w->err, MASE_EPARSE, t.at, "%s of a %s is given twice", f->name,
                                m->name);
    }
    return MASE_OK;
}

/* ---- second pass: store elements ---- */

/* All arrays have this form. */
typedef MASE_ONNX_MANY(void) many;

static enum mase_status parse(struct wire *w, void *out, const struct mase_onnx_message *m,
                              struct mase_cursor c);

static size_t element_size(const struct mase_onnx_field *f)
{
    return f->kind == MASE_ONNX_PARTS || f->kind == MASE_ONNX_PART ? mase_onnx_messages[f->of].size
                                                                   : kinds[f->kind].size;
}

static enum mase_status check_room(struct wire *w, uint64_t count, size_t size, struct mase_loc at)
{
    if (count <= INT_MAX && count * size <= w->limit && w->arena->used + count * size <= w->limit)
        return MASE_OK;
    return mase_fail_at(w->err, MASE_ELIMIT, at,
                        "its parts take more than %llu bytes of memory; MASE_MEMORY sets the limit",
                        (unsigned long long)w->limit);
}

static enum mase_status make_room(struct wire *w, void *out, const struct mase_onnx_message *m,
                                  const struct mase_cursor *c, const uint64_t count[MOST_FIELDS])
{
    for (const struct mase_onnx_field *f = m->fields; f->number; f++) {
        many *to = (void *)((char *)out + f->offset);
        if (is_many(f) && count[f->number]) {
            const size_t size = element_size(f);
            MASE_TRY(check_room(w, count[f->number], size, mase_cursor_at(c)));
            to->items = mase_arena_alloc_array(w->arena, (size_t)count[f->number], size);
        } else if (f->kind == MASE_ONNX_TEXT) {
            *(const char **)((char *)out + f->offset) = "";
        }
    }
    return MASE_OK;
}

static enum mase_status take_text(struct wire *w, const char **to, const struct token *t)
{
    const char *text = (const char *)t->body.data + t->body.pos;
    const size_t n = t->body.size - t->body.pos;
    MASE_TRY(check_room(w, 1, n + 1, t->at));
    if (memchr(text, 0, n))
        return mase_fail_at(w->err, MASE_EPARSE, t->at, "a name has a zero byte in it");
    *to = mase_arena_strndup(w->arena, text, n);
    return MASE_OK;
}

/* Store one element of a field. */
static enum mase_status take(struct wire *w, void *to, const struct mase_onnx_field *f,
                             const struct token *t)
{
    const uint32_t bits = (uint32_t)t->value;
    switch (f->kind) {
    case MASE_ONNX_INT:
    case MASE_ONNX_INTS:
    case MASE_ONNX_UINTS:
    case MASE_ONNX_DOUBLES:
        memcpy(to, &t->value, sizeof t->value);
        return MASE_OK;
    case MASE_ONNX_FLOAT:
    case MASE_ONNX_FLOATS:
        memcpy(to, &bits, sizeof bits);
        return MASE_OK;
    case MASE_ONNX_TEXT:
    case MASE_ONNX_TEXTS:
        return take_text(w, to, t);
    case MASE_ONNX_BYTES:
    case MASE_ONNX_BLOBS:
        *(struct mase_onnx_bytes *)to =
            (struct mase_onnx_bytes){ t->body.data + t->body.pos, t->body.size - t->body.pos };
        return MASE_OK;
    case MASE_ONNX_PART:
        MASE_TRY(check_room(w, 1, element_size(f), t->at));
        *(void **)to = mase_arena_alloc(w->arena, element_size(f));
        return parse(w, *(void **)to, &mase_onnx_messages[f->of], t->body);
    case MASE_ONNX_PARTS:
        return parse(w, to, &mase_onnx_messages[f->of], t->body);
    }
    return MASE_OK;
}

static enum mase_status take_packed(struct wire *w, many *to, const struct mase_onnx_field *f,
                                    struct token *t)
{
    struct mase_cursor *c = &t->body;
    uint32_t bits;
    while (c->pos < c->size) {
        if (kinds[f->kind].wire == WIRE_VARINT) {
            MASE_TRY(get_varint(w, c, &t->value));
        } else if (kinds[f->kind].wire == WIRE_64) {
            MASE_TRY(mase_get_u64(c, &t->value, w->err));
        } else {
            MASE_TRY(mase_get_u32(c, &bits, w->err));
            t->value = bits;
        }
        MASE_TRY(take(w, (char *)to->items + (size_t)to->count * element_size(f), f, t));
        to->count++;
    }
    return MASE_OK;
}

static enum mase_status take_fields(struct wire *w, void *out, const struct mase_onnx_message *m,
                                    struct mase_cursor *c)
{
    struct mase_onnx_head *head = out;
    struct token t;
    while (c->pos < c->size) {
        MASE_TRY(next(w, c, &t));
        const struct mase_onnx_field *f = find_field(m, t.number);
        if (!f)
            continue;
        char *to = (char *)out + f->offset;
        many *row = (void *)to;
        head->has |= UINT64_C(1) << f->number;
        if (is_packed(f, &t)) {
            MASE_TRY(take_packed(w, row, f, &t));
        } else if (is_many(f)) {
            MASE_TRY(take(w, (char *)row->items + (size_t)row->count * element_size(f), f, &t));
            row->count++;
        } else {
            MASE_TRY(take(w, to, f, &t));
        }
    }
    return MASE_OK;
}

static enum mase_status parse(struct wire *w, void *out, const struct mase_onnx_message *m,
                              struct mase_cursor c)
{
    uint64_t count[MOST_FIELDS] = { 0 };
    ((struct mase_onnx_head *)out)->at = c.pos;
    if (++w->depth > MOST_DEEP)
        return mase_fail_at(w->err, MASE_ELIMIT, mase_cursor_at(&c),
                            "messages lie more than %d deep in one another", MOST_DEEP);
    MASE_TRY(count_fields(w, m, c, count));
    MASE_TRY(make_room(w, out, m, &c, count));
    MASE_TRY(take_fields(w, out, m, &c));
    w->depth--;
    return MASE_OK;
}

enum mase_status mase_onnx_parse(void *out, struct mase_arena *a, enum mase_onnx_message_id id,
                                 const void *data, size_t size, const char *path,
                                 struct mase_err *err)
{
    struct wire w = { .arena = a, .limit = a->used + mase_limit_of_file(size), .err = err };
    return parse(&w, out, &mase_onnx_messages[id],
                 (struct mase_cursor){ .path = path, .data = data, .size = size });
}
