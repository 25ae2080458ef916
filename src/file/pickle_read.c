/*
 * pickle_read.c - the machine that runs a pickle, protocols 2 to 5.
 *
 * A pickle is a row of opcodes of one byte, each with its operand, that ends with STOP ('.'). The
 * machine has a stack of objects, marks in it, and a memo of objects by number. The table at the
 * end says which opcodes there are: those that PyTorch's files of any age use, and no others.
 * Whatever the stack cannot serve is an error at the opcode's offset.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "file/pickle.h"
#include "value/utf8.h"

struct mase_loc mase_pickle_at(const struct mase_pickle *p)
{
    return (struct mase_loc){ .path = p->in.path, .off = (int64_t)p->at };
}

struct mase_obj *mase_pickle_new(struct mase_pickle *p, enum mase_obj_kind kind)
{
    struct mase_obj *o = mase_new(p->arena, struct mase_obj);
    o->kind = kind;
    return o;
}

/* ---- the stack ---- */

static enum mase_status push(struct mase_pickle *p, struct mase_obj *o)
{
    p->stack = mase_arena_grow(p->arena, p->stack, p->height, &p->stack_cap, sizeof *p->stack);
    p->stack[p->height++] = o;
    return MASE_OK;
}

/* How many objects lie above the last mark. */
static int above_mark(const struct mase_pickle *p)
{
    return p->height - (p->mark_count ? p->marks[p->mark_count - 1] : 0);
}

/* The n objects on top, taken off; they stay valid until the next push. */
static enum mase_status pop(struct mase_pickle *p, struct mase_obj ***items, int n,
                            struct mase_err *err)
{
    if (above_mark(p) < n)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "opcode 0x%02x needs %d objects on the stack, there are %d",
                            p->in.data[p->at], n, above_mark(p));
    p->height -= n;
    *items = p->stack + p->height;
    return MASE_OK;
}

/* All objects above the last mark, taken off with the mark. */
static enum mase_status pop_mark(struct mase_pickle *p, struct mase_obj ***items, int *n,
                                 struct mase_err *err)
{
    if (p->mark_count == 0)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "opcode 0x%02x needs a mark",
                            p->in.data[p->at]);
    *n = above_mark(p);
    p->height = p->marks[--p->mark_count];
    *items = p->stack + p->height;
    return MASE_OK;
}

/* The object on top, which stays: a container that is being filled. */
static enum mase_status top(const struct mase_pickle *p, struct mase_obj **o,
                            enum mase_obj_kind kind, struct mase_err *err)
{
    if (above_mark(p) < 1)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "opcode 0x%02x needs a %s on the stack", p->in.data[p->at],
                            mase_obj_kind_names[kind]);
    *o = p->stack[p->height - 1];
    if ((*o)->kind != kind && (*o)->kind != MASE_OBJ_OPAQUE)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "opcode 0x%02x needs a %s, not a %s", p->in.data[p->at],
                            mase_obj_kind_names[kind], mase_obj_kind_names[(*o)->kind]);
    return MASE_OK;
}

/* An unsigned operand of 1, 2, 4 or 8 bytes, least significant first. */
static enum mase_status operand(struct mase_pickle *p, uint64_t *v, int bytes, struct mase_err *err)
{
    const unsigned char *data = NULL;
    MASE_TRY(mase_get_bytes(&p->in, &data, (uint64_t)bytes, err));
    *v = 0;
    for (int i = 0; i < bytes; i++)
        *v |= (uint64_t)data[i] << (8 * i);
    return MASE_OK;
}

/* ---- opcodes: each takes the number from its row ---- */

typedef enum mase_status op_fn(struct mase_pickle *p, int arg, struct mase_err *err);

static enum mase_status op_proto(struct mase_pickle *p, int arg, struct mase_err *err)
{
    uint64_t version = 0;
    (void)arg;
    MASE_TRY(operand(p, &version, 1, err));
    if (version < 2 || version > 5)
        return mase_fail_at(err, MASE_EUNSUPPORTED, mase_pickle_at(p),
                            "pickle protocol %" PRIu64 " is not known; 2 to 5 are", version);
    return MASE_OK;
}

/* A frame says how many bytes may be read ahead: nothing to us. */
static enum mase_status op_frame(struct mase_pickle *p, int arg, struct mase_err *err)
{
    uint64_t size = 0;
    return operand(p, &size, arg, err);
}

static enum mase_status op_mark(struct mase_pickle *p, int arg, struct mase_err *err)
{
    (void)arg;
    (void)err;
    p->marks = mase_arena_grow(p->arena, p->marks, p->mark_count, &p->mark_cap, sizeof *p->marks);
    p->marks[p->mark_count++] = p->height;
    return MASE_OK;
}

static enum mase_status op_pop(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items;
    int n;
    if (arg || (above_mark(p) == 0 && p->mark_count)) /* a mark on top is popped like an object */
        return pop_mark(p, &items, &n, err);
    return pop(p, &items, 1, err);
}

static enum mase_status op_dup(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL;
    (void)arg;
    MASE_TRY(pop(p, &items, 1, err));
    p->height++;
    return push(p, p->stack[p->height - 1]);
}

static enum mase_status op_none(struct mase_pickle *p, int arg, struct mase_err *err)
{
    (void)arg;
    (void)err;
    return push(p, mase_pickle_new(p, MASE_OBJ_NONE));
}

static enum mase_status op_bool(struct mase_pickle *p, int arg, struct mase_err *err)
{
    (void)err;
    return push(p, mase_obj_bool(p->arena, arg != 0));
}

static enum mase_status op_int(struct mase_pickle *p, int arg, struct mase_err *err)
{
    uint64_t v = 0;
    MASE_TRY(operand(p, &v, arg, err));
    return push(p, mase_obj_int(p->arena, arg == 4 ? (int32_t)(uint32_t)v : (int64_t)v));
}

/* Two's complement in as many bytes as it takes. One that is too long, as the states of random
 * number generators are, is of no use to us and only mentioned. */
static enum mase_status op_long(struct mase_pickle *p, int arg, struct mase_err *err)
{
    uint64_t n = 0, v = 0;
    MASE_TRY(operand(p, &n, arg, err));
    if (n > 8) {
        const unsigned char *unused_bytes = NULL;
        MASE_TRY(mase_get_bytes(&p->in, &unused_bytes, n, err));
        struct mase_obj *o = mase_pickle_new(p, MASE_OBJ_OPAQUE);
        o->type = mase_arena_printf(p->arena, "an integer of %" PRIu64 " bytes", n);
        return push(p, o);
    }
    MASE_TRY(operand(p, &v, (int)n, err));
    const int unused = 64 - 8 * (int)n;
    return push(p, mase_obj_int(p->arena, n ? (int64_t)(v << unused) >> unused : 0));
}

/* Big-endian, alone among the operands. */
static enum mase_status op_float(struct mase_pickle *p, int arg, struct mase_err *err)
{
    static const struct mase_element f64 = { 'f', 8, MASE_F64 };
    const unsigned char *data = NULL;
    uint64_t bits;
    double f;
    (void)arg;
    MASE_TRY(mase_get_bytes(&p->in, &data, 8, err));
    mase_element_load(&f64, &bits, data, true);
    memcpy(&f, &bits, sizeof f);
    return push(p, mase_obj_float(p->arena, f));
}

static bool is_utf8(const char *s, size_t n)
{
    uint32_t cp;
    for (int k; n > 0; s += k, n -= (size_t)k)
        if ((k = mase_utf8_decode(&cp, s, n)) == 0)
            return false;
    return true;
}

static enum mase_status op_text(struct mase_pickle *p, int arg, struct mase_err *err)
{
    const unsigned char *data = NULL;
    uint64_t n = 0;
    MASE_TRY(operand(p, &n, arg, err));
    MASE_TRY(mase_get_bytes(&p->in, &data, n, err));
    if (!is_utf8((const char *)data, n))
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "a text that is not UTF-8");
    return push(p, mase_obj_text_n(p->arena, (const char *)data, n));
}

static enum mase_status op_bytes(struct mase_pickle *p, int arg, struct mase_err *err)
{
    const unsigned char *data = NULL;
    uint64_t n = 0;
    MASE_TRY(operand(p, &n, arg, err));
    MASE_TRY(mase_get_bytes(&p->in, &data, n, err));
    return push(p, mase_obj_bytes(p->arena, data, n));
}

/* A string of Python 2: a text if it can be one. */
static enum mase_status op_string(struct mase_pickle *p, int arg, struct mase_err *err)
{
    MASE_TRY(op_bytes(p, arg, err));
    struct mase_obj *o = p->stack[p->height - 1];
    if (is_utf8(o->text, o->len))
        o->kind = MASE_OBJ_TEXT;
    return MASE_OK;
}

static enum mase_status op_empty(struct mase_pickle *p, int arg, struct mase_err *err)
{
    (void)err;
    return push(p, mase_pickle_new(p, (enum mase_obj_kind)arg));
}

static struct mase_obj *sequence(struct mase_pickle *p, enum mase_obj_kind kind,
                                 struct mase_obj **items, int n)
{
    struct mase_obj *o = mase_pickle_new(p, kind);
    if (n)
        o->items = mase_arena_memdup(p->arena, items, (size_t)n * sizeof *items);
    o->count = o->cap = n;
    return o;
}

/* A tuple of the arg objects on top. */
static enum mase_status op_tuple(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL;
    MASE_TRY(pop(p, &items, arg, err));
    return push(p, sequence(p, MASE_OBJ_TUPLE, items, arg));
}

/* A list or tuple of what lies above the mark. */
static enum mase_status op_sequence(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL;
    int n = 0;
    MASE_TRY(pop_mark(p, &items, &n, err));
    return push(p, sequence(p, (enum mase_obj_kind)arg, items, n));
}

/* Append to the list below: one object, or with arg what lies above the mark. */
static enum mase_status op_append(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL, *list = NULL;
    int n = 1;
    MASE_TRY(arg ? pop_mark(p, &items, &n, err) : pop(p, &items, 1, err));
    MASE_TRY(top(p, &list, MASE_OBJ_LIST, err));
    for (int i = 0; i < n; i++)
        if (list->kind == MASE_OBJ_OPAQUE)
            mase_opaque_add(p, list, items[i]);
        else
            mase_obj_push(p->arena, list, items[i]);
    return MASE_OK;
}

static enum mase_status set_items(struct mase_pickle *p, struct mase_obj *dict,
                                  struct mase_obj **items, int n, struct mase_err *err)
{
    if (n % 2)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "a key without a value");
    for (int i = 0; i < n; i += 2)
        mase_obj_set_key(p->arena, dict, items[i], items[i + 1]);
    return MASE_OK;
}

/* Keys and values into the dict below: one pair, or with arg what lies above the mark. */
static enum mase_status op_set(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL, *dict = NULL;
    int n = 2;
    MASE_TRY(arg ? pop_mark(p, &items, &n, err) : pop(p, &items, 2, err));
    MASE_TRY(top(p, &dict, MASE_OBJ_DICT, err));
    return set_items(p, dict, items, n, err);
}

static enum mase_status op_dict(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL, *dict = mase_pickle_new(p, MASE_OBJ_DICT);
    int n = 0;
    (void)arg;
    MASE_TRY(pop_mark(p, &items, &n, err));
    MASE_TRY(set_items(p, dict, items, n, err));
    return push(p, dict);
}

/* ---- the memo ---- */

/* Remembering takes two bytes and more, so a large number early in the pickle is a fraud, which
 * would only cost memory. */
static enum mase_status remember(struct mase_pickle *p, uint64_t index, struct mase_err *err)
{
    if (above_mark(p) < 1)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "no object to remember");
    if (index > (p->at - p->start) / 2)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "memo %" PRIu64 " is out of place: too few objects so far", index);
    if (index >= p->memo_cap) {
        const size_t cap = (size_t)index + (size_t)index / 2 + 16;
        struct mase_obj **memo = mase_new_array(p->arena, struct mase_obj *, cap);
        if (p->memo_cap)
            memcpy(memo, p->memo, p->memo_cap * sizeof *memo);
        p->memo = memo;
        p->memo_cap = cap;
    }
    p->memo[index] = p->stack[p->height - 1];
    return MASE_OK;
}

static enum mase_status op_put(struct mase_pickle *p, int arg, struct mase_err *err)
{
    uint64_t index = 0;
    MASE_TRY(operand(p, &index, arg, err));
    return remember(p, index, err);
}

static enum mase_status op_memoize(struct mase_pickle *p, int arg, struct mase_err *err)
{
    (void)arg;
    return remember(p, p->memo_count++, err);
}

static enum mase_status op_get(struct mase_pickle *p, int arg, struct mase_err *err)
{
    uint64_t index = 0;
    MASE_TRY(operand(p, &index, arg, err));
    if (index >= p->memo_cap || !p->memo[index])
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "memo %" PRIu64 " was never written", index);
    return push(p, p->memo[index]);
}

/* ---- names and calls ---- */

/* A line of text without its end, as GLOBAL has two of. */
static enum mase_status line(struct mase_pickle *p, const char **text, struct mase_err *err)
{
    const unsigned char *start = p->in.data + p->in.pos;
    const unsigned char *end = memchr(start, '\n', p->in.size - p->in.pos);
    if (!end)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "the name of a class has no end");
    *text = mase_arena_strndup(p->arena, (const char *)start, (size_t)(end - start));
    p->in.pos += (size_t)(end - start) + 1;
    return MASE_OK;
}

static enum mase_status op_global(struct mase_pickle *p, int arg, struct mase_err *err)
{
    const char *module = NULL, *name = NULL;
    struct mase_obj *o = NULL;
    (void)arg;
    MASE_TRY(line(p, &module, err));
    MASE_TRY(line(p, &name, err));
    mase_pickle_global(p, &o, module, name);
    return push(p, o);
}

static enum mase_status op_stack_global(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL, *o = NULL;
    (void)arg;
    MASE_TRY(pop(p, &items, 2, err));
    if (items[0]->kind != MASE_OBJ_TEXT || items[1]->kind != MASE_OBJ_TEXT)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "a class is named by two texts");
    mase_pickle_global(p, &o, items[0]->text, items[1]->text);
    return push(p, o);
}

/* REDUCE and NEWOBJ: for the names we know, calling and making are the same. */
static enum mase_status op_call(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL, *o = NULL;
    (void)arg;
    MASE_TRY(pop(p, &items, 2, err));
    MASE_TRY(mase_pickle_call(p, &o, items[0], items[1], err));
    return push(p, o);
}

/* NEWOBJ_EX: the same with arguments by name. */
static enum mase_status op_call_named(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL, *o = NULL;
    (void)arg;
    MASE_TRY(pop(p, &items, 3, err));
    const struct mase_obj *named = items[2];
    MASE_TRY(mase_pickle_call(p, &o, items[0], items[1], err));
    if (o->kind == MASE_OBJ_OPAQUE)
        mase_opaque_build(p, o, named);
    return push(p, o);
}

static enum mase_status op_build(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL;
    (void)arg;
    MASE_TRY(pop(p, &items, 2, err));
    MASE_TRY(mase_pickle_build(p, items[0], items[1], err));
    return push(p, items[0]);
}

static enum mase_status op_persistent(struct mase_pickle *p, int arg, struct mase_err *err)
{
    struct mase_obj **items = NULL, *o = NULL;
    (void)arg;
    MASE_TRY(pop(p, &items, 1, err));
    MASE_TRY(mase_pickle_persistent(p, &o, items[0], err));
    return push(p, o);
}

/* ---- the machine ---- */

static const struct {
    op_fn *run;
    int arg;
} ops[256] = {
    [0x80] = { op_proto, 0 },
    [0x95] = { op_frame, 8 },

    ['('] = { op_mark, 0 },
    ['0'] = { op_pop, 0 },
    ['1'] = { op_pop, 1 }, /* up to the mark */
    ['2'] = { op_dup, 0 },

    ['N'] = { op_none, 0 },
    [0x88] = { op_bool, 1 },
    [0x89] = { op_bool, 0 },
    ['K'] = { op_int, 1 }, /* bytes of the operand, here and below */
    ['M'] = { op_int, 2 },
    ['J'] = { op_int, 4 },
    [0x8a] = { op_long, 1 },
    [0x8b] = { op_long, 4 },
    ['G'] = { op_float, 8 },
    [0x8c] = { op_text, 1 },
    ['X'] = { op_text, 4 },
    [0x8d] = { op_text, 8 },
    ['C'] = { op_bytes, 1 },
    ['B'] = { op_bytes, 4 },
    [0x8e] = { op_bytes, 8 },
    [0x96] = { op_bytes, 8 }, /* a bytearray */
    ['U'] = { op_string, 1 },
    ['T'] = { op_string, 4 },

    [']'] = { op_empty, MASE_OBJ_LIST },
    [')'] = { op_empty, MASE_OBJ_TUPLE },
    ['}'] = { op_empty, MASE_OBJ_DICT },
    [0x8f] = { op_empty, MASE_OBJ_LIST }, /* a set */
    [0x85] = { op_tuple, 1 },
    [0x86] = { op_tuple, 2 },
    [0x87] = { op_tuple, 3 },
    ['t'] = { op_sequence, MASE_OBJ_TUPLE },
    ['l'] = { op_sequence, MASE_OBJ_LIST },
    [0x91] = { op_sequence, MASE_OBJ_LIST }, /* a frozen set */
    ['d'] = { op_dict, 0 },
    ['a'] = { op_append, 0 },
    ['e'] = { op_append, 1 },
    [0x90] = { op_append, 1 }, /* to a set */
    ['s'] = { op_set, 0 },
    ['u'] = { op_set, 1 },

    ['q'] = { op_put, 1 },
    ['r'] = { op_put, 4 },
    [0x94] = { op_memoize, 0 },
    ['h'] = { op_get, 1 },
    ['j'] = { op_get, 4 },

    ['c'] = { op_global, 0 },
    [0x93] = { op_stack_global, 0 },
    ['R'] = { op_call, 0 },
    [0x81] = { op_call, 0 },
    [0x92] = { op_call_named, 0 },
    ['b'] = { op_build, 0 },
    ['Q'] = { op_persistent, 0 },
};

static enum mase_status step(struct mase_pickle *p, int op, struct mase_err *err)
{
    if (!ops[op].run)
        return mase_fail_at(err, MASE_EUNSUPPORTED, mase_pickle_at(p),
                            "opcode 0x%02x is none that PyTorch's files use", op);
    MASE_TRY(ops[op].run(p, ops[op].arg, err));
    if (p->arena->used > p->limit)
        return mase_fail_at(err, MASE_ELIMIT, mase_pickle_at(p),
                            "the file asks for more than %zu bytes of memory", p->limit);
    return MASE_OK;
}

static enum mase_status run(struct mase_pickle *p, struct mase_err *err)
{
    for (;;) {
        uint8_t op = 0;
        p->at = p->in.pos;
        MASE_TRY(mase_get_u8(&p->in, &op, err));
        if (op == '.')
            break;
        MASE_TRY(step(p, op, err));
    }
    if (p->height != 1 || p->mark_count)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "the pickle ends with %d objects and %d marks, not with one object",
                            p->height, p->mark_count);
    return mase_pickle_check_tree(p, p->stack[0], err);
}

enum mase_status mase_pickle_read(struct mase_pickle *p, struct mase_cursor *in,
                                  const struct mase_obj **root, struct mase_err *err)
{
    p->in = *in;
    p->start = in->pos;
    p->height = p->stack_cap = p->mark_count = p->mark_cap = 0;
    p->memo_cap = p->memo_count = 0;
    p->by_key.arena = p->arena;
    p->stack = mase_arena_grow(p->arena, NULL, 0, &p->stack_cap, sizeof *p->stack);
    MASE_TRY(run(p, err));
    *root = p->stack[0];
    in->pos = p->in.pos;
    return MASE_OK;
}
