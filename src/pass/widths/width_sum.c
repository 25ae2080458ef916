/*
 * width_sum.c - sums of widths, and which widths others are bound to.
 */
#include "pass/widths/width_parts.h"

/* ---- terms ---- */

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a < 0 ? -a : a;
}

/* t times num / den, in lowest terms: equal factors are compared as they stand. */
static struct mase_width_term scaled(struct mase_width_term t, int64_t num, int64_t den)
{
    const int64_t own = common_divisor(num, den), up = common_divisor(num / own, t.den),
                  down = common_divisor(t.num, den / own);
    return (struct mase_width_term){ t.var, t.num / down * (num / own / up),
                                     t.den / up * (den / own / down) };
}

static bool same_term(struct mase_width_term a, struct mase_width_term b)
{
    return a.var == b.var && a.num == b.num && a.den == b.den;
}

/* ---- sums ---- */

static struct mase_width_sum one_term(struct mase_widths *w, struct mase_width_term term)
{
    return (struct mase_width_sum){ 1, mase_arena_memdup(&w->arena, &term, sizeof term) };
}

struct mase_width_sum mase_width_constant(struct mase_widths *w, int64_t n)
{
    return one_term(w, (struct mase_width_term){ 0, n, 1 });
}

struct mase_width_sum mase_width_variable(struct mase_widths *w, int var)
{
    return one_term(w, (struct mase_width_term){ var, 1, 1 });
}

int mase_width_new_var(struct mase_widths *w, const char *node, int64_t width)
{
    w->var = mase_arena_grow(&w->arena, w->var, w->vars, &w->var_cap, sizeof *w->var);
    w->var[w->vars] = (struct mase_width_var){ .width = width, .node = node };
    w->var[w->vars].bound = mase_width_variable(w, w->vars);
    return w->vars++;
}

bool mase_width_is_constant(const struct mase_width_sum *s)
{
    for (int i = 0; i < s->count; i++)
        if (s->term[i].var)
            return false;
    return true;
}

struct mase_width_sum mase_width_times(struct mase_widths *w, const struct mase_width_sum *s,
                                       int64_t num, int64_t den)
{
    struct mase_width_sum out = { s->count, mase_new_array(&w->arena, struct mase_width_term,
                                                           (size_t)s->count) };
    for (int i = 0; i < s->count; i++)
        out.term[i] = scaled(s->term[i], num, den);
    return out;
}

/* s + t, where s has room. */
static void add_term(struct mase_width_sum *s, struct mase_width_term t)
{
    for (int i = 0; i < s->count; i++) {
        struct mase_width_term *own = &s->term[i];
        if (own->var != t.var)
            continue;
        const int64_t num = own->num * t.den + t.num * own->den, den = own->den * t.den;
        *own = scaled((struct mase_width_term){ t.var, 1, 1 }, num, den);
        return;
    }
    if (t.num)
        s->term[s->count++] = t;
}

struct mase_width_sum mase_width_plus(struct mase_widths *w, const struct mase_width_sum *a,
                                      const struct mase_width_sum *b)
{
    struct mase_width_sum out = { 0, mase_new_array(&w->arena, struct mase_width_term,
                                                    (size_t)(a->count + b->count)) };
    for (int i = 0; i < a->count; i++)
        add_term(&out, a->term[i]);
    for (int i = 0; i < b->count; i++)
        add_term(&out, b->term[i]);
    return out;
}

struct mase_width_sum mase_width_normal(struct mase_widths *w, const struct mase_width_sum *s)
{
    struct mase_width_sum out = { 0 };
    for (int i = 0; i < s->count; i++) {
        const struct mase_width_term t = s->term[i];
        const struct mase_width_var *v = &w->var[t.var];
        const struct mase_width_sum bound =
            v->is_bound ? mase_width_normal(w, &v->bound) : mase_width_variable(w, t.var);
        const struct mase_width_sum part = mase_width_times(w, &bound, t.num, t.den);
        out = mase_width_plus(w, &out, &part);
    }
    return out;
}

/* Of normal sums, in any order. */
static bool same_sum(const struct mase_width_sum *a, const struct mase_width_sum *b)
{
    int found = 0;
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++)
            found += same_term(a->term[i], b->term[k]);
    return found == a->count && a->count == b->count;
}

bool mase_width_equal(struct mase_widths *w, const struct mase_width_sum *a,
                      const struct mase_width_sum *b)
{
    const struct mase_width_sum na = mase_width_normal(w, a), nb = mase_width_normal(w, b);
    return same_sum(&na, &nb);
}

bool mase_width_value(int64_t *out, const struct mase_width_sum *s, const int64_t *now)
{
    *out = 0;
    for (int i = 0; i < s->count; i++) {
        const struct mase_width_term t = s->term[i];
        int64_t n;
        if (__builtin_mul_overflow(now[t.var], t.num, &n) || n % t.den)
            return false;
        if (__builtin_add_overflow(*out, n / t.den, out))
            return false;
    }
    return *out > 0 || mase_width_is_constant(s);
}

/* ---- what must stay, what must be equal ---- */

void mase_width_fix(struct mase_widths *w, const struct mase_width_sum *s, const char *why)
{
    const struct mase_width_sum normal = mase_width_normal(w, s);
    for (int i = 0; i < normal.count; i++) {
        struct mase_width_var *v = &w->var[normal.term[i].var];
        if (!v->fixed)
            v->fixed = why;
    }
}

static void note_join(struct mase_widths *w, const struct mase_width_sum *s,
                      const struct mase_node *node)
{
    for (int i = 0; i < s->count; i++)
        if (!w->var[s->term[i].var].joined)
            w->var[s->term[i].var].joined = mase_arena_strdup(&w->arena, node->name);
}

/* The variable of a sum of one term; 0: it is no such sum. */
static int only_var(const struct mase_width_sum *s)
{
    return s->count == 1 ? s->term[0].var : 0;
}

static bool mentions(const struct mase_width_sum *s, int var)
{
    bool does = false;
    for (int i = 0; i < s->count && !does; i++)
        does = s->term[i].var == var;
    return does;
}

/* own, a multiple of a free variable, becomes other. */
static void bind(struct mase_widths *w, const struct mase_width_sum *own,
                 const struct mase_width_sum *other)
{
    struct mase_width_var *v = &w->var[own->term[0].var];
    v->bound = mase_width_times(w, other, own->term[0].den, own->term[0].num);
    v->is_bound = true;
    if (v->fixed)
        mase_width_fix(w, other, v->fixed);
}

static int64_t width_of(const struct mase_widths *w, const struct mase_width_term *t)
{
    return w->var[t->var].width * t->num / t->den;
}

/* Sums of the same form, as of two concatenations that are added. */
static bool matches(const struct mase_widths *w, const struct mase_width_sum *a,
                    const struct mase_width_sum *b)
{
    bool can = a->count == b->count && a->count > 1;
    for (int i = 0; i < a->count && can; i++)
        can = !a->term[i].var == !b->term[i].var &&
              width_of(w, &a->term[i]) == width_of(w, &b->term[i]);
    return can;
}

static void unite_terms(struct mase_widths *w, const struct mase_width_sum *a,
                        const struct mase_width_sum *b, const struct mase_node *node)
{
    for (int i = 0; i < a->count; i++)
        mase_width_unite(w, &(struct mase_width_sum){ 1, &a->term[i] },
                         &(struct mase_width_sum){ 1, &b->term[i] }, node);
}

void mase_width_unite(struct mase_widths *w, const struct mase_width_sum *a,
                      const struct mase_width_sum *b, const struct mase_node *node)
{
    const struct mase_width_sum na = mase_width_normal(w, a), nb = mase_width_normal(w, b);
    const int va = only_var(&na), vb = only_var(&nb);
    if (same_sum(&na, &nb))
        return;
    note_join(w, a, node);
    note_join(w, b, node);
    if (vb && !mase_width_is_constant(&na) && !mentions(&na, vb) && (!va || va < vb)) {
        bind(w, &nb, &na);
    } else if (va && !mase_width_is_constant(&nb) && !mentions(&nb, va)) {
        bind(w, &na, &nb);
    } else if (matches(w, &na, &nb)) {
        unite_terms(w, &na, &nb, node);
    } else {
        const char *why =
            mase_arena_printf(&w->arena, "%s joins it with what does not follow", node->name);
        mase_width_fix(w, &na, why);
        mase_width_fix(w, &nb, why);
    }
}
