/*
 * tile.c - sums of many products by vector instructions. Compilers of
 * x86 get vectors, any other gets loops.
 *
 * With 8-bit weights, sixteen outputs are computed in parallel, two inputs at a time. The weights
 * lie in that order, so that one instruction multiplies pairs and adds them (pmaddwd, vpdpwssd).
 * The operand is stored as 16-bit codes if only such sums read it. Integers may be added in any
 * order, so the bits are the same.
 *
 * Floats are added input by input, as in the loops, many outputs side by side; the last four may
 * overlap those before them, which gives the same numbers twice.
 */
#include "emit/emit_parts.h"

enum { TILE = 16 };

/* ---- choose sums ---- */

static bool is_small(enum mase_emit_type t)
{
    return t == MASE_EMIT_I8 || t == MASE_EMIT_U8 || t == MASE_EMIT_I16;
}

/* The second code of a last pair may lie beyond the rows, where the caller's memory may end. */
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
        if (s->sum.tiled) {
            s->in[0]->type = MASE_EMIT_I16;
            s->in[0]->passed |= s->sum.access == MASE_INT_ACCESS_ROWS && s->sum.inputs % 2;
        }
}

/* ---- writing ---- */

/* The compiler's vector types, with our names for them. */
const char mase_emit_vectors[] =
    "#if defined __GNUC__ && defined __SSE2__\n"
    "#define VECTORS\n"
    "#ifdef __AVX512VNNI__\n"
    "#define LANES 16\n"
    "#define EACH(v) { v, v, v, v, v, v, v, v, v, v, v, v, v, v, v, v }\n"
    "#elif defined __AVX2__\n"
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
    "#define AT(w) __builtin_convertvector(*(const bytes *)(w), halves)\n"
    "#if LANES == 16 && defined __clang__\n"
    "#define ADD(s, w, v) s = (words)__builtin_ia32_vpdpwssd512(s, (words)AT(w), v)\n"
    "#elif LANES == 16\n"
    "#define ADD(s, w, v) s = (words)__builtin_ia32_vpdpwssd_v16si(s, (words)AT(w), v)\n"
    "#else\n"
    "#define ADD(s, w, v) s += (words)MULTIPLY_ADD(AT(w), (halves)(v))\n"
    "#endif\n"
    "#endif\n\n";

/* Two accumulators for vectors of sixteen lanes, since dependent additions are slow. */
static const char tile_text[] =
    "    for (int o = 0; o < m; o += 16, y += 16, b += 16) {\n"
    "#ifdef VECTORS\n"
    "        words s0 = *(const words *)b;\n"
    "#if LANES == 16\n"
    "        words s1 = { 0 };\n"
    "        int k = 0;\n"
    "        for (; k + 2 < n; k += 4, w += 64) {\n"
    "            const words u = EACH(*(const pair *)(x + k)), v = EACH(*(const pair *)(x + k + "
    "2));\n"
    "            ADD(s0, w, u);\n"
    "            ADD(s1, w + 32, v);\n"
    "        }\n"
    "        for (; k < n; k += 2, w += 32) {\n"
    "            const words v = EACH(*(const pair *)(x + k));\n"
    "            ADD(s0, w, v);\n"
    "        }\n"
    "        s0 += s1;\n"
    "#else\n"
    "        words s1 = *(const words *)(b + LANES);\n"
    "#if LANES == 4\n"
    "        words s2 = *(const words *)(b + 2 * LANES), s3 = *(const words *)(b + 3 * LANES);\n"
    "#endif\n"
    "        for (int k = 0; k < n; k += 2, w += 32) {\n"
    "            const words v = EACH(*(const pair *)(x + k));\n"
    "            ADD(s0, w, v);\n"
    "            ADD(s1, w + 2 * LANES, v);\n"
    "#if LANES == 4\n"
    "            ADD(s2, w + 4 * LANES, v);\n"
    "            ADD(s3, w + 6 * LANES, v);\n"
    "#endif\n"
    "        }\n"
    "        *(words *)(y + LANES) = s1;\n"
    "#if LANES == 4\n"
    "        *(words *)(y + 2 * LANES) = s2;\n"
    "        *(words *)(y + 3 * LANES) = s3;\n"
    "#endif\n"
    "#endif\n"
    "        *(words *)y = s0;\n"
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

/* The weights of each tile: for each two inputs, pairs of weights of sixteen outputs; an odd last
 * input is paired with zero. */
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

/* ---- floats ---- */

enum { FOUR = 4 };

const char mase_emit_float_vectors[] =
    "#if defined __GNUC__ && defined __SSE2__\n"
    "#ifdef __AVX__\n"
    "#define LANES 8\n"
    "#else\n"
    "#define LANES 4\n"
    "#endif\n"
    "typedef float floats __attribute__((vector_size(4 * LANES), aligned(4), may_alias));\n"
    "typedef int32_t truths __attribute__((vector_size(4 * LANES)));\n"
    "typedef float four __attribute__((vector_size(16), aligned(4), may_alias));\n"
    "typedef int32_t four_truths __attribute__((vector_size(16)));\n"
    "#define CUT(s, type, truths) if (relu) s = (type)(~(s < 0) & (truths)s)\n"
    "#endif\n\n";

#define LOOPS                                   \
    "    for (int o = 0; o < m; o++)\n"         \
    "        y[o] = w[o];\n"                    \
    "    for (int k = 0; k < n; k++) {\n"       \
    "        w += m;\n"                         \
    "        for (int o = 0; o < m; o++)\n"     \
    "            y[o] += w[o] * x[k];\n"        \
    "    }\n"                                   \
    "    for (int o = 0; relu && o < m; o++)\n" \
    "        y[o] = y[o] < 0 ? 0 : y[o];\n"

static const char floats_text[] = "#ifdef LANES\n"
                                  "    int o = 0;\n"
                                  "#ifndef __OPTIMIZE_SIZE__\n"
                                  "    for (; o + 4 * LANES <= m; o += 4 * LANES) {\n"
                                  "        const float *v = w + o;\n"
                                  "        const floats *u = (const floats *)v;\n"
                                  "        floats s0 = u[0], s1 = u[1], s2 = u[2], s3 = u[3];\n"
                                  "        for (int k = 0; k < n; k++) {\n"
                                  "            v += m;\n"
                                  "            u = (const floats *)v;\n"
                                  "            s0 += u[0] * x[k];\n"
                                  "            s1 += u[1] * x[k];\n"
                                  "            s2 += u[2] * x[k];\n"
                                  "            s3 += u[3] * x[k];\n"
                                  "        }\n"
                                  "        CUT(s0, floats, truths);\n"
                                  "        CUT(s1, floats, truths);\n"
                                  "        CUT(s2, floats, truths);\n"
                                  "        CUT(s3, floats, truths);\n"
                                  "        *(floats *)(y + o) = s0;\n"
                                  "        *(floats *)(y + o + LANES) = s1;\n"
                                  "        *(floats *)(y + o + 2 * LANES) = s2;\n"
                                  "        *(floats *)(y + o + 3 * LANES) = s3;\n"
                                  "    }\n"
                                  "#endif\n"
                                  "    for (; o < m; o += 4) {\n"
                                  "        o = o < m - 4 ? o : m - 4;\n"
                                  "        const float *v = w + o;\n"
                                  "        four s = *(const four *)v;\n"
                                  "        for (int k = 0; k < n; k++) {\n"
                                  "            v += m;\n"
                                  "            s += *(const four *)v * x[k];\n"
                                  "        }\n"
                                  "        CUT(s, four, four_truths);\n"
                                  "        *(four *)(y + o) = s;\n"
                                  "    }\n"
                                  "#else\n" LOOPS "#endif\n";

const char *mase_emit_float_function(struct mase_emit_writer *w, int64_t outputs)
{
    const bool vectors = outputs >= FOUR;
    w->vectors |= vectors;
    return mase_emit_function(w, "dot",
                              "float *restrict y, const float *restrict x, const float *restrict "
                              "w, int m, int n, int relu",
                              vectors ? floats_text : LOOPS, 120);
}
