/*
 * import_values.c - values of a model by name: their types, constants, and sizes.
 */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* Constants of at most so many elements become arguments; larger ones become buffers. */
enum { MOST_IN_TEXT = 4096 };

/* ---- by name ---- */

struct mase_ox_value *mase_ox_find(const struct mase_ox_import *im, const char *name)
{
    for (const struct mase_ox_scope *s = im->scope; s; s = s->call ? NULL : s->outer) {
        struct mase_ox_value *v = mase_map_get(&s->values, name);
        if (v)
            return v;
    }
    return NULL;
}

struct mase_ox_value *mase_ox_new_value(struct mase_ox_import *im, const char *name)
{
    struct mase_ox_value *v = mase_new(&im->arena, struct mase_ox_value);
    v->name = name;
    mase_map_put(&im->scope->values, name, v);
    return v;
}

struct mase_ox_value *mase_ox_in(struct mase_ox_import *im, int i)
{
    if (i >= im->node->input.count || !im->node->input.items[i][0] || im->status)
        return NULL;
    struct mase_ox_value *v = mase_ox_find(im, im->node->input.items[i]);
    if (!v)
        mase_ox_fail(im, MASE_EVALUE, "its input '%s' is made by no node before it",
                     im->node->input.items[i]);
    return v && !v->node && !v->init && !v->data && !v->base
               ? NULL
               : v; /* the function is called without it */
}

bool mase_ox_has_out(const struct mase_ox_import *im, int i)
{
    return i < im->node->output.count && im->node->output.items[i][0];
}

struct mase_node *mase_ox_x(struct mase_ox_import *im, int i)
{
    struct mase_ox_value *v = mase_ox_in(im, i);
    if (!v && !im->status)
        mase_ox_fail(im, MASE_EVALUE, "input %d is missing", i);
    return v ? mase_ox_node_of(im, v) : NULL;
}

enum mase_status mase_ox_out(struct mase_ox_import *im, int i, struct mase_node *n)
{
    if (im->status || !mase_ox_has_out(im, i))
        return im->status;
    const char *name = im->node->output.items[i];
    if (mase_map_get(&im->scope->values, name))
        return mase_ox_fail(im, MASE_EVALUE, "its result '%s' has a name that is taken", name);
    struct mase_ox_value *v = mase_ox_new_value(im, name), *first = mase_ptrmap_get(&im->named, n);
    v->node = n;
    if (first)
        v->shared = first->shared = true;
    else
        mase_ptrmap_put(&im->named, &im->arena, n, v);
    return MASE_OK;
}

/* ---- tensors of the model in the graph ---- */

/* The elements as doubles, or NULL if there are too many, or a double does not hold one. */
static const double *as_doubles(struct mase_ox_import *im, const struct mase_tensor *t)
{
    const int64_t n = mase_tensor_count(t);
    if (n > MOST_IN_TEXT)
        return NULL;
    double *v = mase_new_array(&im->g->arena, double, (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        v[i] = mase_tensor_get(t, i);
        if (t->dtype == MASE_I64 && fabs(v[i]) > 0x1p53)
            return NULL;
    }
    return v;
}

static struct mase_node *read_attr(struct mase_ox_import *im, const char *path,
                                   const struct mase_tensor *t, bool learned)
{
    struct mase_node *n = mase_graph_insert(im->g, NULL, MASE_GET_ATTR, path, NULL, NULL);
    struct mase_ox_result *r = mase_new(&im->arena, struct mase_ox_result);
    r->known = true;
    r->learned = learned;
    for (int s = 0; s < im->sizes; s++)
        r->value[s] = (struct mase_arg){ .kind = MASE_ARG_TENSOR,
                                         .tensor = mase_arena_memdup(&im->arena, t, sizeof *t) };
    mase_ptrmap_put(&im->results, &im->arena, n, r);
    return n;
}

static void add_fill(struct mase_ox_import *im, const char *path, const struct mase_ox_value *v,
                     bool transposed)
{
    struct mase_ox_fill *f = mase_new(&im->arena, struct mase_ox_fill);
    *f = (struct mase_ox_fill){
        .path = path, .value = v, .transposed = transposed, .next = im->fills
    };
    im->fills = f;
}

void mase_ox_fill(struct mase_ox_import *im, const char *path, const char *name,
                  struct mase_ox_value *v, bool transposed)
{
    const char *full = mase_arena_printf(&im->arena, "%s.%s", path, name);
    const struct mase_param *p = mase_graph_attr(im->g, full);
    const struct mase_tensor *t = mase_ox_like(im, v);
    if (p && t && mase_tensor_count(t) != mase_tensor_count(&p->tensor)) {
        mase_ox_fail(im, MASE_EVALUE, "%s '%s' has %lld values where its input wants %lld", name,
                     v->name ? v->name : "", (long long)mase_tensor_count(t),
                     (long long)mase_tensor_count(&p->tensor));
        return;
    }
    add_fill(im, full, v, transposed);
    if ((v->init || v->data) && !v->owner) {
        v->owner = full;
        v->transposed = transposed;
    }
}

/* A node for a constant or parameter with the values of t. */
static struct mase_node *add_attr(struct mase_ox_import *im, struct mase_ox_value *v,
                                  const struct mase_tensor *t, bool learned)
{
    const char *path = mase_ox_free_path(im, v->name);
    const double *values = learned ? NULL : as_doubles(im, t);
    if (mase_check_path(path, im->err)) {
        im->status = im->err ? im->err->status : MASE_ELIMIT;
        return NULL;
    }
    struct mase_param *p =
        mase_graph_add_attr(im->g, path, t->dtype, &t->shape, MASE_PARAM_TRAINED);
    p->after = im->g->module_count;
    p->kind = values ? MASE_PARAM_CONSTANT : learned ? MASE_PARAM_TRAINED : MASE_PARAM_BUFFER;
    p->values = values;
    p->init = values ? MASE_INIT_VALUES : MASE_INIT_ZEROS;
    add_fill(im, path, v, false);
    return read_attr(im, path, t, learned);
}

static struct mase_tensor *load(struct mase_ox_import *im, const struct mase_ox_value *v)
{
    struct mase_tensor *t = mase_arena_memdup(&im->arena, &v->like, sizeof v->like);
    t->data = mase_arena_alloc(&im->arena, (size_t)mase_tensor_bytes(t));
    mase_onnx_tensor_copy(t->data, im->file, v->init);
    return t;
}

/* Is a tensor of the model a parameter? Floats of more than one element are. */
static bool is_weight(const struct mase_tensor *t)
{
    return t->dtype == MASE_F32 && mase_tensor_count(t) > 1;
}

struct mase_node *mase_ox_node_of(struct mase_ox_import *im, struct mase_ox_value *v)
{
    if (im->status || v->node)
        return im->status ? NULL : v->node;
    if (v->base || v->is_codes)
        return mase_ox_rounded(im, v);
    if (v->like.dtype >= MASE_DTYPE_COUNT) {
        mase_ox_fail(im, MASE_EUNSUPPORTED, "tensor '%s' is of type %s, which is not computed with",
                     v->name, mase_onnx_type_name(mase_onnx_type_of(v->like.dtype)));
        return NULL;
    }
    if (v->data)
        return v->node = add_attr(im, v, v->data, is_weight(v->data));
    const struct mase_tensor *t = load(im, v);
    if (!v->owner)
        return v->node = add_attr(im, v, t, is_weight(t));
    if (!v->transposed)
        return v->node = read_attr(im, v->owner, t, true);
    struct mase_tensor turned = *t;
    turned.shape.dim[0] = t->shape.dim[1];
    turned.shape.dim[1] = t->shape.dim[0];
    turned.data = mase_arena_alloc(&im->arena, (size_t)mase_tensor_bytes(t));
    for (int64_t i = 0; i < t->shape.dim[0]; i++)
        for (int64_t j = 0; j < t->shape.dim[1]; j++)
            mase_f32(&turned)[j * t->shape.dim[0] + i] = mase_f32(t)[i * t->shape.dim[1] + j];
    return v->node = EMIT(im, MASE_OP_t, ARG_NODE(read_attr(im, v->owner, &turned, true)));
}

struct mase_node *mase_ox_constant(struct mase_ox_import *im, const struct mase_tensor *t)
{
    struct mase_ox_value *v = mase_new(&im->arena, struct mase_ox_value);
    const char *from = !im->node                ? "constant"
                       : im->node->output.count ? im->node->output.items[0]
                                                : im->node->name;
    if (im->status)
        return NULL;
    v->name = mase_arena_printf(&im->arena, "%s%s", im->scope->prefix, from);
    v->like = *t;
    struct mase_tensor *copy = mase_arena_memdup(&im->arena, t, sizeof *t);
    if (mase_tensor_bytes(t))
        copy->data = mase_arena_memdup(&im->arena, t->data, (size_t)mase_tensor_bytes(t));
    return v->node = add_attr(im, v, copy, false);
}

struct mase_node *mase_ox_scalar(struct mase_ox_import *im, enum mase_dtype dtype, double v)
{
    struct mase_tensor t = mase_tensor(&im->arena, dtype, &(struct mase_shape){ 0 }, true);
    mase_tensor_set(&t, 0, v);
    return mase_ox_constant(im, &t);
}

/* ---- what is known ---- */

const struct mase_ox_result *mase_ox_result(struct mase_ox_import *im, const struct mase_node *n)
{
    return mase_ptrmap_get(&im->results, n);
}

const struct mase_tensor *mase_ox_tensor(struct mase_ox_import *im, const struct mase_node *n)
{
    static const struct mase_tensor nothing = { .dtype = MASE_F32 };
    const struct mase_ox_result *r = n ? mase_ox_result(im, n) : NULL;
    return r && r->value[0].kind == MASE_ARG_TENSOR ? r->value[0].tensor : &nothing;
}

const struct mase_tensor *mase_ox_like(struct mase_ox_import *im, const struct mase_ox_value *v)
{
    if (!v->node && v->base)
        return mase_ox_like(im, v->base);
    return v->node ? mase_ox_tensor(im, v->node) : &v->like;
}

enum mase_dtype mase_ox_dtype(struct mase_ox_import *im, const struct mase_node *n)
{
    return mase_ox_tensor(im, n)->dtype;
}

int mase_ox_rank(struct mase_ox_import *im, const struct mase_node *n)
{
    return mase_ox_tensor(im, n)->shape.rank;
}

bool mase_ox_dim_is_fixed(struct mase_ox_import *im, const struct mase_node *n, int d)
{
    const struct mase_ox_result *r = n ? mase_ox_result(im, n) : NULL;
    for (int s = 1; r && s < im->sizes; s++)
        if (r->value[s].tensor->shape.dim[d] != r->value[0].tensor->shape.dim[d])
            return false;
    return true;
}

int mase_ox_axis(struct mase_ox_import *im, int64_t axis, int rank)
{
    const int64_t a = axis < 0 ? axis + rank : axis;
    if (a >= 0 && a < rank)
        return (int)a;
    if (!im->status)
        mase_ox_fail(im, MASE_EVALUE, "axis %lld is outside of the %d dimensions", (long long)axis,
                     rank);
    return 0;
}

/* ---- numbers that may depend on the batch ---- */

/* The node that reads the batch size, added at its first use. */
static struct mase_node *batch_size(struct mase_ox_import *im)
{
    const struct mase_onnx_node *node = im->node;
    im->node = NULL;
    if (!im->batch_size)
        im->batch_size = EMIT(im, MASE_OP_size, ARG_NODE(im->batch), ARG_INT(0));
    im->node = node;
    return im->batch_size;
}

/* A number that is v[s] for samples[s]: plus + times N, as an argument. */
static struct mase_arg affine(struct mase_ox_import *im, const int64_t v[MASE_BATCH_SIZES])
{
    int s = 1;
    while (s < im->sizes && v[s] == v[0])
        s++;
    if (s >= im->sizes)
        return ARG_INT(v[0]);
    struct mase_extent e;
    if (!mase_extent_between(&e, im->samples, v)) {
        im->batch_matters = true;
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "a length depends on the number of samples, but is no multiple of it");
        return ARG_INT(0);
    }
    struct mase_node *x = batch_size(im);
    if (e.times != 1)
        x = EMIT(im, MASE_OP_mul, ARG_NODE(x), ARG_INT(e.times));
    if (e.plus)
        x = EMIT(im, MASE_OP_add, ARG_NODE(x), ARG_INT(e.plus));
    return ARG_NODE(x);
}

struct mase_arg mase_ox_dim(struct mase_ox_import *im, const struct mase_node *n, int d)
{
    const struct mase_ox_result *r = n && !im->status ? mase_ox_result(im, n) : NULL;
    int64_t v[MASE_BATCH_SIZES] = { 0 };
    for (int s = 0; r && s < im->sizes; s++)
        v[s] = r->value[s].tensor->shape.dim[d];
    return r ? affine(im, v) : ARG_INT(0);
}

/* ---- constants as numbers ---- */

static bool is_same(const struct mase_ox_import *im, const struct mase_ox_result *r)
{
    for (int s = 1; s < im->sizes; s++) {
        const struct mase_tensor *a = r->value[0].tensor, *b = r->value[s].tensor;
        if (!mase_shape_equal(&a->shape, &b->shape) ||
            (a->data != b->data && memcmp(a->data, b->data, (size_t)mase_tensor_bytes(a)) != 0))
            return false;
    }
    return true;
}

bool mase_ox_result_is_constant(const struct mase_ox_import *im, const struct mase_ox_result *r)
{
    return r->known && !r->given && !r->learned && r->value[0].kind == MASE_ARG_TENSOR &&
           is_same(im, r);
}

bool mase_ox_is_param(struct mase_ox_import *im, struct mase_ox_value *v)
{
    const struct mase_ox_result *r = v && v->node ? mase_ox_result(im, v->node) : NULL;
    return v &&
           (v->init || v->data ||
            (r && r->known && !r->given && r->value[0].kind == MASE_ARG_TENSOR && is_same(im, r)));
}

bool mase_ox_is_known(struct mase_ox_import *im, struct mase_ox_value *v)
{
    const struct mase_ox_result *r = v && v->node ? mase_ox_result(im, v->node) : NULL;
    return v && (v->init || v->data || (r && r->known && r->value[0].kind == MASE_ARG_TENSOR));
}

static const struct mase_ox_result *need_known(struct mase_ox_import *im, struct mase_ox_value *v)
{
    const struct mase_node *n = im->status ? NULL : mase_ox_node_of(im, v);
    const struct mase_ox_result *r = n ? mase_ox_result(im, n) : NULL;
    if (n && (!r->known || r->value[0].kind != MASE_ARG_TENSOR))
        mase_ox_fail(im, MASE_EUNSUPPORTED,
                     "its input '%s' decides a shape and is known only when the network runs",
                     v->name);
    return im->status ? NULL : r;
}

const int64_t *mase_ox_ints(struct mase_ox_import *im, struct mase_ox_value *v, int *count)
{
    const struct mase_ox_result *r = need_known(im, v);
    *count = 0;
    if (!r)
        return NULL;
    if (!is_same(im, r)) {
        im->batch_matters = true;
        mase_ox_fail(im, MASE_EUNSUPPORTED, "its input '%s' depends on the number of samples",
                     v->name);
        return NULL;
    }
    const struct mase_tensor *t = r->value[0].tensor;
    *count = (int)mase_tensor_count(t);
    int64_t *out = mase_new_array(&im->arena, int64_t, (size_t)*count);
    for (int i = 0; i < *count; i++)
        out[i] = mase_ox_element(t, i);
    return out;
}

const struct mase_arg *mase_ox_sizes(struct mase_ox_import *im, struct mase_ox_value *v, int *count)
{
    const struct mase_ox_result *r = need_known(im, v);
    *count = 0;
    if (!r)
        return NULL;
    *count = (int)mase_tensor_count(r->value[0].tensor);
    struct mase_arg *out = mase_new_array(&im->arena, struct mase_arg, (size_t)*count);
    for (int i = 0; i < *count; i++) {
        int64_t n[MASE_BATCH_SIZES] = { 0 };
        for (int s = 0; s < im->sizes; s++) {
            if (mase_tensor_count(r->value[s].tensor) != *count) {
                im->batch_matters = true;
                mase_ox_fail(im, MASE_EUNSUPPORTED, "a rank depends on the number of samples");
                return NULL;
            }
            n[s] = mase_ox_element(r->value[s].tensor, i);
        }
        out[i] = affine(im, n);
    }
    return out;
}

bool mase_ox_number(struct mase_ox_import *im, struct mase_ox_value *v, double *out)
{
    const struct mase_ox_result *r = need_known(im, v);
    if (r && (mase_tensor_count(r->value[0].tensor) != 1 || !is_same(im, r)))
        mase_ox_fail(im, MASE_EUNSUPPORTED, "its input '%s' must be one number that is known",
                     v->name);
    if (r && !im->status)
        *out = mase_tensor_get(r->value[0].tensor, 0);
    return r && !im->status;
}

int64_t mase_ox_whole(double v)
{
    return isnan(v)       ? 0
           : v >= 0x1p62  ? INT64_C(1) << 62
           : v <= -0x1p62 ? -(INT64_C(1) << 62)
                          : (int64_t)v;
}

struct mase_arg mase_ox_number_or_node(struct mase_ox_import *im, int i, enum mase_dtype dtype)
{
    struct mase_node *n = mase_ox_x(im, i);
    const struct mase_ox_result *r = n ? mase_ox_result(im, n) : NULL;
    if (!r || !mase_ox_result_is_constant(im, r))
        return ARG_NODE(n);
    const struct mase_tensor *t = r->value[0].tensor;
    if (t->shape.rank || t->dtype != dtype || (dtype != MASE_F32 && dtype != MASE_I64))
        return ARG_NODE(n);
    return dtype == MASE_F32 ? ARG_FLOAT(mase_f32(t)[0]) : ARG_INT(((const int64_t *)t->data)[0]);
}

enum mase_status mase_ox_refuse_samples(struct mase_ox_import *im, const struct mase_node *x,
                                        int axis)
{
    if (!im->static_batch || im->sizes == 1 || mase_ox_dim_is_fixed(im, x, axis))
        return MASE_OK;
    im->batch_matters = true;
    return mase_ox_fail(im, MASE_EUNSUPPORTED, "it goes along the samples");
}
