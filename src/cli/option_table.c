/*
 * option_table.c - the option table, and checks of values against its rows.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/calibrate.h>
#include <mase/emit.h>
#include <mase/file.h>
#include <mase/log.h>
#include <mase/sheet.h>

#include "cli/options.h"

#include "base/number.h"

static const char *const load_types[] = {
    "auto", "pt", "pl", "mz", "hf", "safetensors", "npz", NULL
};
static const char *const engines[] = {
#define ENGINE(name, several, help) #name,
#include "evaluate/engines.def"
    NULL
};
static const char engine_help[] = "what computes"
#define ENGINE(name, several, help) ". " #name " " help
#include "evaluate/engines.def"
    ;
static const char *const yes_or_no[] = { "yes", "no", NULL };
static const char *const dialects[] = { "any", "qdq", "qonnx", NULL };
static const char *const log_levels[] = { "debug", "info", "warning", "error", "critical", NULL };
static const char *const reporters[] = { "wandb", "tensorboard", NULL };
static const char *const precisions[] = { "16-mixed", "32", "64", "bf16", NULL };
static const char *const accelerators[] = { "auto", "cpu", "gpu", "mps", NULL };
static const char *const strategies[] = { "auto", "ddp", "ddp_find_unused_parameters_true", NULL };
static const char *const measured[] = { "none", "validation", "test", NULL };
static const char *const optuna_versions[] = { "5", "3.1", NULL };
static const char *const occasions[] = { "auto", "always", "never", NULL };
static const char *const prune_methods[] = { "random", "l1-norm", "l2-norm", NULL };
static const char *const scopes[] = { "local", "global", NULL };
static const char *const granularities[] = { "elementwise", "channel", NULL };
static const char *const info_topics[] = { "all", "model", "dataset", NULL };

const char *const mase_cli_group_titles[MASE_CLI_GROUP_COUNT] = {
    [MASE_CLI_GROUP_MAIN] = "main arguments",
    [MASE_CLI_GROUP_GENERAL] = "general options",
    [MASE_CLI_GROUP_PROJECT] = "project options",
    [MASE_CLI_GROUP_TRAINER] = "trainer options",
    [MASE_CLI_GROUP_DATA] = "data options",
    [MASE_CLI_GROUP_RUNTIME] = "runtime options",
    [MASE_CLI_GROUP_HARDWARE] = "hardware options",
    [MASE_CLI_GROUP_LANGUAGE] = "language model options",
    [MASE_CLI_GROUP_PRUNE] = "pruning options",
    [MASE_CLI_GROUP_CALIBRATE] = "calibration options",
    [MASE_CLI_GROUP_SEARCH] = "search options",
    [MASE_CLI_GROUP_PREDICT] = "prediction options",
    [MASE_CLI_GROUP_INSPECT] = "looking options",
    [MASE_CLI_GROUP_REPORT] = "report options",
    [MASE_CLI_GROUP_LISTING] = "listing options",
    [MASE_CLI_GROUP_OUTPUT] = "output options",
    [MASE_CLI_GROUP_INFORMATION] = "information",
};

/* Names that rows of options.def use. */
enum {
    ROW = MASE_CLI_ROW,
    KEY = MASE_CLI_KEY,
    MANY = MASE_CLI_MANY,
    SET = MASE_CLI_SET,
};
_Static_assert(MASE_CLI_COMMAND_COUNT < 31, "a set of commands is an int");
#define BY(command) (1 << MASE_CLI_COMMAND_##command)
enum {
    NONE = 0,
#define COMMAND(name, run, operands, kind, help) | BY(name)
    ALL = NONE
#include "cli/commands.def"
    ,
#define COMMAND(name, run, operands, kind, help) | ((kind) >= MASE_CLI_ACTION ? BY(name) : 0)
    ACTIONS = NONE
#include "cli/commands.def"
    ,
#define COMMAND(name, run, operands, kind, help) | ((kind) == MASE_CLI_INSPECT ? BY(name) : 0)
    INSPECTION = NONE
#include "cli/commands.def"
    ,
    /* commands that print tables; predict writes a file, report a page */
    TABULATING = (ACTIONS & ~BY(predict)) | INSPECTION | BY(data) | BY(passes) | BY(ops) |
                 BY(formats) | BY(study),
    TRAINING = BY(train) | BY(sweep),
    RUNNING =
        ACTIONS | INSPECTION | BY(data) | BY(report), /* commands that run a network on data */
};
#define NO_LIMIT 0x1p53 /* no bound */
#define OWN(...)                    \
    .opt = &(const struct mase_opt) \
    {                               \
        __VA_ARGS__                 \
    }
#define KIND(k)            .type = MASE_OPT_TYPE_##k
#define FLAG               OWN(KIND(BOOL))
#define INTEGER(d, lo, hi) OWN(KIND(INT), .num = d, .min = lo, .max = hi)
#define POSITIVE(d)        OWN(KIND(INT), .num = d), .positive = true
#define NUMBER(d, lo, hi)  OWN(KIND(FLOAT), .num = d, .min = lo, .max = hi)
#define TEXT(d)            OWN(KIND(TEXT), .text = d)
#define CHOICE(list, d)    OWN(KIND(CHOICE), .text = d, .choices = list)
#define PATH(what, d)      OWN(KIND(PATH), .text = d), .path = MASE_CLI_##what
/* rows of run_options.def */
#define TRAIN(name)           .opt = &mase_train_rows[MASE_TRAIN_##name]
#define TRAIN_POSITIVE(name)  TRAIN(name), .positive = true
#define DATA(name)            .opt = &mase_data_rows[MASE_DATA_##name]
#define DATA_PATH(what, name) DATA(name), .path = MASE_CLI_##what
/* rows of the target C */
#define TARGET_C(name) .opt = &mase_target_c_rows[MASE_TARGET_C_##name]
#define OPTION(name, spelt, meta, type_and_default, grp, takers, users, flg, hlp) \
    [MASE_CLI_##name] = { .key = #name,                                           \
                          .help = hlp,                                            \
                          .spellings = spelt,                                     \
                          .metavar = meta,                                        \
                          type_and_default,                                       \
                          .group = MASE_CLI_GROUP_##grp,                          \
                          .taken_by = takers,                                     \
                          .used_by = users,                                       \
                          .flags = flg },
const struct mase_cli_option mase_cli_options[MASE_CLI_COUNT] = {
#include "cli/options.def"
};
#undef TRAIN
#undef DATA
#undef TARGET_C

const enum mase_cli_option_id mase_cli_train_ids[MASE_TRAIN_OPTION_COUNT] = {
#define TRAIN(field, name, kind, help) [MASE_TRAIN_##name] = MASE_CLI_##name,
#include <mase/run_options.def>
};
const enum mase_cli_option_id mase_cli_data_ids[MASE_DATA_WORD_COUNT] = {
#define DATA(name, kind) [MASE_DATA_##name] = MASE_CLI_##name,
#include <mase/run_options.def>
};

const struct mase_value *mase_cli_effective(const struct mase_cli_setting *s)
{
    return s->settled ? s->settled : s->cmdline ? s->cmdline : s->file ? s->file : s->dflt;
}

/* The next blank-separated word of *p, its length in *n; NULL at the end. */
static const char *next_word(const char **p, size_t *n)
{
    const char *start = *p + strspn(*p, " ");
    *n = strcspn(start, " ");
    *p = start + *n;
    return *n ? start : NULL;
}

int mase_cli_option_by_spelling(const char *word)
{
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        const char *p = mase_cli_options[i].spellings, *s;
        size_t n;
        while (p && (s = next_word(&p, &n)))
            if (strlen(word) == n && memcmp(s, word, n) == 0)
                return i;
    }
    return -1;
}

int mase_cli_option_by_name(const char *name)
{
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        if (mase_streq(mase_cli_options[i].key, name))
            return i;
    return -1;
}

void mase_cli_option_usage(struct mase_str *out, const struct mase_cli_option *o)
{
    const char *p = o->spellings ? o->spellings : "", *s;
    size_t n;
    for (int i = 0; (s = next_word(&p, &n)); i++) {
        mase_str_add(out, i ? ", " : "");
        mase_str_addn(out, s, n);
    }
    if (o == &mase_cli_options[MASE_CLI_info])
        mase_str_printf(out, " [%s]", o->metavar);
    else if (o->metavar)
        mase_str_printf(out, "%s%s", o->spellings ? " " : "", o->metavar);
}

struct mase_value *mase_cli_option_default(struct mase_arena *a, enum mase_cli_option_id id)
{
    const struct mase_cli_option *o = &mase_cli_options[id];
    if (o->flags & MASE_CLI_MANY)
        return mase_value_list(a);
    if (id == MASE_CLI_num_workers)
        return mase_value_int(a, sysconf(_SC_NPROCESSORS_ONLN));
    struct mase_value *v = mase_opt_default_value(a, o->opt);
    if (v->kind == MASE_FLOAT && v->f == 0) /* print a float 0 as 0 */
        return mase_value_int(a, 0);
    if (o->path && v->kind == MASE_STRING)
        return mase_value_string(a, mase_path_absolute(a, v->s));
    return v;
}

/* Is the text one of the words that some paths may be? A file of that name is given as "./word". */
static bool is_word(const struct mase_cli_option *o, const char *text)
{
    for (const char *const *c = o->opt->choices; c && *c; c++)
        if (mase_streq(*c, text))
            return true;
    return false;
}

/* Check that a path is of the kind that the option needs. */
static enum mase_status check_path(const struct mase_cli_option *o, const char *called,
                                   const struct mase_value *v, struct mase_err *err)
{
    const bool dir = mase_is_dir(v->s), file = !dir && access(v->s, F_OK) == 0;
    const char *fault = NULL;
    switch (o->path) {
    case MASE_CLI_FILE:
    case MASE_CLI_TOML:
        fault = dir ? "expected path to file, got directory" : file ? NULL : "file not found:";
        break;
    case MASE_CLI_DIR:
        fault = file ? "expected path to directory, got file" : NULL;
        break;
    case MASE_CLI_FILE_OR_DIR:
        fault = dir || file ? NULL : "file or directory not found:";
        break;
    }
    if (fault && o->opt->choices) {
        struct mase_str words = { 0 };
        for (const char *const *c = o->opt->choices; *c; c++)
            mase_str_printf(&words, "%s, ", *c);
        const enum mase_status st =
            mase_fail_at(err, MASE_EIO, v->at, "%s: '%s' is neither of %snor a file", called, v->s,
                         mase_str_text(&words));
        mase_str_release(&words);
        return st;
    }
    if (!fault && o->path == MASE_CLI_TOML && !mase_ends_with(v->s, ".toml"))
        fault = "expected a .toml file, got";
    if (fault)
        return mase_fail_at(err, MASE_EIO, v->at, "%s: %s '%s'", called, fault, v->s);
    return MASE_OK;
}

/* The choices 32 and 64 may be numbers in a file. */
static const struct mase_value *as_choice(struct mase_arena *a, const struct mase_value *v)
{
    if (v->kind != MASE_INT)
        return v;
    struct mase_value *text = mase_value_string(a, mase_arena_printf(a, "%lld", (long long)v->i));
    text->at = v->at;
    return text;
}

enum mase_status mase_cli_option_check(struct mase_value **out, struct mase_arena *a,
                                       enum mase_cli_option_id id, const char *called,
                                       const struct mase_value *v, struct mase_err *err)
{
    const struct mase_cli_option *o = &mase_cli_options[id];
    struct mase_opt row = *o->opt;

    if (o->positive && v->kind == MASE_NONE) {
        *out = mase_value_none(a);
        return MASE_OK;
    }
    if (row.type == MASE_OPT_TYPE_CHOICE)
        v = as_choice(a, v);
    row.key = called;
    row.required = o->flags & MASE_CLI_MANY; /* a list cannot contain None */
    MASE_TRY(mase_opt_convert(out, a, &row, v, err));
    if (!o->path || v->kind != MASE_STRING || is_word(o, v->s))
        return MASE_OK;
    MASE_TRY(check_path(o, called, v, err));
    if (o->path != MASE_CLI_TOML)
        *out = mase_value_string(a, mase_path_absolute(a, v->s));
    (*out)->at = v->at;
    return MASE_OK;
}

static enum mase_status fail_number(const struct mase_opt *row, const char *called,
                                    const char *text, struct mase_err *err)
{
    struct mase_str allowed = { 0 };
    mase_opt_describe(&allowed, row);
    enum mase_status st = mase_fail(err, MASE_EVALUE, "%s = '%s' is not a number; allowed: %s",
                                    called, text, mase_str_text(&allowed));
    mase_str_release(&allowed);
    return st;
}

enum mase_status mase_cli_option_read(struct mase_value **out, struct mase_arena *a,
                                      enum mase_cli_option_id id, const char *called,
                                      const char *text, struct mase_err *err)
{
    const struct mase_opt *row = mase_cli_options[id].opt;
    struct mase_value *v = mase_value_string(a, text);
    char *end = NULL;

    errno = 0;
    if (row->type == MASE_OPT_TYPE_INT)
        v = mase_value_int(a, strtoll(text, &end, 10));
    else if (row->type == MASE_OPT_TYPE_FLOAT)
        v = mase_value_float(a, mase_number_read(text, &end));
    if (end && (end == text || *end || errno))
        return fail_number(row, called, text, err);
    v->at = MASE_NOWHERE;
    return mase_cli_option_check(out, a, id, called, v, err);
}
