/*
 * command_inputs.c - inputs for commands that inspect networks: a NumPy file, a sample of a
 * dataset, or standard normal numbers from a seed.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/dataset.h>
#include <mase/npy.h>
#include <mase/rng.h>
#include <mase/run.h>

#include "cli/command_nets.h"
#include "cli/project.h"

static int placeholders(const struct mase_graph *g)
{
    int count = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        count += n->kind == MASE_PLACEHOLDER;
    return count;
}

static struct mase_shape batch_of(const struct mase_shape *sample, int64_t rows)
{
    struct mase_shape s = { .rank = 1 + sample->rank, .dim = { rows } };
    memcpy(s.dim + 1, sample->dim, sizeof s.dim - sizeof s.dim[0]);
    return s;
}

/* ---- drawn from the seed ---- */

static enum mase_status need_sample(const struct mase_opened *n, struct mase_err *err)
{
    if (n->has_sample)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "'%s' does not say what shape its input has; give one with --input X.npy",
                     n->word.text);
}

/* A random stream for each row, so that any row can be drawn alone. */
static void draw_row(float *x, int64_t count, uint64_t seed, const char *name, int64_t row)
{
    struct mase_str text = { 0 };
    mase_str_printf(&text, "%s[%" PRId64 "]", name, row);
    struct mase_rng r = mase_rng(seed, MASE_STREAM_DUMMY, mase_rng_name(mase_str_text(&text)));
    mase_str_release(&text);
    for (int64_t i = 0; i < count; i++)
        x[i] = mase_rng_normal(&r);
}

/* Draw rows from `first` on. */
static enum mase_status draw(struct mase_cli_inputs *in, struct mase_cli *c,
                             const struct mase_opened *n, int64_t first, int64_t rows,
                             struct mase_err *err)
{
    const int64_t seed = mase_cli_value(c, MASE_CLI_seed)->i;
    MASE_TRY(need_sample(n, err));
    if (n->sample.rank == MASE_MAX_RANK)
        return mase_fail(err, MASE_ELIMIT, "a sample of '%s' has too many dimensions",
                         n->word.text);
    int i = 0;
    for (const struct mase_node *x = n->graph->first; x; x = x->next) {
        if (x->kind != MASE_PLACEHOLDER)
            continue;
        const struct mase_shape *own = mase_graph_sample(n->graph, i, &n->sample);
        const struct mase_shape shape = batch_of(own, rows);
        const int64_t each = mase_shape_count(own);
        struct mase_tensor *t = &in->tensor[i++];
        *t = mase_tensor(&c->arena, MASE_F32, &shape, true);
        for (int64_t r = 0; r < rows; r++)
            draw_row(mase_f32(t) + r * each, each, (uint64_t)seed, x->name, first + r);
    }
    in->source = rows == 1
                     ? mase_arena_printf(&c->arena, "sample %" PRId64 " drawn from seed %" PRId64,
                                         first, seed)
                     : mase_arena_printf(&c->arena, "%" PRId64 " samples drawn from seed %" PRId64,
                                         rows, seed);
    return MASE_OK;
}

/* ---- from a file ---- */

static enum mase_status check_file(const struct mase_tensor *t, const struct mase_opened *n,
                                   const char *path, struct mase_err *err)
{
    if (placeholders(n->graph) != 1)
        return mase_fail(err, MASE_EUNSUPPORTED,
                         "--input is for networks of one input; '%s' has %d", n->word.text,
                         placeholders(n->graph));
    if (t->shape.rank < 1 || t->shape.dim[0] < 1)
        return mase_fail_in(err, MASE_EVALUE, path, "holds no samples");
    const struct mase_shape want = batch_of(&n->sample, t->shape.dim[0]);
    if (!n->has_sample || mase_shape_equal(&want, &t->shape))
        return MASE_OK;
    struct mase_str is = { 0 }, must = { 0 };
    mase_shape_print(&is, &t->shape);
    mase_shape_print(&must, &want);
    enum mase_status st = mase_fail_in(err, MASE_EVALUE, path, "has the shape %s, expected %s",
                                       mase_str_text(&is), mase_str_text(&must));
    mase_str_release(&is);
    mase_str_release(&must);
    return st;
}

static struct mase_tensor as_f32(struct mase_arena *a, const struct mase_tensor *t)
{
    struct mase_tensor f = mase_tensor(a, MASE_F32, &t->shape, true);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        mase_tensor_set(&f, i, mase_tensor_get(t, i));
    return f;
}

/* Read rows from `first` on; 0: all. */
static enum mase_status read_file(struct mase_cli_inputs *in, struct mase_cli *c,
                                  const struct mase_opened *n, int64_t first, int64_t rows,
                                  struct mase_err *err)
{
    const char *path = mase_cli_text(c, MASE_CLI_input);
    struct mase_tensor t;
    MASE_TRY(mase_npy_read(&t, &c->arena, path, err));
    MASE_TRY(check_file(&t, n, path, err));
    const int64_t all = t.shape.dim[0], each = mase_tensor_count(&t) / all;
    if (first >= all)
        return mase_fail_in(err, MASE_EVALUE, path,
                            "has %" PRId64 " samples, counted from 0; there is no sample %" PRId64,
                            all, first);
    rows = rows && rows < all - first ? rows : all - first;
    t = as_f32(&c->arena, &t);
    t.data = mase_f32(&t) + first * each;
    t.shape.dim[0] = rows;
    in->tensor[0] = t;
    in->source = rows == 1 ? mase_arena_printf(&c->arena, "sample %" PRId64 " of %s", first, path)
                           : mase_arena_printf(&c->arena, "%" PRId64 " samples of %s", rows, path);
    return MASE_OK;
}

/* ---- from a dataset ---- */

static enum mase_status take_row(struct mase_cli_inputs *in, struct mase_cli *c,
                                 const struct mase_opened *n, const struct mase_dataset *d,
                                 int64_t sample, struct mase_err *err)
{
    const struct mase_split_rows split = mase_dataset_split(d, MASE_SPLIT_TEST);
    const struct mase_data_info *info = &mase_dataset_info(d)->data;
    if (sample >= split.count)
        return mase_fail(err, MASE_EVALUE,
                         "the test split of %s has %" PRId64
                         " samples, counted from 0; there is no sample %" PRId64,
                         info->name, split.count, sample);
    if (placeholders(n->graph) != 1 ||
        (n->has_sample && !mase_shape_equal(&n->sample, &info->sample)))
        return mase_fail(err, MASE_EVALUE, "'%s' does not take samples of %s", n->word.text,
                         info->name);
    const struct mase_shape shape = batch_of(&info->sample, 1);
    in->tensor[0] = mase_tensor(&c->arena, MASE_F32, &shape, true);
    mase_dataset_batch(d, &(struct mase_batch){ .row = split.row + sample,
                                                .n = 1,
                                                .x = mase_f32(&in->tensor[0]),
                                                .feature_stride = 1,
                                                .sample_stride = mase_shape_count(&info->sample) });
    in->source = mase_arena_printf(&c->arena, "sample %" PRId64 " of the test split of %s", sample,
                                   info->name);
    return MASE_OK;
}

/* ---- choose ---- */

static void start(struct mase_cli_inputs *in, struct mase_cli *c, const struct mase_opened *n)
{
    in->count = placeholders(n->graph);
    in->tensor = mase_new_array(&c->arena, struct mase_tensor, (size_t)in->count);
}

enum mase_status mase_cli_inputs_make(struct mase_cli_inputs *in, struct mase_cli *c,
                                      const struct mase_opened *n, int64_t rows,
                                      struct mase_err *err)
{
    start(in, c, n);
    return mase_cli_text(c, MASE_CLI_input) ? read_file(in, c, n, 0, rows, err)
                                            : draw(in, c, n, 0, rows, err);
}

enum mase_status mase_cli_inputs_pick(struct mase_cli_inputs *in, struct mase_cli *c,
                                      const struct mase_opened *n, const char *data, int64_t sample,
                                      struct mase_err *err)
{
    start(in, c, n);
    if (mase_cli_text(c, MASE_CLI_input))
        return read_file(in, c, n, sample, 1, err);
    if (!data)
        return draw(in, c, n, sample, 1, err);
    struct mase_dataset *d;
    struct mase_opened other = *n; /* for equal weights */
    other.choice.data.dataset = data;
    MASE_TRY(mase_work_open_data(&d, &other, err));
    enum mase_status st = take_row(in, c, n, d, sample, err);
    mase_dataset_close(d);
    return st;
}

enum mase_status mase_cli_run(struct mase_values *v, struct mase_cli *c,
                              const struct mase_opened *n, const struct mase_cli_inputs *in,
                              struct mase_err *err)
{
    struct mase_input *inputs = mase_new_array(&c->arena, struct mase_input, (size_t)in->count);
    int count = 0;
    for (const struct mase_node *x = n->graph->first; x; x = x->next)
        if (x->kind == MASE_PLACEHOLDER && count < in->count) {
            inputs[count] = (struct mase_input){ x->name, in->tensor[count] };
            count++;
        }
    if (mase_run_reference(v, &c->arena, n->graph, inputs, count, err))
        return mase_wrap(err, "running '%s'", n->word.text);
    return MASE_OK;
}
