/*
 * pickle_global.c - the names that a pickle may mention, and what calling them gives.
 *
 * This list is the whole of what a file can make us do. What is called by a name that is not here
 * becomes an opaque object (pickle_opaque.c); nothing of it is looked up, imported or run.
 */
#include <inttypes.h>
#include <string.h>

#include "file/pickle.h"
#include "value/utf8.h"

/* ---- types ---- */

const struct mase_torch_type mase_torch_types[] = {
    { "FloatStorage", "torch.float32", { 'f', 4, MASE_F32 } },
    { "DoubleStorage", "torch.float64", { 'f', 8, MASE_F64 } },
    { "HalfStorage", "torch.float16", { 'f', 2, MASE_F32 } },
    { "BFloat16Storage", "torch.bfloat16", { 'g', 2, MASE_F32 } },
    { "LongStorage", "torch.int64", { 'i', 8, MASE_I64 } },
    { "IntStorage", "torch.int32", { 'i', 4, MASE_I32 } },
    { "ShortStorage", "torch.int16", { 'i', 2, MASE_I32 } },
    { "CharStorage", "torch.int8", { 'i', 1, MASE_I32 } },
    { "ByteStorage", "torch.uint8", { 'u', 1, MASE_U8 } },
    { "BoolStorage", "torch.bool", { 'b', 1, MASE_DTYPE_BOOL } },
    { NULL, "torch.uint16", { 'u', 2, MASE_I32 } }, /* without storages of their own */
    { NULL, "torch.uint32", { 'u', 4, MASE_I64 } },
    { NULL, "torch.uint64", { 'u', 8, MASE_I64 } },
    /* kind X: their elements are passed over */
    { "ComplexHalfStorage", "torch.complex32", { 'X', 4, MASE_F32 } },
    { "ComplexFloatStorage", "torch.complex64", { 'X', 8, MASE_F32 } },
    { "ComplexDoubleStorage", "torch.complex128", { 'X', 16, MASE_F32 } },
    { "QInt8Storage", "torch.qint8", { 'X', 1, MASE_F32 } },
    { "QUInt8Storage", "torch.quint8", { 'X', 1, MASE_F32 } },
    { "QInt32Storage", "torch.qint32", { 'X', 4, MASE_F32 } },
    { "QUInt4x2Storage", "torch.quint4x2", { 'X', 1, MASE_F32 } },
    { "QUInt2x4Storage", "torch.quint2x4", { 'X', 1, MASE_F32 } },
    { NULL, "torch.float8_e4m3fn", { 'X', 1, MASE_F32 } },
    { NULL, "torch.float8_e4m3fnuz", { 'X', 1, MASE_F32 } },
    { NULL, "torch.float8_e5m2", { 'X', 1, MASE_F32 } },
    { NULL, "torch.float8_e5m2fnuz", { 'X', 1, MASE_F32 } },
    { NULL, "torch.float8_e8m0fnu", { 'X', 1, MASE_F32 } },
    { NULL, "torch.float4_e2m1fn_x2", { 'X', 1, MASE_F32 } },
};
const int mase_torch_type_count = sizeof mase_torch_types / sizeof mase_torch_types[0];

const struct mase_torch_type *mase_torch_type_of(enum mase_dtype dtype)
{
    for (int i = 0; i < mase_torch_type_count; i++)
        if (mase_streq(mase_torch_types[i].dtype, mase_dtypes[dtype].torch))
            return &mase_torch_types[i];
    mase_bug("no storage for %s", mase_dtypes[dtype].name);
}

static struct mase_obj *new_ref(struct mase_pickle *p, struct mase_obj_ref ref)
{
    struct mase_obj *o = mase_pickle_new(p, MASE_OBJ_REF);
    o->ref = mase_arena_memdup(p->arena, &ref, sizeof ref);
    return o;
}

/* ---- calls ---- */

static enum mase_status bad_args(const struct mase_pickle *p, const char *name,
                                 struct mase_err *err)
{
    return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "%s: unexpected arguments", name);
}

/* Nothing, or in files of Python 2 a list of [key, value]. */
static enum mase_status call_ordered_dict(struct mase_pickle *p, struct mase_obj **result,
                                          const struct mase_obj *args, struct mase_err *err)
{
    *result = mase_obj_ordered_dict(p->arena);
    if (args->count == 0)
        return MASE_OK;
    const struct mase_obj *pairs = args->items[0];
    if (args->count > 1 || pairs->kind != MASE_OBJ_LIST)
        return bad_args(p, "OrderedDict", err);
    for (int i = 0; i < pairs->count; i++) {
        const struct mase_obj *pair = pairs->items[i];
        if ((pair->kind != MASE_OBJ_LIST && pair->kind != MASE_OBJ_TUPLE) || pair->count != 2)
            return bad_args(p, "OrderedDict", err);
        mase_obj_set_key(p->arena, *result, pair->items[0], pair->items[1]);
    }
    return MASE_OK;
}

/* One list or tuple, which becomes one of the kind. */
static enum mase_status call_sequence(struct mase_pickle *p, struct mase_obj **result,
                                      const struct mase_obj *args, enum mase_obj_kind kind,
                                      const char *name, struct mase_err *err)
{
    *result = mase_pickle_new(p, kind);
    if (args->count == 0)
        return MASE_OK;
    const struct mase_obj *from = args->items[0];
    if (args->count > 1 || (from->kind != MASE_OBJ_LIST && from->kind != MASE_OBJ_TUPLE))
        return bad_args(p, name, err);
    (*result)->items =
        mase_arena_memdup(p->arena, from->items, (size_t)from->count * sizeof *from->items);
    (*result)->count = (*result)->cap = from->count;
    return MASE_OK;
}

/* deque(items, length), frozenset(items) */
static enum mase_status call_items(struct mase_pickle *p, struct mase_obj **result,
                                   const struct mase_obj *args, struct mase_err *err)
{
    const struct mase_obj first = { .kind = MASE_OBJ_TUPLE,
                                    .items = args->items,
                                    .count = args->count > 0 };
    return call_sequence(p, result, &first, MASE_OBJ_LIST, "collections.deque", err);
}

/* defaultdict(factory[, items]), Counter([items]): a dict, whatever makes the missing items. */
static enum mase_status call_dict(struct mase_pickle *p, struct mase_obj **result,
                                  const struct mase_obj *args, struct mase_err *err)
{
    const struct mase_obj *last = args->count ? args->items[args->count - 1] : NULL;
    (void)err;
    *result = mase_pickle_new(p, MASE_OBJ_DICT);
    for (int i = 0; last && last->kind == MASE_OBJ_DICT && i < last->count; i++)
        mase_obj_set_key(p->arena, *result, last->keys[i], last->items[i]);
    return MASE_OK;
}

static enum mase_status call_set(struct mase_pickle *p, struct mase_obj **result,
                                 const struct mase_obj *args, struct mase_err *err)
{
    return call_sequence(p, result, args, MASE_OBJ_LIST, "set", err);
}

static enum mase_status call_size(struct mase_pickle *p, struct mase_obj **result,
                                  const struct mase_obj *args, struct mase_err *err)
{
    return call_sequence(p, result, args, MASE_OBJ_TUPLE, "torch.Size", err);
}

/* device('cpu'), device('cuda', 0): a text, "cpu", "cuda:0". */
static enum mase_status call_device(struct mase_pickle *p, struct mase_obj **result,
                                    const struct mase_obj *args, struct mase_err *err)
{
    const bool indexed = args->count == 2 && args->items[1]->kind == MASE_OBJ_INT;
    if (!(args->count == 1 || indexed) || args->items[0]->kind != MASE_OBJ_TEXT)
        return bad_args(p, "torch.device", err);
    *result = mase_obj_text_n(p->arena, args->items[0]->text, args->items[0]->len);
    if (indexed)
        *result =
            mase_obj_text(p->arena, mase_arena_printf(p->arena, "%s:%" PRId64, args->items[0]->text,
                                                      args->items[1]->i));
    return MASE_OK;
}

/* encode(text, 'latin1'): how protocol 2 writes bytes. */
static enum mase_status call_encode(struct mase_pickle *p, struct mase_obj **result,
                                    const struct mase_obj *args, struct mase_err *err)
{
    if (args->count != 2 || args->items[0]->kind != MASE_OBJ_TEXT ||
        !mase_obj_is_text(args->items[1], "latin1"))
        return bad_args(p, "_codecs.encode", err);
    const struct mase_obj *text = args->items[0];
    char *bytes = mase_arena_alloc(p->arena, text->len + 1);
    size_t n = 0;
    for (size_t i = 0; i < text->len; n++) {
        uint32_t cp = 0;
        i += (size_t)mase_utf8_decode(&cp, text->text + i, text->len - i);
        if (cp > 0xff)
            return bad_args(p, "_codecs.encode", err);
        bytes[n] = (char)cp;
    }
    *result = mase_pickle_new(p, MASE_OBJ_BYTES);
    (*result)->text = bytes;
    (*result)->len = n;
    return MASE_OK;
}

/* dtype('f8', False, True): the byte order follows by BUILD. */
static enum mase_status call_numpy_dtype(struct mase_pickle *p, struct mase_obj **result,
                                         const struct mase_obj *args, struct mase_err *err)
{
    static const struct {
        const char *name;
        struct mase_element element;
    } types[] = {
        { "f8", { 'f', 8, MASE_F64 } }, { "f4", { 'f', 4, MASE_F32 } },
        { "f2", { 'f', 2, MASE_F32 } }, { "i8", { 'i', 8, MASE_I64 } },
        { "i4", { 'i', 4, MASE_I64 } }, { "i2", { 'i', 2, MASE_I64 } },
        { "i1", { 'i', 1, MASE_I64 } }, { "u8", { 'u', 8, MASE_I64 } },
        { "u4", { 'u', 4, MASE_I64 } }, { "u2", { 'u', 2, MASE_I64 } },
        { "u1", { 'u', 1, MASE_I64 } }, { "b1", { 'b', 1, MASE_DTYPE_BOOL } },
    };
    for (size_t i = 0; args->count > 0 && i < sizeof types / sizeof types[0]; i++) {
        if (!mase_obj_is_text(args->items[0], types[i].name))
            continue;
        struct mase_numpy_type *t = mase_new(p->arena, struct mase_numpy_type);
        t->element = types[i].element;
        *result = new_ref(p, (struct mase_obj_ref){ .numpy = t });
        return MASE_OK;
    }
    (void)err;
    *result = mase_opaque_name(p, "numpy", "dtype"); /* of dates, texts, records */
    return MASE_OK;
}

static struct mase_obj *number(struct mase_pickle *p, enum mase_dtype dtype, uint64_t bits)
{
    if (dtype == MASE_DTYPE_BOOL)
        return mase_obj_bool(p->arena, bits != 0);
    if (dtype == MASE_I64)
        return mase_obj_int(p->arena, (int64_t)bits);
    uint64_t cell[1] = { 0 };
    struct mase_tensor t = { .dtype = dtype, .data = cell };
    mase_element_store(&t, 0, bits);
    return mase_obj_float(p->arena, mase_tensor_get(&t, 0));
}

/* scalar(dtype, bytes) */
static enum mase_status call_numpy_scalar(struct mase_pickle *p, struct mase_obj **result,
                                          const struct mase_obj *args, struct mase_err *err)
{
    const struct mase_numpy_type *t = NULL;
    if (args->count == 2 && args->items[0]->kind == MASE_OBJ_REF)
        t = args->items[0]->ref->numpy;
    *result = mase_opaque_name(p, "numpy", "generic");
    if (args->count && args->items[0]->kind == MASE_OBJ_OPAQUE)
        return MASE_OK;
    if (!t || args->items[1]->kind != MASE_OBJ_BYTES ||
        args->items[1]->len != (size_t)t->element.size)
        return bad_args(p, "numpy.core.multiarray.scalar", err);
    uint64_t bits;
    const unsigned char *data = (const unsigned char *)args->items[1]->text;
    if (mase_element_load(&t->element, &bits, data, t->big_endian))
        *result = number(p, t->element.dtype, bits);
    return MASE_OK;
}

/* ---- the list ---- */

static const struct mase_global globals[] = {
    { "collections", "OrderedDict", call_ordered_dict },
    { "torch._utils", "_rebuild_tensor", mase_call_rebuild_tensor },
    { "torch._utils", "_rebuild_tensor_v2", mase_call_rebuild_tensor },
    { "torch._utils", "_rebuild_tensor_v3", mase_call_rebuild_tensor_v3 },
    { "torch._utils", "_rebuild_parameter", mase_call_rebuild_parameter },
    { "torch._utils", "_rebuild_parameter_with_state", mase_call_rebuild_parameter },
    { "torch._tensor", "_rebuild_from_type_v2", mase_call_rebuild_from_type },
    { "torch", "Tensor", NULL },
    { "torch.nn.parameter", "Parameter", NULL },
    { "torch", "Size", call_size },
    { "torch", "device", call_device },
    { "_codecs", "encode", call_encode },
    { "__builtin__", "set", call_set },
    { "builtins", "set", call_set },
    { "__builtin__", "frozenset", call_items },
    { "builtins", "frozenset", call_items },
    { "collections", "deque", call_items },
    { "collections", "defaultdict", call_dict },
    { "collections", "Counter", call_dict },
    { "numpy", "dtype", call_numpy_dtype },
    { "numpy.core.multiarray", "scalar", call_numpy_scalar },
    { "numpy._core.multiarray", "scalar", call_numpy_scalar },
};

/* torch.FloatStorage, torch.float32 and the like; NULL if it is none. */
static struct mase_obj *torch_name(struct mase_pickle *p, const char *name)
{
    for (int i = 0; i < mase_torch_type_count; i++) {
        const struct mase_torch_type *t = &mase_torch_types[i];
        if (mase_streq(name, t->storage))
            return new_ref(p, (struct mase_obj_ref){ .storage_type = t });
        if (mase_streq(name, t->dtype + strlen("torch."))) {
            struct mase_obj *o = mase_obj_text(p->arena, t->dtype);
            o->kind = MASE_OBJ_DTYPE;
            return o;
        }
    }
    return NULL;
}

void mase_pickle_global(struct mase_pickle *p, struct mase_obj **result, const char *module,
                        const char *name)
{
    *result = mase_streq(module, "torch") ? torch_name(p, name) : NULL;
    if (mase_streq(module, "torch.storage") && mase_streq(name, "UntypedStorage"))
        *result = new_ref(p, (struct mase_obj_ref){ .storage_type = &mase_torch_bytes });
    for (size_t i = 0; !*result && i < sizeof globals / sizeof globals[0]; i++)
        if (mase_streq(module, globals[i].module) && mase_streq(name, globals[i].name))
            *result = new_ref(p, (struct mase_obj_ref){ .global = &globals[i] });
    if (!*result)
        *result = mase_opaque_name(p, module, name);
}

enum mase_status mase_pickle_call(struct mase_pickle *p, struct mase_obj **result,
                                  const struct mase_obj *callee, const struct mase_obj *args,
                                  struct mase_err *err)
{
    const struct mase_global *g = callee->kind == MASE_OBJ_REF ? callee->ref->global : NULL;
    if (!(g && g->call) && callee->kind != MASE_OBJ_OPAQUE)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "a call of %s",
                            g ? g->name : mase_obj_kind_names[callee->kind]);
    if (args->kind != MASE_OBJ_TUPLE)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "the arguments of %s are a %s, not a tuple", g ? g->name : callee->type,
                            mase_obj_kind_names[args->kind]);
    if (g)
        return g->call(p, result, args, err);
    *result = mase_opaque_call(p, callee, args);
    return MASE_OK;
}

/* ---- BUILD ---- */

/* Attributes of OrderedDicts and tensors (a state dict's _metadata) carry nothing we use. */
enum mase_status mase_pickle_build(struct mase_pickle *p, struct mase_obj *o,
                                   const struct mase_obj *state, struct mase_err *err)
{
    if (o->kind == MASE_OBJ_TENSOR || (o->kind == MASE_OBJ_DICT && o->ordered))
        return MASE_OK;
    if (o->kind == MASE_OBJ_OPAQUE) {
        mase_opaque_build(p, o, state);
        return MASE_OK;
    }
    if (o->kind == MASE_OBJ_REF && o->ref->numpy && state->kind == MASE_OBJ_TUPLE &&
        state->count > 1 && state->items[1]->kind == MASE_OBJ_TEXT) {
        o->ref->numpy->big_endian = mase_obj_is_text(state->items[1], ">");
        return MASE_OK;
    }
    return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "a %s with attributes of its own",
                        mase_obj_kind_names[o->kind]);
}
