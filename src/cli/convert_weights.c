/*
 * convert_weights.c - ch convert from one file of weights to another. From a PyTorch file to a
 * .ckpt the whole tree is copied: epochs, optimiser states and all but objects of unknown classes.
 * Every other pair of kinds exchanges the tensors of the state dict, and strings of metadata where
 * both have a place for them; what stays behind is told. A .pt is a plain state dict, as
 * load_state_dict() takes it: what wrappers put before its names is left out.
 */
#include <string.h>

#include <mase/file_kind.h>
#include <mase/log.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

#include "cli/command/cmd_convert.h"
#include "cli/project.h"

/* Tensors and metadata to write. */
struct bundle {
    struct mase_tensors all; /* the arena holds items and names */
    const struct mase_value *metadata;
};

static bool is_plain(const struct mase_cli *c, const char *out)
{
    return mase_cli_flag(c, MASE_CLI_plain) || mase_ends_with(out, ".pt") ||
           mase_ends_with(out, ".pth");
}

static enum mase_status rename_all(struct mase_tensors *t, struct mase_cli *c, const char *path,
                                   struct mase_err *err)
{
    const struct mase_rename *renames = NULL;
    int count = 0;
    MASE_TRY(mase_cli_renames(&renames, &count, c, err));
    return mase_tensors_rename(t, renames, count, path, err);
}

static void count_values(struct mase_cli_converted *done, const struct mase_tensors *t)
{
    *done = (struct mase_cli_converted){ .nodes = -1, .tensors = t->count };
    for (int i = 0; i < t->count; i++)
        done->values += mase_tensor_count(&t->items[i].tensor);
}

/* ---- the tree of a PyTorch file ---- */

/* Collect the tensors of a state dict, also those of a Lightning module. */
static void take_state(struct mase_tensors *t, const struct mase_obj *dict)
{
    t->items = mase_new_array(&t->arena, struct mase_named_tensor, (size_t)dict->count);
    for (int i = 0; i < dict->count; i++)
        if (dict->items[i]->kind == MASE_OBJ_TENSOR && dict->keys[i]->kind == MASE_OBJ_TEXT)
            t->items[t->count++] =
                (struct mase_named_tensor){ dict->keys[i]->text, *dict->items[i]->tensor };
}

/* The strings under 'metadata' of a .ckpt that we wrote, or NULL. */
static const struct mase_value *metadata_of(struct mase_arena *a, const struct mase_obj *root)
{
    const struct mase_obj *o = mase_obj_get(root, "metadata");
    struct mase_value *table = mase_value_table(a);
    for (int i = 0; o && o->kind == MASE_OBJ_DICT && i < o->count; i++) {
        if (o->keys[i]->kind != MASE_OBJ_TEXT || o->items[i]->kind != MASE_OBJ_TEXT)
            return NULL;
        mase_value_set(a, table, o->keys[i]->text, mase_value_string(a, o->items[i]->text));
    }
    return o && o->kind == MASE_OBJ_DICT ? table : NULL;
}

static bool contains(const struct mase_obj *o, const struct mase_obj *wanted)
{
    bool found = o == wanted;
    for (int i = 0; !found && o->kind == MASE_OBJ_DICT && i < o->count; i++)
        found = contains(o->items[i], wanted);
    return found;
}

/* Names of what is dropped, for the log. */
struct dropped {
    struct mase_str names;
    int count;
};

static void drop(struct dropped *l, const char *name, size_t len)
{
    enum { SHOWN = 6 };
    if (l->count++ < SHOWN) {
        mase_str_add(&l->names, l->count > 1 ? ", " : "");
        mase_repr_string(&l->names, name, len);
    } else if (l->count == SHOWN + 1) {
        mase_str_add(&l->names, ", ...");
    }
}

static void tell(struct dropped *l, const char *out, const char *why)
{
    if (l->count)
        mase_warn("%s %s: left out %s", out, why, mase_str_text(&l->names));
    mase_str_release(&l->names);
}

/* Log what of root is dropped: everything but the state dict and metadata that can be kept. */
static void log_dropped(const struct mase_obj *root, const struct mase_obj *dict,
                        bool metadata_kept, const char *out)
{
    struct dropped l = { 0 };
    for (int i = 0; root->kind == MASE_OBJ_DICT && i < root->count; i++) {
        const struct mase_obj *key = root->keys[i], *item = root->items[i];
        const bool kept = root == dict ? item->kind == MASE_OBJ_TENSOR
                                       : contains(item, dict) ||
                                             (metadata_kept && mase_obj_is_text(key, "metadata"));
        if (!kept && key->kind == MASE_OBJ_TEXT)
            drop(&l, key->text, key->len);
        else if (!kept)
            drop(&l, mase_obj_kind_names[key->kind], strlen(mase_obj_kind_names[key->kind]));
    }
    tell(&l, out, "holds tensors alone");
}

/* root with its state dict replaced; other parts are shared. */
static const struct mase_obj *replaced(struct mase_arena *a, const struct mase_obj *root,
                                       const struct mase_obj *dict, const struct mase_obj *by)
{
    if (root == dict)
        return by;
    if (root->kind != MASE_OBJ_DICT || !contains(root, dict))
        return root;
    struct mase_obj *copy = root->ordered ? mase_obj_ordered_dict(a) : mase_obj_dict(a);
    for (int i = 0; i < root->count; i++)
        mase_obj_set_key(a, copy, root->keys[i],
                         (struct mase_obj *)replaced(a, root->items[i], dict, by));
    return copy;
}

static const struct mase_obj *renamed_dict(struct mase_arena *a, const struct mase_obj *dict,
                                           const struct mase_tensors *t)
{
    struct mase_obj *copy = dict->ordered ? mase_obj_ordered_dict(a) : mase_obj_dict(a);
    for (int i = 0, k = 0; i < dict->count; i++)
        if (dict->items[i]->kind == MASE_OBJ_TENSOR && dict->keys[i]->kind == MASE_OBJ_TEXT)
            mase_obj_set(a, copy, t->items[k++].name, dict->items[i]);
        else
            mase_obj_set_key(a, copy, dict->keys[i], dict->items[i]);
    return copy;
}

static bool is_list(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_LIST || o->kind == MASE_OBJ_TUPLE;
}

/* Remove objects of unknown classes, which cannot be written: from dicts with their keys; elsewhere
 * None replaces them. */
static const struct mase_obj *without_objects(struct mase_arena *a, const struct mase_obj *o,
                                              struct dropped *l)
{
    struct mase_obj *copy = (struct mase_obj *)o;
    if (o->kind == MASE_OBJ_OPAQUE) {
        drop(l, o->type, strlen(o->type));
        return mase_obj_none(a);
    }
    if (is_list(o)) {
        copy = o->kind == MASE_OBJ_LIST ? mase_obj_list(a) : mase_obj_tuple(a);
        for (int i = 0; i < o->count; i++)
            mase_obj_push(a, copy, (struct mase_obj *)without_objects(a, o->items[i], l));
    } else if (o->kind == MASE_OBJ_DICT) {
        copy = o->ordered ? mase_obj_ordered_dict(a) : mase_obj_dict(a);
        for (int i = 0; i < o->count; i++) {
            const struct mase_obj *key = without_objects(a, o->keys[i], l);
            const struct mase_obj *item = without_objects(a, o->items[i], l);
            if (o->keys[i]->kind != MASE_OBJ_OPAQUE && o->items[i]->kind != MASE_OBJ_OPAQUE)
                mase_obj_set_key(a, copy, (struct mase_obj *)key, (struct mase_obj *)item);
        }
    }
    return copy;
}

/* Write the whole tree; state: its state dict, if it has one. */
static enum mase_status write_tree(struct bundle *b, struct mase_cli *c, const char *in,
                                   const struct mase_obj *root,
                                   const struct mase_torch_state *state, const char *out,
                                   struct mase_err *err)
{
    struct mase_arena *a = &b->all.arena;
    struct dropped l = { 0 };
    if (state->dict) {
        take_state(&b->all, state->dict);
        MASE_TRY(rename_all(&b->all, c, in, err));
        root = replaced(a, root, state->from, renamed_dict(a, state->dict, &b->all));
    }
    root = without_objects(a, root, &l);
    tell(&l, out, "cannot hold objects of unknown classes");
    return mase_torch_write(root, out, err);
}

/* Write the tensors of the state dict. */
static enum mase_status write_tensors(struct bundle *b, struct mase_cli *c, const char *in,
                                      const struct mase_torch *t,
                                      const struct mase_torch_state *state, const char *out,
                                      struct mase_err *err)
{
    const bool plain = is_plain(c, out);
    take_state(&b->all, state->dict);
    b->metadata = plain ? NULL : metadata_of(&b->all.arena, t->root);
    log_dropped(t->root, state->from, b->metadata && mase_tensors_keep_metadata(out), out);
    if (plain && !mase_cli_has_renames(c)) {
        const bool lightning = mase_obj_get(t->root, "pytorch-lightning_version") != NULL;
        const char *gone = mase_tensors_unwrap(&b->all, lightning);
        if (gone)
            mase_info("%s: names are without %s", out, gone);
    }
    MASE_TRY(rename_all(&b->all, c, in, err));
    if (mase_cli_flag(c, MASE_CLI_plain) && mase_ends_with(out, ".ckpt"))
        return mase_tensors_write_plain(b->all.items, b->all.count, out, err);
    return mase_tensors_write(b->all.items, b->all.count, b->metadata, out, err);
}

static enum mase_status from_torch(struct bundle *b, struct mase_cli *c, const char *in,
                                   const struct mase_file *f, const char *out, struct mase_err *err)
{
    struct mase_torch t;
    struct mase_torch_state state = { 0 };
    const char *key = mase_cli_text(c, MASE_CLI_load_key);
    MASE_TRY(mase_torch_parse_stored(&t, f->data, f->size, in, err));
    enum mase_status st = mase_torch_find_state(&t, key, &state, err);
    if (mase_ends_with(out, ".ckpt") && !is_plain(c, out) && !(st && key))
        st = write_tree(b, c, in, t.root, &state, out, err);
    else if (!st)
        st = write_tensors(b, c, in, &t, &state, out, err);
    mase_torch_close(&t);
    return st;
}

/* ---- other kinds of files ---- */

/* Log metadata that is lost, except {"format": "pt"}. */
static void log_lost(const struct mase_value *metadata, const char *out)
{
    struct dropped l = { 0 };
    for (int i = 0; i < metadata->count && !mase_tensors_keep_metadata(out); i++)
        if (!mase_streq(metadata->keys[i], "format"))
            drop(&l, metadata->keys[i], strlen(metadata->keys[i]));
    tell(&l, out, "has no place for metadata");
}

static enum mase_status from_tensors(struct mase_tensors *t, struct mase_cli *c, const char *in,
                                     const char *out, struct mase_err *err)
{
    const struct mase_value *metadata = t->safetensors ? t->safetensors->metadata : NULL;
    MASE_TRY(rename_all(t, c, in, err));
    if (metadata)
        log_lost(metadata, out);
    return mase_tensors_write(t->items, t->count, metadata, out, err);
}

enum mase_status mase_cli_convert_weights(struct mase_cli_converted *done, struct mase_cli *c,
                                          const char *in, const char *out, struct mase_err *err)
{
    struct mase_file f;
    struct bundle b = { 0 };
    MASE_TRY(mase_file_open(&f, in, err));
    const enum mase_file_kind kind = mase_file_kind_of(f.data, f.size, in);
    enum mase_status st;
    if (kind == MASE_KIND_TORCH || kind == MASE_KIND_TORCH_OLD || kind == MASE_KIND_SCRIPT) {
        st = from_torch(&b, c, in, &f, out, err);
    } else {
        st = mase_tensors_open_stored(&b.all, in, mase_cli_text(c, MASE_CLI_load_key), err);
        if (!st)
            st = from_tensors(&b.all, c, in, out, err);
    }
    if (!st)
        count_values(done, &b.all);
    mase_tensors_close(&b.all);
    mase_file_close(&f);
    return st;
}
