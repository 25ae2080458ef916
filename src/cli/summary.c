/*
 * summary.c - the summary before training, as Lightning prints it, the data, and the checkpoint's
 * record of its data.
 */
#include <math.h>
#include <string.h>

#include <mase/log.h>

#include <mase/zoo.h>

#include "base/number.h"
#include "cli/command/cmd_train.h"

/* 117, 5.6 K, 11.0 K, 14.0 M, 402 K: one decimal below 100 of a unit. */
static void add_count(struct mase_str *out, int64_t n)
{
    static const char units[] = " KMBT";
    double v = (double)n;
    int unit = 0;
    while (v >= 1000 && unit < 4) {
        v /= 1000;
        unit++;
    }
    if (unit == 0)
        mase_str_printf(out, "%lld", (long long)n);
    else
        mase_str_printf(out, v >= 100 ? "%.0f %c" : "%.1f %c", v >= 100 ? floor(v) : v,
                        units[unit]);
}

enum { HELPERS = 6, NAME_WIDTH = 9, TYPE_WIDTH = 18 };

/* Submodules of the original's training module; they have no parameters. */
struct helper {
    const char *name, *type;
};

static void set_helpers(struct helper h[HELPERS], struct mase_arena *a,
                        const struct mase_objective *o)
{
    static const char *const scored[] = { "train", "val", "test" };
    const char *own = o->own ? mase_model_class(a, o->own) : NULL;
    h[0] = (struct helper){ "loss_fn", own      ? own
                                       : o->own ? "an expression"
                                                : mase_loss_titles[o->loss] };
    for (int i = 0; i < 3; i++)
        h[1 + i] = (struct helper){ mase_arena_printf(a, "%s_%s", o->task->score, scored[i]),
                                    o->task->score_class };
    h[4] = (struct helper){ "loss_val", "MeanMetric" };
    h[5] = (struct helper){ "loss_test", "MeanMetric" };
}

static void add_line(struct mase_str *out, const char *index, const char *name, const char *type,
                     int width, const char *params)
{
    mase_str_printf(out, "%s | %-*s | %-*s | %s\n", index, NAME_WIDTH, name, width, type, params);
}

static void add_total(struct mase_str *out, int64_t count, const char *what)
{
    struct mase_str text = { 0 };
    add_count(&text, count);
    mase_str_printf(out, "%-10s%s\n", mase_str_text(&text), what);
    mase_str_release(&text);
}

static void add_text(struct mase_str *out, const struct mase_model *m, const struct mase_graph *g,
                     const struct helper *helpers)
{
    struct mase_str count = { 0 };
    const int64_t n = mase_graph_param_count(g), frozen = mase_graph_frozen_count(g);
    add_count(&count, n);
    const char *params = mase_str_text(&count);
    const int longest = (int)strlen(m->class_name);
    const int width = longest > TYPE_WIDTH ? longest : TYPE_WIDTH;
    const int last = count.len > strlen("Params") ? (int)count.len : (int)strlen("Params");
    const int rule = 1 + NAME_WIDTH + width + last + 15;
    char index[16];

    add_line(out, " ", "Name", "Type", width, "Params");
    mase_str_pad(out, '-', rule);
    mase_str_addc(out, '\n');
    add_line(out, "0", "model", m->class_name, width, params);
    for (int i = 0; i < HELPERS; i++) {
        mase_snprintf(index, sizeof index, "%d", i + 1);
        add_line(out, index, helpers[i].name, helpers[i].type, width, "0");
    }
    mase_str_pad(out, '-', rule);
    mase_str_addc(out, '\n');
    add_total(out, n - frozen, "Trainable params");
    add_total(out, frozen, "Non-trainable params");
    add_total(out, n, "Total params");
    mase_str_printf(out, "%-10.3fTotal estimated model params size (MB)\n", (double)n * 4e-6);
    mase_str_release(&count);
}

/* As a table for other formats, without totals. */
static struct mase_table as_table(struct mase_arena *a, const struct mase_model *m,
                                  const struct mase_graph *g, const struct helper *helpers)
{
    static const char *const headers[] = { "Name", "Type", "Params", NULL };
    struct mase_table t = mase_table(a, headers);
    mase_table_add(&t, (const char *[]){ "model", m->class_name, "" });
    mase_table_setf(&t, 0, 2, "%lld", (long long)mase_graph_param_count(g));
    for (int i = 0; i < HELPERS; i++)
        mase_table_add(&t, (const char *[]){ helpers[i].name, helpers[i].type, "0" });
    return t;
}

void mase_cli_summary(struct mase_cli *c, const struct mase_model *m, const struct mase_graph *g,
                      const struct mase_objective *o)
{
    struct mase_str out = { 0 };
    struct helper helpers[HELPERS];
    set_helpers(helpers, &c->arena, o);
    if (c->sheets.format != MASE_SHEET_TEXT) {
        mase_sheets_add(
            &c->sheets,
            &(struct mase_sheet){ .key = "modules", .table = as_table(&c->arena, m, g, helpers) });
        return;
    }
    add_text(&out, m, g, helpers);
    mase_sheets_say(&c->sheets, "%s", mase_str_text(&out));
    mase_str_release(&out);
}

void mase_cli_log_data(struct mase_arena *a, const struct mase_dataset *d)
{
    const struct mase_dataset_info *i = mase_dataset_info(d);
    mase_info("%s from %s: %lld rows to train on, %lld to validate, %lld to test", i->data.name,
              i->source, (long long)mase_dataset_split(d, MASE_SPLIT_TRAIN).count,
              (long long)mase_dataset_split(d, MASE_SPLIT_VALIDATION).count,
              (long long)mase_dataset_split(d, MASE_SPLIT_TEST).count);
    if (i->drop_missing)
        mase_info("%lld rows with a missing value are left out", (long long)i->dropped);
    mase_info("Features are %s", mase_cli_scaling_words(a, d));
}
