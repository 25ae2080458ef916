/*
 * hw_modules.c - the module names of the RTL library that belongs to the original, by operation.
 * The library itself is not in this tree.
 */
#include "pass/support.h"

static const char *const no_files[] = { NULL };

static const char *const linear_files[] = {
    "cast/rtl/fixed_cast.sv",
    "fixed_arith/rtl/fixed_dot_product.sv",
    "fixed_arith/rtl/fixed_vector_mult.sv",
    "fixed_arith/rtl/fixed_accumulator.sv",
    "fixed_arith/rtl/fixed_adder_tree.sv",
    "fixed_arith/rtl/fixed_adder_tree_layer.sv",
    "fixed_arith/rtl/fixed_mult.sv",
    "common/rtl/register_slice.sv",
    "common/rtl/join2.sv",
    "common/rtl/skid_buffer.sv",
    "linear/rtl/fixed_linear.sv",
    NULL,
};
static const char *const relu_files[] = { "activations/rtl/fixed_relu.sv", NULL };

static const struct mase_hw_module modules[] = {
    { MASE_OP_linear, "INTERNAL", "fixed_linear", linear_files },
    { MASE_OP_relu, "INTERNAL", "fixed_relu", relu_files },
};
static const struct mase_hw_module synthesised = { MASE_OP_unknown, "HLS", NULL, no_files };

const struct mase_hw_module *mase_hw_module_of(enum mase_op op)
{
    for (size_t i = 0; i < sizeof modules / sizeof modules[0]; i++)
        if (modules[i].op == op)
            return &modules[i];
    return &synthesised;
}
