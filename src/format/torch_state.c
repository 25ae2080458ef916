/*
 * torch_state.c - where in a PyTorch file the model's weights are.
 */
#include <string.h>

#include <mase/torch.h>

static bool is_extra_state(const struct mase_obj *key)
{
    return mase_ends_with(key->text, "_extra_state");
}

static bool is_state_dict(const struct mase_obj *o)
{
    bool any = false;
    for (int i = 0; o->kind == MASE_OBJ_DICT && i < o->count; i++) {
        if (o->keys[i]->kind != MASE_OBJ_TEXT)
            return false;
        if (o->items[i]->kind == MASE_OBJ_TENSOR)
            any = true;
        else if (!is_extra_state(o->keys[i]))
            return false;
    }
    return any;
}

/* The only state dict among the values; NULL when there is none or more than one. */
static const struct mase_obj *only_state_dict(const struct mase_obj *o)
{
    const struct mase_obj *found = NULL;
    for (int i = 0; o->kind == MASE_OBJ_DICT && i < o->count; i++) {
        if (!is_state_dict(o->items[i]))
            continue;
        if (found)
            return NULL;
        found = o->items[i];
    }
    return found;
}

const struct mase_obj *mase_torch_find_state(const struct mase_obj *o)
{
    static const char *const names[] = { "state_dict", "model_state_dict", "model", "net",
                                         "network",    "module",           "ema",   "weights" };
    if (is_state_dict(o))
        return o;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const struct mase_obj *inner = mase_obj_get(o, names[i]);
        const struct mase_obj *found = inner ? mase_torch_find_state(inner) : NULL;
        if (found)
            return found;
    }
    return only_state_dict(o);
}

static enum mase_status none(const struct mase_torch *t, struct mase_err *err)
{
    enum { SHOWN = 8 };
    struct mase_str s = { 0 };
    if (t->root->kind == MASE_OBJ_DICT) {
        mase_str_add(&s, "a dict with the keys ");
        for (int i = 0; i < t->root->count && i < SHOWN; i++) {
            mase_str_add(&s, i ? ", " : "");
            mase_obj_print(&s, t->root->keys[i]);
        }
        if (t->root->count > SHOWN)
            mase_str_printf(&s, " and %d more", t->root->count - SHOWN);
    } else {
        mase_str_printf(&s, "a %s", mase_obj_kind_names[t->root->kind]);
    }
    mase_fail_in(err, MASE_EVALUE, t->file.path, "there is no state dict in the file: it holds %s",
                 mase_str_text(&s));
    mase_str_release(&s);
    return MASE_EVALUE;
}

static bool any_begins_with(const struct mase_obj *dict, const char *prefix)
{
    for (int i = 0; i < dict->count; i++)
        if (mase_starts_with(dict->keys[i]->text, prefix))
            return true;
    return false;
}

enum mase_status mase_torch_state_dict(struct mase_torch *t, struct mase_named_tensor **items,
                                       int *count, struct mase_err *err)
{
    const struct mase_obj *dict = mase_torch_find_state(t->root);
    if (!dict)
        return none(t, err);
    const char *wanted = "";
    if (mase_obj_get(t->root, "pytorch-lightning_version") && any_begins_with(dict, "model."))
        wanted = "model.";
    *items = mase_new_array(&t->arena, struct mase_named_tensor, (size_t)dict->count);
    *count = 0;
    for (int i = 0; i < dict->count; i++)
        if (dict->items[i]->kind == MASE_OBJ_TENSOR &&
            mase_starts_with(dict->keys[i]->text, wanted))
            (*items)[(*count)++] =
                (struct mase_named_tensor){ dict->keys[i]->text, *dict->items[i]->tensor };
    return MASE_OK;
}
