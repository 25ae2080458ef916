/*
 * write.c - the target C: source and header of a network.
 */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "emit/emit_parts.h"
#include "ir/graph/graph_parts.h"

enum { WIDTH = 100, CALL_BYTES = 32 };

/* ---- numbers ---- */

void mase_emit_integer(struct mase_str *s, int64_t x, enum mase_emit_type t)
{
    const bool large = x > INT32_MAX || x < INT32_MIN;
    if (x == INT32_MIN)
        mase_str_add(s, "(-2147483647 - 1)");
    else if (large && t == MASE_EMIT_I64)
        mase_str_printf(s, "INT64_C(%lld)", (long long)x);
    else
        mase_str_printf(s, "%lld", (long long)x);
}

/* The fewest digits that read back as the same number. */
void mase_emit_real(struct mase_str *s, double x, bool single)
{
    char text[MASE_NUMBER_BYTES];
    mase_number_shortest(text, x, 1, single);
    mase_str_printf(s, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0", single ? "f" : "");
}

/* ---- parts of the source ---- */

const char *mase_emit_function(struct mase_emit_writer *w, const char *prefix, const char *params,
                               const char *text, int bytes)
{
    const char *key = mase_arena_printf(w->a, "%s\n%s", params, text);
    const char *name = mase_map_get(&w->functions, key);
    w->e->code += CALL_BYTES;
    if (name)
        return name;
    name = prefix;
    for (int k = 2; mase_map_get(&w->names, name); k++)
        name = mase_arena_printf(w->a, "%s%d", prefix, k);
    mase_map_put(&w->functions, key, (void *)name);
    mase_map_put(&w->names, name, (void *)name);
    mase_str_printf(&w->helpers, "static void %s(%s)\n{\n%s}\n\n", name, params, text);
    w->e->code += bytes;
    return name;
}

void mase_emit_list(struct mase_str *s, enum mase_emit_type t, const int64_t *number,
                    const float *real, int64_t count)
{
    size_t start = s->len;
    mase_str_add(s, "    ");
    for (int64_t k = 0; k < count; k++) {
        if (s->len - start > WIDTH - 16) {
            mase_str_add(s, "\n    ");
            start = s->len - 4;
        }
        if (number)
            mase_emit_integer(s, number[k], t);
        else
            mase_emit_real(s, (double)real[k], true);
        mase_str_add(s, k + 1 < count ? ", " : "\n");
    }
}

const char *mase_emit_table(struct mase_emit_writer *w, const char *prefix, enum mase_emit_type t,
                            const int64_t *number, const float *real, int64_t count)
{
    const char *name = mase_arena_printf(w->a, "%s_%d", prefix, w->numbered++);
    mase_str_printf(&w->tables, "static const %s %s[%lld] = {\n", mase_emit_types[t].name, name,
                    (long long)count);
    mase_emit_list(&w->tables, t, number, real, count);
    mase_str_add(&w->tables, "};\n");
    w->e->constants += count * mase_emit_types[t].bytes;
    return name;
}

const char *mase_emit_window(struct mase_emit_writer *w, const struct mase_int_window *g,
                             int64_t channels)
{
    const char *name = mase_arena_printf(w->a, "window_%d", w->numbered++);
    mase_str_printf(&w->tables,
                    "static const struct window %s = { %lld, %lld, %lld, %lld, %lld, %lld, %lld, "
                    "%lld, %lld, %lld, %lld, %lld, %lld };\n",
                    name, (long long)channels, (long long)g->in[0], (long long)g->in[1],
                    (long long)g->out[0], (long long)g->out[1], (long long)g->kernel[0],
                    (long long)g->kernel[1], (long long)g->stride[0], (long long)g->stride[1],
                    (long long)g->pad[0], (long long)g->pad[1], (long long)g->dilation[0],
                    (long long)g->dilation[1]);
    w->e->constants += 13 * 4;
    return name;
}

const char *mase_emit_at(struct mase_emit_writer *w, const struct mase_emit_value *v)
{
    if (v->slot < 0)
        return v == w->net->input ? "x" : "y";
    return mase_arena_printf(w->a, "memory%d.v%d", v->slot, v->number);
}

/* ---- the source file ---- */

const char *mase_emit_file(const struct mase_emit_writer *w)
{
    return w->o->file ? w->o->file : "net";
}

static void add_head(struct mase_str *s, const struct mase_emit_writer *w)
{
    mase_str_printf(s,
                    "/*\n * %s.c - %s, written by ch emit c.\n *\n"
                    " *     cc -std=c99 -O2 -c %s.c\n *\n",
                    mase_emit_file(w), w->e->name, mase_emit_file(w));
    mase_str_add(s, w->net->floats
                        ? " * Floats: each sum begins with its bias and takes its products in the "
                          "order of the inputs.\n"
                        : " * Integers: every sum fits its type, found from the number formats and "
                          "the weights.\n");
    mase_str_printf(s,
                    " * Memory is static, so one thread at a time may call.\n */\n"
                    "#include \"%s.h\"\n\n",
                    mase_emit_file(w));
    if (!w->net->floats)
        mase_str_add(s, "#ifdef __FAST_MATH__\n#error \"roundings need IEEE arithmetic: compile "
                        "without -ffast-math\"\n#endif\n");
    if (w->fma || w->rounds)
        mase_str_add(s, "#if defined __FLT_EVAL_METHOD__ && __FLT_EVAL_METHOD__ > 1\n"
                        "#error \"floats must be floats, and doubles doubles: compile with -msse2 "
                        "-mfpmath=sse\"\n"
                        "#endif\n");
    mase_str_add(s, "typedef char needs_int_of_32_bits_and_shifts_that_keep_the_sign\n"
                    "    [sizeof(int) >= 4 && (-1 >> 1) == -1 ? 1 : -1];\n\n");
    if (w->vectors)
        mase_str_add(s, w->net->floats ? mase_emit_float_vectors : mase_emit_vectors);
    if (w->window)
        mase_str_add(s,
                     "struct window {\n"
                     "    int channels, in_y, in_x, out_y, out_x, kernel_y, kernel_x;\n"
                     "    int stride_y, stride_x, pad_y, pad_x, dilation_y, dilation_x;\n};\n\n");
}

static void add_memory(struct mase_str *s, const struct mase_emit_writer *w)
{
    const struct mase_emit_net *n = w->net;
    for (int slot = 0; slot < n->slot_count; slot++) {
        mase_str_add(s, "static union {\n");
        for (int i = 0; i < n->value_count; i++)
            if (n->value[i]->slot == slot)
                mase_str_printf(s, "    %s v%d[%lld];\n", mase_emit_types[n->value[i]->type].name,
                                n->value[i]->number, (long long)mase_emit_room(n->value[i]));
        mase_str_printf(s, "} memory%d;\n", slot);
        w->e->memory += n->slot[slot];
    }
    for (int t = 0; t < MASE_EMIT_TYPES; t++) {
        const struct mase_emit_type_info *info = &mase_emit_types[t];
        if (w->acc_rows[t])
            mase_str_printf(s, "static %s sum_%s[%lld];\n", info->name, info->name,
                            (long long)w->acc_rows[t]);
        if (w->patch_rows[t])
            mase_str_printf(s, "static %s patch_%s[%lld];\n", info->name, info->name,
                            (long long)w->patch_rows[t]);
        w->e->memory += (w->acc_rows[t] + w->patch_rows[t]) * info->bytes;
    }
    mase_str_addc(s, '\n');
}

/* A double holds the product of two floats exactly. The sum is rounded to odd, so that rounding it
 * to float rounds once. */
const char mase_emit_fused[] =
    "/* a b + c, rounded once */\n"
    "static float fused(float a, float b, float c)\n"
    "{\n"
    "    union {\n"
    "        double value;\n"
    "        uint64_t bits;\n"
    "    } sum;\n"
    "    const double product = (double)a * b, more = c;\n"
    "    sum.value = product + more;\n"
    "    const double back = sum.value - product;\n"
    "    const double lost = (product - (sum.value - back)) + (more - back);\n"
    "    if ((lost > 0 || lost < 0) && !(sum.bits & 1))\n"
    "        sum.bits += (lost > 0) == (sum.value > 0) ? 1 : (uint64_t)-1;\n"
    "    return (float)sum.value;\n"
    "}\n\n";

static void add_signature(struct mase_str *s, const struct mase_emit_writer *w, bool batch)
{
    const struct mase_emit_net *n = w->net;
    const char *in = mase_emit_types[n->input->type].name,
               *out = mase_emit_types[n->output->type].name;
    if (batch)
        mase_str_printf(s, "void %s_batch(const %s *x, %s *y, size_t samples)", w->e->name, in,
                        out);
    else
        mase_str_printf(s, "void %s(const %s *restrict x, %s *restrict y)", w->e->name, in, out);
}

static void add_batch(struct mase_str *s, const struct mase_emit_writer *w)
{
    add_signature(s, w, true);
    mase_str_printf(s,
                    "\n{\n    for (size_t i = 0; i < samples; i++)\n"
                    "        %s(x + i * %lld, y + i * %lld);\n}\n",
                    w->e->name, (long long)w->e->inputs, (long long)w->e->outputs);
}

static void add_cost(struct mase_emit_writer *w, const struct mase_emit_step *s, int64_t constants)
{
    struct mase_emitted *e = w->e;
    struct mase_emitted_step c = { .from = s->from ? mase_arena_strdup(&e->arena, s->from) : "-",
                                   .kind = s->kind == MASE_EMIT_MAP ? mase_emit_map_name(s->map.op)
                                                                    : mase_emit_kind_names[s->kind],
                                   .type = mase_emit_types[s->out->type].name,
                                   .values = s->out->rows,
                                   .bytes = e->constants - constants };
    const struct mase_emit_sum *f = &s->sum;
    if (s->kind == MASE_EMIT_SUM) {
        for (int64_t k = 0; k < f->groups * f->outputs * f->inputs; k++)
            c.products += f->weight ? f->weight[k] != 0 : 1;
        c.products *= f->positions;
    }
    e->products += c.products;
    if (s->map.op == MASE_EMIT_ROUND || s->map.op == MASE_EMIT_SCALE ||
        s->map.op == MASE_EMIT_ENCODE)
        e->roundings += s->out->rows;
    e->step = mase_arena_grow(&e->arena, e->step, e->count, &e->cap, sizeof *e->step);
    e->step[e->count++] = c;
}

static void write_source(struct mase_str *s, struct mase_emit_writer *w)
{
    w->e->code = 64;
    for (const struct mase_emit_step *k = w->net->first; k; k = k->next) {
        const int64_t constants = w->e->constants;
        mase_emit_step_write(w, k);
        add_cost(w, k, constants);
    }
    w->e->code += w->fma ? 110 : 0;
    add_head(s, w);
    mase_str_add(s, mase_str_text(&w->tables));
    mase_str_addc(s, '\n');
    add_memory(s, w);
    if (w->fma)
        mase_str_add(s, mase_emit_fused);
    mase_str_add(s, mase_str_text(&w->helpers));
    add_signature(s, w, false);
    mase_str_printf(s, "\n{\n%s}\n\n", mase_str_text(&w->body));
    add_batch(s, w);
}

/* ---- the header file ---- */

const char *mase_emit_upper(struct mase_arena *a, const char *name)
{
    char *text = mase_arena_strdup(a, name);
    for (char *c = text; *c; c++)
        *c = mase_to_upper(*c);
    return text;
}

/* Text of users inside a C comment. */
static void add_comment(struct mase_str *s, const char *text)
{
    size_t column = 3;
    mase_str_add(s, " * ");
    for (const char *c = text; *c; c++) {
        const bool blank = *c == ' ' || *c == '\n';
        const size_t word = strcspn(c + 1, " \n");
        if (*c == '\n' || (blank && column + word > 96)) {
            mase_str_add(s, "\n * ");
            column = 3;
            continue;
        }
        mase_str_addc(s, (*c == '/' && c > text && c[-1] == '*') || (unsigned char)*c < ' ' ? ' '
                                                                                            : *c);
        column++;
    }
    mase_str_addc(s, '\n');
}

static void add_codes(struct mase_str *s, const struct mase_int_program *e)
{
    const struct mase_int_value *in = NULL;
    for (const struct mase_int_instr *i = e->first; i && !in; i = i->next)
        in = i->op == MASE_INT_OP_ENCODE ? i->out : NULL;
    const struct mase_meaning *m = e->output->meaning;
    mase_str_printf(
        s,
        " *\n * x: codes from %lld to %lld; a code c of the first number stands for c * %.17g.\n",
        (long long)in->lo[0], (long long)in->hi[0], in->meaning[0].step);
    mase_str_printf(s,
                    " * y: codes; a code c of the first number stands for (c * %.17g / %lld + "
                    "%.9g) * %.9g + %.9g%s.\n",
                    m->step, (long long)m->parts, (double)m->bias, (double)m->scale,
                    (double)m->shift, m->relu ? ", at least 0" : "");
}

static void write_header(struct mase_str *s, struct mase_emit_writer *w,
                         const struct mase_int_program *e)
{
    const char *up = mase_emit_upper(w->a, w->e->name);
    mase_str_printf(s, "/*\n * %s.h - %s, written by ch emit c.\n", mase_emit_file(w), w->e->name);
    if (w->o->about) {
        mase_str_add(s, " *\n");
        add_comment(s, w->o->about);
    }
    if (w->codes)
        add_codes(s, e);
    else if (!w->net->floats)
        mase_str_add(s, " *\n * What is not a number becomes the least code.\n");
    mase_str_printf(
        s, " */\n#ifndef %s_H\n#define %s_H\n\n#include <stddef.h>\n#include <stdint.h>\n\n", up,
        up);
    mase_str_printf(s, "#define %s_INPUTS  %lld\n#define %s_OUTPUTS %lld\n\n", up,
                    (long long)w->e->inputs, up, (long long)w->e->outputs);
    mase_str_printf(s, "/* One sample: %s_INPUTS numbers become %s_OUTPUTS. */\n", up, up);
    add_signature(s, w, false);
    mase_str_add(s, ";\n/* Sample after sample. */\n");
    add_signature(s, w, true);
    mase_str_printf(s, ";\n\n#endif\n");
}

/* ---- names ---- */

/* Names that generated code must not use: keywords, library functions, names of helpers and of the
 * test. */
static const char *const taken[] = {
    "auto",     "break",       "case",   "char",     "const",  "continue", "default",   "do",
    "double",   "else",        "enum",   "extern",   "float",  "for",      "goto",      "if",
    "inline",   "int",         "long",   "register", "return", "restrict", "short",     "signed",
    "sizeof",   "static",      "struct", "switch",   "union",  "typedef",  "unsigned",  "void",
    "volatile", "while",       "abs",    "cbrt",     "ceil",   "cos",      "cosh",      "div",
    "erf",      "exp",         "floor",  "fma",      "fmax",   "fmin",     "fmod",      "free",
    "gamma",    "index",       "log",    "main",     "malloc", "memcmp",   "memcpy",    "memset",
    "memmove",  "pow",         "printf", "puts",     "rint",   "round",    "remainder", "signal",
    "sin",      "sinh",        "sqrt",   "tan",      "tanh",   "time",     "trunc",     "check",
    "code",     "copy",        "decode", "dot",      "encode", "fused",    "given",     "got",
    "same",     "wanted",      "window", "samples",  "line",   "relu",     "stand_for", "x",
    "y",        "bytes",       "halves", "words",    "pair",   "floats",   "truths",    "four",
    "dots",     "four_truths", "join",
};
static const char *const prefixes[] = {
    "weight_", "bias_", "table_", "rows_", "first_", "window_", "memory",  "patch_",
    "sum_",    "add_",  "div_",   "mul_",  "lo_",    "hi_",     "shift_",  "step_",
    "scale_",  "by_",   "plus_",  "part_", "start_", "factor_", "offset_", "needs_",
};

static bool is_taken(const char *name)
{
    bool clash = false;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        clash |= mase_streq(name, taken[i]);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
        clash |= mase_starts_with(name, prefixes[i]);
    return clash;
}

/* Letters, digits and underscores; not a taken name. */
static const char *c_name(struct mase_arena *a, const char *name)
{
    char *out = mase_arena_printf(a, mase_is_alpha(name[0]) ? "%s" : "net_%s", name);
    for (char *c = out; *c; c++)
        *c = mase_is_alnum(*c) ? mase_to_lower(*c) : '_';
    return is_taken(out) ? mase_arena_printf(a, "%s_net", out) : out;
}

/* ---- the target ---- */

struct options {
    const char *style;
    bool codes;
};

static const char *const styles[] = { "tables", "unrolled", NULL };
const struct mase_opt mase_target_c_rows[] = {
    [MASE_TARGET_C_style] =
        MASE_OPT_CHOICE(struct options, style, "style", "tables", styles,
                        "where the weights are: tables, constant arrays; or unrolled, each in the "
                        "code, zeros left out"),
    [MASE_TARGET_C_codes] =
        MASE_OPT_BOOL(struct options, codes, "codes", false,
                      "take and give integer codes, not floats; the header says what they stand "
                      "for"),
    { 0 },
};

/* The lowered network of this target. */
struct c_source {
    struct mase_emit_net net;
    bool unrolled, codes;
};

static enum mase_status lower(struct mase_emit_job *j, struct mase_err *err)
{
    struct c_source *c = mase_new(j->a, struct c_source);
    const struct mase_int_program *x = j->from->exact;
    struct options o;
    MASE_TRY(mase_opts_bind(&o, sizeof o, j->target->rows, j->o->options, j->a, err));
    c->net = (struct mase_emit_net){ .a = j->a, .floats = !x };
    c->unrolled = mase_streq(o.style, "unrolled");
    c->codes = o.codes;
    j->steps = c;
    if (o.codes && !x)
        return mase_fail(err, MASE_EVALUE, "codes: the network has no number formats");
    MASE_TRY(x ? mase_emit_from_integers(&c->net, x, o.codes, err)
               : mase_emit_from_program(&c->net, j->from->program, err));
    if (!c->unrolled)
        mase_emit_find_tiles(&c->net);
    mase_emit_place(&c->net);
    return MASE_OK;
}

static enum mase_status check(struct mase_emit_job *j, struct mase_err *err)
{
    const struct c_source *c = j->steps;
    return mase_emit_check(&c->net, j->from, j->o->x, j->o->vectors, err);
}

static struct mase_str *add_file(const struct mase_emit_writer *w, const char *ends)
{
    struct mase_emitted_file *f = &w->e->file[w->e->files++];
    f->name = mase_arena_printf(&w->e->arena, "%s%s", mase_emit_file(w), ends);
    return &f->text;
}

static void write(struct mase_emit_job *j)
{
    const struct c_source *c = j->steps;
    struct mase_emitted *e = j->e;
    struct mase_emit_writer w = { .a = j->a,
                                  .e = e,
                                  .net = &c->net,
                                  .o = j->o,
                                  .unrolled = c->unrolled,
                                  .codes = c->codes,
                                  .functions = { .arena = j->a },
                                  .names = { .arena = j->a } };
    e->name = c_name(&e->arena, j->name);
    e->inputs = c->net.input->rows;
    e->outputs = c->net.output->rows;
    e->integers = j->from->exact != NULL;
    mase_map_put(&w.names, e->name, (void *)e->name);
    write_source(add_file(&w, ".c"), &w);
    write_header(add_file(&w, ".h"), &w, j->from->exact);
    if (j->o->vectors) {
        mase_emit_test(add_file(&w, "_test.c"), &w);
        mase_emit_makefile(add_file(&w, ".mk"), &w);
        e->makefile = e->file[e->files - 1].name;
    }
    mase_str_release(&w.tables);
    mase_str_release(&w.helpers);
    mase_str_release(&w.body);
}

const struct mase_target_functions mase_target_c = { .lower = lower,
                                                     .check = check,
                                                     .write = write };
