/*
 * rules.c - the table of rules.
 */
#include "frontend/onnx/import.h"

const struct mase_ox_rule mase_ox_rules[] = {
#define ONNX(name, from, to, rule, op) { #name, from, to, mase_ox_rule_##rule, MASE_OP_##op },
#include "frontend/onnx/rules.def"
    { 0 },
};
