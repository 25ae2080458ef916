/*
 * import_attrs.c - the attributes of a node, by name and type, and those of the function it stands
 * in.
 *
 * A rule asks for what it knows. What it does not ask for would change what the node computes, so
 * it is refused.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "onnx/import_parts.h"

/* Types of AttributeProto by their numbers. */
enum { TYPE_FLOAT = 1, TYPE_INT, TYPE_STRING, TYPE_TENSOR, TYPE_GRAPH, TYPE_FLOATS, TYPE_INTS };
static const char *const type_names[] = { "nothing",  "a float", "an integer", "a text",
                                          "a tensor", "a graph", "floats",     "integers" };

static int find(const struct mase_onnx_node *n, const char *name)
{
    for (int i = 0; i < n->attribute.count; i++)
        if (mase_streq(n->attribute.items[i].name, name))
            return i;
    return -1;
}

/* The attribute of the enclosing function that this one refers to; NULL: it has none. */
static const struct mase_onnx_attribute *refer(const struct mase_ox_import *im,
                                               const struct mase_onnx_attribute *a)
{
    const struct mase_ox_scope *s = im->scope;
    while (a && a->ref_attr_name[0] && s) {
        while (!s->call && s->outer) /* a branch lies within the function */
            s = s->outer;
        const int i = s->call ? find(s->call, a->ref_attr_name) : -1;
        a = i >= 0 ? &s->call->attribute.items[i] : NULL;
        s = s->outer;
    }
    return a;
}

bool mase_ox_has_attr(const struct mase_ox_import *im, const char *name)
{
    const int i = find(im->node, name);
    return i >= 0 && refer(im, &im->node->attribute.items[i]);
}

const struct mase_onnx_attribute *mase_ox_attr(struct mase_ox_import *im, const char *name)
{
    const int i = find(im->node, name);
    if (i < 0)
        return NULL;
    im->attributes_read |= i < 64 ? UINT64_C(1) << i : 0;
    return refer(im, &im->node->attribute.items[i]);
}

/* Old files omit the type: the field that is set tells it. */
static int type_of(const struct mase_onnx_attribute *a)
{
    static const int fields[] = { 2, 3, 4, 5, 6, 7, 8 };
    for (int i = 0; a->type == 0 && i < 7; i++)
        if (mase_onnx_has(&a->head, fields[i]))
            return i + 1;
    return (int)a->type;
}

static const struct mase_onnx_attribute *typed(struct mase_ox_import *im, const char *name,
                                               int type)
{
    const struct mase_onnx_attribute *a = mase_ox_attr(im, name);
    if (!a || type_of(a) == type)
        return a;
    mase_ox_fail(im, MASE_EVALUE, "attribute '%s' must be %s", name, type_names[type]);
    return NULL;
}

int64_t mase_ox_attr_int(struct mase_ox_import *im, const char *name, int64_t dflt)
{
    const struct mase_onnx_attribute *a = typed(im, name, TYPE_INT);
    return a ? a->i : dflt;
}

double mase_ox_as_written(float f)
{
    return isfinite(f) ? mase_number_as_written(f, 1) : f;
}

double mase_ox_attr_float(struct mase_ox_import *im, const char *name, double dflt)
{
    const struct mase_onnx_attribute *a = typed(im, name, TYPE_FLOAT);
    return a ? mase_ox_as_written(a->f) : mase_ox_as_written((float)dflt);
}

const char *mase_ox_attr_text(struct mase_ox_import *im, const char *name, const char *dflt)
{
    const struct mase_onnx_attribute *a = typed(im, name, TYPE_STRING);
    if (!a)
        return dflt;
    if (a->s.size && memchr(a->s.data, 0, a->s.size)) {
        mase_ox_fail(im, MASE_EVALUE, "attribute '%s' has a zero byte in it", name);
        return dflt;
    }
    return mase_arena_strndup(&im->arena, a->s.size ? (const char *)a->s.data : "", a->s.size);
}

const int64_t *mase_ox_attr_ints(struct mase_ox_import *im, const char *name, int *count)
{
    const struct mase_onnx_attribute *a = typed(im, name, TYPE_INTS);
    *count = a ? a->ints.count : 0;
    return a ? a->ints.items : NULL;
}

const float *mase_ox_attr_floats(struct mase_ox_import *im, const char *name, int *count)
{
    const struct mase_onnx_attribute *a = typed(im, name, TYPE_FLOATS);
    *count = a ? a->floats.count : 0;
    return a ? a->floats.items : NULL;
}

enum mase_status mase_ox_attrs_done(struct mase_ox_import *im)
{
    for (int i = 0; !im->status && i < im->node->attribute.count; i++)
        if (i >= 64 || !(im->attributes_read >> i & 1))
            return mase_ox_fail(im, MASE_EUNSUPPORTED, "attribute '%s' is not known",
                                im->node->attribute.items[i].name);
    return im->status;
}
