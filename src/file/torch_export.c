/*
 * torch_export.c - the weights of a .pt2 file, which torch.export.save writes.
 *
 * Since version 2.8 a zip with NAME/data/weights/model_weights_config.json, which says of each
 * tensor its type, shape and the entry beside it that holds its bytes:
 *
 *     {"config": {"fc.weight": {"path_name": "weight_0", "use_pickle": false, "tensor_meta":
 *         {"dtype": 7, "sizes": [{"as_int": 2}], "strides": ..., "storage_offset": {"as_int":
 * 0}}}}}
 *
 * Before, a zip with serialized_state_dict.pt, a file of torch.save. The program itself is not
 * read.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/value.h>

#include "base/limit.h"
#include "file/pickle.h"
#include "file/tensor_readers.h"

static const char config_name[] = "/data/weights/model_weights_config.json";
static const char old_name[] = "serialized_state_dict.pt";

const struct mase_zip_entry *mase_export_entry(const struct mase_zip *z)
{
    for (int i = 0; i < z->count; i++) {
        const char *name = z->entries[i].name, *slash = strchr(name, '/');
        if ((slash && mase_streq(slash, config_name)) || mase_streq(name, old_name))
            return &z->entries[i];
    }
    return NULL;
}

struct reading {
    struct mase_tensors *t;
    const struct mase_zip *zip;
    const char *folder; /* "NAME/data/weights" */
    struct mase_pickle pickle;
    struct mase_err *err;
};

static enum mase_status bad(const struct reading *r, const char *name, const char *what)
{
    return mase_fail_in(r->err, MASE_EPARSE, r->zip->path, "%s of tensor '%.100s' of %s/%s", what,
                        name, r->folder, strrchr(config_name, '/') + 1);
}

/* Types by the numbers of the format; the others are not read. */
static const struct mase_torch_type *type_of(const struct mase_value *v)
{
    static const char *const dtypes[] = {
        NULL,
        "torch.uint8",
        "torch.int8",
        "torch.int16",
        "torch.int32",
        "torch.int64",
        "torch.float16",
        "torch.float32",
        "torch.float64",
        "torch.complex32",
        "torch.complex64",
        "torch.complex128",
        "torch.bool",
        "torch.bfloat16",
    };
    const int count = sizeof dtypes / sizeof dtypes[0];
    const char *name = v && v->kind == MASE_INT && v->i > 0 && v->i < count ? dtypes[v->i] : NULL;
    for (int i = 0; name && i < mase_torch_type_count; i++)
        if (mase_streq(mase_torch_types[i].dtype, name))
            return &mase_torch_types[i];
    return NULL;
}

/* {"as_int": 3} */
static struct mase_obj *whole(struct mase_arena *a, const struct mase_value *v)
{
    const struct mase_value *i = v && v->kind == MASE_TABLE ? mase_value_get(v, "as_int") : NULL;
    return i && i->kind == MASE_INT ? mase_obj_int(a, i->i) : mase_obj_none(a);
}

static struct mase_obj *wholes(struct mase_arena *a, const struct mase_value *v)
{
    struct mase_obj *list = mase_obj_tuple(a);
    for (int i = 0; v && v->kind == MASE_LIST && i < v->count; i++)
        mase_obj_push(a, list, whole(a, v->items[i]));
    return list;
}

static enum mase_status get_storage(struct reading *r, struct mase_storage *s, const char *name,
                                    const struct mase_value *file)
{
    struct mase_arena *a = r->pickle.arena;
    const bool said = file && file->kind == MASE_STRING && !strchr(file->s, '/');
    const struct mase_zip_entry *e =
        said ? mase_zip_find(r->zip, mase_arena_printf(a, "%s/%s", r->folder, file->s)) : NULL;
    if (!e)
        return bad(r, name, "no entry with the data");
    const uint64_t room = r->pickle.limit > a->used ? r->pickle.limit - a->used : 0;
    MASE_TRY(mase_zip_read(r->zip, e, a, &s->data, e->method ? room : UINT64_MAX, r->err));
    s->count = (int64_t)(e->size / (uint64_t)s->type->element.size);
    s->key = file->s;
    return MASE_OK;
}

/* The tensor as the pickle's own function makes it, with all its checks. */
static enum mase_status add_tensor(struct reading *r, const char *name, const struct mase_value *v)
{
    struct mase_arena *a = r->pickle.arena;
    const bool table = v->kind == MASE_TABLE;
    const struct mase_value *meta = table ? mase_value_get(v, "tensor_meta") : NULL;
    const struct mase_value *pickled = table ? mase_value_get(v, "use_pickle") : NULL;
    struct mase_tensors *t = r->t;
    if (!meta || meta->kind != MASE_TABLE)
        return bad(r, name, "no tensor_meta");
    const struct mase_torch_type *type = type_of(mase_value_get(meta, "dtype"));
    if (!type || (pickled && pickled->kind == MASE_BOOL && pickled->b)) {
        t->unread[t->unread_count++] =
            (struct mase_unread){ name, type ? "a pickled tensor" : "a tensor of another type" };
        return MASE_OK;
    }
    struct mase_storage *s = mase_new(a, struct mase_storage);
    struct mase_obj_ref *ref = mase_new(a, struct mase_obj_ref);
    struct mase_obj *args = mase_obj_tuple(a), *made = NULL, *storage;
    s->type = type;
    s->at = (struct mase_loc){ .path = r->zip->path, .off = -1 };
    MASE_TRY(get_storage(r, s, name, mase_value_get(v, "path_name")));
    ref->storage = s;
    storage = mase_pickle_new(&r->pickle, MASE_OBJ_REF);
    storage->ref = ref;
    mase_obj_push(a, args, storage);
    mase_obj_push(a, args, whole(a, mase_value_get(meta, "storage_offset")));
    mase_obj_push(a, args, wholes(a, mase_value_get(meta, "sizes")));
    mase_obj_push(a, args, wholes(a, mase_value_get(meta, "strides")));
    if (mase_call_rebuild_tensor(&r->pickle, &made, args, r->err)) {
        if (r->err)
            r->err->loc.off = -1; /* it is none of the file */
        return mase_wrap(r->err, "tensor '%.100s'", name);
    }
    if (made->kind == MASE_OBJ_TENSOR)
        t->items[t->count++] = (struct mase_named_tensor){ name, *made->tensor };
    else
        t->unread[t->unread_count++] = (struct mase_unread){ name, made->type };
    return MASE_OK;
}

/* Views are filled last, in the order of the items. */
static enum mase_status fill(struct reading *r)
{
    MASE_TRY(mase_views_fill(&r->pickle, &r->t->converted, r->err));
    for (int i = 0; i < r->t->count; i++)
        r->t->items[i].tensor = *r->pickle.views[i].tensor;
    return MASE_OK;
}

static enum mase_status read_config(struct reading *r, const struct mase_zip_entry *e)
{
    struct mase_arena *a = r->pickle.arena;
    const unsigned char *text = NULL;
    struct mase_value *root = NULL;
    const char *path = mase_arena_printf(a, "%s: %s", r->zip->path, e->name);
    MASE_TRY(mase_zip_read(r->zip, e, a, &text, r->pickle.limit, r->err));
    MASE_TRY(mase_json_parse(&root, a, (const char *)text, e->size, path, r->err));
    const struct mase_value *config =
        root->kind == MASE_TABLE ? mase_value_get(root, "config") : NULL;
    if (!config || config->kind != MASE_TABLE)
        return mase_fail_in(r->err, MASE_EPARSE, r->zip->path, "no \"config\" in %s", e->name);
    r->t->items = mase_new_array(a, struct mase_named_tensor, (size_t)config->count);
    r->t->unread = mase_new_array(a, struct mase_unread, (size_t)config->count);
    for (int i = 0; i < config->count; i++)
        MASE_TRY(add_tensor(r, config->keys[i], config->items[i]));
    return fill(r);
}

enum mase_status mase_export_read(struct mase_tensors *t, bool as_stored, struct mase_err *err)
{
    struct mase_zip z;
    MASE_TRY(mase_zip_open(&z, &t->arena, t->file.data, t->file.size, t->file.path, err));
    const struct mase_zip_entry *e = mase_export_entry(&z);
    const size_t limit = (size_t)mase_limit_of_file(t->file.size);
    const unsigned char *inner = NULL;
    if (!e)
        return mase_fail_in(err, MASE_EPARSE, t->file.path, "a .pt2 file without weights");
    if (!mase_streq(e->name, old_name)) {
        struct reading r = { .t = t, .zip = &z, .err = err };
        const char *end = strrchr(e->name, '/');
        r.folder = mase_arena_strndup(&t->arena, e->name, (size_t)(end - e->name));
        r.pickle =
            (struct mase_pickle){ .arena = &t->arena, .limit = limit, .as_stored = as_stored };
        return read_config(&r, e);
    }
    MASE_TRY(mase_zip_read(&z, e, &t->arena, &inner, e->method ? limit : UINT64_MAX, err));
    return mase_tensors_of_torch(t, inner, e->size,
                                 mase_arena_printf(&t->arena, "%s: %s", t->file.path, e->name),
                                 as_stored, err);
}
