/*
 * predict_many.c - networks of several inputs, or with several results: a .npz file has the inputs
 * by the names of forward's arguments, another takes the results by theirs.
 *
 *     results of a dict: its keys; of a tuple: output_0, output_1 ...; within one another: a_0, a_1
 *
 * The reference runs them, all samples at once, since they may have to do with each other.
 */
#include "cli/predict_many.h"

#include <mase/file.h>
#include <mase/npy.h>
#include <mase/run.h>

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

static const struct mase_tensor *find_array(const struct mase_cli_arrays *x, const char *name)
{
    for (int i = 0; i < x->count; i++)
        if (mase_streq(x->items[i].name, name))
            return &x->items[i].tensor;
    return NULL;
}

static enum mase_status no_array(const struct mase_cli_arrays *x, const char *name,
                                 const char *path, struct mase_err *err)
{
    struct mase_str has = { 0 };
    for (int i = 0; i < x->count; i++)
        mase_str_printf(&has, "%s%s", i ? ", " : "", x->items[i].name);
    const enum mase_status st = mase_fail_in(
        err, MASE_EVALUE, path, "there is no array '%s', which the network takes; there is %s",
        name, mase_str_text(&has));
    mase_str_release(&has);
    return st;
}

/* An array for each placeholder without a default, all with as many rows. */
static enum mase_status find_inputs(struct mase_input *in, int *count, int64_t *rows,
                                    const struct mase_cli_arrays *x, const struct mase_graph *g,
                                    const char *path, struct mase_err *err)
{
    *count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next) {
        if (n->kind != MASE_PLACEHOLDER)
            continue;
        const struct mase_tensor *t = find_array(x, n->target);
        if (!t && n->args.count)
            continue;
        if (!t)
            return no_array(x, n->target, path, err);
        if (t->shape.rank < 1 || t->shape.dim[0] < 1)
            return mase_fail_in(err, MASE_EVALUE, path, "'%s' holds no samples", n->target);
        if (*count && t->shape.dim[0] != *rows)
            return mase_fail_in(err, MASE_EVALUE, path,
                                "'%s' has %lld samples, the arrays before it %lld", n->target,
                                (long long)t->shape.dim[0], (long long)*rows);
        *rows = t->shape.dim[0];
        in[(*count)++] = (struct mase_input){ .name = n->name, .tensor = *t };
    }
    return MASE_OK;
}

/* ---- results ---- */

struct results {
    struct mase_arena *arena;
    struct mase_named_tensor *item;
    int count;
};

/* A tensor, or those of a tuple, list or dict by their names. */
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
    int count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        count += n->kind == MASE_PLACEHOLDER;
    if (count > MASE_CLI_INPUTS)
        return mase_fail(err, MASE_ELIMIT, "the network has %d inputs; at most %d are known", count,
                         (int)MASE_CLI_INPUTS);
    MASE_TRY(find_inputs(in, &count, &m->samples, x, g, m->input, err));
    MASE_TRY(mase_run_reference(&v, a, g, in, count, err));
    r.item = mase_new_array(a, struct mase_named_tensor, MOST_RESULTS);
    MASE_TRY(take(&r, "", mase_run_output(&v, g), err));
    m->results = r.count;
    return write(&r, m->output, err);
}
