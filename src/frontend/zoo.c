/*
 * zoo.c - the table of models from zoo.def, and functions that builders share.
 */
#include <inttypes.h>

#include "base/number.h"
#include "data/find_name.h"
#include "frontend/zoo/zoo_parts.h"

const struct mase_model mase_zoo[] = {
#define MODEL(name_, class_, build_, task_, dataset_, help_) \
    { name_, class_, task_, dataset_, help_, mase_zoo_##build_ },
#include "frontend/zoo.def"
    { 0 },
};

static const char *const names[] = {
#define MODEL(name_, ...) name_,
#include "frontend/zoo.def"
};

enum mase_status mase_zoo_find(const struct mase_model **m, const char *name, struct mase_err *err)
{
    int i;
    MASE_TRY(mase_name_find(&i, "model", name, names, sizeof names / sizeof names[0], err));
    *m = &mase_zoo[i];
    return MASE_OK;
}

static enum mase_status refuse(const char *model, const struct mase_data_info *data,
                               const char *wanted, struct mase_err *err)
{
    struct mase_str shape = { 0 };
    mase_shape_print(&shape, &data->sample);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE, "model %s takes %s, but a sample of %s is %s", model, wanted,
                  data->name, mase_str_text(&shape));
    mase_str_release(&shape);
    return st;
}

enum mase_status mase_zoo_need_rank(const char *model, const struct mase_data_info *data, int rank,
                                    struct mase_err *err)
{
    if (data->sample.rank == rank)
        return MASE_OK;
    return refuse(model, data, rank == 1 ? "one row of features" : "images of 3 dimensions", err);
}

enum mase_status mase_zoo_need_size(const char *model, const struct mase_data_info *data,
                                    int64_t height, int64_t width, struct mase_err *err)
{
    MASE_TRY(mase_zoo_need_rank(model, data, 3, err));
    if (data->sample.dim[1] == height && data->sample.dim[2] == width)
        return MASE_OK;
    char wanted[64];
    mase_snprintf(wanted, sizeof wanted, "images of %" PRId64 " x %" PRId64, height, width);
    return refuse(model, data, wanted, err);
}

/* ---- layers ---- */

const char *mase_zoo_path(struct mase_graph *g, const char *path, int i)
{
    return mase_arena_printf(&g->arena, "%s.%d", path, i);
}

struct mase_node *mase_zoo_linear(struct mase_graph *g, struct mase_node *x, const char *path,
                                  int in, int out)
{
    return mase_build_layer(g, x, MASE_OP_linear, path,
                            MASE_ARGS(mase_arg_int(in), mase_arg_int(out)));
}

struct mase_node *mase_zoo_norm(struct mase_graph *g, struct mase_node *x, enum mase_op op,
                                const char *path, int features, double momentum)
{
    return mase_build_layer(
        g, x, op, path,
        MASE_ARGS(mase_arg_int(features), mase_arg_float(1e-5), mase_arg_float(momentum)));
}

struct mase_node *mase_zoo_relu(struct mase_graph *g, struct mase_node *x, const char *path,
                                int inplace)
{
    return mase_build_layer(g, x, MASE_OP_relu, path, MASE_ARGS(mase_arg_int(inplace)));
}

struct mase_node *mase_zoo_max_pool(struct mase_graph *g, struct mase_node *x, const char *path,
                                    int kernel, int stride, int padding)
{
    return mase_build_layer(
        g, x, MASE_OP_max_pool2d, path,
        MASE_ARGS(mase_arg_int(kernel), mase_arg_int(stride), mase_arg_int(padding)));
}

struct mase_node *mase_zoo_conv(struct mase_graph *g, struct mase_node *x, const char *path,
                                const struct mase_conv *c)
{
    const struct mase_arg one = mase_arg_int(1); /* dilation, groups */
    return mase_build_layer(g, x, c->op, path,
                            MASE_ARGS(mase_arg_int(c->channels[0]), mase_arg_int(c->channels[1]),
                                      mase_arg_int(c->kernel), mase_arg_int(c->stride), c->padding,
                                      one, one, mase_arg_bool(c->bias)));
}

struct mase_node *mase_zoo_rows(struct mase_graph *g, struct mase_node *x)
{
    struct mase_node *size =
        mase_build_call(g, MASE_CALL_METHOD, "size", MASE_ARGS(mase_arg_node(x), mase_arg_int(0)));
    return mase_build_call(g, MASE_CALL_METHOD, "view",
                           MASE_ARGS(mase_arg_node(x), mase_arg_node(size), mase_arg_int(-1)));
}
