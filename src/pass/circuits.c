/*
 * circuits.c - the hardware modules we have, by operation.
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

static const struct mase_circuit circuits[] = {
    { MASE_OP_linear, "INTERNAL", "fixed_linear", linear_files },
    { MASE_OP_relu, "INTERNAL", "fixed_relu", relu_files },
};
static const struct mase_circuit synthesised = { MASE_OP_unknown, "HLS", NULL, no_files };

const struct mase_circuit *mase_circuit_of(enum mase_op op)
{
    for (size_t i = 0; i < sizeof circuits / sizeof circuits[0]; i++)
        if (circuits[i].op == op)
            return &circuits[i];
    return &synthesised;
}
