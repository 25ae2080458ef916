/*
 * torch_module.c - the state dict of a module that was pickled whole.
 *
 * torch.save(model) writes the module's attributes; its tensors are in the dicts _parameters and
 * _buffers, further modules in _modules. torch.jit.save writes classes of a package __torch__, with
 * tensors and modules among the attributes. A graph of torch.fx hands its attributes to a function.
 * The names are those that state_dict() gives, in the same order.
 */
#include <string.h>

#include "base/limit.h"
#include "file/pickle.h"

static const struct mase_obj *dict_of(const struct mase_obj *o, const char *key)
{
    const struct mase_obj *d = mase_obj_get(o, key);
    return d && d->kind == MASE_OBJ_DICT ? d : NULL;
}

static bool has_dicts(const struct mase_obj *o)
{
    return dict_of(o, "_parameters") && dict_of(o, "_modules");
}

/* The object with the dicts: the object itself, or the first argument of the function that makes
 * it. */
static const struct mase_obj *body_of(const struct mase_obj *o)
{
    if (o->kind != MASE_OBJ_OPAQUE || !o->made)
        return NULL;
    if (has_dicts(o))
        return o;
    for (int i = 0; i < o->count && i < 2; i++)
        if (o->items[i]->kind == MASE_OBJ_DICT && has_dicts(o->items[i]))
            return o->items[i];
    return NULL;
}

static bool is_script(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_OPAQUE && o->made && mase_starts_with(o->type, "__torch__.");
}

bool mase_torch_is_module(const struct mase_obj *o)
{
    return is_script(o) || body_of(o);
}

static bool is_tensor(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_TENSOR || (o->kind == MASE_OBJ_OPAQUE && o->unread);
}

static bool any_tensor(const struct mase_obj *o)
{
    for (int i = 0; o && i < o->count; i++)
        if (is_tensor(o->items[i]))
            return true;
    return false;
}

bool mase_torch_has_state(const struct mase_obj *o)
{
    if (!mase_torch_is_module(o))
        return false;
    const struct mase_obj *body = body_of(o), *inner = body ? mase_obj_get(body, "_modules") : o;
    bool any = body ? any_tensor(mase_obj_get(body, "_parameters")) ||
                          any_tensor(dict_of(body, "_buffers"))
                    : any_tensor(o);
    for (int i = 0; !any && i < inner->count; i++)
        any = mase_torch_has_state(inner->items[i]);
    return any;
}

struct walk {
    struct mase_torch *torch;
    struct mase_obj *dict;
    struct mase_map seen;
    struct mase_str path;
    uint64_t letters, most; /* of all names so far; those allowed */
    struct mase_err *err;
};

static enum mase_status add(struct walk *w, const struct mase_obj *key, struct mase_obj *item)
{
    struct mase_arena *a = &w->torch->arena;
    const char *name = mase_arena_printf(a, "%s%s%s", w->path.len ? mase_str_text(&w->path) : "",
                                         w->path.len ? "." : "", key->text);
    w->letters += strlen(name) + 1;
    if (w->letters > w->most)
        return mase_fail_in(w->err, MASE_ELIMIT, w->torch->file.path,
                            "the names of the module's tensors, written out, take more than %s; "
                            "MASE_MEMORY=4G allows more",
                            mase_size_text(w->most).s);
    if (mase_map_get(&w->seen, name))
        return mase_fail_in(w->err, MASE_EPARSE, w->torch->file.path,
                            "two tensors of the module are called '%.100s'", name);
    mase_map_put(&w->seen, name, item);
    mase_obj_set(a, w->dict, name, item);
    return MASE_OK;
}

static bool lists(const struct mase_obj *list, const char *name)
{
    for (int i = 0; list && list->kind == MASE_OBJ_LIST && i < list->count; i++)
        if (mase_obj_is_text(list->items[i], name))
            return true;
    return false;
}

/* The tensors of a dict or of attributes, but those in the list without. */
static enum mase_status add_tensors(struct walk *w, const struct mase_obj *from,
                                    const struct mase_obj *without)
{
    for (int i = 0; from && i < from->count; i++)
        if (from->keys[i]->kind == MASE_OBJ_TEXT && is_tensor(from->items[i]) &&
            !lists(without, from->keys[i]->text))
            MASE_TRY(add(w, from->keys[i], from->items[i]));
    return MASE_OK;
}

static enum mase_status add_module(struct walk *w, const struct mase_obj *module);

static enum mase_status add_modules(struct walk *w, const struct mase_obj *from)
{
    const size_t len = w->path.len;
    for (int i = 0; i < from->count; i++) {
        if (from->keys[i]->kind != MASE_OBJ_TEXT || !mase_torch_is_module(from->items[i]))
            continue;
        mase_str_printf(&w->path, "%s%s", len ? "." : "", from->keys[i]->text);
        MASE_TRY(add_module(w, from->items[i]));
        mase_str_cut(&w->path, len);
    }
    return MASE_OK;
}

/* Trees are at most MASE_OBJ_DEPTH deep. */
static enum mase_status add_module(struct walk *w, const struct mase_obj *module)
{
    const struct mase_obj *body = body_of(module);
    if (!body) {
        MASE_TRY(add_tensors(w, module, NULL));
        return add_modules(w, module);
    }
    MASE_TRY(add_tensors(w, mase_obj_get(body, "_parameters"), NULL));
    MASE_TRY(add_tensors(w, dict_of(body, "_buffers"),
                         mase_obj_get(body, "_non_persistent_buffers_set")));
    return add_modules(w, mase_obj_get(body, "_modules"));
}

enum mase_status mase_torch_module_state(struct mase_torch *t, const struct mase_obj *module,
                                         const struct mase_obj **dict, struct mase_err *err)
{
    struct mase_arena scratch = { 0 };
    struct walk w = { .torch = t,
                      .dict = mase_obj_ordered_dict(&t->arena),
                      .seen = { .arena = &scratch },
                      .most = mase_limit_of_text(t->file.size),
                      .err = err };
    const enum mase_status st = add_module(&w, module);
    mase_str_release(&w.path);
    mase_arena_release(&scratch);
    *dict = w.dict;
    return st;
}
