/*
 * cmd_show.c - ch show FILE: describe any file of a model, and draw its graph. The bytes of a file
 * tell its kind; a word that is no file names a model.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <mase/file.h>

#include "cli/command/cmd_show.h"
#include "cli/project.h"

/* ---- sheets ---- */

struct mase_sheet *mase_show_sheet(struct mase_show *s, const char *key, const char *const *headers)
{
    struct mase_sheet *sheet = &s->sheet[s->sheets++];
    *sheet = (struct mase_sheet){ .key = key, .table = mase_table(&s->c->arena, headers) };
    return sheet;
}

const char *mase_show_count(struct mase_arena *a, int64_t n, const char *what)
{
    return mase_arena_printf(a, "%" PRId64 " %s%s", n, what, n == 1 ? "" : "s");
}

const char *mase_show_type(const struct mase_tensor *t)
{
    return mase_dtypes[t->dtype].torch + strlen("torch.");
}

/* ---- statistics ---- */

const char *const mase_show_stats[MASE_SHOW_STATS] = { "Min", "Max",        "Mean",
                                                       "Std", "Not finite", "Zeros" };

struct moments {
    double min, max, mean, std;
    int64_t not_finite; /* infinite or NaN; the statistics are over the others */
    int64_t zeros;
};

static struct moments measure(const struct mase_tensor *x)
{
    struct moments m = { .min = INFINITY, .max = -INFINITY };
    const int64_t n = mase_tensor_count(x);
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
        const double v = mase_tensor_get(x, i);
        if (!isfinite(v)) {
            m.not_finite++;
            continue;
        }
        m.zeros += v == 0;
        m.min = fmin(m.min, v);
        m.max = fmax(m.max, v);
        sum += v;
    }
    m.mean = sum / (double)(n - m.not_finite);
    const double widest = fmax(m.max - m.mean, m.mean - m.min); /* its square may overflow */
    for (int64_t i = 0; i < n && widest > 0; i++) {
        const double d = (mase_tensor_get(x, i) - m.mean) / widest;
        squares += isfinite(d) ? d * d : 0;
    }
    m.std = widest * sqrt(squares / (double)(n - m.not_finite));
    return m;
}

void mase_show_set_stats(struct mase_table *t, int row, int column, const struct mase_tensor *x)
{
    if (!x->data || !mase_tensor_count(x))
        return;
    const struct moments m = measure(x);
    const double value[] = { m.min, m.max, m.mean, m.std };
    for (int i = 0; i < 4 && m.not_finite < mase_tensor_count(x); i++)
        mase_cli_set_error(t, row, column + i, value[i]);
    mase_table_setf(t, row, column + 4, "%" PRId64, m.not_finite);
    mase_table_setf(t, row, column + 5, "%" PRId64, m.zeros);
}

/* ---- any file ---- */

static mase_show_fn *const handlers[MASE_KIND_COUNT] = {
    [MASE_KIND_UNKNOWN] = mase_show_graph,     [MASE_KIND_TORCH] = mase_show_tensors,
    [MASE_KIND_TORCH_OLD] = mase_show_tensors, [MASE_KIND_SAFETENSORS] = mase_show_tensors,
    [MASE_KIND_SCRIPT] = mase_show_tensors,    [MASE_KIND_NPZ] = mase_show_tensors,
    [MASE_KIND_NPY] = mase_show_tensors,       [MASE_KIND_MG] = mase_show_graph,
    [MASE_KIND_ONNX] = mase_show_graph,        [MASE_KIND_PYTHON] = mase_show_graph,
    [MASE_KIND_SAVED] = mase_show_graph,       [MASE_KIND_RUN] = mase_show_record,
    [MASE_KIND_JSON] = mase_show_record,       [MASE_KIND_TOML] = mase_show_record,
    [MASE_KIND_EVENTS] = mase_show_curves,     [MASE_KIND_HDF5] = mase_show_data,
    [MASE_KIND_EXPORT] = mase_show_tensors,
};

/* Fail with the kinds that can be shown: "PyTorch file (.pt .pth .ckpt), ...". */
static enum mase_status refuse(const struct mase_show *s, struct mase_err *err)
{
    struct mase_str known = { 0 };
    for (int i = MASE_KIND_UNKNOWN + 1; i < MASE_KIND_COUNT; i++) {
        const struct mase_file_kind_info *k = &mase_file_kinds[i];
        if (!handlers[i])
            continue;
        mase_str_printf(&known, "%s%s", known.len ? ", " : "", k->title);
        if (k->suffix[0])
            mase_str_printf(&known, " (%s)", k->suffix);
    }
    mase_fail(err, MASE_EUNSUPPORTED,
              "'%s' is %s, of which nothing can be shown; understood are: %s", s->word,
              mase_file_kinds[s->kind].title, mase_str_text(&known));
    mase_str_release(&known);
    return err->status;
}

/* Show the folder of a run: its network, then run.json. */
static enum mase_status show_project(struct mase_show *s, struct mase_err *err)
{
    const enum mase_file_kind kind = s->kind;
    s->kind = MASE_KIND_SAVED;
    MASE_TRY(mase_show_graph(s, err));
    s->kind = kind;
    const bool record = kind == MASE_KIND_RUN && !mase_cli_flag(s->c, MASE_CLI_program);
    return record ? mase_show_record(s, err) : MASE_OK;
}

/* The weights file of a folder of Hugging Face; any other word is returned. */
static const char *huggingface_weights(struct mase_arena *a, const char *word)
{
    const bool alone = mase_is_dir(word) && !mase_network_in(a, word);
    const char *inside = alone ? mase_weights_in(a, word) : NULL;
    return inside ? inside : word;
}

static enum mase_status show_file(struct mase_show *s, struct mase_err *err)
{
    s->word = huggingface_weights(&s->c->arena, s->word);
    MASE_TRY(mase_file_kind_find(&s->kind, s->word, err));
    const char *network = mase_network_in(&s->c->arena, s->word);
    if (mase_is_dir(s->word) && network && !mase_streq(network, s->word))
        return show_project(s, err);
    if (!handlers[s->kind] || s->kind == MASE_KIND_UNKNOWN)
        return refuse(s, err);
    if (mase_cli_flag(s->c, MASE_CLI_program) && handlers[s->kind] != mase_show_graph)
        return mase_fail(err, MASE_EVALUE, "--program: '%s' is %s, no network", s->word,
                         mase_file_kinds[s->kind].title);
    return handlers[s->kind](s, err);
}

static enum mase_status show(struct mase_show *s, struct mase_err *err)
{
    const bool exists = mase_is_dir(s->word) || mase_is_file(s->word);
    const char *picture = mase_cli_text(s->c, MASE_CLI_draw);
    if (picture && !mase_ends_with(picture, ".svg") && !mase_ends_with(picture, ".dot"))
        return mase_fail(err, MASE_EVALUE, "--draw: '%s' ends neither in .svg nor in .dot",
                         picture);
    if (mase_cli_flag(s->c, MASE_CLI_backward) && !mase_cli_flag(s->c, MASE_CLI_program))
        return mase_fail(err, MASE_EVALUE,
                         "--backward: gradients are shown as a program; add --program");
    if (exists || (strchr(s->word, '/') && !mase_model_is_file(s->word)))
        return show_file(s, err);
    s->kind = mase_model_is_file(s->word) ? MASE_KIND_PYTHON : MASE_KIND_UNKNOWN;
    return mase_show_graph(s, err);
}

enum mase_status mase_cli_show(struct mase_cli *c, struct mase_err *err)
{
    struct mase_show s = { .c = c };
    MASE_TRY(mase_cli_operands(c, 2, err));
    MASE_TRY(mase_cli_merge(c, err));
    MASE_TRY(mase_cli_subject(&s.word, c, err));
    if (c->operand_count > 1)
        MASE_TRY(mase_cli_name_dataset(c, c->operands[1], err));
    MASE_TRY(show(&s, err));
    mase_cli_put_sheets(c, s.sheet, s.sheets);
    return MASE_OK;
}
