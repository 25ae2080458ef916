/*
 * format_values.c - ch formats [NAME [PARAMETER=VALUE]...] --values: the values of number formats,
 * in a table and on a number line.
 *
 * Limits, codes and neighbours are asked of the formats. The values of a block depend on its shared
 * scale; the block shown has 1 as its largest value.
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "cli/cli.h"
#include "cli/command/cmd_formats.h"
#include "quant/quant.h"

/* ---- properties of a format ---- */

struct facts {
    float low, high;    /* over all blocks */
    float small, large; /* steps at the smallest positive and at the largest value; 0: none */
    int64_t values;
    int64_t shared;
};

/* What a block shares if its largest value is 1. */
static int64_t shared_by_one(const struct mase_format *f)
{
    enum { N = 8 };
    static const float parts[N] = { 1, -0.5f, 0.25f, -0.125f, 0.75f, 0.3f, 0, -0.9f };
    int64_t row[N], code[N], shared = 0;
    float q[N];
    if (!mase_format_has_blocks(f))
        return 0;
    for (int i = 0; i < N; i++)
        row[i] = i;
    const struct mase_block b = { .row = row, .rows = N, .lanes = 1 };
    mase_quantize_blocks(f, q, parts, &b, MASE_SIGNED);
    mase_format_encode(code, &shared, f, q, N, MASE_SIGNED);
    return shared;
}

static float above(const struct mase_format *f, float x, int64_t shared)
{
    return mase_format_neighbours(f, x, shared, MASE_SIGNED).above;
}

static float below(const struct mase_format *f, float x, int64_t shared)
{
    return mase_format_neighbours(f, x, shared, MASE_SIGNED).below;
}

static float step_of(float low, float high)
{
    return isfinite(low) && isfinite(high) ? high - low : 0.0f;
}

static struct facts facts_of(const struct mase_format *f)
{
    struct facts facts = { .shared = shared_by_one(f) };
    const float least = above(f, 0, facts.shared), most = below(f, INFINITY, facts.shared);
    int64_t first, last;
    mase_format_limits(&facts.low, &facts.high, f, MASE_SIGNED);
    facts.small = step_of(least, above(f, least, facts.shared));
    facts.large = step_of(below(f, most, facts.shared), most);
    mase_format_range(&first, &last, f, MASE_SIGNED);
    facts.values = last - first + 1;
    return facts;
}

static const char *steps_text(struct mase_arena *a, const struct facts *f)
{
    if (f->small == 0)
        return "-";
    if (fabsf(f->large / f->small - 1) <
        1e-5f) /* scales that are no powers of two cause rounding errors */
        return mase_arena_printf(a, "%.4g", (double)f->small);
    return mase_arena_printf(a, "%.4g .. %.4g", (double)f->small, (double)f->large);
}

static const char *standard_of(const struct mase_quant_info *q)
{
    return q->standard ? q->standard : q->learned ? "learned" : "MASE";
}

static void add_facts(struct mase_table *t, struct mase_arena *a, const struct mase_format *f)
{
    const struct facts facts = facts_of(f);
    const int row = mase_table_row(t);
    struct mase_str text = { 0 };
    mase_format_print(&text, f);
    mase_table_set(t, row, 0, mase_str_text(&text));
    mase_table_setf(t, row, 1, "%d", mase_format_bits(f));
    if (mase_format_has_blocks(f) && f->row->shared_bits)
        mase_table_setf(t, row, 2, "%d", f->row->shared_bits(f->params));
    else
        mase_table_set(t, row, 2, "-");
    mase_table_setf(t, row, 3, "%.6g", (double)facts.low);
    mase_table_setf(t, row, 4, "%.6g", (double)facts.high);
    mase_table_set(t, row, 5,
                   f->row->learned || mase_format_is_open(f) ? "-" : steps_text(a, &facts));
    mase_table_setf(t, row, 6, "%" PRId64, facts.values);
    mase_table_set(t, row, 7, standard_of(f->row));
    mase_table_set(t, row, 8, f->row->same_as ? f->row->same_as : "-");
    mase_str_release(&text);
}

static struct mase_table facts_table(struct mase_cli *c)
{
    static const char *const headers[] = { "Format", "Bits",   "Block",    "Lowest",    "Highest",
                                           "Step",   "Values", "Standard", "Preset of", NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    t.align[7] = t.align[8] = MASE_ALIGN_LEFT;
    return t;
}

/* ---- the number line ---- */

enum { COLUMNS = 73 };

static int column_of(float x, float low, float high)
{
    return (int)rint(((double)x - (double)low) / ((double)high - (double)low) * (COLUMNS - 1));
}

/* Centre a label over its column if there is room. */
static void put_label(char *line, int column, const char *label)
{
    const int n = (int)strlen(label);
    int at = column - n / 2;
    at = at < 0 ? 0 : at + n > COLUMNS ? COLUMNS - n : at;
    memcpy(line + at, label, (size_t)n);
}

static void draw(struct mase_str *out, const struct mase_format *f)
{
    const int64_t shared = shared_by_one(f);
    const float low = above(f, -INFINITY, shared), high = below(f, INFINITY, shared);
    char marks[COLUMNS + 1] = { 0 }, labels[COLUMNS + 1] = { 0 }, text[32];
    memset(marks, '-', COLUMNS);
    memset(labels, ' ', COLUMNS);
    for (float x = low; isfinite(x); x = above(f, x, shared))
        marks[column_of(x, low, high)] = '|';
    mase_snprintf(text, sizeof text, "%.4g", (double)low);
    put_label(labels, 0, text);
    mase_snprintf(text, sizeof text, "%.4g", (double)high);
    put_label(labels, COLUMNS - 1, text);
    if (low < 0 && high > 0)
        put_label(labels, column_of(0, low, high), "0");
    mase_format_print(out, f);
    mase_str_printf(out, "%s\n\n%s\n%s\n",
                    mase_format_has_blocks(f) ? ", of a block whose largest value is 1" : "", marks,
                    labels);
}

static void put_line(struct mase_cli *c, const struct mase_format *f)
{
    struct mase_str line = { 0 };
    draw(&line, f);
    mase_sheets_say(&c->sheets, "\n%s", mase_str_text(&line));
    mase_str_release(&line);
}

/* ---- the command ---- */

enum mase_status mase_cli_format_values(struct mase_cli *c, const struct mase_format *f,
                                        struct mase_err *err)
{
    enum { MOST_DRAWN = 64 };
    struct mase_table t = facts_table(c);
    const struct mase_format *drawn = f;
    add_facts(&t, &c->arena, f);
    mase_cli_put_table(c, &t);
    if (f->row->learned ||
        mase_format_is_open(f)) /* training, or other values, decide the values */
        return MASE_OK;
    if (facts_of(f).values > MOST_DRAWN) { /* a small format of the family shows more */
        if (!f->row->drawn)
            return MASE_OK;
        MASE_TRY(mase_format_parse(&drawn, f->row->drawn, err));
    }
    put_line(c, drawn);
    return MASE_OK;
}

/* A row for each kind of a format that needs to be told one. */
static enum mase_status add_kinds(struct mase_table *t, struct mase_cli *c,
                                  const struct mase_quant_info *q, struct mase_err *err)
{
    for (const char *const *kind = q->params[0].choices; *kind; kind++) {
        const struct mase_format *f;
        MASE_TRY(
            mase_format_parse(&f, mase_arena_printf(&c->arena, "%s(%s)", q->name, *kind), err));
        add_facts(t, &c->arena, f);
    }
    return MASE_OK;
}

enum mase_status mase_cli_all_format_values(struct mase_cli *c, struct mase_err *err)
{
    struct mase_table t = facts_table(c);
    for (int k = MASE_QUANT_float + 1; k < MASE_QUANT_COUNT; k++) {
        const struct mase_quant_info *q = mase_quants[k];
        const struct mase_format *f;
        if (q->params[0].required && q->params[0].type == MASE_OPT_TYPE_CHOICE) {
            MASE_TRY(add_kinds(&t, c, q, err));
            continue;
        }
        MASE_TRY(mase_cli_format_proposed(&f, c, (enum mase_quant_kind)k, err));
        add_facts(&t, &c->arena, f);
    }
    mase_cli_put_table(c, &t);
    return MASE_OK;
}
