/*
 * sweep_store.c - the results of a sweep on disk: DIR/KEY.json for each finished configuration.
 *
 *     identity   all that decides the result: model, data and its checksum, weights, options; of
 *                what options name as files the contents
 *     result     the fields of struct mase_sweep_result; a number that is none is left out
 *
 * KEY is the start of the SHA-256 of the identity as text, so a file answers for one configuration
 * only, however it was written on the command line.
 */
#include "train/sweep_parts.h"

#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>

#include "train/content.h"
#include "train/trainer.h"

#define FLOAT(f) MASE_OPT_FLOAT(struct mase_sweep_result, f, #f, NAN, 0, 0, "")
#define INT(f)   MASE_OPT_INT(struct mase_sweep_result, f, #f, 0, 0, 0, "")

static const struct mase_opt result_rows[] = {
    INT(epochs),
    INT(steps),
    FLOAT(train_loss),
    FLOAT(train_score),
    FLOAT(val_loss),
    FLOAT(val_score),
    FLOAT(best_val_loss),
    INT(best_epoch),
    FLOAT(test_loss),
    FLOAT(test_score),
    FLOAT(test_error),
    FLOAT(seconds),
    FLOAT(samples_per_second),
    { 0 },
};

/* All options but NaN. */
static struct mase_value *as_table(struct mase_arena *a, const void *opts,
                                   const struct mase_opt *rows)
{
    struct mase_value *table = mase_value_table(a);
    for (; rows->key; rows++) {
        struct mase_value *v = mase_opt_value(a, opts, rows);
        if (v->kind != MASE_FLOAT || isfinite(v->f))
            mase_value_set(a, table, rows->key, v);
    }
    return table;
}

/* ---- identity ---- */

/* A hash of the network: a user's own model may change under its name. */
static const char *network_hash(struct mase_arena *a, const struct mase_graph *g)
{
    char hex[65];
    mase_content_of_graph(hex, g);
    return mase_arena_strdup(a, hex);
}

/* Feature scaling is told if the user gives it, since otherwise data and variant decide it; target
 * scaling always, since scores once depended on it. */
static void set_scaling(struct mase_arena *a, struct mase_value *v,
                        const struct mase_dataset_info *data)
{
    char hex[65];
    mase_content_of_scaling(hex, &data->scaling);
    if (data->scale == MASE_SCALE_GIVEN)
        mase_value_set(a, v, "scaling", mase_value_string(a, hex));
    mase_content_of_scaling(hex, &data->target_scaling);
    if (hex[0])
        mase_value_set(a, v, "target scaling", mase_value_string(a, hex));
}

/* Options that are newer than stored results are told only where they change a result. */
static struct mase_value *options_of(struct mase_arena *a, const struct mase_train_opts *o)
{
    struct mase_value *all = as_table(a, o, mase_train_rows), *v = mase_value_table(a);
    for (int i = 0; i < all->count; i++)
        if (!mase_streq(all->keys[i], "constant_momentum") || mase_streq(o->schedule, "onecycle"))
            mase_value_set(a, v, all->keys[i], all->items[i]);
    return v;
}

static void set_pruning(struct mase_arena *a, struct mase_value *v, const struct mase_prune_opts *o)
{
    struct mase_pruning how;
    struct mase_err unwanted;
    if (o && !mase_prune_resolve(&how, o,
                                 &unwanted)) /* an error is reported when the configuration runs */
        mase_value_set(a, v, "prune", mase_value_string(a, mase_trainer_pruning_text(a, &how)));
}

static struct mase_value *identity(struct mase_arena *a, const struct mase_sweep_point *p,
                                   const struct mase_sweep *s)
{
    const struct mase_dataset_info *data = mase_dataset_info(s->data);
    struct mase_train_opts opts = p->opts;
    opts.threads = 1; /* these two options change no result */
    opts.log_every = 0;
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "format", mase_value_int(a, 2));
    mase_value_set(a, v, "model", mase_value_text(a, p->network->name));
    mase_value_set(a, v, "network", mase_value_string(a, network_hash(a, p->network)));
    mase_value_set(a, v, "dataset", mase_value_string(a, data->data.name));
    mase_value_set(a, v, "checksum", mase_value_string(a, data->checksum));
    mase_value_set(a, v, "variant", mase_value_text(a, s->data_variant));
    set_scaling(a, v, data);
    set_pruning(a, v, opts.prune);
    if (p->loss_hash[0])
        mase_value_set(a, v, "loss", mase_value_string(a, p->loss_hash));
    mase_value_set(a, v, "weights", mase_value_string(a, s->weights_hash));
    for (int i = 0; i < s->load.rename_count; i++)
        mase_value_set(a, v, mase_arena_printf(a, "rename %d %s", i, s->load.renames[i].from),
                       mase_value_string(a, s->load.renames[i].to));
    if (s->load.key)
        mase_value_set(a, v, "weights key", mase_value_string(a, s->load.key));
    if (s->load.lenient)
        mase_value_set(a, v, "weights that fit", mase_value_bool(a, true));
    mase_value_set(a, v, "options", options_of(a, &opts));
    return v;
}

void mase_sweep_make_key(struct mase_sweep_point *p, const struct mase_sweep *s)
{
    struct mase_arena a = { 0 };
    struct mase_str text = { 0 };
    char hex[65];
    mase_json_print(&text, identity(&a, p, s), 0);
    mase_sha256(hex, text.data, text.len);
    memcpy(p->key, hex, sizeof(p->key) - 1);
    p->key[sizeof(p->key) - 1] = '\0';
    mase_str_release(&text);
    mase_arena_release(&a);
}

/* ---- files ---- */

static const char *path_of(struct mase_arena *a, const struct mase_sweep_point *p,
                           const struct mase_sweep *s)
{
    return mase_arena_printf(a, "%s/%s.json", s->dir, p->key);
}

static enum mase_status read_result(struct mase_sweep_point *p, struct mase_arena *a,
                                    const char *path, struct mase_err *err)
{
    struct mase_value *root;
    MASE_TRY(mase_json_read(&root, a, path, err));
    const struct mase_value *result = mase_value_get(root, "result");
    if (!result || result->kind != MASE_TABLE)
        return mase_fail_in(err, MASE_EPARSE, path, "has no table called result");
    return mase_opts_bind(&p->result, sizeof(p->result), result_rows, result, a, err);
}

void mase_sweep_recall(struct mase_sweep_point *p, const struct mase_sweep *s)
{
    struct mase_arena a = { 0 };
    struct mase_err err;
    const char *path = path_of(&a, p, s);
    if (mase_is_file(path)) {
        p->done = p->reused = !read_result(p, &a, path, &err);
        if (!p->done)
            mase_warn("%s is not used, the configuration runs again: %s", path, err.msg);
    }
    mase_arena_release(&a);
}

enum mase_status mase_sweep_store(const struct mase_sweep_point *p, const struct mase_sweep *s,
                                  struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_str text = { 0 };
    struct mase_value *root = mase_value_table(&a);
    mase_value_set(&a, root, "identity", identity(&a, p, s));
    mase_value_set(&a, root, "result", as_table(&a, &p->result, result_rows));
    mase_json_print(&text, root, 2);
    mase_str_addc(&text, '\n');
    const enum mase_status st = mase_file_write(path_of(&a, p, s), text.data, text.len, err);
    mase_str_release(&text);
    mase_arena_release(&a);
    return st;
}
