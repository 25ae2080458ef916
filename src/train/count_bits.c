/*
 * count_bits.c - the bits of each operand that has a number format (ebops.h), from the roundings of
 * the program.
 *
 * A value with zero learned bits is always zero, so it needs no sign bit either.
 */
#include <math.h>
#include <stdlib.h>

#include <mase/call.h>

#include "base/alloc.h"
#include "exec/plan/plan_parts.h"
#include "ir/graph/graph_parts.h"
#include "ir/shape/shape.h"
#include "program/program_parts.h"
#include "train/ebops.h"

/* The rounded tensors of an operand: one, or several (both terms of a sum, the matrices of a
 * recurrent layer). */
struct rounded {
    const struct mase_weight *value[MASE_LEARNED_MAX]; /* NULL: all have the same bits */
    struct mase_rounding how;
    int64_t count, blocks;
    int64_t *size; // (blocks), if bits are learned
    struct rounded *next;
};

struct operand {
    const struct mase_node *node;
    enum mase_operand which;
    struct rounded *first;
};

struct mase_bits {
    struct mase_arena arena;
    const struct mase_plan *plan;
    struct operand *operand;
    struct mase_layer_bits *row; // (count)
    int count, cap;
};

/* ---- find operands ---- */

static enum mase_operand operand_of(const struct mase_instr *i)
{
    const struct mase_node *n = i->node;
    if (i->prim != MASE_PRIM_round)
        return MASE_DATA_IN; /* operand of a recurrent layer, rounded at each step */
    if (i->operand == MASE_RESULT)
        return MASE_DATA_OUT;
    const struct mase_mark *m = mase_mark_find(mase_op_call_sig(n->op)->param[i->operand].role);
    const struct mase_param *p = mase_pvalue_of(&i->param[0])->param;
    if (!m && p && mase_node_module(n)) /* the signature does not list this layer's weights */
        m = mase_mark_find(mase_param_mark(mase_node_module(n), p));
    return m ? m->operand : MASE_DATA_IN;
}

/* Operands of a node are adjacent, in the order of their names in configurations. */
static struct operand *find_operand(struct mase_bits *b, const struct mase_node *n,
                                    enum mase_operand which)
{
    for (int i = 0; i < b->count; i++)
        if (b->operand[i].node == n && b->operand[i].which == which)
            return &b->operand[i];
    b->operand = mase_arena_grow(&b->arena, b->operand, b->count, &b->cap, sizeof *b->operand);
    int at = b->count++;
    for (; at && b->operand[at - 1].node == n && b->operand[at - 1].which > which; at--)
        b->operand[at] = b->operand[at - 1];
    b->operand[at] = (struct operand){ .node = n, .which = which };
    return &b->operand[at];
}

static void map_blocks(struct rounded *r, struct mase_arena *a, const struct mase_shape *shape)
{
    const struct mase_blocks cut = mase_format_blocks(r->how.format, shape, r->how.role);
    int64_t *offset = mase_new_array(a, int64_t, (size_t)cut.largest);
    r->blocks = cut.count;
    r->size = mase_new_array(a, int64_t, (size_t)cut.count);
    for (int64_t i = 0; i < cut.count; i++)
        r->size[i] = mase_blocks_offsets(&cut, i, offset);
}

static void add_rounding(struct mase_bits *b, const struct mase_instr *i)
{
    struct operand *o = find_operand(b, i->node, operand_of(i));
    struct rounded *r = mase_new(&b->arena, struct rounded);
    const struct mase_shape own = mase_ptype_shape(&mase_pvalue_of(&i->param[0])->type, 1);
    *r = (struct rounded){ .how = i->round, .count = mase_shape_count(&own), .next = o->first };
    o->first = r;
    if (i->prim != MASE_PRIM_round || !mase_learns_bits(r->how.format))
        return;
    const struct mase_shape shape = mase_shape_to_rank(&own, i->round_rank);
    for (int j = 0; j < mase_format_learned(r->how.format); j++)
        r->value[j] = mase_plan_weight(b->plan, mase_pvalue_of(&i->param[1 + j])->param);
    map_blocks(r, &b->arena, &shape);
}

struct mase_bits *mase_bits_new(const struct mase_plan *p)
{
    struct mase_bits *b = mase_xcalloc(sizeof *b);
    b->plan = p;
    for (const struct mase_instr *i = p->program->first; i; i = i->next)
        if (i->round.format && i->node)
            add_rounding(b, i);
    if (!b->count) {
        mase_bits_free(b);
        return NULL;
    }
    b->row = mase_new_array(&b->arena, struct mase_layer_bits, (size_t)b->count);
    return b;
}

void mase_bits_free(struct mase_bits *b)
{
    if (!b)
        return;
    mase_arena_release(&b->arena);
    mase_xfree(b);
}

/* ---- count bits ---- */

static int learned_bits(const struct rounded *r, int64_t block)
{
    const struct mase_format *f = r->how.format;
    float v[MASE_LEARNED_MAX];
    for (int j = 0; j < MASE_LEARNED_MAX && r->value[j]; j++)
        v[j] = mase_f32(&r->value[j]->param->tensor)[block];
    const int bits = f->row->learned->bits(v, f->params, r->how.sign);
    return bits ? bits + mase_rounding_has_sign(&r->how) : 0;
}

/* Count `count` values of `bits` bits; mean and zero hold sums until all values are counted. */
static void add_values(struct mase_layer_bits *row, int64_t count, int bits)
{
    row->min = row->values && row->min < bits ? row->min : bits;
    row->max = row->max > bits ? row->max : bits;
    row->values += count;
    row->mean += (double)count * bits;
    row->zero += bits ? 0 : (double)count;
}

static void add_rounded(struct mase_layer_bits *row, const struct rounded *r)
{
    if (!r->value[0])
        add_values(row, r->count, mase_format_bits(r->how.format));
    for (int64_t i = 0; i < r->blocks; i++)
        add_values(row, r->size[i], learned_bits(r, i));
    row->learned |= r->value[0] != NULL;
}

int mase_bits_count(struct mase_bits *b, const struct mase_ebops *e,
                    const struct mase_layer_bits **out)
{
    for (int i = 0; i < b->count; i++) {
        const struct operand *o = &b->operand[i];
        struct mase_layer_bits *row = &b->row[i];
        *row = (struct mase_layer_bits){ .layer = o->node->name,
                                         .operand = mase_operand_names[o->which],
                                         .ebops = mase_ebops_of(e, o->node) };
        for (const struct rounded *r = o->first; r; r = r->next)
            add_rounded(row, r);
        row->mean /= row->values ? (double)row->values : 1;
        row->zero /= row->values ? (double)row->values : 1;
    }
    *out = b->row;
    return b->count;
}
