/*
 * outline.c - what a file of tensors holds; the readers of each kind do the work.
 */
#include "file/outline.h"

#include <string.h>

#include <mase/safetensors.h>
#include <mase/torch.h>

#include "base/limit.h"
#include "file/npy_parts.h"
#include "file/tensor_readers.h"
#include "file/zip.h"

enum { NPY_HEADER = 4096 }; /* NumPy's own is shorter than 256 bytes */

/* ---- PyTorch ---- */

struct collection {
    struct mase_outline *o;
    int cap;
    struct mase_str path; /* path to the current object */
    uint64_t names, most; /* letters of all names so far; those allowed */
};

static void add_item(struct collection *c, const char *name, const struct mase_obj *tensor)
{
    struct mase_outline *o = c->o;
    o->items = mase_arena_grow(&o->arena, o->items, o->count, &c->cap, sizeof *o->items);
    o->items[o->count++] = (struct mase_named_tensor){ name, *tensor->tensor };
}

/* ".state", ".0": the way from a container to one of its items. */
static void go_down(struct mase_str *path, const struct mase_obj *parent, int i)
{
    mase_str_add(path, path->len ? "." : "");
    if (parent->kind != MASE_OBJ_DICT && parent->kind != MASE_OBJ_OPAQUE)
        mase_str_printf(path, "%d", i);
    else if (parent->keys[i]->kind == MASE_OBJ_TEXT)
        mase_str_add(path, parent->keys[i]->text);
    else
        mase_obj_print(path, parent->keys[i]);
}

/* A long key above many tensors is in the names of all of them. */
static enum mase_status add_named(struct collection *c, const struct mase_obj *tensor,
                                  struct mase_err *err)
{
    c->names += c->path.len + 1;
    if (c->names > c->most)
        return mase_fail_in(err, MASE_ELIMIT, c->o->file.path,
                            "the names of the tensors, written out, take more than %s; "
                            "MASE_MEMORY=4G allows more",
                            mase_size_text(c->most).s);
    const char *name = c->path.len ? mase_str_text(&c->path) : "tensor";
    add_item(c, mase_arena_strdup(&c->o->arena, name), tensor);
    return MASE_OK;
}

/* Trees are at most MASE_OBJ_DEPTH deep. */
static enum mase_status add_all(struct collection *c, const struct mase_obj *o,
                                struct mase_err *err)
{
    const size_t len = c->path.len;
    if (o->kind == MASE_OBJ_TENSOR)
        return add_named(c, o, err);
    if (o->kind != MASE_OBJ_DICT && o->kind != MASE_OBJ_LIST && o->kind != MASE_OBJ_TUPLE &&
        o->kind != MASE_OBJ_OPAQUE)
        return MASE_OK;
    for (int i = 0; i < o->count; i++) {
        go_down(&c->path, o, i);
        MASE_TRY(add_all(c, o->items[i], err));
        mase_str_cut(&c->path, len);
    }
    return MASE_OK;
}

static enum mase_status add_everything(struct mase_outline *o, struct mase_err *err)
{
    struct collection c = { .o = o, .most = mase_limit_of_text(o->file.size) };
    const enum mase_status st = add_all(&c, o->tree, err);
    mase_str_release(&c.path);
    return st;
}

static enum mase_status read_torch(struct mase_outline *o, const char *path, bool values,
                                   struct mase_err *err)
{
    struct mase_torch *t = mase_new(&o->arena, struct mase_torch);
    struct collection c = { .o = o };
    MASE_TRY((values ? mase_torch_parse_stored : mase_torch_outline)(t, o->file.data, o->file.size,
                                                                     path, err));
    o->torch = t;
    o->tree = t->root;
    if (mase_torch_find_state(t, NULL, &t->state, NULL))
        return add_everything(o, err);
    const struct mase_obj *dict = t->state.dict;
    o->state = t->state.from;
    o->state_key = t->state.key;
    for (int i = 0; i < dict->count; i++)
        if (dict->items[i]->kind == MASE_OBJ_TENSOR && dict->keys[i]->kind == MASE_OBJ_TEXT)
            add_item(&c, dict->keys[i]->text, dict->items[i]);
    return MASE_OK;
}

/* ---- safetensors ---- */

static enum mase_status read_safetensors(struct mase_outline *o, const char *path, bool values,
                                         struct mase_err *err)
{
    struct mase_safetensors *st = mase_new(&o->arena, struct mase_safetensors);
    MASE_TRY((values ? mase_safetensors_parse_stored
                     : mase_safetensors_outline)(st, o->file.data, o->file.size, path, err));
    o->safetensors = st;
    o->metadata = st->metadata;
    o->items = st->items;
    o->count = st->count;
    return MASE_OK;
}

/* ---- NumPy ---- */

static enum mase_status read_npy(struct mase_outline *o, const char *path, bool values,
                                 struct mase_err *err)
{
    struct mase_cursor in = mase_cursor_of(&o->file);
    int converted = 0;
    (void)path;
    o->items = mase_new(&o->arena, struct mase_named_tensor);
    o->items->name = "array";
    o->count = 1;
    return values ? mase_npy_view(&o->items->tensor, &o->arena, true, &converted, &in, err)
                  : mase_npy_outline(&o->items->tensor, &in, o->file.size, err);
}

static enum mase_status read_array(struct mase_named_tensor *item, struct mase_arena *a,
                                   const struct mase_zip *z, const struct mase_zip_entry *e,
                                   struct mase_err *err)
{
    const unsigned char *p = NULL;
    size_t n = NPY_HEADER;
    MASE_TRY(mase_zip_peek(z, e, a, &p, &n, err));
    struct mase_cursor in = { z->path, p, n, 0 };
    item->name = mase_arena_strndup(a, e->name, strlen(e->name) - strlen(".npy"));
    if (mase_npy_outline(&item->tensor, &in, e->size, err) == MASE_OK)
        return MASE_OK;
    err->loc.off = -1; /* it counts from the start of the entry */
    return mase_wrap(err, "%s", e->name);
}

static enum mase_status read_npz_values(struct mase_outline *o, const char *path,
                                        struct mase_err *err)
{
    struct mase_npz *z = mase_new(&o->arena, struct mase_npz);
    MASE_TRY(mase_npz_parse_stored(z, o->file.data, o->file.size, path, err));
    o->npz = z;
    o->items = z->items;
    o->count = z->count;
    return MASE_OK;
}

static enum mase_status read_npz(struct mase_outline *o, const char *path, bool values,
                                 struct mase_err *err)
{
    struct mase_zip z;
    if (values)
        return read_npz_values(o, path, err);
    MASE_TRY(mase_zip_open(&z, &o->arena, o->file.data, o->file.size, path, err));
    o->items = mase_new_array(&o->arena, struct mase_named_tensor, (size_t)z.count);
    for (; o->count < z.count; o->count++)
        MASE_TRY(read_array(&o->items[o->count], &o->arena, &z, &z.entries[o->count], err));
    return MASE_OK;
}

/* ---- torch.export ---- */

static enum mase_status read_export(struct mase_outline *o, const char *path, bool values,
                                    struct mase_err *err)
{
    (void)values;
    o->export = mase_new(&o->arena, struct mase_tensors);
    o->export->file =
        (struct mase_file){ .path = path, .data = o->file.data, .size = o->file.size };
    MASE_TRY(mase_export_read(o->export, true, err));
    o->items = o->export->items;
    o->count = o->export->count;
    return MASE_OK;
}

/* ---- any ---- */

typedef enum mase_status read_fn(struct mase_outline *o, const char *path, bool values,
                                 struct mase_err *err);

static read_fn *const readers[MASE_KIND_COUNT] = {
    [MASE_KIND_TORCH] = read_torch,   [MASE_KIND_TORCH_OLD] = read_torch,
    [MASE_KIND_SCRIPT] = read_torch,  [MASE_KIND_SAFETENSORS] = read_safetensors,
    [MASE_KIND_NPZ] = read_npz,       [MASE_KIND_NPY] = read_npy,
    [MASE_KIND_EXPORT] = read_export,
};

/* The file is there. */
static enum mase_status read_any(struct mase_outline *o, const char *path, bool values,
                                 struct mase_err *err)
{
    o->kind = mase_file_kind_of(o->file.data, o->file.size, path);
    o->file_bytes = (int64_t)o->file.size;
    const enum mase_status st =
        readers[o->kind]
            ? readers[o->kind](o, path, values, err)
            : mase_fail_in(err, MASE_EUNSUPPORTED, path, "%s: no tensors in there can be listed",
                           mase_file_kinds[o->kind].title);
    if (st)
        mase_outline_close(o);
    return st;
}

enum mase_status mase_outline_open(struct mase_outline *o, const char *path, bool values,
                                   struct mase_err *err)
{
    *o = (struct mase_outline){ 0 };
    MASE_TRY(mase_file_open(&o->file, path, err));
    return read_any(o, path, values, err);
}

enum mase_status mase_outline_parse(struct mase_outline *o, const void *data, size_t size,
                                    const char *path, bool values, struct mase_err *err)
{
    *o = (struct mase_outline){ .file = { .path = path, .data = data, .size = size } };
    return read_any(o, path, values, err);
}

void mase_outline_close(struct mase_outline *o)
{
    if (o->torch)
        mase_torch_close(o->torch);
    if (o->safetensors)
        mase_safetensors_close(o->safetensors);
    if (o->npz)
        mase_npz_close(o->npz);
    if (o->export)
        mase_tensors_close(o->export);
    mase_arena_release(&o->arena);
    mase_file_close(&o->file);
    *o = (struct mase_outline){ 0 };
}
