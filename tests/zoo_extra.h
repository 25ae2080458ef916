/*
 * zoo_extra.h - networks that only tests need: between them they use every kind of call the
 * original quantises. Built like those of the zoo; weights, inputs and outputs are in data/models.
 */
#ifndef MASE_TESTS_ZOO_EXTRA_H
#define MASE_TESTS_ZOO_EXTRA_H

#include <mase/zoo.h>

/* By name: res_mlp, conv_bn, matmul_net, toy_testmodel, toy_custom_fn, and toy_convnet with the
 * narrow channels of the recorded one. Ends with a NULL name. */
struct extra_model {
    const char *name;
    struct mase_data_info data; /* what it is built for */
    struct mase_graph *(*build)(const struct mase_data_info *data);
};
extern const struct extra_model extra_models[];

const struct extra_model *extra_model(const char *name); /* or NULL */

#endif /* MASE_TESTS_ZOO_EXTRA_H */
