/*
 * measure_network.c - how good a network is on rows of data.
 */
#include <mase/evaluate.h>

#include "work/work_parts.h"

enum mase_status mase_work_measure(struct mase_measurement *out, struct mase_graph *g,
                                   const struct mase_measure *m, struct mase_err *err)
{
    const struct mase_shape *sample = &mase_dataset_info(m->data)->data.sample;
    const struct mase_predictor_opts opts = {
        .threads = mase_predict_threads(g, sample, m->rows.count, m->threads),
        .coupled_batch = m->batch_size,
        .usual = m->rows.count,
        .engine = m->engine,
        .batch = m->objective->own ? m->batch_size : 0,
        .seed = m->seed,
    };
    const struct mase_evaluate_opts how = {
        .rows = m->rows, .objective = m->objective, .class_map = m->class_map, .detail = m->detail
    };
    struct mase_predictor *p;
    *out = (struct mase_measurement){ .threads = opts.threads };
    MASE_TRY(mase_predictor_new(&p, g, sample, &opts, err));
    out->isa = mase_predictor_isa(p);
    const enum mase_status st = mase_evaluate_rows(&out->e, p, m->data, &how, err);
    mase_predictor_free(p);
    return st;
}
