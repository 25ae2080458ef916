/*
 * compose_einsum.c - einsum as permutations, sums and products of two operands at a time.
 *
 * Where two operands are multiplied, a label of both that the rest still needs is a batch of
 * matrices, one that it does not need is summed up, and what only one of them has are rows or
 * columns. The samples of a batch stay the first dimension, so that plans can run it.
 */
#include "ir/shape/shape.h"
#include "program/compose.h"

/* A value whose dimensions have labels. */
struct labelled {
    struct mase_arg value;
    int label[MASE_MAX_RANK], rank;
};

/* Labels of a kind, in the order in which they are to lie. */
struct labels {
    int label[MASE_MAX_RANK], count;
};

static int place_of(const int *label, int count, int wanted)
{
    for (int i = 0; i < count; i++)
        if (label[i] == wanted)
            return i;
    return -1;
}

static bool has(const struct labelled *x, int label)
{
    return place_of(x->label, x->rank, label) >= 0;
}

static struct mase_extent extent_of(const struct labelled *x, int label)
{
    return mase_pvalue_of(&x->value)->type.dim[place_of(x->label, x->rank, label)];
}

/* ---- one operand ---- */

static void drop(struct labelled *x, int d)
{
    x->rank--;
    for (int i = d; i < x->rank; i++)
        x->label[i] = x->label[i + 1];
}

/* ii: the diagonal, which becomes the last dimension. */
static void take_diagonals(struct mase_compose *k, struct labelled *x)
{
    for (int d = 0; d < x->rank; d++) {
        const int before = place_of(x->label, d, x->label[d]), label = x->label[d];
        if (before < 0)
            continue;
        x->value = mase_compose(k, MASE_OP_diagonal, x->value, mase_arg_int(0),
                                mase_arg_int(before), mase_arg_int(d));
        drop(x, d);
        drop(x, before);
        x->label[x->rank++] = label;
        d = -1;
    }
}

/* Sum over labels that no other operand and no result needs. */
static void sum_out(struct mase_compose *k, struct labelled *x, const bool *needed)
{
    int64_t dims[MASE_MAX_RANK];
    int count = 0;
    for (int d = 0; d < x->rank; d++)
        if (!needed[x->label[d]])
            dims[count++] = d;
    if (count)
        x->value = mase_compose(k, MASE_OP_sum, x->value, mase_compose_ints(k, dims, count));
    for (int i = count - 1; i >= 0; i--)
        drop(x, (int)dims[i]);
}

static void permute(struct mase_compose *k, struct labelled *x, const struct labels *order)
{
    int64_t dims[MASE_MAX_RANK];
    bool same = true;
    for (int i = 0; i < order->count; i++) {
        dims[i] = place_of(x->label, x->rank, order->label[i]);
        same &= dims[i] == i;
    }
    if (!same)
        x->value =
            mase_compose(k, MASE_OP_permute, x->value, mase_compose_ints(k, dims, order->count));
    for (int i = 0; i < order->count; i++)
        x->label[i] = order->label[i];
}

static void reshape(struct mase_compose *k, struct mase_arg *value, struct mase_ptype type)
{
    if (k->status)
        return;
    type.dtype = mase_pvalue_of(value)->type.dtype;
    if (!mase_ptype_equal(&type, &mase_pvalue_of(value)->type))
        *value = mase_compose(k, MASE_OP_reshape, *value, mase_lowered_sizes(k->l, &type));
}

/* A length of 1 where the others have more says nothing. */
static void drop_ones(struct mase_compose *k, const struct mase_einsum *e, struct labelled *x)
{
    if (k->status)
        return;
    const struct mase_ptype *from = &mase_pvalue_of(&x->value)->type;
    struct mase_ptype type = { .rank = 0 };
    int kept = 0;
    for (int d = 0; d < x->rank; d++) {
        if (!from->dim[d].times && from->dim[d].plus == 1 && e->size[x->label[d]] != 1)
            continue;
        type.dim[type.rank++] = from->dim[d];
        x->label[kept++] = x->label[d];
    }
    x->rank = kept;
    reshape(k, &x->value, type);
}

/* ---- two operands ---- */

static void push(struct labels *l, int label)
{
    l->label[l->count++] = label;
}

/* The label of the batch of samples, or -1. */
static int samples_of(const struct labelled *x)
{
    for (int d = 0; d < x->rank; d++)
        if (mase_pvalue_of(&x->value)->type.dim[d].times)
            return x->label[d];
    return -1;
}

/* Labels of a that b has or lacks (both) and that are needed or not (kept); that of the samples
 * first. */
static struct labels labels_of(const struct labelled *a, const struct labelled *b, bool both,
                               bool kept, const bool *needed)
{
    struct labels out = { 0 };
    const int samples = samples_of(a);
    for (int first = 1; first >= 0; first--)
        for (int d = 0; d < a->rank; d++)
            if (has(b, a->label[d]) == both && needed[a->label[d]] == kept &&
                (a->label[d] == samples) == first)
                push(&out, a->label[d]);
    return out;
}

static void join(struct labels *l, const struct labels *more)
{
    for (int i = 0; i < more->count; i++)
        push(l, more->label[i]);
}

static void add_dim(struct mase_ptype *t, struct mase_extent n)
{
    t->dim[t->rank++] = n;
}

static void add_dims(struct mase_ptype *t, const struct labelled *x, const struct labels *l)
{
    for (int i = 0; i < l->count; i++)
        add_dim(t, extent_of(x, l->label[i]));
}

static void add_ones(struct mase_ptype *t, int count)
{
    for (int i = 0; i < count; i++)
        add_dim(t, (struct mase_extent){ .plus = 1 });
}

/* All of them as one dimension. The samples may be among them, then alone or with others. */
static struct mase_extent product_of(const struct labelled *x, const struct labels *l)
{
    struct mase_extent n = { .plus = 1 };
    for (int i = 0; i < l->count; i++) {
        const struct mase_extent m = extent_of(x, l->label[i]);
        n = m.times ? (struct mase_extent){ n.plus * m.plus, n.plus * m.times }
                    : (struct mase_extent){ n.plus * m.plus, n.times * m.plus };
    }
    return n;
}

/* How two operands are multiplied. */
struct product {
    struct labels batch, inner, rows, columns;
};

/* Nothing is summed up: each with each. */
static struct labelled multiply_each(struct mase_compose *k, struct labelled a, struct labelled b,
                                     const struct product *p)
{
    struct labelled out = { .rank = 0 };
    struct labels of_a = p->batch, of_b = p->batch;
    struct mase_ptype shape_a = { .rank = 0 }, shape_b = { .rank = 0 };
    join(&of_a, &p->rows);
    join(&of_b, &p->columns);
    permute(k, &a, &of_a);
    permute(k, &b, &of_b);
    if (k->status)
        return out;
    add_dims(&shape_a, &a, &of_a);
    add_ones(&shape_a, p->columns.count);
    add_dims(&shape_b, &b, &p->batch);
    add_ones(&shape_b, p->rows.count);
    add_dims(&shape_b, &b, &p->columns);
    reshape(k, &a.value, shape_a);
    reshape(k, &b.value, shape_b);
    out.value = mase_compose(k, MASE_OP_mul, a.value, b.value);
    join(&of_a, &p->columns);
    for (int i = 0; i < of_a.count; i++)
        out.label[out.rank++] = of_a.label[i];
    return out;
}

/* (batch, rows, inner) times (batch, inner, columns): of several rows all but the last are further
 * batches, which the other operand repeats; columns are one dimension for the time. */
static struct labelled multiply_matrices(struct mase_compose *k, struct labelled a,
                                         struct labelled b, const struct product *p, bool plain)
{
    struct labelled out = { .rank = 0 };
    struct labels of_a = p->batch, of_b = p->batch;
    struct mase_ptype shape_a = { .rank = 0 }, shape_b = { .rank = 0 }, shape = { .rank = 0 };
    join(&of_a, &p->rows);
    join(&of_a, &p->inner);
    join(&of_b, &p->inner);
    join(&of_b, &p->columns);
    permute(k, &a, &of_a);
    permute(k, &b, &of_b);
    if (k->status)
        return out;
    add_dims(&shape_a, &a, &p->batch);
    add_dims(&shape_a, &a, &p->rows);
    add_ones(&shape_a, p->rows.count ? 0 : 1);
    add_dim(&shape_a, product_of(&a, &p->inner));
    add_dims(&shape_b, &b, &p->batch);
    add_ones(&shape_b, plain || !p->rows.count ? 0 : p->rows.count - 1);
    add_dim(&shape_b, product_of(&b, &p->inner));
    add_dim(&shape_b, product_of(&b, &p->columns));
    add_dims(&shape, &a, &p->batch);
    add_dims(&shape, &a, &p->rows);
    add_dims(&shape, &b, &p->columns);
    reshape(k, &a.value, shape_a);
    reshape(k, &b.value, shape_b);
    out.value = mase_compose(k, MASE_OP_matmul, a.value, b.value);
    reshape(k, &out.value, shape);
    of_a = p->batch;
    join(&of_a, &p->rows);
    join(&of_a, &p->columns);
    for (int i = 0; i < of_a.count; i++)
        out.label[out.rank++] = of_a.label[i];
    return out;
}

static struct labelled multiply(struct mase_compose *k, struct labelled a, struct labelled b,
                                const bool *needed);

/* One of several matrices. */
static struct labelled part_of(struct mase_compose *k, struct labelled x, int label, int64_t i)
{
    const int d = place_of(x.label, x.rank, label);
    x.value = mase_compose(k, MASE_OP_select, x.value, mase_arg_int(d), mase_arg_int(i));
    drop(&x, d);
    return x;
}

/* Samples times several matrices of parameters: a plan multiplies by one at a time. */
static struct labelled multiply_parts(struct mase_compose *k, struct labelled a, struct labelled b,
                                      int label, const bool *needed)
{
    const int64_t count = extent_of(&b, label).plus;
    struct mase_arena *arena = &k->l->program->arena;
    struct mase_arg *part = mase_new_array(arena, struct mase_arg, (size_t)count);
    struct labelled out = { .rank = 0 };
    for (int64_t i = 0; i < count && !k->status; i++) {
        out = multiply(k, part_of(k, a, label, i), part_of(k, b, label, i), needed);
        part[i] = out.value;
    }
    const struct mase_arg parts = mase_arg_seq(arena, MASE_ARG_LIST, part, (int)count);
    out.value = mase_compose(k, MASE_OP_stack, parts, mase_arg_int(out.rank));
    out.label[out.rank++] = label;
    return out;
}

static struct labelled multiply(struct mase_compose *k, struct labelled a, struct labelled b,
                                const bool *needed)
{
    const struct labelled nothing = { .rank = 0 };
    if (k->status)
        return nothing;
    if (samples_of(&a) < 0 && samples_of(&b) >= 0) {
        const struct labelled swap = a;
        a = b;
        b = swap;
    }
    const struct product p = { .batch = labels_of(&a, &b, true, true, needed),
                               .inner = labels_of(&a, &b, true, false, needed),
                               .rows = labels_of(&a, &b, false, true, needed),
                               .columns = labels_of(&b, &a, false, true, needed) };
    const bool plain = samples_of(&b) < 0;
    if (p.batch.count + p.rows.count + p.columns.count + 1 > MASE_MAX_RANK ||
        p.batch.count + p.rows.count + 2 > MASE_MAX_RANK) {
        k->status = mase_call_fail(&k->l->call[0], k->err,
                                   "a product of it has more than %d dimensions", MASE_MAX_RANK);
        return nothing;
    }
    if (!p.inner.count)
        return multiply_each(k, a, b, &p);
    if (plain && p.batch.count && samples_of(&a) >= 0 && extent_of(&b, p.batch.label[0]).plus > 0)
        return multiply_parts(k, a, b, p.batch.label[0], needed);
    return multiply_matrices(k, a, b, &p, plain && samples_of(&a) >= 0);
}

/* ---- all of them ---- */

/* The labels of the result and of the operands from i on. */
static void find_needed(const struct mase_einsum *e, int i, bool *needed)
{
    for (int d = 0; d < MASE_EINSUM_LABELS; d++)
        needed[d] = place_of(e->out, e->out_rank, d) >= 0;
    for (; i < e->operands; i++)
        for (int d = 0; d < e->rank[i]; d++)
            needed[e->label[i][d]] = true;
}

static struct labelled operand(struct mase_compose *k, const struct mase_einsum *e, int i)
{
    struct labelled x = { .value = k->l->param[1].items[i], .rank = e->rank[i] };
    for (int d = 0; d < x.rank; d++)
        x.label[d] = e->label[i][d];
    take_diagonals(k, &x);
    drop_ones(k, e, &x);
    return x;
}

/* In a pair each is needed by the other. */
static void sum_alone(struct mase_compose *k, struct labelled *x, const struct labelled *other,
                      const bool *needed)
{
    bool all[MASE_EINSUM_LABELS];
    for (int d = 0; d < MASE_EINSUM_LABELS; d++)
        all[d] = needed[d] || has(other, d);
    sum_out(k, x, all);
}

enum mase_status mase_lower_einsum(struct mase_lowered *l, struct mase_err *err)
{
    struct mase_compose k = { .l = l, .err = err };
    struct mase_einsum e;
    bool needed[MASE_EINSUM_LABELS];
    MASE_TRY(mase_einsum_read(&l->call[0], &e, err));
    struct labelled x = operand(&k, &e, 0);
    for (int i = 1; i < e.operands && !k.status; i++) {
        struct labelled y = operand(&k, &e, i);
        find_needed(&e, i + 1, needed);
        sum_alone(&k, &x, &y, needed);
        sum_alone(&k, &y, &x, needed);
        x = multiply(&k, x, y, needed);
    }
    if (k.status)
        return k.status;
    find_needed(&e, e.operands, needed);
    sum_out(&k, &x, needed);
    struct labels order = { .count = e.out_rank };
    for (int i = 0; i < e.out_rank; i++)
        order.label[i] = e.out[i];
    permute(&k, &x, &order);
    l->param[0] = x.value;
    l->alias = true;
    return k.status;
}
