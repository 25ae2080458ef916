/*
 * lutnet.c - the two networks of the LUTNet paper: lfc, of linear layers, and cnv, of convolutions.
 * Neither has activations of its own: the paper puts binarisation between the layers.
 */
#include "frontend/zoo/zoo_parts.h"

/* path.i = Linear(in, out), path.(i+1) = BatchNorm1d(out) */
static struct mase_node *linear_norm(struct mase_graph *g, struct mase_node *x, const char *path,
                                     int i, int in, int out)
{
    x = mase_zoo_linear(g, x, mase_zoo_path(g, path, i), in, out);
    return mase_zoo_norm(g, x, MASE_OP_batch_norm1d, mase_zoo_path(g, path, i + 1), out, 0.1);
}

enum mase_status mase_zoo_lfc(struct mase_graph **out, const struct mase_data_info *data,
                              struct mase_err *err)
{
    (void)err; /* any sample will do */
    struct mase_graph *g = mase_graph_new("lfc");
    struct mase_node *x = mase_zoo_rows(g, mase_build_input(g, "x", NULL));
    x = linear_norm(g, x, "seq_blocks", 0, (int)mase_shape_count(&data->sample), 256);
    for (int i = 2; i < 8; i += 2)
        x = linear_norm(g, x, "seq_blocks", i, 256, 256);
    x = linear_norm(g, x, "seq_blocks", 8, 256, data->classes);
    x = mase_build_layer(g, x, MASE_OP_softmax, "seq_blocks.10", NULL, 0);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}

enum mase_status mase_zoo_cnv(struct mase_graph **out, const struct mase_data_info *data,
                              struct mase_err *err)
{
    static const int channels[] = { 64, 128, 256 };
    MASE_TRY(mase_zoo_need_size("cnv", data, 32, 32, err));
    struct mase_graph *g = mase_graph_new("cnv");
    struct mase_node *x = mase_build_input(g, "x", "torch.Tensor");
    int in = (int)data->sample.dim[0], i = 0;
    for (int stage = 0; stage < 3; stage++) {
        const int width = channels[stage];
        for (int k = 0; k < 2; k++, in = width) {
            x = mase_zoo_conv(g, x, mase_zoo_path(g, "seq_blocks", i++),
                              &(struct mase_conv){ .op = MASE_OP_conv2d,
                                                   .channels = { in, width },
                                                   .kernel = 3,
                                                   .stride = 1,
                                                   .padding = mase_arg_text("valid"),
                                                   .bias = true });
            x = mase_zoo_norm(g, x, MASE_OP_batch_norm2d, mase_zoo_path(g, "seq_blocks", i++),
                              width, 0.1);
        }
        if (stage < 2)
            x = mase_zoo_max_pool(g, x, mase_zoo_path(g, "seq_blocks", i++), 2, 2, 0);
    }
    const struct mase_arg args =
        mase_arg_seq(&g->arena, MASE_ARG_TUPLE, MASE_ARGS(mase_arg_node(x)));
    struct mase_arg dims =
        mase_arg_seq(&g->arena, MASE_ARG_DICT, MASE_ARGS(mase_arg_int(1), mase_arg_int(-1)));
    dims.keys = (const char *[]){ "start_dim", "end_dim" };
    x = mase_graph_insert(g, NULL, MASE_CALL_FUNCTION, "torch.flatten", &args, &dims);
    x = linear_norm(g, x, "seq_blocks_1", 0, 256, 512);
    x = linear_norm(g, x, "seq_blocks_1", 2, 512, 512);
    x = linear_norm(g, x, "seq_blocks_1", 4, 512, data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}
