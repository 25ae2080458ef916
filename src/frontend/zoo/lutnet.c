/*
 * lutnet.c - the two networks of the LUTNet paper: lfc, of linear layers, and cnv, of convolutions.
 * Neither has activations of its own: the paper puts binarisation between the layers.
 */
#include "frontend/zoo/zoo_parts.h"
#include "ir/graph/graph_build.h"

/* path.i = Linear(in, out), path.(i+1) = BatchNorm1d(out) */
static struct mase_node *linear_norm(struct mase_graph *g, struct mase_node *x, const char *path,
                                     int i, int in, int out)
{
    x = mase_build_layer(g, x, "%s.%d = Linear(%d, %d)", path, i, in, out);
    return mase_build_layer(g, x, "%s.%d = BatchNorm1d(%d)", path, i + 1, out);
}

enum mase_status mase_zoo_lfc(struct mase_graph **out, const struct mase_data_info *data,
                              struct mase_err *err)
{
    (void)err; /* any sample will do */
    struct mase_graph *g = mase_graph_new("lfc");
    struct mase_node *x = mase_build_input(g, "x", NULL);
    const struct mase_node *size = mase_build_call(g, "%s.size(0)", x->name);
    x = mase_build_call(g, "%s.view(%s, -1)", x->name, size->name);
    x = linear_norm(g, x, "seq_blocks", 0, (int)mase_shape_count(&data->sample), 256);
    for (int i = 2; i < 8; i += 2)
        x = linear_norm(g, x, "seq_blocks", i, 256, 256);
    x = linear_norm(g, x, "seq_blocks", 8, 256, data->classes);
    x = mase_build_layer(g, x, "seq_blocks.10 = Softmax()");
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
            x = mase_build_layer(g, x,
                                 "seq_blocks.%d = Conv2d(%d, %d, 3, stride=1, padding='valid')",
                                 i++, in, width);
            x = mase_build_layer(g, x, "seq_blocks.%d = BatchNorm2d(%d)", i++, width);
        }
        if (stage < 2)
            x = mase_build_layer(g, x, "seq_blocks.%d = MaxPool2d(2, 2)", i++);
    }
    x = mase_build_call(g, "torch.flatten(%s, start_dim=1, end_dim=-1)", x->name); // 256 of 1 x 1
    x = linear_norm(g, x, "seq_blocks_1", 0, 256, 512);
    x = linear_norm(g, x, "seq_blocks_1", 2, 512, 512);
    x = linear_norm(g, x, "seq_blocks_1", 4, 512, data->classes);
    mase_build_output(g, x);
    *out = g;
    return MASE_OK;
}
