/*
 * write_map.c - write maps of single numbers as C: roundings, affine functions, tables, decoding.
 *
 * A C function takes rows and maps each. A parameter that all rows share is a literal in it; others
 * are passed as arrays.
 */
#include "emit/emit_parts.h"
#include "integer/int_parts.h"

/* The C function that is being written. */
struct mapping {
    struct mase_emit_writer *w;
    const struct mase_emit_map *m;
    const struct mase_emit_call *c;
    struct mase_str params, args, text;
    int arrays;
};

/* The C expression of a parameter for row i. */
static const char *number(struct mapping *k, const struct mase_emit_numbers *n, const char *name,
                          enum mase_emit_type t)
{
    struct mase_str s = { 0 };
    const char *out;
    if (n->count == 1) {
        if (n->number)
            mase_emit_integer(&s, n->number[0], t);
        else
            mase_emit_real(&s, (double)n->real[0], true);
        out = mase_arena_strdup(k->w->a, mase_str_text(&s));
        mase_str_release(&s);
        return out;
    }
    struct mase_emit_numbers *own = (struct mase_emit_numbers *)n;
    if (!own->name) {
        int64_t lo = 0, hi = 0;
        for (int64_t i = 0; n->number && i < n->count; i++) {
            lo = n->number[i] < lo ? n->number[i] : lo;
            hi = n->number[i] > hi ? n->number[i] : hi;
        }
        own->type = n->real ? MASE_EMIT_F32 : mase_emit_type_between(lo, hi, MASE_EMIT_I8);
        own->name = mase_emit_table(k->w, name, own->type, n->number, n->real, n->count);
    }
    mase_str_printf(&k->params, ", const %s *%s", mase_emit_types[n->type].name, name);
    mase_str_printf(&k->args, ", %s", n->name);
    if (k->c->offset)
        mase_str_printf(&k->args, " + %s", k->c->offset);
    return n->per == 1 ? mase_arena_printf(k->w->a, "%s[i]", name)
                       : mase_arena_printf(k->w->a, "%s[i / %lld]", name, (long long)n->per);
}

static void line(struct mapping *k, const char *fmt, ...) MASE_PRINTF(2, 3);
static void line(struct mapping *k, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mase_str_add(&k->text, "        ");
    mase_str_vprintf(&k->text, fmt, ap);
    mase_str_addc(&k->text, '\n');
    va_end(ap);
}

static const char *type_name(enum mase_emit_type t)
{
    return mase_emit_types[t].name;
}

/* The C expression of the operand, or of a sum of two. */
static const char *operand(struct mapping *k)
{
    const struct mase_emit_step *s = k->c->add;
    if (!s)
        return "x[i]";
    struct mase_str e = { 0 };
    for (int j = 0; j < 2; j++) {
        mase_str_printf(&e, "%s%s%s[i]", j ? " + " : "", s->acc == MASE_EMIT_I64 ? "(int64_t)" : "",
                        j ? "z" : "x");
        if (!mase_emit_all(&s->weight[j], 1))
            mase_str_printf(&e, " * %s", number(k, &s->weight[j], j ? "by_z" : "by_x", s->acc));
    }
    if (!mase_emit_all(&s->bias, 0))
        mase_str_printf(&e, " + %s", number(k, &s->bias, "plus", s->acc));
    const char *text = mase_arena_printf(k->w->a, "(%s)", mase_str_text(&e));
    mase_str_release(&e);
    return text;
}

/* ---- rounding ---- */

static void write_shift(struct mapping *k, const char *t)
{
    const struct mase_emit_numbers *n = &k->m->div;
    const char *s = number(k, n, "shift", MASE_EMIT_I32);
    const bool one = n->count == 1;
    const int64_t by = one ? n->number[0] : 0;
    if (one && by == 0) {
        line(k, "%s q = v;", t);
        return;
    }
    if (!one) {
        line(k, "const int s = %s;", s);
        s = "s";
    }
    switch (k->m->direction) {
    case MASE_TO_FLOOR:
        line(k, "%s q = v >> %s;", t, s);
        break;
    case MASE_TO_ZERO:
        line(k, "%s q = v / ((%s)1 << %s);", t, t, s);
        break;
    case MASE_TO_NEAREST_AWAY:
        line(k, "%s q = (v + ((%s)1 << %s >> 1) - (%s%sv < 0)) >> %s;", t, t, s, one ? "" : s,
             one ? "" : " && ", s);
        break;
    default:
        if (one)
            line(k, "%s q = (v + %lld + (v >> %s & 1)) >> %s;", t,
                 (long long)((INT64_C(1) << (by - 1)) - 1), s, s);
        else
            line(k, "%s q = s ? (v + ((%s)1 << (s - 1)) - 1 + (v >> s & 1)) >> s : v;", t, t);
    }
}

static void write_divide(struct mapping *k, const char *t)
{
    const char *d = number(k, &k->m->div, "div", k->m->work);
    if (k->m->direction == MASE_TO_ZERO) {
        line(k, "%s q = v / %s;", t, d);
        return;
    }
    line(k, "%s q = v / %s - (v %% %s < 0);", t, d, d);
    if (k->m->direction == MASE_TO_FLOOR)
        return;
    line(k, "const %s rest = v - q * %s;", t, d);
    if (k->m->direction == MASE_TO_NEAREST_AWAY)
        line(k, "q += v >= 0 ? rest >= %s - rest : rest > %s - rest;", d, d);
    else
        line(k, "q += rest > %s - rest || (rest == %s - rest && (q & 1));", d, d);
}

static void write_limits(struct mapping *k, enum mase_emit_type t)
{
    if (k->m->lo.count) {
        const char *lo = number(k, &k->m->lo, "lo", t);
        line(k, "q = q < %s ? %s : q;", lo, lo);
    }
    if (k->m->hi.count) {
        const char *hi = number(k, &k->m->hi, "hi", t);
        line(k, "q = q > %s ? %s : q;", hi, hi);
    }
}

static void write_round(struct mapping *k)
{
    const struct mase_emit_map *m = k->m;
    const char *t = type_name(m->work);
    struct mase_str v = { 0 };
    mase_str_printf(&v, "%s%s", m->work == MASE_EMIT_I64 ? "(int64_t)" : "", operand(k));
    if (!mase_emit_all(&m->mul, 1))
        mase_str_printf(&v, " * %s", number(k, &m->mul, "mul", m->work));
    if (!mase_emit_all(&m->add, 0))
        mase_str_printf(&v, " + %s", number(k, &m->add, "add", m->work));
    line(k, "const %s v = %s;", t, mase_str_text(&v));
    mase_str_release(&v);
    if (m->direction == MASE_TO_SIGN) {
        line(k, "const %s q = v >= 0 ? 1 : -1;", t);
        return;
    }
    if (m->shift)
        write_shift(k, t);
    else
        write_divide(k, t);
    write_limits(k, m->work);
}

/* Above 2^23 float32 has no fraction, so a sum is rounded to nearest, ties to even. */
static bool sum_rounds(const struct mase_emit_map *m, bool doubles)
{
    const struct mase_emit_numbers *limits[] = { &m->lo, &m->hi };
    if (doubles || (m->op == MASE_EMIT_ENCODE && m->direction != MASE_TO_NEAREST_EVEN))
        return false;
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < limits[k]->count; i++)
            if (limits[k]->number[i] < -(1 << 22) || limits[k]->number[i] > 1 << 22)
                return false;
    return true;
}

/* Round a float within limits to the nearest integer q, by truncation only, which compiles
 * everywhere. */
static void write_nearest(struct mapping *k, const char *real, const char *whole, const char *half)
{
    const struct mase_emit_map *m = k->m;
    line(k, "%s q = (%s)v;", whole, whole);
    if (m->op == MASE_EMIT_ENCODE && m->direction == MASE_TO_ZERO)
        return;
    line(k, "const %s part = v - (%s)q;", real, real);
    if (m->op == MASE_EMIT_ENCODE && m->direction == MASE_TO_FLOOR)
        line(k, "q -= part < 0;");
    else if (m->op == MASE_EMIT_ENCODE && m->direction == MASE_TO_NEAREST_AWAY)
        line(k, "q += (part >= %s) - (part <= -%s);", half, half);
    else
        line(k,
             "q += (part > %s) + ((part == %s) & q & 1) - (part < -%s) - ((part == -%s) & q & 1);",
             half, half, half, half);
}

static void write_bounded(struct mapping *k, bool doubles)
{
    const char *real = doubles ? "double" : "float", *f = doubles ? ".0" : ".0f";
    const enum mase_emit_type t = doubles ? MASE_EMIT_I64 : MASE_EMIT_I32;
    const struct mase_emit_numbers *lo = &k->m->lo, *hi = &k->m->hi;
    const char *a = number(k, lo, "lo", t), *b = number(k, hi, "hi", t);
    if (lo->count == 1)
        a = mase_arena_printf(k->w->a, "%lld%s", (long long)lo->number[0], f);
    if (hi->count == 1)
        b = mase_arena_printf(k->w->a, "%lld%s", (long long)hi->number[0], f);
    line(k, "v = v > %s ? v : %s;", a, a); /* NaN becomes the lower bound */
    line(k, "v = v < %s ? v : %s;", b, b);
    if (sum_rounds(k->m, doubles)) {
        k->w->rounds = true;
        line(k, "int32_t q = (int32_t)((float)(v + 12582912.0f) - 12582912.0f);");
        return;
    }
    write_nearest(k, real, type_name(t), doubles ? "0.5" : "0.5f");
}

static void write_encode(struct mapping *k)
{
    const struct mase_emit_map *m = k->m;
    if (m->direction == MASE_TO_SIGN) {
        line(k, "const int q = x[i] >= 0 ? 1 : -1;");
        return;
    }
    const char *by = number(k, &m->factor, "step", MASE_EMIT_F32);
    const char *real = m->doubles ? "double" : "float";
    k->w->rounds |= m->scaled;
    if (m->scaled)
        line(k, "%s v = (float)(x[i] / %s);", real, by);
    else
        line(k, "%s v = (%s)x[i] * %s;", real, real, by);
    write_bounded(k, m->doubles);
}

static void write_scale(struct mapping *k)
{
    const struct mase_emit_map *m = k->m;
    const char *by = number(k, &m->factor, "factor", MASE_EMIT_F32);
    k->w->rounds = true;
    if (mase_emit_all(&m->offset, 0)) {
        line(k, "float v = (float)%s * %s;", operand(k), by);
    } else {
        k->w->fma = true;
        line(k, "float v = fused((float)%s, %s, %s);", operand(k), by,
             number(k, &m->offset, "offset", MASE_EMIT_F32));
    }
    write_bounded(k, false);
}

/* ---- floats ---- */

static void write_affine(struct mapping *k)
{
    const struct mase_emit_map *m = k->m;
    const char *by = number(k, &m->factor, "scale", MASE_EMIT_F32),
               *plus = number(k, &m->offset, "shift", MASE_EMIT_F32);
    if (m->op == MASE_EMIT_AFFINE) {
        k->w->fma = true;
        line(k, "const float q = fused(x[i], %s, %s);", by, plus);
    } else {
        line(k, "const float q = %s * %s + %s;", operand(k), by, plus);
    }
}

static void write_decode(struct mapping *k)
{
    const struct mase_emit_map *m = k->m;
    const char *step = number(k, &m->div, "step", MASE_EMIT_F32);
    if (m->exact) {
        struct mase_str v = { 0 };
        const bool plain = mase_emit_all(&m->mul, 1) && mase_emit_all(&m->add, 0);
        mase_str_printf(&v, "%s", m->work == MASE_EMIT_I64 && !plain ? "(int64_t)x[i]" : "x[i]");
        if (!mase_emit_all(&m->mul, 1))
            mase_str_printf(&v, " * %s", number(k, &m->mul, "mul", m->work));
        if (!mase_emit_all(&m->add, 0))
            mase_str_printf(&v, " + %s", number(k, &m->add, "add", m->work));
        line(k, plain ? "float q = (float)%s * %s;" : "float q = (float)(%s) * %s;",
             mase_str_text(&v), step);
        mase_str_release(&v);
        return;
    }
    k->w->rounds = true;
    /* volatile keeps compilers from contracting a product and a sum */
    const char *real = m->scaled ? "float" : "double",
               *parts = number(k, &m->parts, "parts", MASE_EMIT_I64);
    line(k, "volatile %s v = (%s)x[i] * %s;", real, real, step);
    line(k, "v = v / (%s)%s;", real, parts);
    const bool affine = !mase_emit_all(&m->factor, 1) || !mase_emit_all(&m->offset, 0) ||
                        !mase_emit_all(&m->bias, 0);
    if (!affine) {
        line(k, "float q = (float)v;");
        return;
    }
    line(k, "v = v + %s;", number(k, &m->bias, "bias", MASE_EMIT_F32));
    const char *scale = number(k, &m->factor, "scale", MASE_EMIT_F32),
               *shift = number(k, &m->offset, "shift", MASE_EMIT_F32);
    if (m->scaled) {
        k->w->fma = true;
        line(k, "float q = fused(v, %s, %s);", scale, shift);
    } else {
        line(k, "v = v * (double)%s;", scale);
        line(k, "float q = (float)(v + (double)%s);", shift);
    }
}

static void write_table(struct mapping *k)
{
    const struct mase_emit_map *m = k->m;
    const char *start = number(k, &m->start, "start", MASE_EMIT_I32);
    const enum mase_emit_type t = mase_emit_type_between(m->table_lo, m->table_hi, MASE_EMIT_I8);
    mase_str_printf(&k->params, ", const %s *table", mase_emit_types[t].name);
    mase_str_printf(&k->args, ", %s",
                    mase_emit_table(k->w, "table", t, m->table, NULL, m->table_length));
    line(k, "const %s q = table[x[i] + %s];", mase_emit_types[t].name, start);
}

static void write_store(struct mapping *k)
{
    const struct mase_emit_step *s = k->c->add;
    line(k, "const %s q = %s;", s ? type_name(s->acc) : type_name(k->c->from_type), operand(k));
}

static void write_relu(struct mapping *k)
{
    line(k, "const float v = %s;", operand(k));
    line(k, "const float q = v < 0 ? 0 : v;");
}

/* The writer of each map, its name in C, and the bytes of its loop, about. */
static const struct {
    void (*write)(struct mapping *k);
    const char *name;
    int bytes;
} maps[] = {
    [MASE_EMIT_STORE] = { write_store, "copy", 30 },
    [MASE_EMIT_AFFINE] = { write_affine, "line", 60 },
    [MASE_EMIT_AXPY] = { write_affine, "line", 40 },
    [MASE_EMIT_RELU] = { write_relu, "relu", 40 },
    [MASE_EMIT_ENCODE] = { write_encode, "encode", 110 },
    [MASE_EMIT_ROUND] = { write_round, "rounded", 60 },
    [MASE_EMIT_SCALE] = { write_scale, "rescale", 110 },
    [MASE_EMIT_TABLE] = { write_table, "look_up", 35 },
    [MASE_EMIT_DECODE] = { write_decode, "decode", 35 },
};

const char *mase_emit_map_name(enum mase_emit_map_op op)
{
    return maps[op].name;
}

void mase_emit_map_call(struct mase_emit_writer *w, const struct mase_emit_map *m,
                        const struct mase_emit_call *c, int indent)
{
    struct mapping k = { .w = w, .m = m, .c = c };
    mase_str_printf(&k.params, "%s *restrict y, const %s *restrict x", type_name(c->to_type),
                    type_name(c->from_type));
    if (c->add)
        mase_str_printf(&k.params, ", const %s *restrict z", type_name(c->add->in[1]->type));
    mase_str_add(&k.params, ", int n");
    mase_str_add(&k.text, "    for (int i = 0; i < n; i++) {\n");
    maps[m->op].write(&k);
    const char *q = m->relu && m->op != MASE_EMIT_RELU ? "q < 0 ? 0 : q" : "q";
    const char *cast =
        c->to_type == MASE_EMIT_F32 ? "" : mase_arena_printf(w->a, "(%s)", type_name(c->to_type));
    if (c->stride == 1)
        line(&k, "y[i] = %s%s;", cast, q);
    else
        line(&k, "y[i * %lld] = %s%s;", (long long)c->stride, cast, q);
    mase_str_add(&k.text, "    }\n");
    const char *name = mase_emit_function(w, maps[m->op].name, mase_str_text(&k.params),
                                          mase_str_text(&k.text), maps[m->op].bytes);
    mase_str_pad(&w->body, ' ', indent);
    mase_str_printf(&w->body, "%s(%s, %s", name, c->to, c->from);
    if (c->add)
        mase_str_printf(&w->body, ", %s", mase_emit_at(w, c->add->in[1]));
    mase_str_printf(&w->body, ", %lld%s);\n", (long long)c->rows, mase_str_text(&k.args));
    mase_str_release(&k.params);
    mase_str_release(&k.args);
    mase_str_release(&k.text);
}
