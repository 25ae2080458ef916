/*
 * torch_state.c - where in a PyTorch file the model's weights are.
 */
#include <string.h>

#include "file/pickle.h"

/* Usual keys of state dicts, in order of preference. Averages come last: if there are both, the
 * trained weights are loaded, with a message. */
static const char *const names[] = {
    "state_dict",     "model_state_dict", "model",     "net",       "network",
    "module",         "model_state",      "weights",   "params",    "ema",
    "ema_state_dict", "state_dict_ema",   "model_ema", "ema_model", "params_ema",
    "swa_state_dict", "swa_model",
};
enum { NAMES = sizeof names / sizeof names[0] };

static bool has_keys(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_DICT || o->kind == MASE_OBJ_OPAQUE;
}

/* Entries other than tensors that are ignored: what get_extra_state returned; in quantised models,
 * types and pairs under dotted names. */
static bool is_beside(const struct mase_obj *key, const struct mase_obj *item)
{
    return (item->kind == MASE_OBJ_OPAQUE && item->unread) || strchr(key->text, '.') ||
           mase_ends_with(key->text, "_extra_state");
}

static bool is_state_dict(const struct mase_obj *o)
{
    bool any = false;
    for (int i = 0; has_keys(o) && i < o->count; i++) {
        if (o->keys[i]->kind != MASE_OBJ_TEXT)
            return false;
        if (o->items[i]->kind == MASE_OBJ_TENSOR)
            any = true;
        else if (!is_beside(o->keys[i], o->items[i]))
            return false;
    }
    return any;
}

static bool is_candidate(const struct mase_obj *o)
{
    return is_state_dict(o) || mase_torch_has_state(o);
}

/* ---- searching ---- */

struct search {
    const struct mase_obj *found;
    const struct mase_obj *parent; /* of found, if any */
    struct mase_str key;
    struct mase_str rivals; /* several of equal rank */
};

static void enter(struct mase_str *path, const char *key)
{
    mase_str_printf(path, "%s%s", path->len ? "." : "", key);
}

static void name_candidates(struct mase_str *out, const struct mase_obj *o,
                            const struct mase_obj *but)
{
    enum { SHOWN = 6 };
    int n = 0;
    for (int i = 0; o && has_keys(o) && i < o->count; i++)
        if (o->items[i] != but && o->keys[i]->kind == MASE_OBJ_TEXT && is_candidate(o->items[i]) &&
            n++ < SHOWN)
            mase_str_printf(out, "%s'%.60s'", out->len ? ", " : "", o->keys[i]->text);
    if (n > SHOWN)
        mase_str_printf(out, " and %d more", n - SHOWN);
}

static void find_by_name(struct search *s, const struct mase_obj *o)
{
    const size_t len = s->key.len;
    if (is_candidate(o)) {
        s->found = o;
        return;
    }
    for (int i = 0; i < NAMES && !s->found; i++) {
        const struct mase_obj *inner = mase_obj_get(o, names[i]);
        if (!inner)
            continue;
        enter(&s->key, names[i]);
        find_by_name(s, inner);
        if (s->found && !s->parent)
            s->parent = o;
        else if (!s->found)
            mase_str_cut(&s->key, len);
    }
}

/* The only one among the values. */
static void find_only(struct search *s, const struct mase_obj *o)
{
    int at = -1, n = 0;
    for (int i = 0; has_keys(o) && i < o->count; i++)
        if (o->keys[i]->kind == MASE_OBJ_TEXT && is_candidate(o->items[i])) {
            at = i;
            n++;
        }
    if (n == 1) {
        s->found = o->items[at];
        s->parent = o;
        enter(&s->key, o->keys[at]->text);
    } else if (n > 1) {
        name_candidates(&s->rivals, o, NULL);
    }
}

/* Tensors among numbers and texts: {'fc.weight': ..., 'epoch': 3}. */
static void find_mixed(struct search *s, const struct mase_obj *o)
{
    for (int i = 0; has_keys(o) && i < o->count && !s->found; i++)
        if (o->keys[i]->kind == MASE_OBJ_TEXT && o->items[i]->kind == MASE_OBJ_TENSOR)
            s->found = o;
}

/* "ema.model" from the root; a key may have dots of its own. */
static const struct mase_obj *follow(const struct mase_obj *o, const char *key)
{
    if (!*key)
        return o;
    for (int i = 0; has_keys(o) && i < o->count; i++) {
        const char *k = o->keys[i]->kind == MASE_OBJ_TEXT ? o->keys[i]->text : NULL;
        const size_t n = k ? strlen(k) : 0;
        if (!n || strncmp(key, k, n) != 0 || (key[n] && key[n] != '.'))
            continue;
        const struct mase_obj *found = follow(o->items[i], key + n + (key[n] == '.'));
        if (found)
            return found;
    }
    return NULL;
}

/* ---- what there is instead ---- */

static void print_keys(struct mase_str *s, const struct mase_obj *o)
{
    enum { SHOWN = 8 };
    if (o->kind == MASE_OBJ_DICT) {
        mase_str_add(s, "a dict with the keys ");
        for (int i = 0; i < o->count && i < SHOWN; i++) {
            mase_str_add(s, i ? ", " : "");
            mase_obj_print(s, o->keys[i]);
        }
        if (o->count > SHOWN)
            mase_str_printf(s, " and %d more", o->count - SHOWN);
    } else {
        mase_str_printf(s, "a %s",
                        o->kind == MASE_OBJ_OPAQUE ? o->type : mase_obj_kind_names[o->kind]);
    }
}

static enum mase_status none(const struct mase_torch *t, const char *key, const struct search *s,
                             struct mase_err *err)
{
    struct mase_str text = { 0 };
    print_keys(&text, t->root);
    if (key)
        mase_fail_in(err, MASE_EVALUE, t->file.path,
                     "'%s' leads to no state dict; the file holds %s", key, mase_str_text(&text));
    else if (s->rivals.len)
        mase_fail_in(err, MASE_EVALUE, t->file.path,
                     "the file holds several state dicts: %s; --load-key says which",
                     mase_str_text(&s->rivals));
    else
        mase_fail_in(err, MASE_EVALUE, t->file.path,
                     "there is no state dict in the file: it holds %s", mase_str_text(&text));
    mase_str_release(&text);
    return MASE_EVALUE;
}

/* ---- the whole ---- */

static void look(struct search *s, const struct mase_obj *root, const char *key)
{
    if (key) {
        const struct mase_obj *o = follow(root, key);
        mase_str_add(&s->key, key);
        s->found = o && is_candidate(o) ? o : NULL;
        return;
    }
    find_by_name(s, root);
    if (!s->found)
        find_only(s, root);
    if (!s->found && !s->rivals.len)
        find_mixed(s, root);
    if (!s->found && root->kind == MASE_OBJ_DICT && !root->count)
        s->found = root; /* of a network that has no parameters */
}

enum mase_status mase_torch_find_state(struct mase_torch *t, const char *key,
                                       struct mase_torch_state *state, struct mase_err *err)
{
    struct search s = { 0 };
    struct mase_str others = { 0 };
    look(&s, t->root, key);
    enum mase_status st = s.found ? MASE_OK : none(t, key, &s, err);
    if (!st) {
        name_candidates(&others, s.parent, s.found);
        *state = (struct mase_torch_state){
            .dict = s.found,
            .from = s.found,
            .key = mase_arena_strdup(&t->arena, s.key.len ? mase_str_text(&s.key) : ""),
            .others = mase_arena_strdup(&t->arena, others.len ? mase_str_text(&others) : ""),
        };
        if (mase_torch_is_module(s.found))
            st = mase_torch_module_state(t, s.found, &state->dict, err);
    }
    mase_str_release(&s.key);
    mase_str_release(&s.rivals);
    mase_str_release(&others);
    return st;
}

static bool any_begins_with(const struct mase_obj *dict, const char *prefix)
{
    for (int i = 0; i < dict->count; i++)
        if (dict->keys[i]->kind == MASE_OBJ_TEXT && mase_starts_with(dict->keys[i]->text, prefix))
            return true;
    return false;
}

/* A tensor that is not read, or what holds some: a quantised layer's pair of weight and bias. */
static void pass_over(struct mase_torch *t, const char *name, const struct mase_obj *o)
{
    const bool opaque = o->kind == MASE_OBJ_OPAQUE;
    if (!(opaque && o->unread) && o->kind != MASE_OBJ_TUPLE)
        return;
    t->unread[t->unread_count++] = (struct mase_unread){
        name, opaque ? o->type : mase_arena_printf(&t->arena, "a %s", mase_obj_kind_names[o->kind])
    };
}

enum mase_status mase_torch_state_dict(struct mase_torch *t, struct mase_named_tensor **items,
                                       int *count, struct mase_err *err)
{
    MASE_TRY(mase_torch_find_state(t, t->key, &t->state, err));
    const struct mase_obj *dict = t->state.dict;
    const char *wanted = "";
    if (mase_obj_get(t->root, "pytorch-lightning_version") && any_begins_with(dict, "model."))
        wanted = "model.";
    *items = mase_new_array(&t->arena, struct mase_named_tensor, (size_t)dict->count);
    t->unread = mase_new_array(&t->arena, struct mase_unread, (size_t)dict->count);
    *count = t->unread_count = t->left_out = 0;
    for (int i = 0; i < dict->count; i++) {
        const struct mase_obj *key = dict->keys[i], *item = dict->items[i];
        if (key->kind != MASE_OBJ_TEXT)
            continue;
        if (!mase_starts_with(key->text, wanted)) {
            t->left_out += item->kind == MASE_OBJ_TENSOR;
            continue;
        }
        if (item->kind == MASE_OBJ_TENSOR)
            (*items)[(*count)++] = (struct mase_named_tensor){ key->text, *item->tensor };
        else
            pass_over(t, key->text, item);
    }
    return MASE_OK;
}
