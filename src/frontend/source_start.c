/*
 * source_start.c - initial values of parameters and buffers, from the tracer's answer.
 *
 *     {"kind": "uniform", "spread": 0.1, "centre": 0}     a rule for every element
 *     {"values": [...]}, {"hex": "..."}                   numbers
 *     {"as": "mask"}                                      those of an attribute before
 *     {"made": {...}}                                     the default of a layer
 */
#include <string.h>

#include "frontend/source_read.h"
#include "ir/graph/bind_call.h"
#include "ir/graph/graph_parts.h"

/* {"class": "Linear", "values": [...], "param": "weight"}: the default of that layer's parameter.
 */
static enum mase_status get_made(struct reading *r, const struct mase_value *v,
                                 struct mase_param *p)
{
    const char *class_name = mase_reading_text(v, "class"), *name = mase_reading_text(v, "param");
    const enum mase_op op = class_name ? mase_op_of_module(class_name) : MASE_OP_unknown;
    struct mase_arg kwargs;
    struct mase_module *maker = NULL;
    if (op == MASE_OP_unknown || !name)
        return mase_reading_malformed(r, "start");
    MASE_TRY(mase_reading_dict(r, mase_value_get(v, "values"), &kwargs));
    struct mase_graph *g = mase_graph_new(NULL);
    enum mase_status st = mase_graph_add_module(g, &maker, "maker", op, NULL, &kwargs, r->err);
    const struct mase_param *made = st ? NULL : mase_module_param(maker, name);
    if (!st && (!made || made->zero_row))
        st = mase_reading_malformed(r, "start");
    if (!st) {
        p->init = made->init;
        p->scale = made->scale;
        p->centre = made->centre;
    }
    mase_graph_free(g);
    return st;
}

static enum mase_status get_values(struct reading *r, const struct mase_value *v,
                                   struct mase_param *p)
{
    const int64_t count = mase_tensor_count(&p->tensor);
    if (v->kind != MASE_LIST || v->count != count)
        return mase_reading_malformed(r, "values");
    double *values = mase_new_array(&r->g->arena, double, (size_t)count);
    for (int i = 0; i < v->count; i++)
        if (!mase_reading_number(v->items[i], &values[i]))
            return mase_reading_malformed(r, "values");
    p->init = MASE_INIT_VALUES;
    p->values = values;
    return MASE_OK;
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Eight hexadecimal digits for each number: bytes of a float32 in this machine's order. */
static enum mase_status get_hex(struct reading *r, const struct mase_value *v, struct mase_param *p)
{
    const int64_t count = mase_tensor_count(&p->tensor);
    if (v->kind != MASE_STRING || p->tensor.dtype != MASE_F32 || (int64_t)v->len != 8 * count)
        return mase_reading_malformed(r, "values");
    double *values = mase_new_array(&r->g->arena, double, (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        unsigned char bytes[sizeof(float)];
        float number;
        for (int k = 0; k < 4; k++) {
            const int high = hex_digit(v->s[8 * i + 2 * k]);
            const int low = hex_digit(v->s[8 * i + 2 * k + 1]);
            if (high < 0 || low < 0)
                return mase_reading_malformed(r, "values");
            bytes[k] = (unsigned char)(16 * high + low);
        }
        memcpy(&number, bytes, sizeof number);
        values[i] = number;
    }
    p->init = MASE_INIT_VALUES;
    p->values = values;
    return MASE_OK;
}

/* {"as": "mask"}: the values of an earlier attribute. */
static enum mase_status get_shared(struct reading *r, const struct mase_value *v,
                                   struct mase_param *p)
{
    const struct mase_param *first = v->kind == MASE_STRING ? mase_graph_attr(r->g, v->s) : NULL;
    if (!first || first->init != MASE_INIT_VALUES || !first->values ||
        mase_tensor_count(&first->tensor) != mase_tensor_count(&p->tensor))
        return mase_reading_malformed(r, "values");
    p->init = MASE_INIT_VALUES;
    p->values = first->values;
    return MASE_OK;
}

/* Zeros and ones are uniform with spread 0, but have names of their own in reports. */
enum mase_status mase_reading_start(struct reading *r, const struct mase_value *v,
                                    struct mase_param *p)
{
    const struct mase_value *values = mase_value_get(v, "values"),
                            *made = mase_value_get(v, "made");
    const char *kind = mase_reading_text(v, "kind");
    double spread, centre;
    p->zero_row = 0;
    if (made)
        return get_made(r, made, p);
    if (values)
        return get_values(r, values, p);
    if (mase_value_get(v, "hex"))
        return get_hex(r, mase_value_get(v, "hex"), p);
    if (mase_value_get(v, "as"))
        return get_shared(r, mase_value_get(v, "as"), p);
    if (!kind || !mase_reading_number(mase_value_get(v, "spread"), &spread) ||
        !mase_reading_number(mase_value_get(v, "centre"), &centre))
        return mase_reading_malformed(r, "start");
    p->init = mase_streq(kind, "normal") ? MASE_INIT_NORMAL : MASE_INIT_UNIFORM;
    p->scale = (float)spread;
    p->centre = (float)centre;
    if (p->scale != 0 || (p->centre != 0 && p->centre != 1))
        return MASE_OK;
    p->init = p->centre == 0 ? MASE_INIT_ZEROS : MASE_INIT_ONES;
    p->centre = 0;
    return MASE_OK;
}
