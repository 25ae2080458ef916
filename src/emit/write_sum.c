/*
 * write_sum.c - write sums of products, pools and copies of rows as C.
 *
 * A convolution copies the rows under its window next to each other, and is then computed as a
 * dense layer. Sums of integers may be added in any order; those of floats are added input by
 * input, so that compilers can vectorise over outputs without reordering sums.
 */
#include <string.h>

#include "emit/emit_parts.h"

static const char *type_name(enum mase_emit_type t)
{
    return mase_emit_types[t].name;
}

/* base + a * name, as C. */
static const char *plus(struct mase_arena *a, const char *base, int64_t times, const char *name)
{
    if (times == 0)
        return base;
    return times == 1 ? mase_arena_printf(a, "%s + %s", base, name)
                      : mase_arena_printf(a, "%s + %lld * %s", base, (long long)times, name);
}

/* base + by. */
static const char *offset(struct mase_arena *a, const char *base, int64_t by)
{
    return by ? mase_arena_printf(a, "%s + %lld", base, (long long)by) : base;
}

/* ---- functions ---- */

static const char *dot_function(struct mase_emit_writer *w, const struct mase_emit_sum *s,
                                enum mase_emit_type x)
{
    const char *acc = type_name(s->acc), *cast = s->acc == MASE_EMIT_I64 ? "(int64_t)" : "";
    struct mase_str text = { 0 };
    const char *params = mase_arena_printf(w->a,
                                           "%s *restrict y, const %s *restrict x, const %s "
                                           "*restrict w, const %s *restrict b, int m, int n",
                                           acc, type_name(x), type_name(s->wtype), acc);
    mase_str_printf(&text,
                    "    for (int o = 0; o < m; o++, w += n) {\n"
                    "        %s s = b[o];\n"
                    "        for (int k = 0; k < n; k++)\n"
                    "            s += %sw[k] * x[k];\n"
                    "        y[o] = s;\n"
                    "    }\n",
                    acc, cast);
    const char *name = mase_emit_function(w, "dot", params, mase_str_text(&text), 70);
    mase_str_release(&text);
    return name;
}

/* A function with the weights as literals. */
static const char *unrolled_function(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const struct mase_emit_sum *f = &s->sum;
    struct mase_str text = { 0 };
    const char *params = mase_arena_printf(w->a, "%s *restrict y, const %s *restrict x",
                                           type_name(f->acc), type_name(s->in[0]->type));
    int64_t products = 0;
    for (int64_t o = 0; o < f->outputs; o++) {
        size_t start = text.len;
        mase_str_printf(&text, "    y[%lld] = ", (long long)o);
        if (f->weight)
            mase_emit_integer(&text, f->bias[o], f->acc);
        else
            mase_emit_real(&text, (double)f->fbias[o], true);
        for (int64_t k = 0; k < f->inputs; k++) {
            const int64_t at = o * f->inputs + k;
            if (f->weight ? f->weight[at] == 0 : f->fweight[at] == 0.0f)
                continue;
            products++;
            if (text.len - start > 88) {
                start = text.len;
                mase_str_add(&text, "\n          ");
            }
            if (f->weight) {
                const bool minus = f->weight[at] < 0 && f->weight[at] > INT32_MIN;
                mase_str_printf(&text, minus ? " - " : " + ");
                mase_emit_integer(&text, minus ? -f->weight[at] : f->weight[at], f->acc);
            } else {
                mase_str_add(&text, " + ");
                mase_emit_real(&text, (double)f->fweight[at], true);
            }
            mase_str_printf(&text, " * %sx[%lld]", f->acc == MASE_EMIT_I64 ? "(int64_t)" : "",
                            (long long)k);
        }
        mase_str_add(&text, ";\n");
    }
    if (products == 0)
        mase_str_add(&text, "    (void)x;\n");
    const char *name = mase_emit_function(w, "sums", params, mase_str_text(&text),
                                          (int)(6 * products + 10 * f->outputs));
    mase_str_release(&text);
    return name;
}

static const char *window_function(struct mase_emit_writer *w, enum mase_emit_type t)
{
    w->window = true;
    return mase_emit_function(
        w, "look",
        mase_arena_printf(w->a,
                          "%s *restrict y, const %s *restrict x, const struct window *g, int p",
                          type_name(t), type_name(t)),
        "    const int top = p / g->out_x * g->stride_y - g->pad_y;\n"
        "    const int left = p % g->out_x * g->stride_x - g->pad_x;\n"
        "    for (int c = 0; c < g->channels; c++, x += g->in_y * g->in_x)\n"
        "        for (int i = 0; i < g->kernel_y; i++)\n"
        "            for (int j = 0; j < g->kernel_x; j++) {\n"
        "                const int r = top + i * g->dilation_y, s = left + j * g->dilation_x;\n"
        "                const int inside = r >= 0 && r < g->in_y && s >= 0 && s < g->in_x;\n"
        "                *y++ = inside ? x[r * g->in_x + s] : 0;\n"
        "            }\n",
        150);
}

static const char *pool_function(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const char *to = type_name(s->out->type), *from = type_name(s->in[0]->type),
               *sum = type_name(s->largest ? s->out->type : s->acc);
    w->window = true;
    return mase_emit_function(
        w, s->largest ? "largest" : "total",
        mase_arena_printf(w->a, "%s *restrict y, const %s *restrict x, const struct window *g", to,
                          from),
        mase_arena_printf(
            w->a,
            "    for (int c = 0; c < g->channels; c++, x += g->in_y * g->in_x)\n"
            "        for (int p = 0; p < g->out_y * g->out_x; p++) {\n"
            "            const int top = p / g->out_x * g->stride_y - g->pad_y;\n"
            "            const int left = p %% g->out_x * g->stride_x - g->pad_x;\n"
            "            %s v = 0;\n"
            "%s"
            "            for (int i = 0; i < g->kernel_y; i++)\n"
            "                for (int j = 0; j < g->kernel_x; j++) {\n"
            "                    const int r = top + i * g->dilation_y, s = left + j * "
            "g->dilation_x;\n"
            "                    if (r < 0 || r >= g->in_y || s < 0 || s >= g->in_x)\n"
            "                        continue;\n"
            "%s"
            "                }\n"
            "            *y++ = %sv%s;\n"
            "        }\n",
            sum, s->largest ? "            int some = 0;\n" : "",
            s->largest ? "                    if (!some || x[r * g->in_x + s] > v)\n"
                         "                        v = x[r * g->in_x + s];\n"
                         "                    some = 1;\n"
                       : "                    v += x[r * g->in_x + s];\n",
            s->out->type == MASE_EMIT_F32 ? "" : mase_arena_printf(w->a, "(%s)", to),
            s->parts == 1 ? "" : mase_arena_printf(w->a, " / %lld", (long long)s->parts)),
        170);
}

static enum mase_emit_type index_type(int64_t rows)
{
    return mase_emit_type_between(-1, rows, MASE_EMIT_I16);
}

static const char *list_table(struct mase_emit_writer *w, const int32_t *list, int64_t n,
                              enum mase_emit_type t)
{
    int64_t *wide = mase_new_array(w->a, int64_t, (size_t)n);
    for (int64_t k = 0; k < n; k++)
        wide[k] = list[k];
    return mase_emit_table(w, "rows", t, wide, NULL, n);
}

static const char *pick_function(struct mase_emit_writer *w, enum mase_emit_type from,
                                 enum mase_emit_type to, enum mase_emit_type index)
{
    return mase_emit_function(
        w, "pick",
        mase_arena_printf(w->a, "%s *restrict y, const %s *restrict x, const %s *row, int n",
                          type_name(to), type_name(from), type_name(index)),
        "    for (int i = 0; i < n; i++)\n"
        "        y[i] = row[i] < 0 ? 0 : x[row[i]];\n",
        40);
}

/* ---- steps ---- */

/* Copy rows of two values. */
static void write_join(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const struct mase_emit_value *x = s->in[0], *z = s->in[1], *y = s->out;
    const enum mase_emit_type index = mase_emit_type_between(-2 - z->rows, x->rows, MASE_EMIT_I16);
    const char *f = mase_emit_function(
        w, "join",
        mase_arena_printf(w->a, "%s *restrict y, const %s *x, const %s *z, const %s *row, int n",
                          type_name(y->type), type_name(x->type), type_name(z->type),
                          type_name(index)),
        mase_arena_printf(w->a,
                          "    for (int i = 0; i < n; i++)\n"
                          "        y[i] = (%s)(row[i] >= 0 ? x[row[i]] : row[i] < -1 ? z[-2 - "
                          "row[i]] : 0);\n",
                          type_name(y->type)),
        50);
    const char *list = list_table(w, s->list, y->rows, index);
    mase_str_printf(&w->body, "    %s(%s, %s, %s, %s, %lld);\n", f, mase_emit_at(w, y),
                    mase_emit_at(w, x), mase_emit_at(w, z), list, (long long)y->rows);
}

static void write_pick(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const enum mase_emit_type index = index_type(s->in[0]->rows);
    if (s->in[1]) {
        write_join(w, s);
        return;
    }
    const char *f = pick_function(w, s->in[0]->type, s->out->type, index),
               *list = list_table(w, s->list, s->out->rows, index);
    mase_str_printf(&w->body, "    %s(%s, %s, %s, %lld);\n", f, mase_emit_at(w, s->out),
                    mase_emit_at(w, s->in[0]), list, (long long)s->out->rows);
}

static void write_largest(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const enum mase_emit_type index = index_type(s->in[0]->rows),
                              ends =
                                  mase_emit_type_between(0, s->first[s->out->rows], MASE_EMIT_U16);
    const char *list = list_table(w, s->list, s->first[s->out->rows], index),
               *first = mase_emit_table(w, "first", ends, s->first, NULL, s->out->rows + 1);
    const char *f = mase_emit_function(
        w, "largest_of",
        mase_arena_printf(
            w->a, "%s *restrict y, const %s *restrict x, const %s *row, const %s *first, int n",
            type_name(s->out->type), type_name(s->in[0]->type), type_name(index), type_name(ends)),
        mase_arena_printf(w->a,
                          "    for (int i = 0; i < n; i++) {\n"
                          "        %s v = x[row[first[i]]];\n"
                          "        for (int k = (int)first[i] + 1; k < (int)first[i + 1]; k++)\n"
                          "            v = x[row[k]] > v ? x[row[k]] : v;\n"
                          "        y[i] = (%s)v;\n"
                          "    }\n",
                          type_name(s->in[0]->type), type_name(s->out->type)),
        60);
    mase_str_printf(&w->body, "    %s(%s, %s, %s, %s, %lld);\n", f, mase_emit_at(w, s->out),
                    mase_emit_at(w, s->in[0]), list, first, (long long)s->out->rows);
}

static void write_pool(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const char *f = pool_function(w, s), *g = mase_emit_window(w, s->window, s->channels);
    mase_str_printf(&w->body, "    %s(%s, %s, &%s);\n", f, mase_emit_at(w, s->out),
                    mase_emit_at(w, s->in[0]), g);
}

static void write_map(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const struct mase_emit_call c = { .to = mase_emit_at(w, s->out),
                                      .from = mase_emit_at(w, s->in[0]),
                                      .to_type = s->out->type,
                                      .from_type = s->in[0]->type,
                                      .rows = s->out->rows,
                                      .stride = 1,
                                      .add = s->kind == MASE_EMIT_ADD ? s : NULL };
    mase_emit_map_call(w, &s->map, &c, 4);
}

/* ---- layers and convolutions ---- */

static void need(int64_t *rows, enum mase_emit_type t, int64_t n)
{
    rows[t] = n > rows[t] ? n : rows[t];
}

/* The C expression of the operand of one position's sums; for a convolution, of its copy. */
static const char *write_operand(struct mase_emit_writer *w, const struct mase_emit_step *s,
                                 int indent)
{
    const struct mase_emit_sum *f = &s->sum;
    const char *x = plus(w->a, mase_emit_at(w, s->in[0]), f->groups > 1 ? f->group_rows : 0, "g");
    const enum mase_emit_type t = s->in[0]->type;
    if (f->access == MASE_INT_ACCESS_ROWS)
        return plus(w->a, x, f->positions > 1 ? f->inputs : 0, "p");
    const char *patch = mase_arena_printf(w->a, "patch_%s", type_name(t));
    need(w->patch_rows, t, f->inputs + f->inputs % 2);
    mase_str_pad(&w->body, ' ', indent);
    if (f->access == MASE_INT_ACCESS_WINDOW) {
        const char *look = window_function(w, t),
                   *g = mase_emit_window(w, f->window, f->inputs / mase_int_window_area(f->window));
        mase_str_printf(&w->body, "%s(%s, %s, &%s, %s);\n", look, patch, x, g,
                        f->positions > 1 ? "p" : "0");
        return patch;
    }
    const enum mase_emit_type index = index_type(s->in[0]->rows);
    const char *list = list_table(w, f->list, f->groups * f->positions * f->inputs, index);
    list = plus(w->a, list, f->groups > 1 ? f->positions * f->inputs : 0, "g");
    list = plus(w->a, list, f->positions > 1 ? f->inputs : 0, "p");
    mase_str_printf(&w->body, "%s(%s, %s, %s, %lld);\n", pick_function(w, t, t, index), patch,
                    mase_emit_at(w, s->in[0]), list, (long long)f->inputs);
    return patch;
}

static bool is_unrolled(const struct mase_emit_writer *w, const struct mase_emit_sum *f)
{
    return w->unrolled && f->groups == 1;
}

/* Weights of floats, transposed: those of one input are adjacent, after the biases. */
static const float *turned(struct mase_emit_writer *w, const struct mase_emit_sum *f)
{
    const int64_t m = f->outputs, n = f->inputs;
    float *t = mase_new_array(w->a, float, (size_t)(f->groups * m * (n + 1))), *to = t;
    for (int64_t g = 0; g < f->groups; g++)
        for (int64_t k = -1; k < n; k++)
            for (int64_t o = g * m; o < (g + 1) * m; o++)
                *to++ = k < 0 ? f->fbias[o] : f->fweight[o * n + k];
    return t;
}

/* Does the float function apply the relu? Only if no map follows. */
static bool cuts_itself(const struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    return s->map.op == MASE_EMIT_RELU && s->sum.output_stride == 1 && !s->sum.weight &&
           !is_unrolled(w, &s->sum);
}

/* A range of outputs of each group. */
struct products {
    const struct mase_emit_sum *f;
    const char *y, *x, *b;
    int64_t first, count;
    int indent;
};

static void write_call(struct mase_emit_writer *w, const char *name, const char *weights,
                       int64_t inputs, const struct products *p)
{
    weights = plus(w->a, weights, p->f->groups > 1 ? p->count * inputs : 0, "g");
    mase_str_pad(&w->body, ' ', p->indent);
    mase_str_printf(&w->body, "%s(%s, %s, %s, %s, %lld, %lld);\n", name,
                    offset(w->a, p->y, p->first), p->x, weights, offset(w->a, p->b, p->first),
                    (long long)p->count, (long long)p->f->inputs);
}

/* Compute outputs in tiles, and the rest by loops. */
static void write_integers(struct mase_emit_writer *w, const struct mase_emit_step *s,
                           const char *y, const char *x, int indent)
{
    const struct mase_emit_sum *f = &s->sum;
    const int64_t tiled = mase_emit_tiled(f), rest = f->outputs - tiled;
    const char *b = mase_emit_table(w, "bias", f->acc, f->bias, NULL, f->groups * f->outputs);
    b = plus(w->a, b, f->groups > 1 ? f->outputs : 0, "g");
    if (tiled)
        write_call(w, mase_emit_tile_function(w), mase_emit_tile_table(w, f),
                   f->inputs + f->inputs % 2, &(struct products){ f, y, x, b, 0, tiled, indent });
    if (!rest)
        return;
    int64_t *weight = mase_new_array(w->a, int64_t, (size_t)(f->groups * rest * f->inputs));
    for (int64_t g = 0; g < f->groups; g++)
        memcpy(weight + g * rest * f->inputs, f->weight + (g * f->outputs + tiled) * f->inputs,
               (size_t)(rest * f->inputs) * sizeof *weight);
    write_call(w, dot_function(w, f, s->in[0]->type),
               mase_emit_table(w, "weight", f->wtype, weight, NULL, f->groups * rest * f->inputs),
               f->inputs, &(struct products){ f, y, x, b, tiled, rest, indent });
}

static void write_floats(struct mase_emit_writer *w, const struct mase_emit_step *s, const char *y,
                         const char *x, int indent)
{
    const struct mase_emit_sum *f = &s->sum;
    const int64_t size = f->outputs * (f->inputs + 1);
    const char *name = mase_emit_float_function(w, f->outputs),
               *by = mase_emit_table(w, "weight", MASE_EMIT_F32, NULL, turned(w, f),
                                     f->groups * size);
    mase_str_pad(&w->body, ' ', indent);
    mase_str_printf(&w->body, "%s(%s, %s, %s, %lld, %lld, %d);\n", name, y, x,
                    plus(w->a, by, f->groups > 1 ? size : 0, "g"), (long long)f->outputs,
                    (long long)f->inputs, cuts_itself(w, s));
}

static void write_products(struct mase_emit_writer *w, const struct mase_emit_step *s,
                           const char *y, const char *x, int indent)
{
    const struct mase_emit_sum *f = &s->sum;
    if (is_unrolled(w, f)) {
        const char *name = unrolled_function(w, s);
        mase_str_pad(&w->body, ' ', indent);
        mase_str_printf(&w->body, "%s(%s, %s);\n", name, y, x);
        return;
    }
    if (f->weight)
        write_integers(w, s, y, x, indent);
    else
        write_floats(w, s, y, x, indent);
}

static void write_sum(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    const struct mase_emit_sum *f = &s->sum;
    const bool direct = cuts_itself(w, s) || (s->map.op == MASE_EMIT_STORE &&
                                              f->output_stride == 1 && f->acc == s->out->type);
    const char *y =
        plus(w->a, mase_emit_at(w, s->out), f->groups > 1 ? f->outputs * f->output_stride : 0, "g");
    const char *acc = mase_arena_printf(w->a, "sum_%s", type_name(f->acc));
    int indent = 4;
    y = plus(w->a, y, f->positions > 1 ? f->position_stride : 0, "p");
    if (f->groups > 1)
        mase_str_printf(&w->body, "    for (int g = 0; g < %lld; g++)\n", (long long)f->groups);
    if (f->positions > 1)
        mase_str_printf(&w->body, "%s    for (int p = 0; p < %lld; p++)\n",
                        f->groups > 1 ? "    " : "", (long long)f->positions);
    if (f->groups > 1 || f->positions > 1) {
        mase_str_cut(&w->body, w->body.len - 1);
        mase_str_add(&w->body, " {\n");
        indent = f->groups > 1 && f->positions > 1 ? 12 : 8;
    }
    const char *x = write_operand(w, s, indent);
    write_products(w, s, direct ? y : acc, x, indent);
    if (!direct) {
        const struct mase_emit_call c = {
            .to = y,
            .from = acc,
            .to_type = s->out->type,
            .from_type = f->acc,
            .rows = f->outputs,
            .stride = f->output_stride,
            .offset =
                f->groups > 1 ? mase_arena_printf(w->a, "%lld * g", (long long)f->outputs) : NULL
        };
        need(w->acc_rows, f->acc, f->outputs);
        mase_emit_map_call(w, &s->map, &c, indent);
    }
    if (indent > 4) {
        mase_str_pad(&w->body, ' ', indent - 4);
        mase_str_add(&w->body, "}\n");
    }
}

void mase_emit_step_write(struct mase_emit_writer *w, const struct mase_emit_step *s)
{
    static void (*const writes[MASE_EMIT_KINDS])(struct mase_emit_writer * w,
                                                 const struct mase_emit_step *s) = {
        [MASE_EMIT_SUM] = write_sum,         [MASE_EMIT_ADD] = write_map,
        [MASE_EMIT_POOL] = write_pool,       [MASE_EMIT_PICK] = write_pick,
        [MASE_EMIT_LARGEST] = write_largest, [MASE_EMIT_MAP] = write_map,
    };
    writes[s->kind](w, s);
}
