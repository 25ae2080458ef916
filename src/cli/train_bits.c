/*
 * train_bits.c - bits of a quantised training: bits.csv, run.json, a log line.
 *
 *     epoch,layer,operand,values,mean_bits,min_bits,max_bits,zero_share,ebops
 *
 * One row for each operand that has a number format, after each epoch; epochs count from 0, as in
 * metrics.csv. ebops are those of the layer, of dense ones and convolutions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>

#include "base/number.h"
#include "cli/command/cmd_train.h"

static const char header[] =
    "epoch,layer,operand,values,mean_bits,min_bits,max_bits,zero_share,ebops\n";

/* ---- bits.csv ---- */

/* Keep rows of complete epochs; an interrupted epoch is written again. */
static enum mase_status keep_rows(struct mase_str *out, const char *path, int64_t epoch,
                                  struct mase_err *err)
{
    struct mase_file file;
    if (!mase_is_file(path))
        return MASE_OK;
    MASE_TRY(mase_file_open(&file, path, err));
    const char *p = (const char *)file.data, *end = p + file.size;
    for (const char *line = p, *next; line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        if (stop && line > p && strtoll(line, NULL, 10) < epoch)
            mase_str_printf(out, "%.*s", (int)(next - line), line);
    }
    mase_file_close(&file);
    return MASE_OK;
}

enum mase_status mase_cli_bits_open(struct mase_cli_bits *b, const char *path, bool resume,
                                    int64_t epoch, struct mase_err *err)
{
    struct mase_str text = { 0 };
    enum mase_status st = MASE_OK;
    b->path = path;
    mase_str_add(&text, header);
    if (resume)
        st = keep_rows(&text, path, epoch, err);
    if (!st)
        st = mase_file_write(path, text.data, text.len, err);
    mase_str_release(&text);
    if (!st && !(b->file = fopen(path, "a")))
        st = mase_fail_errno(err, path, "cannot open");
    return st;
}

enum mase_status mase_cli_bits_epoch(struct mase_cli_bits *b, const struct mase_train_epoch *e,
                                     struct mase_err *err)
{
    if (!b->file)
        return MASE_OK;
    for (int i = 0; i < e->bit_rows; i++) {
        const struct mase_layer_bits *r = &e->bits[i];
        mase_fprintf(b->file, "%lld,%s,%s,%lld,%.9g,%d,%d,%.9g,", (long long)e->epoch, r->layer,
                     r->operand, (long long)r->values, r->mean, r->min, r->max, r->zero);
        if (isfinite(r->ebops))
            mase_fprintf(b->file, "%.17g", r->ebops);
        fputc('\n', b->file);
    }
    fflush(b->file);
    return ferror(b->file) ? mase_fail_errno(err, b->path, "cannot write") : MASE_OK;
}

enum mase_status mase_cli_bits_close(struct mase_cli_bits *b, struct mase_err *err)
{
    if (!b->file)
        return MASE_OK;
    const bool broken = ferror(b->file) != 0;
    const bool closed = fclose(b->file) == 0;
    b->file = NULL;
    return broken || !closed ? mase_fail_errno(err, b->path, "cannot write") : MASE_OK;
}

/* ---- TensorBoard ---- */

enum mase_status mase_cli_bits_events(struct mase_events *events, struct mase_arena *a,
                                      const struct mase_train_epoch *e, struct mase_err *err)
{
    const int64_t step = e->step - 1;
    if (!isfinite(e->ebops))
        return MASE_OK;
    MASE_TRY(mase_events_scalar(events, "ebops", step, e->ebops, err));
    for (int i = 0; i < e->bit_rows; i++) {
        const struct mase_layer_bits *r = &e->bits[i];
        const char *tag = mase_arena_printf(a, "bits/%s.%s", r->layer, r->operand);
        if (r->learned)
            MASE_TRY(mase_events_scalar(events, tag, step, r->mean, err));
    }
    return MASE_OK;
}

/* ---- log and results ---- */

static struct mase_value *row_value(struct mase_arena *a, const struct mase_layer_bits *r)
{
    struct mase_value *v = mase_value_table(a);
    mase_value_set(a, v, "layer", mase_value_string(a, r->layer));
    mase_value_set(a, v, "operand", mase_value_string(a, r->operand));
    mase_value_set(a, v, "values", mase_value_int(a, r->values));
    mase_value_set(a, v, "mean_bits", mase_value_float(a, r->mean));
    mase_value_set(a, v, "min_bits", mase_value_int(a, r->min));
    mase_value_set(a, v, "max_bits", mase_value_int(a, r->max));
    mase_value_set(a, v, "zero_share", mase_value_float(a, r->zero));
    mase_value_set(a, v, "ebops",
                   isfinite(r->ebops) ? mase_value_float(a, r->ebops) : mase_value_none(a));
    return v;
}

void mase_cli_bits_set(struct mase_arena *a, struct mase_value *results,
                       const struct mase_train_epoch *e)
{
    struct mase_value *list = mase_value_list(a);
    if (!e->bit_rows)
        return;
    for (int i = 0; i < e->bit_rows; i++)
        mase_value_push(a, list, row_value(a, &e->bits[i]));
    if (isfinite(e->ebops))
        mase_value_set(a, results, "ebops", mase_value_float(a, e->ebops));
    mase_value_set(a, results, "bits", list);
}

/* Means over the values of all layers. */
static void add_operand(struct mase_str *out, const struct mase_train_epoch *e, const char *operand,
                        const char *called)
{
    double bits = 0, none = 0, values = 0;
    for (int i = 0; i < e->bit_rows; i++) {
        const struct mase_layer_bits *r = &e->bits[i];
        if (!mase_streq(r->operand, operand))
            continue;
        bits += r->mean * (double)r->values;
        none += r->zero * (double)r->values;
        values += (double)r->values;
    }
    if (values > 0)
        mase_str_printf(out, ", %s of %.2f bits", called, bits / values);
    if (none > 0)
        mase_str_printf(out, " (%.1f %% have none)", 100 * none / values);
}

void mase_cli_bits_print(struct mase_sheets *s, const struct mase_train_epoch *e)
{
    struct mase_str text = { 0 };
    if (!isfinite(e->ebops))
        return;
    mase_str_printf(&text, "%.0f EBOPs", e->ebops);
    add_operand(&text, e, "weight", "weights");
    add_operand(&text, e, "data_in", "data");
    mase_sheets_line(s, "%s", mase_str_text(&text));
    mase_str_release(&text);
}
