/*
 * data_export.c - ch data export NAME FILE: write a dataset by splits, as a network gets it, or
 * with --raw unscaled.
 *
 *     FILE.npz     x_train, y_train, x_val, y_val, x_test, y_test: samples in their shape as 32-bit
 *                  floats (bytes of pictures with --raw), classes as 64-bit integers, numbers to
 *                  predict as 32-bit floats
 *     FILE.csv     a column split (train, valid, test), the features, the numbers to predict or a
 *                  column label with the names of the classes; tables alone
 *
 * Either is read back as a dataset of the same splits, the second by --split-by split.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <mase/dataset.h>
#include <mase/file.h>
#include <mase/log.h>
#include <mase/npy.h>

#include "cli/cli.h"
#include "cli/command/cmd_train.h"

static const char *const array_names[][2] = { [MASE_SPLIT_TRAIN] = { "x_train", "y_train" },
                                              [MASE_SPLIT_VALIDATION] = { "x_val", "y_val" },
                                              [MASE_SPLIT_TEST] = { "x_test", "y_test" } };
enum { PARTS = 3 };

/* ---- npz ---- */

static struct mase_tensor samples(struct mase_arena *a, const struct mase_dataset *d,
                                  struct mase_split_rows rows, bool raw)
{
    const struct mase_shape *one = &mase_dataset_info(d)->data.sample;
    const int64_t features = mase_shape_count(one);
    const bool bytes = raw && mase_dataset_info(d)->image.channels;
    struct mase_shape shape = { one->rank + 1, { rows.count } };
    memcpy(shape.dim + 1, one->dim, (size_t)one->rank * sizeof one->dim[0]);
    struct mase_tensor t = mase_tensor(a, bytes ? MASE_U8 : MASE_F32, &shape, true);
    float *row = bytes ? mase_new_array(a, float, (size_t)features) : NULL;
    for (int64_t i = 0; i < rows.count; i++) {
        mase_dataset_batch(d, &(struct mase_batch){ .row = rows.row + i,
                                                    .n = 1,
                                                    .x = row ? row : mase_f32(&t) + i * features,
                                                    .feature_stride = 1,
                                                    .sample_stride = features,
                                                    .raw = raw });
        for (int64_t f = 0; row && f < features; f++)
            ((unsigned char *)t.data)[i * features + f] = (unsigned char)row[f];
    }
    return t;
}

/* Classes, or unscaled regression targets. */
static struct mase_tensor labels(struct mase_arena *a, const struct mase_dataset *d,
                                 struct mase_split_rows rows)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const float *numbers = mase_dataset_targets(d);
    const int64_t each = info->data.targets;
    struct mase_shape shape = { 1, { rows.count } };
    if (numbers) {
        shape.rank += info->target.rank;
        memcpy(shape.dim + 1, info->target.dim,
               (size_t)info->target.rank * sizeof info->target.dim[0]);
    }
    struct mase_tensor t = mase_tensor(a, numbers ? MASE_F32 : MASE_I64, &shape, true);
    for (int64_t i = 0; i < rows.count; i++)
        if (numbers)
            memcpy(mase_f32(&t) + i * each, numbers + rows.row[i] * each,
                   (size_t)each * sizeof *numbers);
        else
            ((int64_t *)t.data)[i] = mase_dataset_labels(d)[rows.row[i]];
    return t;
}

static bool has_labels(const struct mase_dataset *d)
{
    return mase_dataset_labels(d) || mase_dataset_targets(d);
}

static enum mase_status write_npz(struct mase_cli *c, const struct mase_dataset *d,
                                  const char *path, bool raw, struct mase_err *err)
{
    struct mase_named_tensor items[2 * PARTS];
    int count = 0;
    for (int s = 0; s < PARTS; s++) {
        const struct mase_split_rows rows = mase_dataset_split(d, (enum mase_split)s);
        items[count++] =
            (struct mase_named_tensor){ array_names[s][0], samples(&c->arena, d, rows, raw) };
        if (has_labels(d))
            items[count++] =
                (struct mase_named_tensor){ array_names[s][1], labels(&c->arena, d, rows) };
    }
    return mase_npz_write(items, count, path, err);
}

/* ---- csv ---- */

/* Add a field, quoted if necessary. */
static void add_field(struct mase_str *out, const char *text)
{
    const bool plain =
        text[0] && !strpbrk(text, "\",;\t\r\n") && text[0] != ' ' && text[strlen(text) - 1] != ' ';
    mase_str_add(out, plain ? "" : "\"");
    for (const char *p = text; *p; p++) {
        if (*p == '"')
            mase_str_addc(out, '"');
        mase_str_addc(out, *p);
    }
    mase_str_add(out, plain ? "" : "\"");
}

static void add_header(struct mase_str *out, const struct mase_dataset *d, int64_t features)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    mase_str_add(out, "split");
    for (int64_t f = 0; f < features; f++) {
        mase_str_addc(out, ',');
        if (info->feature_names)
            add_field(out, info->feature_names[f]);
        else
            mase_str_printf(out, "x%" PRId64, f);
    }
    for (int64_t k = 0; mase_dataset_targets(d) && k < info->data.targets; k++) {
        mase_str_addc(out, ',');
        add_field(out, info->target_names[k]);
    }
    mase_str_add(out, mase_dataset_labels(d) ? ",label\n" : "\n");
}

/* Add the targets of a row, or the name of its class. */
static void add_labels(struct mase_str *out, const struct mase_dataset *d, uint32_t row)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const float *numbers = mase_dataset_targets(d);
    for (int64_t k = 0; numbers && k < info->data.targets; k++)
        mase_str_printf(out, ",%.9g", (double)numbers[row * info->data.targets + k]);
    if (mase_dataset_labels(d)) {
        mase_str_addc(out, ',');
        add_field(out, info->class_names[mase_dataset_labels(d)[row]]);
    }
}

static enum mase_status put_rows(struct mase_writer *w, struct mase_str *text,
                                 const struct mase_dataset *d, enum mase_split s, float *row,
                                 bool raw, struct mase_err *err)
{
    static const char *const words[] = { "train", "valid", "test" };
    const struct mase_split_rows rows = mase_dataset_split(d, s);
    const int64_t features = mase_shape_count(&mase_dataset_info(d)->data.sample);
    for (int64_t i = 0; i < rows.count; i++) {
        mase_dataset_batch(d, &(struct mase_batch){ .row = rows.row + i,
                                                    .n = 1,
                                                    .x = row,
                                                    .feature_stride = 1,
                                                    .sample_stride = features,
                                                    .raw = raw });
        mase_str_clear(text);
        mase_str_add(text, words[s]);
        for (int64_t f = 0; f < features; f++)
            mase_str_printf(text, ",%.9g", (double)row[f]);
        add_labels(text, d, rows.row[i]);
        mase_str_addc(text, '\n');
        MASE_TRY(mase_writer_put(w, text->data, text->len, err));
    }
    return MASE_OK;
}

static enum mase_status write_csv(struct mase_cli *c, const struct mase_dataset *d,
                                  const char *path, bool raw, struct mase_err *err)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const int64_t features = mase_shape_count(&info->data.sample);
    float *row = mase_new_array(&c->arena, float, (size_t)features);
    struct mase_str text = { 0 };
    struct mase_writer w;
    if (info->data.sample.rank != 1)
        return mase_fail_in(
            err, MASE_EVALUE, path,
            "samples of %s have %d dimensions, a .csv file has one; .npz keeps them",
            info->data.name, info->data.sample.rank);
    MASE_TRY(mase_writer_open(&w, path, err));
    add_header(&text, d, features);
    enum mase_status st = mase_writer_put(&w, text.data, text.len, err);
    for (int s = 0; s < PARTS && !st; s++)
        st = put_rows(&w, &text, d, (enum mase_split)s, row, raw, err);
    mase_str_release(&text);
    if (!st)
        return mase_writer_close(&w, err);
    mase_writer_abort(&w);
    return st;
}

/* ---- the command ---- */

enum mase_status mase_cli_data_export(struct mase_cli *c, struct mase_err *err)
{
    struct mase_dataset *d = NULL;
    MASE_TRY(mase_cli_operands(c, 3, err));
    if (c->operand_count < 3)
        return mase_fail(err, MASE_EVALUE,
                         "ch data export needs a dataset and a file: ch data export NAME FILE.npz, "
                         "or FILE.csv");
    const char *path = c->operands[2];
    const bool npz = mase_ends_with(path, ".npz"), raw = mase_cli_flag(c, MASE_CLI_raw);
    if (!npz && !mase_ends_with(path, ".csv"))
        return mase_fail_in(err, MASE_EVALUE, path,
                            "a dataset is exported to a file whose name ends in .npz or .csv");
    MASE_TRY(mase_cli_open_data(&d, c, c->operands[1], err));
    enum mase_status st = MASE_OK;
    if (!mase_dataset_info(d)->rows)
        st = mase_fail(err, MASE_EVALUE, "%s has no rows to export", c->operands[1]);
    else if (mase_dataset_info(d)->data.more_count)
        st = mase_fail(err, MASE_EUNSUPPORTED,
                       "%s has samples of %d inputs, and the file would have those of one: export "
                       "one by --features NAME",
                       c->operands[1], 1 + mase_dataset_info(d)->data.more_count);
    if (!st)
        st = (npz ? write_npz : write_csv)(c, d, path, raw, err);
    if (!st)
        mase_info("%lld rows of %s written to %s, %s", (long long)mase_dataset_info(d)->rows,
                  c->operands[1], path,
                  raw ? "as they were read" : mase_cli_scaling_words(&c->arena, d));
    mase_dataset_close(d);
    return st;
}
