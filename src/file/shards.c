/*
 * shards.c - weights in several files, as Hugging Face's folders have them, and what of such a
 * folder is to be read.
 *
 *     {"metadata": {...}, "weight_map": {"fc.weight": "model-00001-of-00002.safetensors", ...}}
 */
#include <string.h>

#include <mase/file.h>
#include <mase/value.h>

#include "file/tensor_readers.h"

const char *mase_weights_in(struct mase_arena *a, const char *dir)
{
    static const char *const names[] = { "model.safetensors", "model.safetensors.index.json",
                                         "pytorch_model.bin", "pytorch_model.bin.index.json",
                                         "diffusion_pytorch_model.safetensors" };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const char *path = mase_path_join(a, dir, names[i]);
        if (mase_is_file(path))
            return path;
    }
    return NULL;
}

/* A name of a file beside the index, and of nothing elsewhere. */
static bool is_beside(const struct mase_value *v)
{
    return v->kind == MASE_STRING && v->s[0] && v->s[0] != '.' && !strchr(v->s, '/');
}

/* The shard called name, opened once. */
static enum mase_status open_shard(struct mase_tensors **shard, struct mase_tensors *t,
                                   struct mase_map *by_name, const char *name, bool as_stored,
                                   struct mase_err *err)
{
    const char *slash = strrchr(t->file.path, '/');
    const size_t n = slash ? (size_t)(slash - t->file.path) + 1 : 0;
    *shard = mase_map_get(by_name, name);
    if (*shard)
        return MASE_OK;
    struct mase_tensors *next = mase_new(&t->arena, struct mase_tensors);
    const char *path = mase_arena_printf(&t->arena, "%.*s%s", (int)n, t->file.path, name);
    if (mase_ends_with(name, ".json"))
        return mase_fail_in(err, MASE_EVALUE, t->file.path, "'%s' is another index", name);
    MASE_TRY((as_stored ? mase_tensors_open_stored : mase_tensors_open_key)(next, path, NULL, err));
    next->next = t->shards;
    t->shards = next;
    t->converted += next->converted;
    mase_map_put(by_name, name, next);
    *shard = next;
    return MASE_OK;
}

static const struct mase_named_tensor *find(const struct mase_tensors *shard, const char *name)
{
    for (int i = 0; i < shard->count; i++)
        if (mase_streq(shard->items[i].name, name))
            return &shard->items[i];
    return NULL;
}

static const struct mase_unread *find_unread(const struct mase_tensors *shard, const char *name)
{
    for (int i = 0; i < shard->unread_count; i++)
        if (mase_streq(shard->unread[i].name, name))
            return &shard->unread[i];
    return NULL;
}

enum mase_status mase_shards_read(struct mase_tensors *t, bool as_stored, struct mase_err *err)
{
    struct mase_value *root = NULL;
    struct mase_map by_name = { .arena = &t->arena };
    MASE_TRY(mase_json_parse(&root, &t->arena, (const char *)t->file.data, t->file.size,
                             t->file.path, err));
    const struct mase_value *map =
        root->kind == MASE_TABLE ? mase_value_get(root, "weight_map") : NULL;
    if (!map || map->kind != MASE_TABLE)
        return mase_fail_in(err, MASE_EVALUE, t->file.path,
                            "JSON text without \"weight_map\": it is no index of weights");
    t->items = mase_new_array(&t->arena, struct mase_named_tensor, (size_t)map->count);
    t->unread = mase_new_array(&t->arena, struct mase_unread, (size_t)map->count);
    for (int i = 0; i < map->count; i++) {
        struct mase_tensors *shard = NULL;
        if (!is_beside(map->items[i]))
            return mase_fail_at(err, MASE_EVALUE, map->items[i]->at,
                                "expected the name of a file beside the index");
        MASE_TRY(open_shard(&shard, t, &by_name, map->items[i]->s, as_stored, err));
        const struct mase_named_tensor *item = find(shard, map->keys[i]);
        const struct mase_unread *unread = find_unread(shard, map->keys[i]);
        if (item)
            t->items[t->count++] = *item;
        else if (unread)
            t->unread[t->unread_count++] = *unread;
        else
            return mase_fail_at(err, MASE_EVALUE, map->items[i]->at,
                                "tensor '%.100s' is not in '%s'", map->keys[i], map->items[i]->s);
    }
    return MASE_OK;
}
