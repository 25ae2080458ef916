/*
 * content.c - SHA-256 of graphs, scalings and losses (content.h).
 */
#include "train/content.h"

#include <string.h>

#include <mase/file.h>
#include <mase/run.h>

#include "evaluate/targets.h"
#include "ir/shape/shape.h"

enum { DIGITS = 64 };

/* hex := SHA-256 of hex and the data. */
static void add(char hex[DIGITS + 1], const void *data, size_t size)
{
    char both[2 * DIGITS + 1];
    memcpy(both, hex, DIGITS);
    mase_sha256(both + DIGITS, data, size);
    mase_sha256(hex, both, 2 * DIGITS);
}

static bool add_values(const char *full, struct mase_param *p, void *data)
{
    (void)full;
    if (p->tensor.data && !p->tied)
        add(data, p->tensor.data, (size_t)mase_tensor_bytes(&p->tensor));
    return true;
}

void mase_content_of_graph(char hex[DIGITS + 1], const struct mase_graph *g)
{
    struct mase_str text = { 0 };
    mase_graph_print_mg(&text, g);
    mase_sha256(hex, text.data, text.len);
    mase_graph_each_param(g, add_values, hex);
    mase_str_release(&text);
}

void mase_content_of_scaling(char hex[DIGITS + 1], const struct mase_scaling *s)
{
    const size_t size = (size_t)s->n * sizeof *s->mean;
    hex[0] = '\0';
    if (!s->n)
        return;
    mase_sha256(hex, s->mean, size);
    add(hex, s->std, size);
}

/* The shape of the network's result for one sample. */
static enum mase_status find_result(struct mase_shape *result, const struct mase_graph *g,
                                    const struct mase_shape *sample, struct mase_err *err)
{
    enum { SAMPLES = 2 };
    struct mase_arena a = { 0 };
    struct mase_values v;
    const struct mase_inputs in = mase_graph_inputs(&a, g, sample, SAMPLES);
    enum mase_status st = mase_infer_shapes(&v, &a, g, in.item, in.count, err);
    const struct mase_arg *out = st ? NULL : mase_run_output(&v, g);
    if (!st && (out->kind != MASE_ARG_TENSOR || out->tensor->shape.rank < 1))
        st = mase_fail(err, MASE_EUNSUPPORTED, "the network must return one tensor");
    if (!st)
        *result = mase_shape_part(&out->tensor->shape, 1, out->tensor->shape.rank);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_content_of_loss(char hex[DIGITS + 1], const struct mase_graph *g,
                                      const struct mase_dataset *d, const struct mase_train_opts *o,
                                      struct mase_err *err)
{
    struct mase_objective objective;
    struct mase_target_source source = { 0 };
    struct mase_shape result;
    hex[0] = '\0';
    MASE_TRY(mase_train_objective(&objective, o, err));
    if (!objective.own)
        return MASE_OK;
    MASE_TRY(find_result(&result, g, &mase_dataset_info(d)->data.sample, err));
    const enum mase_status st = mase_target_source_init(&source, &objective, d, &result, err);
    if (!st)
        mase_content_of_graph(hex, source.own);
    mase_target_source_release(&source);
    return st;
}
