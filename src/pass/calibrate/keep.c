/*
 * keep.c - replace "auto" by the parameters that a calibrated or trained network has, so that one
 * configuration describes a network before, during and after training.
 */
#include <stdio.h>

#include "base/number.h"
#include "ir/graph/graph_parts.h"
#include "pass/calibrate/calibrate_parts.h"

/* Copy parameters that are "auto" from a format. False: it is of another kind. */
static bool fill_in(struct mase_value *config, enum mase_operand o, enum mase_quant_kind kind,
                    const struct mase_format *f, struct mase_arena *a)
{
    if (!f || f->kind != kind)
        return false;
    for (int p = 0; f->row->params[p].type; p++) {
        char key[64];
        mase_snprintf(key, sizeof key, "%s_%s", mase_operand_names[o], f->row->params[p].key);
        const int at = mase_value_find(config, key);
        if (at < 0 || !mase_value_is_auto(config->items[at]))
            continue;
        if (p >= f->config->count)
            return false;
        config->items[at] = mase_value_copy(a, f->config->items[p]);
    }
    return true;
}

/* The formats of the node, if they equal the configuration except for "auto". */
static bool keep(struct mase_decision *d, const struct mase_quant *has, struct mase_arena *a)
{
    struct mase_value *config = mase_value_copy(a, d->pending);
    struct mase_quant_table t;
    struct mase_quant q = d->quant;
    struct mase_err unwanted;
    if (mase_quant_table(&t, config, &unwanted))
        return false;
    for (int o = 0; o < MASE_OPERAND_COUNT; o++) {
        if (!q.operand[o])
            continue;
        if (!fill_in(config, (enum mase_operand)o, t.kind[o], has->operand[o], a) ||
            mase_quant_table_bind(&q, &t, (enum mase_operand)o, &unwanted) ||
            q.operand[o] != has->operand[o])
            return false;
    }
    d->quant = q;
    return true;
}

void mase_calibrate_keep(struct mase_decision *list, int count, struct mase_arena *a)
{
    for (int i = 0; i < count; i++) {
        const struct mase_quant *has = list[i].pending ? mase_node_quant(list[i].node) : NULL;
        if (has && keep(&list[i], has, a))
            list[i].pending = NULL;
    }
}
