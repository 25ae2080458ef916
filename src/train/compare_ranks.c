/*
 * compare_ranks.c - do the processes of a job train the same?
 *
 * Each has a copy of the weights and takes the same steps, so all must begin alike and stay so. A
 * process that reads another version of a file, or runs another build, would spoil the run without
 * a word. They compare a hash of what the steps depend on, before the first one and after each
 * epoch.
 */
#include <mase/file.h>

#include "base/ranks.h"
#include "exec/plan/plan_parts.h"
#include "train/trainer.h"

/* Threads may differ from process to process. */
static void add_options(struct mase_str *s, const struct mase_trainer *t)
{
    struct mase_arena a = { 0 };
    for (const struct mase_opt *row = mase_train_rows; row->key; row++) {
        if (row == &mase_train_rows[MASE_TRAIN_threads])
            continue;
        mase_str_printf(s, "%s = ", row->key);
        mase_value_str(s, mase_opt_value(&a, &t->opts, row));
        mase_str_addc(s, '\n');
    }
    mase_arena_release(&a);
}

static void add_floats(struct mase_str *s, const float *x, int64_t n)
{
    if (x)
        mase_str_addn(s, (const char *)x, (size_t)n * sizeof *x);
}

static void add_weights(struct mase_str *s, const struct mase_trainer *t)
{
    const int64_t n = t->optim.params.n;
    for (int i = 0; i < t->plan->weight_count; i++)
        add_floats(s, t->plan->weight[i].x, t->plan->weight[i].count);
    add_floats(s, t->optim.m, n);
    add_floats(s, t->optim.v, n);
    add_floats(s, t->average, n);
}

enum mase_status mase_trainer_compare(const struct mase_trainer *t, const char *since,
                                      struct mase_err *err)
{
    struct mase_str s = { 0 };
    char hash[65];
    int differs;
    if (!t->opts.ranks)
        return MASE_OK;
    mase_str_printf(&s, "mase %s\n%s\n%s\n%s\n", MASE_VERSION, t->network, t->loss_hash,
                    mase_dataset_info(t->data)->checksum);
    add_options(&s, t);
    mase_str_addn(&s, (const char *)t->seen.hash, (size_t)t->seen.count * sizeof *t->seen.hash);
    mase_str_addn(&s, (const char *)&t->state, sizeof t->state);
    add_weights(&s, t);
    mase_sha256(hash, s.data, s.len);
    mase_str_release(&s);
    if (mase_ranks_same(t->opts.ranks, hash, sizeof hash, &differs))
        return MASE_OK;
    return mase_ranks_agree(
        t->opts.ranks,
        mase_fail(err, MASE_EVALUE,
                  "rank %d does not train what rank 0 does, since %s: all processes need the same "
                  "program, and the same network, weights and data in their files",
                  differs, since),
        err);
}
