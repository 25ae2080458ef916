/*
 * pickle_write.c - a tree as a pickle of protocol 2, which every PyTorch reads.
 *
 * Texts and names are remembered by what they say, so that the second mention is a number. The
 * bytes depend on the tree alone.
 */
#include <inttypes.h>
#include <string.h>

#include "file/pickle.h"
#include "value/utf8.h"

struct writer {
    struct mase_str *out;
    struct mase_arena *arena;
    struct mase_map memo;     /* from "'text" or "module\nname\n" to its number, an int */
    struct mase_map storages; /* from address, type and count to the index, an int */
    int memo_count;
    struct mase_stored *stored;
};

static void put_uint(struct writer *w, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        mase_str_addc(w->out, (char)(v >> (8 * i)));
}

/* BINGET or BINPUT of a number, or their long forms. */
static void put_memo(struct writer *w, const char op[2], int number)
{
    mase_str_addc(w->out, op[number > 255]);
    put_uint(w, (uint64_t)number, number > 255 ? 4 : 1);
}

static int *new_int(struct writer *w, int v)
{
    return mase_arena_memdup(w->arena, &v, sizeof v);
}

/* True if key has been written before: then it is mentioned by its number. Else the caller writes
 * the object and then calls remember. */
static bool recall(struct writer *w, const char *key)
{
    const int *number = mase_map_get(&w->memo, key);
    if (number)
        put_memo(w, "hj", *number);
    return number != NULL;
}

static void remember(struct writer *w, const char *key)
{
    put_memo(w, "qr", w->memo_count);
    mase_map_put(&w->memo, key, new_int(w, w->memo_count++));
}

static void put_text(struct writer *w, const char *text, size_t len)
{
    const bool plain = strlen(text) == len; /* a NUL byte would end the memo's key */
    const char *key = mase_arena_printf(w->arena, "'%s", text);
    if (plain && recall(w, key))
        return;
    mase_str_addc(w->out, 'X');
    put_uint(w, len, 4);
    mase_str_addn(w->out, text, len);
    if (plain)
        remember(w, key);
}

/* "module\nname\n", as GLOBAL wants it */
static void put_global(struct writer *w, const char *lines)
{
    if (recall(w, lines))
        return;
    mase_str_addc(w->out, 'c');
    mase_str_add(w->out, lines);
    remember(w, lines);
}

static void put_int(struct writer *w, int64_t v)
{
    if (v >= 0 && v <= UINT16_MAX) {
        mase_str_addc(w->out, v <= UINT8_MAX ? 'K' : 'M');
        put_uint(w, (uint64_t)v, v <= UINT8_MAX ? 1 : 2);
    } else if (v >= INT32_MIN && v <= INT32_MAX) {
        mase_str_addc(w->out, 'J');
        put_uint(w, (uint64_t)v, 4);
    } else {
        mase_str_addn(w->out, "\x8a\x08", 2);
        put_uint(w, (uint64_t)v, 8);
    }
}

static void put_float(struct writer *w, double f)
{
    uint64_t bits;
    memcpy(&bits, &f, sizeof bits);
    mase_str_addc(w->out, 'G');
    for (int shift = 56; shift >= 0; shift -= 8)
        mase_str_addc(w->out, (char)(bits >> shift));
}

/* Protocol 2 has no bytes: they are a text of the first 256 characters, encoded. */
static void put_bytes(struct writer *w, const struct mase_obj *o)
{
    struct mase_str text = { 0 };
    for (size_t i = 0; i < o->len; i++)
        mase_utf8_add(&text, (unsigned char)o->text[i]);
    put_global(w, "_codecs\nencode\n");
    put_text(w, mase_str_text(&text), text.len);
    put_text(w, "latin1", 6);
    mase_str_addn(w->out, "\x86R", 2);
    mase_str_release(&text);
}

/* The size of a tensor, or its strides. */
static void put_dims(struct writer *w, const struct mase_shape *s, bool strides)
{
    int64_t stride[MASE_MAX_RANK];
    for (int i = s->rank - 1; i >= 0; i--)
        stride[i] = i == s->rank - 1 ? 1 : stride[i + 1] * (s->dim[i + 1] ? s->dim[i + 1] : 1);
    mase_str_addc(w->out, '(');
    for (int i = 0; i < s->rank; i++)
        put_int(w, strides ? stride[i] : s->dim[i]);
    mase_str_addc(w->out, 't');
}

/* The number of the storage that holds t's data: an earlier one for the same data. */
static int storage_index(struct writer *w, const struct mase_tensor *t)
{
    const char *key =
        mase_arena_printf(w->arena, "%p %d %" PRId64, t->data, (int)t->dtype, mase_tensor_count(t));
    const int *known = mase_map_get(&w->storages, key);
    if (known && mase_tensor_count(t))
        return *known;
    struct mase_stored *s = w->stored;
    s->items = mase_arena_grow(w->arena, s->items, s->count, &s->cap, sizeof *s->items);
    s->items[s->count] = t;
    mase_map_put(&w->storages, key, new_int(w, s->count));
    return s->count++;
}

static void put_dtype(struct writer *w, const char *torch)
{
    put_global(w, mase_arena_printf(w->arena, "torch\n%s\n", torch + strlen("torch.")));
}

/* ('storage', torch.FloatStorage, key, 'cpu', elements); untyped: bytes */
static void put_storage(struct writer *w, const struct mase_tensor *t, const char *typed)
{
    const char *key = mase_arena_printf(w->arena, "%d", storage_index(w, t));
    mase_str_addc(w->out, '(');
    put_text(w, "storage", 7);
    put_global(w, typed ? mase_arena_printf(w->arena, "torch\n%s\n", typed)
                        : "torch.storage\nUntypedStorage\n");
    put_text(w, key, strlen(key));
    put_text(w, "cpu", 3);
    put_int(w, typed ? mase_tensor_count(t) : mase_tensor_bytes(t));
    mase_str_add(w->out, "tQ");
}

/* _rebuild_tensor_v2(storage, 0, size, stride, False, OrderedDict()); _rebuild_tensor_v3 with the
 * type behind these, where no storage says it. */
static void put_tensor(struct writer *w, const struct mase_tensor *t)
{
    const char *typed = mase_torch_type_of(t->dtype)->storage;
    put_global(w,
               typed ? "torch._utils\n_rebuild_tensor_v2\n" : "torch._utils\n_rebuild_tensor_v3\n");
    mase_str_addc(w->out, '(');
    put_storage(w, t, typed);
    put_int(w, 0);
    put_dims(w, &t->shape, false);
    put_dims(w, &t->shape, true);
    mase_str_addc(w->out, (char)0x89);
    put_global(w, "collections\nOrderedDict\n");
    mase_str_add(w->out, ")R");
    if (!typed)
        put_dtype(w, mase_dtypes[t->dtype].torch);
    mase_str_add(w->out, "tR");
}

static void put_obj(struct writer *w, const struct mase_obj *o, int depth);

static void put_items(struct writer *w, const struct mase_obj *o, const char *fill, int depth)
{
    if (o->count == 0)
        return;
    mase_str_addc(w->out, '(');
    for (int i = 0; i < o->count; i++) {
        if (o->kind == MASE_OBJ_DICT)
            put_obj(w, o->keys[i], depth + 1);
        put_obj(w, o->items[i], depth + 1);
    }
    mase_str_add(w->out, fill);
}

static void put_dict(struct writer *w, const struct mase_obj *o, int depth)
{
    if (o->ordered) {
        put_global(w, "collections\nOrderedDict\n");
        mase_str_add(w->out, ")R");
    } else {
        mase_str_addc(w->out, '}');
    }
    put_items(w, o, "u", depth);
}

static void put_obj(struct writer *w, const struct mase_obj *o, int depth)
{
    if (depth > MASE_OBJ_DEPTH)
        mase_bug("a tree deeper than %d levels", MASE_OBJ_DEPTH);
    switch (o->kind) {
    case MASE_OBJ_NONE:
        mase_str_addc(w->out, 'N');
        break;
    case MASE_OBJ_BOOL:
        mase_str_addc(w->out, (char)(o->b ? 0x88 : 0x89));
        break;
    case MASE_OBJ_INT:
        put_int(w, o->i);
        break;
    case MASE_OBJ_FLOAT:
        put_float(w, o->f);
        break;
    case MASE_OBJ_TEXT:
        put_text(w, o->text, o->len);
        break;
    case MASE_OBJ_BYTES:
        put_bytes(w, o);
        break;
    case MASE_OBJ_DTYPE:
        put_dtype(w, o->text);
        break;
    case MASE_OBJ_LIST:
        mase_str_addc(w->out, ']');
        put_items(w, o, "e", depth);
        break;
    case MASE_OBJ_TUPLE:
        if (o->count == 0)
            mase_str_addc(w->out, ')');
        put_items(w, o, "t", depth);
        break;
    case MASE_OBJ_DICT:
        put_dict(w, o, depth);
        break;
    case MASE_OBJ_TENSOR:
        put_tensor(w, o->tensor);
        break;
    default:
        mase_bug("a %s cannot be written", mase_obj_kind_names[o->kind]);
    }
}

void mase_pickle_write(struct mase_str *out, struct mase_stored *stored, struct mase_arena *a,
                       const struct mase_obj *root)
{
    struct writer w = { .out = out, .arena = a, .stored = stored };
    w.memo.arena = w.storages.arena = a;
    mase_str_addn(out, "\x80\x02", 2);
    put_obj(&w, root, 0);
    mase_str_addc(out, '.');
}
