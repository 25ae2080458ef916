/*
 * import_calls.c - add calls of our operations for nodes of the model, infer their shapes, and fold
 * constants.
 */
#include <string.h>

#include "exec/reference/ref.h"
#include "ir/shape/infer.h"
#include "ir/shape/shape.h"
#include "onnx/import_parts.h"

/* Bytes that may be folded: constants other than weights are small. */
#define MOST_FOLDED  (UINT64_C(1) << 30)
#define SMALL_FOLDED (UINT64_C(1) << 26)

/* ---- results ---- */

struct look {
    struct mase_ox_import *im;
    int size;
};

/* The result of a node for the batch size number l->size. */
static const struct mase_arg *look_up(const struct mase_node *n, void *data)
{
    const struct look *l = data;
    const struct mase_ox_result *r = mase_ptrmap_get(&l->im->results, n);
    return r ? &r->value[l->size] : NULL;
}

static uint64_t bytes_of(const struct mase_arg *a)
{
    uint64_t bytes = 0;
    if (a->kind == MASE_ARG_TENSOR && !a->tensor->data)
        bytes = (uint64_t)mase_tensor_bytes(a->tensor);
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        bytes += bytes_of(&a->items[i]);
    return bytes;
}

static bool is_number(const struct mase_arg *a)
{
    for (int i = 0; mase_arg_is_seq(a) && i < a->count; i++)
        if (!is_number(&a->items[i]))
            return false;
    return a->kind != MASE_ARG_TENSOR;
}

/* Does the result have another shape than for the first size? */
static bool follows(const struct mase_arg *result, const struct mase_arg *first)
{
    if (result->kind == MASE_ARG_TENSOR)
        return first->kind != MASE_ARG_TENSOR ||
               !mase_shape_equal(&result->tensor->shape, &first->tensor->shape);
    for (int i = 0; mase_arg_is_seq(result) && i < result->count; i++)
        if (first->kind != result->kind || first->count != result->count ||
            follows(&result->items[i], &first->items[i]))
            return true;
    return false;
}

static bool can_compute(struct mase_ox_import *im, const struct mase_arg *result)
{
    const uint64_t bytes = bytes_of(result), size = im->file->file.size;
    const uint64_t most =
        im->file->external || size > MOST_FOLDED / 16 ? MOST_FOLDED : SMALL_FOLDED + 16 * size;
    if (bytes > most || im->folded + bytes > most)
        return false;
    im->folded += bytes;
    return true;
}

bool mase_ox_is_any(const struct mase_ox_import *im, int size)
{
    return im->samples[size] == mase_batch_sizes[MASE_BATCH_SIZES - 1];
}

/* Infer for one batch size. A value whose size depends on the samples is not folded. */
static enum mase_status infer(struct mase_ox_import *im, struct mase_ox_result *r,
                              const struct mase_node *n, int size)
{
    struct look l = { im, size };
    struct mase_call c;
    MASE_TRY(mase_call_init(&c, &im->arena, n, look_up, &l, im->err));
    c.any_batch = mase_ox_is_any(im, size);
    MASE_TRY(mase_call_infer(&c, im->err));
    if (is_number(&c.result)) {
        r->known = true;
    } else if (r->known &&
               (n->kind == MASE_CALL_MODULE || (c.any_batch && follows(&c.result, &r->value[0])) ||
                !can_compute(im, &c.result))) {
        r->known = false;
    } else if (r->known) {
        mase_forward_fn *forward = mase_forward_of(n->op);
        const bool todo = mase_ref_allocate(&im->arena, &c.result) > 0;
        if (todo && forward)
            MASE_TRY(forward(&c, im->err));
    }
    r->value[size] = c.result;
    return MASE_OK;
}

/* ---- samples ---- */

/* How many dimensions of a result depend on the samples; -1: one is not a multiple of them. */
static int following(const struct mase_ox_import *im, const struct mase_ox_result *r)
{
    int count = 0;
    if (r->value[0].kind != MASE_ARG_TENSOR)
        return 0;
    for (int d = 0; d < r->value[0].tensor->shape.rank; d++) {
        const int64_t a = r->value[0].tensor->shape.dim[d], b = r->value[1].tensor->shape.dim[d];
        if (a != b && a * im->samples[1] != b * im->samples[0])
            return -1;
        count += a != b;
    }
    return count;
}

/* A file with a fixed batch size computes for these samples. To hold for any batch, samples must
 * not mix: no dimension of samples may be reduced, sliced or contracted. */
static bool is_per_sample(struct mase_ox_import *im, const struct mase_node *n,
                          const struct mase_ox_result *r)
{
    bool has_samples = false;
    for (int i = 0; i < n->input_count; i++) {
        const struct mase_ox_result *in = mase_ptrmap_get(&im->results, n->inputs[i]);
        has_samples |= following(im, in) > 0;
    }
    return !has_samples || r->value[0].kind != MASE_ARG_TENSOR || following(im, r) == 1;
}

struct mase_node *mase_ox_learn_of(struct mase_ox_import *im, struct mase_node *n)
{
    struct mase_ox_result *r = mase_new(&im->arena, struct mase_ox_result);
    r->known = true;
    for (int i = 0; i < n->input_count; i++) {
        const struct mase_ox_result *in = mase_ptrmap_get(&im->results, n->inputs[i]);
        r->known &= in->known;
        r->given |= in->given;
        r->learned |= in->learned;
    }
    r->given &= r->known;
    for (int s = 0; s < im->sizes; s++) {
        struct mase_err inner = { 0 }, *outer = im->err;
        im->err = &inner;
        const enum mase_status st = infer(im, r, n, s);
        im->err = outer;
        if (st) {
            im->batch_matters |= s > 0;
            mase_ox_fail(im, st, "%s%s", inner.msg,
                         s ? ", in a batch of another size than the file's" : "");
            return NULL;
        }
    }
    if (im->static_batch && im->sizes > 1 && !is_per_sample(im, n, r)) {
        im->batch_matters = true;
        mase_ox_fail(im, MASE_EUNSUPPORTED, "it mixes the samples of a batch");
        return NULL;
    }
    mase_ptrmap_put(&im->results, &im->arena, n, r);
    return n;
}

/* ---- calls ---- */

/* A node name for the graph, from the name in the model. */
static const char *node_name(struct mase_ox_import *im, const char *otherwise)
{
    const char *from = im->node && im->node->name[0]        ? im->node->name
                       : im->node && im->node->output.count ? im->node->output.items[0]
                                                            : otherwise;
    struct mase_str s = { 0 };
    mase_str_add(&s, im->scope ? im->scope->prefix : "");
    for (; *from; from++) {
        const bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
                           (*from >= '0' && *from <= '9');
        if (plain || (s.len && s.data[s.len - 1] != '_'))
            mase_str_addc(&s, plain ? *from : '_');
    }
    const char *name = mase_arena_strndup(&im->arena, s.len ? mase_str_text(&s) : otherwise,
                                          s.len ? s.len : strlen(otherwise));
    mase_str_release(&s);
    return name;
}

/* Has an earlier call failed, so that an operand is missing? */
static bool has_failed(const struct mase_ox_import *im)
{
    return im->status != MASE_OK;
}

static struct mase_node *insert(struct mase_ox_import *im, enum mase_node_kind kind,
                                const char *target, const struct mase_arg *args, int count,
                                const char *const *keys, const struct mase_arg *values,
                                int key_count)
{
    if (has_failed(im))
        return NULL;
    const struct mase_arg tuple = mase_arg_seq(&im->arena, MASE_ARG_TUPLE, args, count);
    struct mase_arg dict = mase_arg_seq(&im->arena, MASE_ARG_DICT, values, key_count);
    dict.keys = (const char **)keys;
    struct mase_node *n =
        mase_graph_insert_named(im->g, NULL, kind, node_name(im, "samples"), target, &tuple, &dict);
    if (im->node)
        mase_node_set_place(n, mase_onnx_at(im->file, &im->node->head));
    return mase_ox_learn_of(im, n);
}

/* The kind and target of a node that calls the operation. */
static const char *target_of(enum mase_op op, enum mase_node_kind *kind, struct mase_arena *a)
{
    const struct mase_op_info *info = &mase_ops[op];
    const bool function = info->functions && info->functions[0];
    const char *names = function ? info->functions : info->methods;
    *kind = function ? MASE_CALL_FUNCTION : MASE_CALL_METHOD;
    return mase_arena_strndup(a, names, strcspn(names, " "));
}

struct mase_node *mase_ox_emit_kw(struct mase_ox_import *im, enum mase_op op,
                                  const struct mase_arg *args, int count, const char *const *keys,
                                  const struct mase_arg *values, int key_count)
{
    enum mase_node_kind kind;
    const char *target = target_of(op, &kind, &im->arena);
    return insert(im, kind, target, args, count, keys, values, key_count);
}

struct mase_node *mase_ox_emit(struct mase_ox_import *im, enum mase_op op,
                               const struct mase_arg *args, int count)
{
    return mase_ox_emit_kw(im, op, args, count, NULL, NULL, 0);
}

struct mase_node *mase_ox_emit_target(struct mase_ox_import *im, enum mase_node_kind kind,
                                      const char *target, const struct mase_arg *args, int count)
{
    return insert(im, kind, target, args, count, NULL, NULL, 0);
}

struct mase_node *mase_ox_emit_layer(struct mase_ox_import *im, const char *path,
                                     struct mase_node *x)
{
    const struct mase_arg arg = ARG_NODE(x);
    return insert(im, MASE_CALL_MODULE, path, &arg, 1, NULL, NULL, 0);
}

/* ---- operands as arguments ---- */

struct mase_arg mase_ox_list(struct mase_ox_import *im, const struct mase_arg *items, int count)
{
    return mase_arg_seq(&im->arena, MASE_ARG_TUPLE, items, count);
}

struct mase_arg mase_ox_int_list(struct mase_ox_import *im, const int64_t *v, int count)
{
    struct mase_arg *items = mase_new_array(&im->arena, struct mase_arg, (size_t)count);
    for (int i = 0; i < count; i++)
        items[i] = ARG_INT(v[i]);
    return mase_ox_list(im, items, count);
}

struct mase_arg mase_ox_type(enum mase_dtype dtype)
{
    return (struct mase_arg){ .kind = MASE_ARG_ATOM, .s = mase_dtypes[dtype].torch };
}

/* ---- calls that several rules use ---- */

struct mase_node *mase_ox_cast(struct mase_ox_import *im, struct mase_node *x,
                               enum mase_dtype dtype)
{
    return has_failed(im) || mase_ox_dtype(im, x) == dtype
               ? x
               : EMIT(im, MASE_OP_to, ARG_NODE(x), mase_ox_type(dtype));
}

struct mase_node *mase_ox_item(struct mase_ox_import *im, struct mase_node *x, int i)
{
    return EMIT(im, MASE_OP_getitem, ARG_NODE(x), ARG_INT(i));
}

struct mase_node *mase_ox_reshape(struct mase_ox_import *im, struct mase_node *x,
                                  const struct mase_arg *dims, int count)
{
    return EMIT(im, MASE_OP_reshape, ARG_NODE(x), mase_ox_list(im, dims, count));
}

struct mase_node *mase_ox_permute(struct mase_ox_import *im, struct mase_node *x, const int *order,
                                  int rank)
{
    struct mase_arg items[MASE_MAX_RANK];
    bool is_same = true;
    for (int i = 0; i < rank; i++) {
        items[i] = ARG_INT(order[i]);
        is_same = is_same && order[i] == i;
    }
    return is_same ? x : EMIT(im, MASE_OP_permute, ARG_NODE(x), mase_ox_list(im, items, rank));
}

struct mase_node *mase_ox_slice(struct mase_ox_import *im, struct mase_node *x, int axis,
                                struct mase_arg start, struct mase_arg stop, int64_t step)
{
    struct mase_arg items[MASE_MAX_RANK], part[3] = { start, stop, ARG_INT(step) };
    const struct mase_arg all[3] = { ARG_NONE, ARG_NONE, ARG_NONE };
    for (int i = 0; i < axis; i++)
        items[i] = mase_arg_seq(&im->arena, MASE_ARG_SLICE, all, 3);
    items[axis] = mase_arg_seq(&im->arena, MASE_ARG_SLICE, part, 3);
    return EMIT(im, MASE_OP_getitem, ARG_NODE(x), mase_ox_list(im, items, axis + 1));
}
