/*
 * import_layers.c - layers with parameters that are tensors of the model.
 */
#include <string.h>

#include "onnx/import_parts.h"

bool mase_ox_fits_layer(struct mase_ox_import *im, struct mase_ox_value *v, int rank)
{
    if (!v || !mase_ox_is_param(im, v))
        return false;
    const struct mase_tensor *t = mase_ox_like(im, v);
    return t->dtype == MASE_F32 && t->shape.rank == rank && mase_tensor_count(t) > 0 && !v->owner &&
           !((v->init || v->data) && v->node);
}

/* The prefix of a parameter's PyTorch name: "fc1" of "fc1.weight"; else NULL. */
static const char *stem(struct mase_ox_import *im, const char *name, const char *param)
{
    const size_t n = strlen(name), m = strlen(param);
    if (n < m + 2 || name[n - m - 1] != '.' || !mase_ends_with(name, param))
        return NULL;
    return mase_arena_strndup(&im->arena, name, n - m - 1);
}

/* The module path in a node name of PyTorch's exporter: "layer1.0.conv1" of
 * "/layer1/layer1.0/conv1/Conv"; else NULL. */
static const char *module_of_node(struct mase_ox_import *im)
{
    const char *name = im->node->name, *end = strrchr(name, '/'), *last = "";
    struct mase_str path = { 0 };
    if (name[0] != '/' || end == name || !mase_starts_with(end + 1, im->node->op_type))
        return NULL;
    for (const char *p = name + 1; p < end; p += strcspn(p, "/") + 1) {
        const char *part = mase_arena_strndup(&im->arena, p, strcspn(p, "/"));
        const size_t n = strlen(last);
        const bool within = n && mase_starts_with(part, last) && part[n] == '.';
        mase_str_printf(&path, "%s%s", within || !path.len ? "" : ".", within ? part + n : part);
        last = part;
    }
    const char *out = mase_arena_strdup(&im->arena, mase_str_text(&path));
    mase_str_release(&path);
    return out;
}

static const char *legal(struct mase_ox_import *im, const char *name)
{
    struct mase_str s = { 0 };
    for (const char *p = name; *p; p++) {
        const bool plain =
            (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        const bool dot = *p == '.' && s.len && s.data[s.len - 1] != '.' && p[1];
        if (plain || dot)
            mase_str_addc(&s, *p);
        else if (s.len && s.data[s.len - 1] != '_')
            mase_str_addc(&s, '_');
    }
    const char *path = mase_arena_strdup(&im->arena, s.len ? mase_str_text(&s) : "layer");
    mase_str_release(&s);
    return path;
}

/* ---- paths ---- */

/* State of a path in im->paths: free, first parts of another path, or a layer or tensor. */
enum { PATH_FREE, PATH_PREFIX, PATH_WHOLE };

static uintptr_t path_use(const struct mase_ox_import *im, const char *path)
{
    return (uintptr_t)mase_map_get(&im->paths, path);
}

/* Is a prefix of the path a layer or tensor, which has no children? */
static bool is_inside(struct mase_ox_import *im, const char *path)
{
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.'))
        if (path_use(im, mase_arena_strndup(&im->arena, path, (size_t)(dot - path))) == PATH_WHOLE)
            return true;
    return false;
}

static void take_path(struct mase_ox_import *im, const char *path)
{
    mase_map_put(&im->paths, path, (void *)(uintptr_t)PATH_WHOLE);
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(dot + 1, '.'))
        mase_map_put(&im->paths, mase_arena_strndup(&im->arena, path, (size_t)(dot - path)),
                     (void *)(uintptr_t)PATH_PREFIX);
}

const char *mase_ox_free_path(struct mase_ox_import *im, const char *name)
{
    char *base = mase_arena_strdup(&im->arena, legal(im, name));
    if (is_inside(im, base))
        for (char *p = base; *p; p++)
            *p = *p == '.' ? '_' : *p;
    const char *path = base;
    uintptr_t number = (uintptr_t)mase_map_get(&im->path_numbers, base);
    while (path_use(im, path) != PATH_FREE)
        path = mase_arena_printf(&im->arena, "%s_%llu", base, (unsigned long long)++number);
    mase_map_put(&im->path_numbers, base, (void *)number);
    take_path(im, path);
    return path;
}

const char *mase_ox_layer_path(struct mase_ox_import *im, const struct mase_ox_value *const *params,
                               const char *const *names, int count)
{
    const char *base = NULL;
    for (int i = 0; !base && i < count; i++)
        base = params[i] ? stem(im, params[i]->name, names[i]) : NULL;
    if (!base)
        base = module_of_node(im);
    if (!base)
        base = im->node->name[0] ? im->node->name : count && params[0] ? params[0]->name : "";
    return mase_ox_free_path(im, base);
}

struct mase_module *mase_ox_add_layer(struct mase_ox_import *im, const char *path, enum mase_op op,
                                      const struct mase_arg *args, int count,
                                      const char *const *keys, const struct mase_arg *values,
                                      int key_count)
{
    struct mase_module *m = NULL;
    const struct mase_arg tuple = mase_arg_seq(&im->arena, MASE_ARG_TUPLE, args, count);
    struct mase_arg dict = mase_arg_seq(&im->arena, MASE_ARG_DICT, values, key_count);
    struct mase_err inner = { 0 };
    dict.keys = (const char **)keys;
    if (im->status)
        return NULL;
    const enum mase_status st = mase_graph_add_module(im->g, &m, path, op, &tuple, &dict, &inner);
    if (st)
        mase_ox_fail(im, st, "%s", inner.msg);
    return st ? NULL : m;
}
