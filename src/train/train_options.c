/*
 * train_options.c - the options of a run as rows: of training, and of opening data.
 */
#include <mase/trained.h>

/* the last two are tasks of the original, which do not train here */
static const char *const task_names[] = {
#define TASK(name, alias, ...) name alias,
#define ALIAS(alias)           , alias
#define NO_ALIAS
#include "evaluate/tasks.def"
    "translation", "tran", NULL
};
static const char *const intervals[] = { "epoch", "step", NULL };
static const char *const scalings[] = { "none", "standard", "minmax", NULL };
static const char *const target_scalings[] = { "none", "standard", NULL };

/* Bounds and defaults that run_options.def names. */
#define NO_LIMIT           0x1p53
#define KIND(k)            .type = MASE_OPT_TYPE_##k
#define FLAG               KIND(BOOL)
#define INTEGER(d, lo, hi) KIND(INT), .num = d, .min = lo, .max = hi
#define NUMBER(d, lo, hi)  KIND(FLOAT), .num = d, .min = lo, .max = hi
#define TEXT(d)            KIND(TEXT), .text = d
#define CHOICE(list, d)    KIND(CHOICE), .text = d, .choices = list
#define PATH               KIND(PATH)
#define WORD_OR_PATH(list) KIND(PATH), .choices = list

const struct mase_opt mase_train_rows[] = {
#define TRAIN(f, name, kind, hlp)                                                      \
    [MASE_TRAIN_##name] = {                                                            \
        .key = #name, .offset = offsetof(struct mase_train_opts, f), kind, .help = hlp \
    },
#include <mase/run_options.def>
    [MASE_TRAIN_OPTION_COUNT] = { 0 },
};

const struct mase_opt mase_data_rows[] = {
#define DATA(name, kind) [MASE_DATA_##name] = { .key = #name, kind },
#include <mase/run_options.def>
    [MASE_DATA_WORD_COUNT] = { 0 },
};
