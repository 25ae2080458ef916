/*
 * fingerprint.c - what a study's numbers depend on, as one text: whoever goes on with a study must
 * search the same.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/tensor.h>

#include "search/search_parts.h"

#define FINGERPRINT "mase:fingerprint" /* attribute of a study */

static bool add_param(const char *full, struct mase_param *p, void *data)
{
    struct mase_str *text = data;
    char hex[65] = "-";
    if (p->tensor.data)
        mase_sha256(hex, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    mase_str_printf(text, "%s %s\n", full, hex);
    return true;
}

/* Limits and the number of threads change no trial. */
static bool is_limit(const char *key)
{
    static const char *const limits[] = { "n_jobs", "n_trials", "timeout", "save_every_n_trials" };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (mase_streq(limits[i], key))
            return true;
    return false;
}

static struct mase_value *without_limits(struct mase_arena *a, const struct mase_value *section)
{
    struct mase_value *copy = mase_value_copy(a, section), *kept = mase_value_table(a);
    struct mase_value *strategy = mase_value_get(copy, "strategy");
    const struct mase_value *setup = mase_value_get(strategy, "setup");
    for (int i = 0; setup && i < setup->count; i++)
        if (!is_limit(setup->keys[i]))
            mase_value_set(a, kept, setup->keys[i], setup->items[i]);
    if (strategy)
        mase_value_set(a, strategy, "setup", kept);
    return copy;
}

/* Options of training as they hold: whether one is said or its default makes no difference, nor do
 * those that change no weight. */
static void add_training(struct mase_str *text, struct mase_arena *a,
                         const struct mase_value *training)
{
    struct mase_train_opts o;
    struct mase_err err;
    if (mase_opts_bind(&o, sizeof o, mase_train_rows, training, a, &err))
        mase_bug("%s", err.msg); /* runners have bound them */
    for (int i = 0; i < MASE_TRAIN_OPTION_COUNT; i++) {
        if (i == MASE_TRAIN_threads || i == MASE_TRAIN_log_every_n_steps ||
            i == MASE_TRAIN_to_debug)
            continue;
        mase_str_printf(text, "%s ", mase_train_rows[i].key);
        mase_json_print(text, mase_opt_value(a, &o, &mase_train_rows[i]), 0);
    }
}

static void fingerprint(char hex[65], const struct mase_search *s)
{
    struct mase_arena a = { 0 };
    struct mase_str text = { 0 };
    const struct mase_search_opts *o = &s->opts;
    mase_json_print(&text, without_limits(&a, o->section), 0);
    if (o->training)
        add_training(&text, &a, o->training);
    mase_str_printf(&text, "\nseed %llu batch %lld data %s\n", (unsigned long long)o->seed,
                    (long long)o->batch_size, mase_dataset_info(o->data)->checksum);
    mase_graph_print_mg(&text, o->graph);
    mase_graph_each_param(o->graph, add_param, &text);
    mase_sha256(hex, text.data, text.len);
    mase_str_release(&text);
    mase_arena_release(&a);
}

void mase_search_mark(const struct mase_search *s, struct mase_study *study)
{
    struct mase_value *v = mase_value_table(&study->arena);
    char hex[65];
    fingerprint(hex, s);
    mase_value_set(&study->arena, v, FINGERPRINT, mase_value_string(&study->arena, hex));
    study->user = v;
}

enum mase_status mase_search_check_study(const struct mase_search *s,
                                         const struct mase_study *study, const char *where,
                                         struct mase_err *err)
{
    const struct mase_value *v = mase_value_get(study->user, FINGERPRINT);
    char hex[65];
    if (!v || v->kind != MASE_STRING) /* of another program */
        return MASE_OK;
    fingerprint(hex, s);
    if (mase_streq(hex, v->s))
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, where,
                        "study '%s' is of another search: another [search], seed, network, weights "
                        "or data",
                        study->name);
}
