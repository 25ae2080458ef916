/*
 * int_pack.c - pack integer weights of dense layers for the kernels: tiles of sixteen outputs,
 * words of four bytes or two shorts.
 *
 * Kernels add products of bytes in 16 bits. The weights and the ranges of codes tell how many words
 * can be added before the sum must be widened to 32 bits: groups of four or two. A word whose
 * products alone could overflow is split into two words with half of its weights each.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "integer/int_parts.h"
#include "kern/kern.h"

enum { TILE = 16, WORD = 4 }; /* outputs, bytes */
static const int sizes[] = { [MASE_INT_BYTES] = 1, [MASE_INT_SHORTS] = 2, [MASE_INT_LONGS] = 4 };

bool mase_int_value_within(const struct mase_int_value *v, int64_t lo, int64_t hi)
{
    for (int64_t r = 0; r < v->rows; r++)
        if (v->lo[r] < lo || v->hi[r] > hi)
            return false;
    return true;
}

static bool weights_within(const struct mase_int_sum *g, int64_t lo, int64_t hi)
{
    for (int64_t k = 0; k < g->outputs * g->inputs; k++)
        if (g->weight[k] < lo || g->weight[k] > hi)
            return false;
    return true;
}

/* Does the storage type hold the codes of the layer's input? */
static bool takes(const struct mase_int_instr *i, enum mase_int_storage t)
{
    const struct mase_int_value *x = i->in[0];
    if (t == MASE_INT_SHORTS)
        return mase_int_value_within(x, INT16_MIN, INT16_MAX) &&
               weights_within(&i->u.sum, INT16_MIN, INT16_MAX);
    for (int64_t r = 0; r < x->rows; r++)
        if (x->hi[r] - x->lo[r] > UINT8_MAX)
            return false;
    return weights_within(&i->u.sum, INT8_MIN, INT8_MAX);
}

/* The tile that is being packed. */
struct packing {
    const struct mase_int_instr *i;
    int64_t first;  /* first output of the tile */
    bool long_sums; /* 16-bit sums cannot overflow however words are grouped */
    struct mase_int_tile *tile;
    int32_t *word, *weight;
    long words;
};

static int64_t weight_at(const struct packing *p, int output, int64_t input)
{
    const struct mase_int_sum *g = &p->i->u.sum;
    return p->first + output < g->outputs && input < g->inputs
               ? g->weight[(p->first + output) * g->inputs + input]
               : 0;
}

/* A word, or half of its bytes, with the most and the least that it adds to the two 16-bit sums of
 * each output. */
struct reach {
    int64_t word;
    unsigned which; /* bit b: byte b is in use */
    int64_t most[TILE][2], least[TILE][2];
    bool taken;
};

static void find_reach(struct reach *r, const struct packing *p)
{
    for (int i = 0; i < TILE * WORD; i++) {
        const int o = i / WORD, b = i % WORD;
        const int64_t k = WORD * r->word + b, w = r->which >> b & 1 ? weight_at(p, o, k) : 0;
        const int64_t range = k < p->i->in[0]->rows ? p->i->in[0]->hi[k] - p->i->in[0]->lo[k] : 0;
        *(w > 0 ? &r->most[o][b / 2] : &r->least[o][b / 2]) += w * range;
    }
}

static bool fit_together(const struct packing *p, struct reach *const *r, int n)
{
    if (p->long_sums)
        return true;
    for (int i = 0; i < TILE * 2; i++) {
        int64_t most = 0, least = 0;
        for (int j = 0; j < n; j++) {
            most += r[j]->most[i / 2][i % 2];
            least += r[j]->least[i / 2][i % 2];
        }
        if (most > INT16_MAX || least < INT16_MIN)
            return false;
    }
    return true;
}

/* Four weights of each output, as bytes. */
static void put_bytes(struct packing *p, struct reach *r)
{
    for (int o = 0; o < TILE; o++) {
        uint32_t v = 0;
        for (int b = 0; b < WORD; b++)
            if (r->which >> b & 1)
                v |= (uint32_t)(uint8_t)(int8_t)weight_at(p, o, WORD * r->word + b) << 8 * b;
        p->weight[TILE * p->words + mase_int_lane(o)] = (int32_t)v;
    }
    p->word[p->words++] = (int32_t)r->word;
    r->taken = true;
}

/* Greedily form groups of `size` words whose sums fit, each starting with the first free word.
 * Returns how many. */
static long put_groups(struct packing *p, struct reach *r, long n, int size)
{
    long groups = 0;
    for (long k = 0; k < n; k++) {
        struct reach *group[4] = { &r[k] };
        int have = 1;
        for (long j = k + 1; !r[k].taken && j < n && have < size; j++) {
            group[have] = &r[j];
            have += !r[j].taken && fit_together(p, group, have + 1);
        }
        if (r[k].taken || have < size)
            continue;
        for (int j = 0; j < size; j++)
            put_bytes(p, group[j]);
        groups++;
    }
    return groups;
}

static void put_shorts(struct packing *p, int64_t word)
{
    for (int o = 0; o < TILE; o++) {
        const uint32_t first = (uint16_t)(int16_t)weight_at(p, o, 2 * word),
                       second = (uint16_t)(int16_t)weight_at(p, o, 2 * word + 1);
        p->weight[TILE * p->words + mase_int_lane(o)] = (int32_t)(first | second << 16);
    }
    p->word[p->words++] = (int32_t)word;
    p->tile->ones++;
}

static bool is_used(const struct packing *p, int64_t word, int inputs)
{
    for (int o = 0; o < TILE; o++)
        for (int b = 0; b < inputs; b++)
            if (weight_at(p, o, inputs * word + b))
                return true;
    return false;
}

/* A word whose pairs could overflow 16 bits is split; a single product always fits, as 255 * 128 <
 * 2^15. */
static void pack_bytes(struct packing *p, int64_t words)
{
    struct reach *r = mase_xcalloc((size_t)(2 * words + 1) * sizeof *r);
    long n = 0;
    for (int64_t k = 0; k < words; k++) {
        if (!is_used(p, k, WORD))
            continue;
        r[n] = (struct reach){ .word = k, .which = 0xf };
        find_reach(&r[n], p);
        if (!fit_together(p, &(struct reach *){ &r[n] }, 1)) {
            r[n] = (struct reach){ .word = k, .which = 0x5 };
            find_reach(&r[n++], p);
            r[n] = (struct reach){ .word = k, .which = 0xa };
            find_reach(&r[n], p);
        }
        n++;
    }
    p->tile->fours = put_groups(p, r, n, 4);
    p->tile->twos = put_groups(p, r, n, 2);
    p->tile->ones = put_groups(p, r, n, 1);
    mase_xfree(r);
}

/* The bias, corrected for codes stored minus their lowest code: sums are modulo 2^32, and end
 * within 32 bits. */
static int32_t bias_of(const struct mase_int_instr *i, int64_t output, enum mase_int_storage from)
{
    const struct mase_int_sum *g = &i->u.sum;
    uint32_t bias = (uint32_t)g->bias[output];
    for (int64_t k = 0; from == MASE_INT_BYTES && k < g->inputs; k++)
        bias += (uint32_t)g->weight[output * g->inputs + k] * (uint32_t)i->in[0]->lo[k];
    return (int32_t)bias;
}

static struct mase_int_tile pack_tile(const struct mase_int_instr *i, long number,
                                      enum mase_int_storage from, bool long_sums,
                                      struct mase_arena *a)
{
    const struct mase_int_sum *g = &i->u.sum;
    const int in_word = WORD / sizes[from];
    const int64_t words = (g->inputs + in_word - 1) / in_word;
    int32_t *bias = mase_new_array(a, int32_t, TILE);
    struct mase_int_tile tile = { .bias = bias };
    struct packing p = { .i = i, .first = TILE * number, .long_sums = long_sums, .tile = &tile };
    tile.word = p.word = mase_new_array(a, int32_t, (size_t)(2 * words));
    tile.weight = p.weight = mase_new_array(a, int32_t, (size_t)(2 * words * TILE));
    if (from == MASE_INT_BYTES)
        pack_bytes(&p, words);
    for (int64_t k = 0; from == MASE_INT_SHORTS && k < words; k++)
        if (is_used(&p, k, in_word))
            put_shorts(&p, k);
    for (int o = 0; o < TILE && p.first + o < g->outputs; o++)
        bias[mase_int_lane(o)] = bias_of(i, p.first + o, from);
    return tile;
}

/* Estimated AVX2 instructions for a sample; bytes are cheaper with long sums. */
static long cost(const struct mase_int_tile *t, long tiles, enum mase_int_storage from)
{
    long n = 0;
    for (; tiles > 0; tiles--, t++)
        n += from == MASE_INT_SHORTS ? 6 * t->ones : 24 * t->fours + 13 * t->twos + 8 * t->ones;
    return n;
}

/* Pack the weights for the cheaper type of input. */
bool mase_int_pack(struct mase_int_layer *l, const struct mase_int_instr *i,
                   const struct mase_kernels *k, struct mase_arena *a)
{
    static const enum mase_int_storage types[] = { MASE_INT_BYTES, MASE_INT_SHORTS };
    for (size_t n = 0; n < sizeof types / sizeof *types; n++) {
        const enum mase_int_storage from = types[n];
        if (!takes(i, from))
            continue;
        struct mase_int_tile *tile = mase_new_array(a, struct mase_int_tile, (size_t)l->tiles);
        for (long t = 0; t < l->tiles; t++)
            tile[t] = pack_tile(i, t, from, k->long_sums, a);
        if (l->tile && cost(tile, l->tiles, from) >= cost(l->tile, l->tiles, l->from))
            continue;
        l->tile = tile;
        l->from = from;
    }
    l->x_stride = TILE * (long)((i->in[0]->rows + TILE - 1) / TILE) * sizes[l->from];
    return l->tile;
}
