/*
 * setup.c - our side of bench/setup: what making a plan costs.
 *
 *     setup NETWORK DATASET BATCH TURNS
 *
 * Prints, for every turn, the milliseconds of the processor that a plan for training and one for
 * evaluation take to make. The weights are those of seed 0; no dataset is read: only the shape of
 * its samples matters.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mase/call.h>
#include <mase/data.h>
#include <mase/plan.h>
#include <mase/zoo.h>

static enum mase_status measure(struct mase_graph *g, const struct mase_plan_opts *o,
                                double *milliseconds, struct mase_err *err)
{
    struct mase_plan *p;
    const clock_t start = clock();
    MASE_TRY(mase_plan_new(&p, g, o, err));
    *milliseconds = (double)(clock() - start) * 1e3 / CLOCKS_PER_SEC;
    mase_plan_free(p);
    return MASE_OK;
}

static enum mase_status turns(struct mase_graph *g, const struct mase_shape *sample, char **argv,
                              struct mase_err *err)
{
    struct mase_input in = { .name = "x", .tensor = { .dtype = MASE_F32 } };
    struct mase_plan_opts o = { .batch = strtol(argv[3], NULL, 10),
                                .inputs = &in,
                                .input_count = 1 };
    if (o.batch < 1)
        return mase_fail(err, MASE_EVALUE, "batch %s must be at least 1", argv[3]);
    in.tensor.shape = (struct mase_shape){ .rank = sample->rank + 1, .dim = { o.batch } };
    for (int i = 0; i < sample->rank; i++)
        in.tensor.shape.dim[i + 1] = sample->dim[i];
    for (long i = strtol(argv[4], NULL, 10); i > 0; i--) {
        double train, eval;
        o.train = true;
        MASE_TRY(measure(g, &o, &train, err));
        o.train = false;
        MASE_TRY(measure(g, &o, &eval, err));
        printf("%.3f %.3f\n", train, eval);
    }
    return MASE_OK;
}

static enum mase_status run(char **argv, struct mase_err *err)
{
    const struct mase_model *model;
    const struct mase_data_info *data;
    struct mase_graph *g;
    MASE_TRY(mase_zoo_find(&model, argv[1], err));
    MASE_TRY(mase_data_find(&data, argv[2], err));
    MASE_TRY(model->build(&g, data, err));
    mase_graph_alloc(g);
    mase_graph_init_weights(g, 0);
    const enum mase_status st = turns(g, &data->sample, argv, err);
    mase_graph_free(g);
    return st;
}

int main(int argc, char **argv)
{
    struct mase_err err = { 0 };
    if (argc != 5) {
        fprintf(stderr, "usage: setup NETWORK DATASET BATCH TURNS\n");
        return 2;
    }
    if (!run(argv, &err))
        return 0;
    mase_err_print(stderr, &err);
    return 2;
}
