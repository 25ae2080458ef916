/*
 * pickle_opaque.c - what a pickle says of classes and functions that are not on our list.
 *
 * Nothing is looked up or run: the name is kept, and with it what the object was given, so that it
 * can be shown, and so that tensors in a module can be found. Arguments have their numbers as keys;
 * attributes and items follow with theirs.
 */
#include <string.h>

#include "file/pickle.h"

static struct mase_obj *new_opaque(struct mase_pickle *p, const char *type, bool made)
{
    struct mase_obj *o = mase_pickle_new(p, MASE_OBJ_OPAQUE);
    o->type = type;
    o->made = made;
    return o;
}

/* A name goes to the terminal: letters that would steer it do not. */
static const char *clean(struct mase_arena *a, const char *module, const char *name)
{
    char *text = mase_arena_printf(a, "%.100s.%.100s", module, name);
    for (char *c = text; *c; c++)
        if (*c < '!' || *c > '~')
            *c = '?';
    return text;
}

struct mase_obj *mase_opaque_name(struct mase_pickle *p, const char *module, const char *name)
{
    return new_opaque(p, clean(p->arena, module, name), false);
}

struct mase_obj *mase_opaque_tensor(struct mase_pickle *p, const char *what)
{
    struct mase_obj *o = new_opaque(p, what, true);
    o->unread = true;
    return o;
}

void mase_opaque_add(struct mase_pickle *p, struct mase_obj *o, struct mase_obj *item)
{
    mase_obj_set_key(p->arena, o, mase_obj_int(p->arena, o->count), item);
}

/* Functions of PyTorch that make tensors in forms that we do not read. */
static const struct {
    const char *function, *what;
} unread[] = {
    { "torch._utils._rebuild_sparse_tensor", "a sparse tensor" },
    { "torch._utils._rebuild_sparse_csr_tensor", "a sparse tensor" },
    { "torch._utils._rebuild_nested_tensor", "a nested tensor" },
    { "torch._utils._rebuild_qtensor", "a quantised tensor" },
    { "torch._utils._rebuild_meta_tensor_no_storage", "a tensor without data (meta)" },
    { "torch._utils._rebuild_wrapper_subclass", "a tensor of a class of its own" },
    { "torch._utils._rebuild_device_tensor_from_numpy", "a tensor of another device" },
    { "torch._utils._rebuild_device_tensor_from_cpu_tensor", "a tensor of another device" },
    { "torch._utils._rebuild_xla_tensor", "a tensor of another device" },
};

/* Functions that make an object of the class in their first argument. */
static const char *const makers[] = {
    "copyreg._reconstructor",
    "copy_reg._reconstructor",
    "numpy.core.multiarray._reconstruct",
    "numpy._core.multiarray._reconstruct",
};

static const char *type_of_call(const struct mase_obj *callee, const struct mase_obj *args)
{
    const struct mase_obj *first = args->count ? args->items[0] : NULL;
    for (size_t i = 0; first && i < sizeof makers / sizeof makers[0]; i++)
        if (mase_streq(callee->type, makers[i]) && first->kind == MASE_OBJ_OPAQUE)
            return first->type;
    return callee->type;
}

struct mase_obj *mase_opaque_call(struct mase_pickle *p, const struct mase_obj *callee,
                                  const struct mase_obj *args)
{
    for (size_t i = 0; i < sizeof unread / sizeof unread[0]; i++)
        if (mase_streq(callee->type, unread[i].function))
            return mase_opaque_tensor(p, unread[i].what);
    struct mase_obj *o = new_opaque(p, type_of_call(callee, args), true);
    const bool of_maker = o->type != callee->type;
    for (int i = 0; i < args->count && !of_maker; i++)
        mase_opaque_add(p, o, args->items[i]);
    return o;
}

static void add_all(struct mase_pickle *p, struct mase_obj *o, const struct mase_obj *dict)
{
    for (int i = 0; dict->kind == MASE_OBJ_DICT && i < dict->count; i++)
        mase_obj_set_key(p->arena, o, dict->keys[i], dict->items[i]);
}

/* A dict of attributes, or a pair of it and of slots; else what the class alone understands. Of an
 * array, (version, shape, type, order, bytes), the shape is worth showing. */
void mase_opaque_build(struct mase_pickle *p, struct mase_obj *o, const struct mase_obj *state)
{
    if (state->kind == MASE_OBJ_DICT) {
        add_all(p, o, state);
    } else if (state->kind == MASE_OBJ_TUPLE && state->count == 2 &&
               (state->items[0]->kind == MASE_OBJ_DICT || state->items[1]->kind == MASE_OBJ_DICT)) {
        add_all(p, o, state->items[0]);
        add_all(p, o, state->items[1]);
    } else if (mase_streq(o->type, "numpy.ndarray") && state->kind == MASE_OBJ_TUPLE &&
               state->count > 1 && !p->keep_arrays) {
        mase_opaque_add(p, o, state->items[1]);
    } else {
        mase_opaque_add(p, o, (struct mase_obj *)state);
    }
}

struct mase_obj *mase_opaque_stub(const struct mase_pickle *p, const struct mase_obj *o)
{
    struct mase_obj *m = mase_new(p->arena, struct mase_obj);
    m->kind = MASE_OBJ_OPAQUE;
    m->type = mase_arena_printf(
        p->arena, "%s above", o->kind == MASE_OBJ_OPAQUE ? o->type : mase_obj_kind_names[o->kind]);
    return m;
}

void mase_opaque_from_ref(const struct mase_pickle *p, struct mase_obj *o)
{
    const struct mase_obj_ref ref = *o->ref;
    *o = (struct mase_obj){ .kind = MASE_OBJ_OPAQUE };
    if (ref.global)
        o->type = clean(p->arena, ref.global->module, ref.global->name);
    else if (ref.numpy && p->keep_arrays)
        o->type = mase_arena_printf(p->arena, "%c%c%d", ref.numpy->big_endian ? '>' : '<',
                                    ref.numpy->element.kind, ref.numpy->element.size);
    else if (ref.numpy)
        o->type = "numpy.dtype";
    else
        o->type =
            mase_arena_printf(p->arena, "torch.%s",
                              ref.storage ? ref.storage->type->storage : ref.storage_type->storage);
    o->made = ref.numpy || ref.storage;
}
