/*
 * predict_many.c - predict with several inputs or results: a .npz file has the inputs by the names
 * of forward's arguments, another gets the results by name.
 *
 *     results of a dict: its keys; of a tuple: output_0, output_1 ...; within one another: a_0, a_1
 *
 * The reference runs them, all samples at once, since they may have to do with each other.
 */
#include "cli/predict_many.h"

#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/npy.h>
#include <mase/run.h>

#include "base/number.h"

enum { MOST_RESULTS = 256 };

/* ---- inputs ---- */

struct mase_tensor mase_cli_as_input(struct mase_arena *a, const struct mase_tensor *t)
{
    const bool is_float = t->dtype == MASE_F64 || t->dtype == MASE_F32;
    const enum mase_dtype dtype = is_float                      ? MASE_F32
                                  : t->dtype == MASE_DTYPE_BOOL ? MASE_DTYPE_BOOL
                                                                : MASE_I64;
    struct mase_tensor out = mase_tensor(a, dtype, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_tensor_set(&out, i, mase_tensor_get(t, i));
    return out;
}

enum mase_status mase_cli_read_arrays(struct mase_cli_arrays *x, struct mase_arena *a,
                                      const char *path, struct mase_err *err)
{
    struct mase_file f;
    struct mase_npz z;
    MASE_TRY(mase_file_open(&f, path, err));
    enum mase_status st = mase_npz_parse(&z, f.data, f.size, path, err);
    if (!st) {
        x->items = mase_new_array(a, struct mase_named_tensor, (size_t)z.count);
        x->count = z.count;
        for (int i = 0; i < z.count; i++)
            x->items[i] =
                (struct mase_named_tensor){ .name = mase_arena_strdup(a, z.items[i].name),
                                            .tensor = mase_cli_as_input(a, &z.items[i].tensor) };
        mase_npz_close(&z);
    }
    mase_file_close(&f);
    if (!st && !x->count)
        st = mase_fail_in(err, MASE_EVALUE, path, "it holds no arrays");
    return st;
}

enum mase_status mase_cli_read_files(struct mase_cli_arrays *x, struct mase_arena *a,
                                     const char *paths, struct mase_err *err)
{
    x->items = mase_new_array(a, struct mase_named_tensor, MASE_CLI_INPUTS);
    for (const char *p = paths; *p; p += strspn(p, ";")) {
        const char *path = mase_arena_strndup(a, p, strcspn(p, ";"));
        struct mase_tensor t;
        if (x->count == MASE_CLI_INPUTS)
            return mase_fail(err, MASE_ELIMIT, "--input is given more than %d times",
                             (int)MASE_CLI_INPUTS);
        if (mase_ends_with(path, ".npz"))
            return mase_fail_in(
                err, MASE_EVALUE, path,
                "several --input are .npy files, one for each input; a .npz has all");
        MASE_TRY(mase_npy_read(&t, a, path, err));
        x->items[x->count++] = (struct mase_named_tensor){ NULL, mase_cli_as_input(a, &t) };
        p += strlen(path);
    }
    return MASE_OK;
}

/* Do the names have equal letters and digits? onnx::Add_0 equals onnx_Add_0. */
static bool is_called(const char *name, const char *parameter)
{
    while (*name && *parameter) {
        const bool a = mase_is_alnum(*name), b = mase_is_alnum(*parameter);
        if (a != b || (a && *name != *parameter))
            return false;
        for (name++; !a && *name && !mase_is_alnum(*name);)
            name++;
        for (parameter++; !a && *parameter && !mase_is_alnum(*parameter);)
            parameter++;
    }
    return !*name && !*parameter;
}

static const struct mase_tensor *find_array(const struct mase_cli_arrays *x, const char *name,
                                            int number)
{
    for (int i = 0; i < x->count; i++)
        if (x->items[i].name ? mase_streq(x->items[i].name, name) : i == number)
            return &x->items[i].tensor;
    const struct mase_tensor *found = NULL;
    for (int i = 0; i < x->count; i++)
        if (x->items[i].name && is_called(x->items[i].name, name)) {
            if (found)
                return NULL; /* ambiguous */
            found = &x->items[i].tensor;
        }
    return found;
}

static enum mase_status no_array(const struct mase_cli_arrays *x, const char *name,
                                 const char *path, struct mase_err *err)
{
    struct mase_str has = { 0 };
    if (!x->items[0].name)
        return mase_fail(err, MASE_EVALUE, "--input is given %d times, and there is none for '%s'",
                         x->count, name);
    for (int i = 0; i < x->count; i++)
        mase_str_printf(&has, "%s%s", i ? ", " : "", x->items[i].name);
    const enum mase_status st = mase_fail_in(
        err, MASE_EVALUE, path, "there is no array '%s', which the network takes; there is %s",
        name, mase_str_text(&has));
    mase_str_release(&has);
    return st;
}

/* Find an array for each placeholder without a default; all must have as many rows. */
enum mase_status mase_cli_order_arrays(struct mase_cli_arrays *x, struct mase_arena *a,
                                       struct mase_graph *g, const char *path, struct mase_err *err)
{
    struct mase_named_tensor *of = mase_new_array(a, struct mase_named_tensor, MASE_CLI_INPUTS);
    struct mase_shape more[MASE_CLI_INPUTS] = { 0 };
    int count = 0, number = 0;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (n->kind != MASE_PLACEHOLDER)
            continue;
        const struct mase_tensor *t = find_array(x, n->target, number++);
        if (!t && n->args.count)
            continue;
        if (!t)
            return no_array(x, n->target, path, err);
        if (count == MASE_CLI_INPUTS)
            return mase_fail(err, MASE_ELIMIT, "the network has more than %d inputs",
                             (int)MASE_CLI_INPUTS);
        if (t->shape.rank < 1 || t->shape.dim[0] < 1)
            return mase_fail_in(err, MASE_EVALUE, path, "'%s' holds no samples", n->target);
        if (count && t->shape.dim[0] != of[0].tensor.shape.dim[0])
            return mase_fail_in(err, MASE_EVALUE, path,
                                "'%s' has %lld samples, the arrays before it %lld", n->target,
                                (long long)t->shape.dim[0], (long long)of[0].tensor.shape.dim[0]);
        more[count] = t->shape;
        more[count].rank--;
        memmove(more[count].dim, more[count].dim + 1, sizeof t->shape.dim - sizeof t->shape.dim[0]);
        of[count++] = (struct mase_named_tensor){ n->name, *t };
    }
    if (!x->items[0].name && x->count > number)
        return mase_fail(err, MASE_EVALUE, "--input is given %d times; the network takes %d",
                         x->count, number);
    *x = (struct mase_cli_arrays){ of, count };
    mase_graph_set_more(g, more + 1, count > 1 ? count - 1 : 0);
    return MASE_OK;
}

struct mase_tensor mase_cli_join_arrays(struct mase_arena *a, const struct mase_cli_arrays *x)
{
    const int64_t n = x->items[0].tensor.shape.dim[0];
    int64_t features = 0, first = 0;
    for (int k = 0; k < x->count; k++)
        features += mase_tensor_count(&x->items[k].tensor) / n;
    struct mase_tensor all =
        mase_tensor(a, MASE_F32, &(struct mase_shape){ 2, { n, features } }, true);
    for (int k = 0; k < x->count; k++) {
        const struct mase_tensor *t = &x->items[k].tensor;
        const int64_t each = mase_tensor_count(t) / n;
        for (int64_t i = 0; i < n * each; i++) {
            const double v = mase_tensor_get(t, i);
            if (t->dtype == MASE_I64 && !(fabs(v) <= 0x1p24))
                return (struct mase_tensor){ 0 };
            mase_f32(&all)[i / each * features + first + i % each] = (float)v;
        }
        first += each;
    }
    return all;
}

/* ---- results ---- */

struct results {
    struct mase_arena *arena;
    struct mase_named_tensor *item;
    int count;
};

/* Add a tensor, or those of a tuple, list or dict by name. */
static enum mase_status take(struct results *r, const char *name, const struct mase_arg *v,
                             struct mase_err *err)
{
    if (v->kind == MASE_ARG_NONE)
        return MASE_OK;
    if (r->count == MOST_RESULTS)
        return mase_fail(err, MASE_ELIMIT, "more than %d results", MOST_RESULTS);
    if (v->kind == MASE_ARG_TENSOR) {
        r->item[r->count++] = (struct mase_named_tensor){ *name ? name : "output", *v->tensor };
        return MASE_OK;
    }
    const bool dict = v->kind == MASE_ARG_DICT;
    if (!dict && v->kind != MASE_ARG_TUPLE && v->kind != MASE_ARG_LIST)
        return mase_fail(err, MASE_EUNSUPPORTED, "the result '%s' is no tensor", name);
    const char *head = *name || dict ? name : "output";
    for (int i = 0; i < v->count; i++) {
        const char *own =
            dict ? mase_arena_printf(r->arena, "%s%s%s", head, *head ? "_" : "", v->keys[i])
                 : mase_arena_printf(r->arena, "%s_%d", head, i);
        MASE_TRY(take(r, own, &v->items[i], err));
    }
    return MASE_OK;
}

static enum mase_status write(const struct results *r, const char *path, struct mase_err *err)
{
    if (mase_ends_with(path, ".npz"))
        return mase_npz_write(r->item, r->count, path, err);
    if (r->count == 1)
        return mase_npy_write(&r->item[0].tensor, path, err);
    return mase_fail_in(err, MASE_EVALUE, path,
                        "the network has %d results: name a file that ends with .npz", r->count);
}

enum mase_status mase_cli_predict_many(struct mase_cli_many *m, struct mase_arena *a,
                                       const struct mase_graph *g, const struct mase_cli_arrays *x,
                                       struct mase_err *err)
{
    struct mase_input in[MASE_CLI_INPUTS];
    struct results r = { .arena = a };
    struct mase_values v;
    for (int i = 0; i < x->count; i++)
        in[i] = (struct mase_input){ .name = x->items[i].name, .tensor = x->items[i].tensor };
    m->samples = x->items[0].tensor.shape.dim[0];
    MASE_TRY(mase_run_reference(&v, a, g, in, x->count, err));
    r.item = mase_new_array(a, struct mase_named_tensor, MOST_RESULTS);
    MASE_TRY(take(&r, "", mase_run_output(&v, g), err));
    m->results = r.count;
    return write(&r, m->output, err);
}
