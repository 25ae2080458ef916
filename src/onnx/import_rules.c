/*
 * import_rules.c - the table of rules.
 */
#include "onnx/import_parts.h"

const struct mase_ox_rule mase_ox_rules[] = {
#define ONNX(name, from, to, rule, op) \
    { NULL, #name, from, to, mase_ox_rule_##rule, MASE_OP_##op, false },
#define MOVES(name, from, to, rule, op) \
    { NULL, #name, from, to, mase_ox_rule_##rule, MASE_OP_##op, true },
#define OTHER(domain, name, rule, op) \
    { domain, #name, 0, OX_NEWEST, mase_ox_rule_##rule, MASE_OP_##op, false },
#include "onnx/rules.def"
    { 0 },
};
