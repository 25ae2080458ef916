/*
 * runner_evaluation.c - how good the network of a trial is on a split of the data.
 */
#include <math.h>

#include "search/runner.h"
#include "search/search_parts.h"

struct evaluation_opts {
    int64_t num_samples;
    const char *data_loader, *dataloader;
};

const char *const mase_search_loaders[] = { "train_dataloader", "val_dataloader", "test_dataloader",
                                            NULL };

/* The original's files write data_loader, its code reads dataloader. */
static const struct mase_opt options[] = {
    MASE_OPT_INT(struct evaluation_opts, num_samples, "num_samples", 0, 0, 0x1p53,
                 "samples to measure on, rounded up to batches; 0: all"),
    MASE_OPT_CHOICE(struct evaluation_opts, data_loader, "data_loader", NULL, mase_search_loaders,
                    "the split to measure on: val_dataloader"),
    MASE_OPT_CHOICE(struct evaluation_opts, dataloader, "dataloader", NULL, mase_search_loaders,
                    "the same by another name"),
    { 0 },
};

enum { LOSS, SCORE, ACCURACY, ACCURACY_ERROR, MACRO_ACCURACY, PERPLEXITY };
const struct mase_runner_metric mase_evaluation_metrics[] = {
    [LOSS] = { "loss", "mean over samples" },
    [SCORE] = { "score", "of the task" },
    [ACCURACY] = { "accuracy", "share of right answers" },
    [ACCURACY_ERROR] = { "accuracy_error", "standard error of the accuracy" },
    [MACRO_ACCURACY] = { "macro_accuracy", "mean recall of the classes" },
    [PERPLEXITY] = { "perplexity", "exponential of the loss" },
    { 0 },
};

static enum mase_split split_of(const char *loader)
{
    static const enum mase_split splits[] = { MASE_SPLIT_TRAIN, MASE_SPLIT_VALIDATION,
                                              MASE_SPLIT_TEST };
    int i = 1;
    for (int k = 0; loader && mase_search_loaders[k]; k++)
        i = mase_streq(mase_search_loaders[k], loader) ? k : i;
    return splits[i];
}

static bool wants(const struct mase_candidate *c, const char *metric)
{
    const struct mase_search_config *config = &c->search->config;
    for (int i = 0; i < config->metrics; i++)
        if (mase_streq(config->metric[i].name, metric))
            return true;
    return false;
}

enum mase_status mase_runner_evaluate(double *found, struct mase_candidate *c, const char *loader,
                                      int64_t samples, struct mase_err *err)
{
    const struct mase_split_rows rows = mase_search_rows(c->search, split_of(loader), samples);
    struct mase_evaluation e;
    struct mase_arena detail = { 0 };
    const enum mase_status st =
        mase_candidate_evaluate(&e, c, rows, wants(c, "macro_accuracy") ? &detail : NULL, err);
    if (!st) {
        found[LOSS] = e.loss;
        found[SCORE] = isnan(e.accuracy) ? e.score : NAN;
        found[ACCURACY] = e.accuracy;
        found[ACCURACY_ERROR] = e.accuracy_error;
        found[MACRO_ACCURACY] = wants(c, "macro_accuracy") ? e.macro_accuracy : NAN;
        found[PERPLEXITY] = wants(c, "perplexity") ? exp(e.loss) : NAN;
    }
    mase_arena_release(&detail);
    return st;
}

static enum mase_status measure(double *found, struct mase_candidate *c, const void *opts,
                                struct mase_err *err)
{
    const struct evaluation_opts *o = opts;
    return mase_runner_evaluate(found, c, o->data_loader ? o->data_loader : o->dataloader,
                                o->num_samples, err);
}

const struct mase_runner_functions mase_runner_basic_evaluation = {
    .options = options,
    .options_size = sizeof(struct evaluation_opts),
    .metrics = mase_evaluation_metrics,
    .measure = measure,
};
