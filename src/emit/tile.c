/*
 * tile.c - sums of many products of 8-bit weights by the instructions that processors have for
 * them.
 *
 * Sixteen outputs are computed side by side, two inputs at a time. The weights lie in that order,
 * so that compilers of x86 find one instruction that multiplies pairs and adds them (pmaddwd); any
 * other compiler gets loops. What comes in are 16-bit codes, as these instructions want them: a
 * value that only such sums read is stored so. Integers may be added in any order, so the bits are
 * the same.
 */
#include "emit/emit.h"

enum { TILE = 16 };

/* ---- which sums ---- */

static bool is_small(enum mase_emit_type t)
{
    return t == MASE_EMIT_I8 || t == MASE_EMIT_U8 || t == MASE_EMIT_I16;
}

/* The second of a last pair may lie behind the rows, which the caller's memory need not have. */
static bool can_tile(const struct mase_emit_net *n, const struct mase_emit_step *s)
{
    const struct mase_emit_sum *f = &s->sum;
    return s->kind == MASE_EMIT_SUM && f->outputs >= TILE && f->acc == MASE_EMIT_I32 &&
           f->wtype == MASE_EMIT_I8 && is_small(s->in[0]->type) && s->in[0] != n->input;
}

void mase_emit_find_tiles(struct mase_emit_net *n)
{
    for (struct mase_emit_step *s = n->first; s; s = s->next) {
        bool all = can_tile(n, s);
        for (const struct mase_emit_step *o = n->first; o; o = o->next)
            if (o->in[0] == s->in[0] || o->in[1] == s->in[0])
                all &= can_tile(n, o);
        s->sum.tiled = all && s->in[0] != n->output;
    }
    for (struct mase_emit_step *s = n->first; s; s = s->next)
        if (s->sum.tiled)
            s->in[0]->type = MASE_EMIT_I16;
}

/* ---- writing ---- */

/* What the compiler must have, and what its vectors are called. */
const char mase_emit_vectors[] =
    "#if defined __GNUC__ && defined __SSE2__\n"
    "#define VECTORS\n"
    "#ifdef __AVX2__\n"
    "#define LANES 8\n"
    "#define EACH(v) { v, v, v, v, v, v, v, v }\n"
    "#define MULTIPLY_ADD __builtin_ia32_pmaddwd256\n"
    "#else\n"
    "#define LANES 4\n"
    "#define EACH(v) { v, v, v, v }\n"
    "#define MULTIPLY_ADD __builtin_ia32_pmaddwd128\n"
    "#endif\n"
    "typedef int8_t bytes __attribute__((vector_size(2 * LANES), aligned(1), may_alias));\n"
    "typedef int16_t halves __attribute__((vector_size(4 * LANES)));\n"
    "typedef int32_t words __attribute__((vector_size(4 * LANES), aligned(4), may_alias));\n"
    "typedef int32_t pair __attribute__((aligned(2), may_alias));\n"
    "#define ADD(s, w, v) \\\n"
    "    s += (words)MULTIPLY_ADD(__builtin_convertvector(*(const bytes *)(w), halves), "
    "(halves)(v))\n"
    "#endif\n\n";

static const char tile_text[] =
    "    for (int o = 0; o < m; o += 16, y += 16, b += 16) {\n"
    "#ifdef VECTORS\n"
    "        words s0 = *(const words *)b, s1 = *(const words *)(b + LANES);\n"
    "#ifndef __AVX2__\n"
    "        words s2 = *(const words *)(b + 2 * LANES), s3 = *(const words *)(b + 3 * LANES);\n"
    "#endif\n"
    "        for (int k = 0; k < n; k += 2, w += 32) {\n"
    "            const words v = EACH(*(const pair *)(x + k));\n"
    "            ADD(s0, w, v);\n"
    "            ADD(s1, w + 2 * LANES, v);\n"
    "#ifndef __AVX2__\n"
    "            ADD(s2, w + 4 * LANES, v);\n"
    "            ADD(s3, w + 6 * LANES, v);\n"
    "#endif\n"
    "        }\n"
    "        *(words *)y = s0;\n"
    "        *(words *)(y + LANES) = s1;\n"
    "#ifndef __AVX2__\n"
    "        *(words *)(y + 2 * LANES) = s2;\n"
    "        *(words *)(y + 3 * LANES) = s3;\n"
    "#endif\n"
    "#else\n"
    "        for (int j = 0; j < 16; j++)\n"
    "            y[j] = b[j];\n"
    "        for (int k = 0; k < n; k += 2, w += 32)\n"
    "            for (int j = 0; j < 16; j++)\n"
    "                y[j] += w[2 * j] * x[k] + w[2 * j + 1] * x[k + 1];\n"
    "#endif\n"
    "    }\n";

int64_t mase_emit_tiled(const struct mase_emit_sum *f)
{
    return f->tiled ? f->outputs / TILE * TILE : 0;
}

const char *mase_emit_tile_function(struct mase_emit_writer *w)
{
    w->vectors = true;
    return mase_emit_function(w, "dots",
                              "int32_t *restrict y, const int16_t *restrict x, const int8_t "
                              "*restrict w, const int32_t *restrict b, int m, int n",
                              tile_text, 230);
}

/* Tile after tile: of each two inputs the weights of sixteen outputs, in pairs; a last input that
 * is alone has a zero beside it. */
const char *mase_emit_tile_table(struct mase_emit_writer *w, const struct mase_emit_sum *f)
{
    const int64_t m = mase_emit_tiled(f), n = (f->inputs + 1) / 2 * 2, count = f->groups * m * n;
    int64_t *t = mase_new_array(w->a, int64_t, (size_t)count), *to = t;
    for (int64_t g = 0; g < f->groups; g++)
        for (int64_t o = 0; o < m; o += TILE)
            for (int64_t k = 0; k < n; k += 2)
                for (int64_t j = 0; j < 2 * TILE; j++) {
                    const int64_t row = g * f->outputs + o + j / 2, at = k + j % 2;
                    *to++ = at < f->inputs ? f->weight[row * f->inputs + at] : 0;
                }
    return mase_emit_table(w, "weight", f->wtype, t, NULL, count);
}
