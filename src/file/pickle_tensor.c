/*
 * pickle_tensor.c - storages by their persistent ids, and the calls that make tensors of them.
 *
 *     persistent id       ('storage', torch.FloatStorage, key, device, elements[, view])
 *     _rebuild_tensor     (storage, offset, size, stride)
 *     _rebuild_tensor_v2  the same and (requires_grad, hooks[, metadata])
 *     _rebuild_tensor_v3  the same and (requires_grad, hooks, dtype[, metadata])
 *     _rebuild_parameter  (tensor, requires_grad, hooks)
 *
 * Only shapes are made here, and checked: every element must lie in the storage.
 */
#include <inttypes.h>
#include <string.h>

#include "file/pickle.h"

const struct mase_torch_type mase_torch_bytes = { "UntypedStorage",
                                                  "torch.uint8",
                                                  { 'u', 1, MASE_U8 } };

static enum mase_status bad(const struct mase_pickle *p, const char *what, struct mase_err *err)
{
    return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p), "%s", what);
}

static const struct mase_obj_ref *ref_of(const struct mase_obj *o)
{
    static const struct mase_obj_ref none = { 0 };
    return o->kind == MASE_OBJ_REF ? o->ref : &none;
}

/* ---- storages ---- */

static enum mase_status check_id(const struct mase_pickle *p, const struct mase_obj *id,
                                 struct mase_err *err)
{
    const struct mase_obj *const *part = (const struct mase_obj *const *)id->items;
    if (id->kind != MASE_OBJ_TUPLE || id->count < 5 || !mase_obj_is_text(part[0], "storage") ||
        !ref_of(part[1])->storage_type || part[2]->kind != MASE_OBJ_TEXT ||
        part[4]->kind != MASE_OBJ_INT)
        return bad(p, "a persistent id that is not a storage's", err);
    if (strlen(part[2]->text) != part[2]->len)
        return bad(p, "a storage's key has a NUL byte", err);
    if (part[4]->i < 0 || part[4]->i > INT64_MAX / 16)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "a storage of %" PRId64 " elements", part[4]->i);
    if (id->count > 5 && part[5]->kind != MASE_OBJ_NONE)
        return mase_fail_at(err, MASE_EUNSUPPORTED, mase_pickle_at(p),
                            "a view of a storage, as PyTorch wrote them before version 0.4");
    return MASE_OK;
}

/* ('module', class, file, source): how files before zip mention a module's class. */
static bool is_class(const struct mase_obj *id)
{
    return id->kind == MASE_OBJ_TUPLE && id->count == 4 &&
           mase_obj_is_text(id->items[0], "module") && id->items[1]->kind == MASE_OBJ_OPAQUE;
}

enum mase_status mase_pickle_persistent(struct mase_pickle *p, struct mase_obj **result,
                                        const struct mase_obj *id, struct mase_err *err)
{
    if (is_class(id)) {
        *result = id->items[1];
        return MASE_OK;
    }
    MASE_TRY(check_id(p, id, err));
    const struct mase_torch_type *type = id->items[1]->ref->storage_type;
    const int64_t count = id->items[4]->i;
    struct mase_storage *s = mase_map_get(&p->by_key, id->items[2]->text);
    if (!s) {
        s = mase_new(p->arena, struct mase_storage);
        *s = (struct mase_storage){
            .key = id->items[2]->text, .type = type, .count = count, .at = mase_pickle_at(p)
        };
        mase_map_put(&p->by_key, s->key, s);
        p->storages = mase_arena_grow(p->arena, p->storages, p->storage_count, &p->storage_cap,
                                      sizeof *p->storages);
        p->storages[p->storage_count++] = s;
    }
    if (s->type != type || s->count != count)
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "storage '%s' is given twice, with another type or size", s->key);
    struct mase_obj_ref *ref = mase_new(p->arena, struct mase_obj_ref);
    ref->storage = s;
    *result = mase_pickle_new(p, MASE_OBJ_REF);
    (*result)->ref = ref;
    return MASE_OK;
}

/* ---- views ---- */

static bool is_ints(const struct mase_obj *o)
{
    if (o->kind != MASE_OBJ_TUPLE && o->kind != MASE_OBJ_LIST)
        return false;
    for (int i = 0; i < o->count; i++)
        if (o->items[i]->kind != MASE_OBJ_INT || o->items[i]->i < 0)
            return false;
    return true;
}

static enum mase_status set_shape(const struct mase_pickle *p, struct mase_torch_view *v,
                                  const struct mase_obj *size, const struct mase_obj *stride,
                                  struct mase_err *err)
{
    if (!is_ints(size) || !is_ints(stride) || size->count != stride->count)
        return bad(p, "a tensor needs a size and a stride for every dimension, none negative", err);
    if (size->count > MASE_MAX_RANK)
        return mase_fail_at(err, MASE_EUNSUPPORTED, mase_pickle_at(p),
                            "a tensor of rank %d; at most %d is supported", size->count,
                            MASE_MAX_RANK);
    struct mase_shape *shape = &v->tensor->shape;
    shape->rank = size->count;
    for (int i = 0; i < size->count; i++) {
        shape->dim[i] = size->items[i]->i;
        v->stride[i] = stride->items[i]->i;
    }
    return MASE_OK;
}

/* A stride of 0 makes any number of elements out of one. So few still let the bytes of all tensors
 * of a tree be added up. */
static const int64_t most_elements = INT64_C(1) << 35;
_Static_assert(INT64_MAX / MASE_OBJ_COUNT / 8 > INT64_C(1) << 35, "sums of bytes fit");

/* Do all elements lie in the storage's bytes? Products that overflow lie in none. */
static bool fits(const struct mase_torch_view *v)
{
    const struct mase_shape *s = &v->tensor->shape;
    int64_t last = v->offset, count = 1, reach, bytes;
    for (int i = 0; i < s->rank; i++) {
        if (__builtin_mul_overflow(count, s->dim[i], &count))
            return false;
        if (s->dim[i] > 0 && (__builtin_mul_overflow(s->dim[i] - 1, v->stride[i], &reach) ||
                              __builtin_add_overflow(last, reach, &last)))
            return false;
    }
    if (count == 0)
        return true;
    return !__builtin_add_overflow(last, 1, &last) &&
           !__builtin_mul_overflow(last, v->element.size, &bytes) &&
           bytes <= v->storage->count * v->storage->type->element.size;
}

/* The tensor of a storage's type, or of another one that its bytes are read as. */
static enum mase_status rebuild(struct mase_pickle *p, struct mase_obj **result,
                                const struct mase_obj *args, const struct mase_torch_type *as,
                                struct mase_err *err)
{
    struct mase_storage *s = args->count >= 4 ? ref_of(args->items[0])->storage : NULL;
    const struct mase_torch_type *type = as || !s ? as : s->type;
    if (s && type->element.kind == 'X') {
        const char *dtype = type->dtype + strlen("torch.");
        *result = mase_opaque_tensor(p, mase_arena_printf(p->arena, "a tensor of %s", dtype));
        return MASE_OK;
    }
    if (!s || args->items[1]->kind != MASE_OBJ_INT || args->items[1]->i < 0)
        return bad(p, "a tensor needs a storage, an offset, a size and a stride", err);
    struct mase_tensor *t = mase_new(p->arena, struct mase_tensor);
    struct mase_torch_view v = { .tensor = t,
                                 .type = type,
                                 .storage = s,
                                 .offset = args->items[1]->i,
                                 .at = mase_pickle_at(p) };
    v.element = p->as_stored ? mase_element_as_stored(&v.type->element) : v.type->element;
    t->dtype = v.element.dtype;
    MASE_TRY(set_shape(p, &v, args->items[2], args->items[3], err));
    if (!fits(&v))
        return mase_fail_at(err, MASE_EPARSE, mase_pickle_at(p),
                            "a tensor reaches beyond its storage '%s' of %" PRId64 " elements",
                            s->key, s->count);
    if (mase_tensor_count(t) > most_elements)
        return mase_fail_at(err, MASE_ELIMIT, mase_pickle_at(p),
                            "a tensor of %" PRId64 " elements; at most %" PRId64 " are supported",
                            mase_tensor_count(t), most_elements);
    p->views = mase_arena_grow(p->arena, p->views, p->view_count, &p->view_cap, sizeof *p->views);
    p->views[p->view_count++] = v;
    *result = mase_pickle_new(p, MASE_OBJ_TENSOR);
    (*result)->tensor = t;
    return MASE_OK;
}

enum mase_status mase_call_rebuild_tensor(struct mase_pickle *p, struct mase_obj **result,
                                          const struct mase_obj *args, struct mase_err *err)
{
    return rebuild(p, result, args, NULL, err);
}

enum mase_status mase_call_rebuild_tensor_v3(struct mase_pickle *p, struct mase_obj **result,
                                             const struct mase_obj *args, struct mase_err *err)
{
    if (args->count < 7 || args->items[6]->kind != MASE_OBJ_DTYPE)
        return bad(p, "_rebuild_tensor_v3 needs a data type", err);
    const struct mase_torch_type *as = mase_torch_types;
    while (!mase_streq(as->dtype, args->items[6]->text)) /* the object was made from the table */
        as++;
    return rebuild(p, result, args, as, err);
}

/* A parameter is to us the tensor it holds. */
enum mase_status mase_call_rebuild_parameter(struct mase_pickle *p, struct mase_obj **result,
                                             const struct mase_obj *args, struct mase_err *err)
{
    if (args->count < 1 ||
        (args->items[0]->kind != MASE_OBJ_TENSOR && args->items[0]->kind != MASE_OBJ_OPAQUE))
        return bad(p, "a parameter needs a tensor", err);
    *result = args->items[0];
    return MASE_OK;
}

/* (function, class, its arguments, state): a tensor with attributes. */
enum mase_status mase_call_rebuild_from_type(struct mase_pickle *p, struct mase_obj **result,
                                             const struct mase_obj *args, struct mase_err *err)
{
    const struct mase_global *g = args->count >= 3 ? ref_of(args->items[0])->global : NULL;
    const bool opaque = args->count >= 3 && args->items[0]->kind == MASE_OBJ_OPAQUE;
    if (!opaque &&
        (!g || (g->call != mase_call_rebuild_tensor && g->call != mase_call_rebuild_tensor_v3 &&
                g->call != mase_call_rebuild_parameter)))
        return bad(p, "_rebuild_from_type_v2 needs a function that makes tensors", err);
    return mase_pickle_call(p, result, args->items[0], args->items[2], err);
}
