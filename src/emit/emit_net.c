/*
 * emit_net.c - build the steps of a network: types, values, parameters of rows, memory slots.
 */
#include <stdarg.h>

#include "emit/emit_parts.h"
#include "exec/reference/interpret.h"
#include "integer/int_parts.h"

/* ---- types ---- */

const struct mase_emit_type_info mase_emit_types[MASE_EMIT_TYPES] = {
    [MASE_EMIT_I8] = { "int8_t", 1, INT8_MIN, INT8_MAX },
    [MASE_EMIT_U8] = { "uint8_t", 1, 0, UINT8_MAX },
    [MASE_EMIT_I16] = { "int16_t", 2, INT16_MIN, INT16_MAX },
    [MASE_EMIT_U16] = { "uint16_t", 2, 0, UINT16_MAX },
    [MASE_EMIT_I32] = { "int32_t", 4, INT32_MIN, INT32_MAX },
    [MASE_EMIT_I64] = { "int64_t", 8, INT64_MIN, INT64_MAX },
    [MASE_EMIT_F32] = { "float", 4, 0, 0 },
};

const char *const mase_emit_kind_names[MASE_EMIT_KINDS] = { "sum",  "add",     "pool",
                                                            "pick", "largest", "map" };

enum mase_emit_type mase_emit_type_for(struct mase_int_type type, enum mase_emit_type least)
{
    const mase_int_wide end = (mase_int_wide)1 << (type.width - type.is_signed);
    int t = (int)least;
    while (t < MASE_EMIT_I64 &&
           ((type.is_signed && -end < mase_emit_types[t].lo) || end - 1 > mase_emit_types[t].hi))
        t++;
    return (enum mase_emit_type)t;
}

enum mase_emit_type mase_emit_type_between(int64_t lo, int64_t hi, enum mase_emit_type least)
{
    return mase_emit_type_for(mase_int_type_of(lo, hi), least);
}

/* ---- build steps ---- */

struct mase_emit_value *mase_emit_add_value(struct mase_emit_net *n, enum mase_emit_type t,
                                            int64_t rows)
{
    struct mase_emit_value *v = mase_new(n->a, struct mase_emit_value);
    *v = (struct mase_emit_value){
        .type = t, .rows = rows, .made = n->count, .number = n->value_count, .slot = 0
    };
    n->value = mase_arena_grow(n->a, n->value, n->value_count, &n->value_cap, sizeof *n->value);
    n->value[n->value_count++] = v;
    return v;
}

struct mase_emit_step *mase_emit_add_step(struct mase_emit_net *n, enum mase_emit_kind kind,
                                          const char *from, struct mase_emit_value *in,
                                          struct mase_emit_value *out)
{
    struct mase_emit_step *s = mase_new(n->a, struct mase_emit_step);
    *s =
        (struct mase_emit_step){ .kind = kind, .from = from, .in = { in }, .out = out, .parts = 1 };
    if (n->last)
        n->last->next = s;
    else
        n->first = s;
    n->last = s;
    n->count++;
    return s;
}

/* A step picks from two values, so several values take several steps: the rows picked so far, and
 * the next value. */
void mase_emit_add_picks(struct mase_emit_net *n, const char *from,
                         struct mase_emit_value *const *value, int count,
                         const struct mase_emit_picked *picked, struct mase_emit_value *out)
{
    struct mase_emit_value *so_far = value[0];
    for (int k = count > 1; k < count; k++) {
        int32_t *list = mase_new_array(n->a, int32_t, (size_t)out->rows);
        for (int64_t r = 0; r < out->rows; r++) {
            const struct mase_emit_picked *p = &picked[r];
            if (p->row < 0)
                list[r] = -1;
            else if (k > 0 && p->value == k)
                list[r] = -2 - p->row;
            else
                list[r] = k > 1 ? (int32_t)r : p->value == 0 ? p->row : -1;
        }
        struct mase_emit_value *to =
            k == count - 1 ? out : mase_emit_add_value(n, out->type, out->rows);
        struct mase_emit_step *s = mase_emit_add_step(n, MASE_EMIT_PICK, from, so_far, to);
        s->in[1] = k > 0 ? value[k] : NULL;
        s->list = list;
        so_far = to;
    }
}

enum mase_status mase_emit_refuse(const char *from, struct mase_err *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const enum mase_status st = mase_refuse_node(err, from, "no C", fmt, ap);
    va_end(ap);
    return st;
}

/* ---- parameters of rows ---- */

/* The longest length that divides the rows into runs of equal numbers. */
static int64_t run_of(const int64_t *number, const float *real, int64_t rows)
{
    int64_t run = rows, at = 0;
    for (int64_t r = 1; r <= rows; r++) {
        const bool same =
            r < rows && (number ? number[r] == number[at]
                                : real[r] == real[at] && (1 / real[r] < 0) == (1 / real[at] < 0));
        if (same)
            continue;
        run = mase_gcd(run, r - at);
        at = r;
    }
    return run;
}

struct mase_emit_numbers mase_emit_numbers(struct mase_arena *a, const int64_t *number,
                                           int64_t rows)
{
    const int64_t per = run_of(number, NULL, rows);
    int64_t *few = mase_new_array(a, int64_t, (size_t)(rows / per));
    for (int64_t r = 0; r < rows; r += per)
        few[r / per] = number[r];
    return (struct mase_emit_numbers){ .count = rows / per, .per = per, .number = few };
}

struct mase_emit_numbers mase_emit_reals(struct mase_arena *a, const float *real, int64_t rows)
{
    const int64_t per = run_of(NULL, real, rows);
    float *few = mase_new_array(a, float, (size_t)(rows / per));
    for (int64_t r = 0; r < rows; r += per)
        few[r / per] = real[r];
    return (struct mase_emit_numbers){ .count = rows / per, .per = per, .real = few };
}

bool mase_emit_all(const struct mase_emit_numbers *n, int64_t number)
{
    return n->count == 1 && (n->number ? n->number[0] == number : n->real[0] == (float)number);
}

/* ---- memory slots ---- */

static void find_lifetimes(struct mase_emit_net *n)
{
    int at = 0;
    for (struct mase_emit_step *s = n->first; s; s = s->next, at++) {
        s->out->made = at;
        s->out->last = s->out->last > at ? s->out->last : at;
        for (int k = 0; k < 2; k++)
            if (s->in[k])
                s->in[k]->last = at;
    }
    n->input->made = -1;
    n->output->last = n->count;
}

/* A slot is free if no value in it is still to be read. A chain needs two slots. */
static int find_slot(const struct mase_emit_net *n, const struct mase_emit_value *v)
{
    for (int slot = 0; slot < n->slot_count; slot++) {
        bool taken = false;
        for (int i = 0; i < n->value_count && !taken; i++) {
            const struct mase_emit_value *o = n->value[i];
            taken = o != v && o->slot == slot && o->made >= 0 && o->made < v->made &&
                    o->last >= v->made;
        }
        if (!taken)
            return slot;
    }
    return n->slot_count;
}

int64_t mase_emit_room(const struct mase_emit_value *v)
{
    return v->rows + (v->passed || (v->type == MASE_EMIT_I16 && v->rows % 2));
}

void mase_emit_place(struct mase_emit_net *n)
{
    find_lifetimes(n);
    for (int i = 0; i < n->value_count; i++)
        n->value[i]->slot = -3;
    n->input->slot = -1;
    for (struct mase_emit_step *s = n->first; s; s = s->next) {
        struct mase_emit_value *v = s->out;
        v->slot = v == n->output ? -2 : find_slot(n, v);
        if (v->slot < 0)
            continue;
        if (v->slot == n->slot_count) {
            n->slot = mase_arena_grow(n->a, n->slot, n->slot_count, &n->slot_cap, sizeof *n->slot);
            n->slot[n->slot_count++] = 0;
        }
        const int64_t bytes = mase_emit_room(v) * mase_emit_types[v->type].bytes;
        n->slot[v->slot] = bytes > n->slot[v->slot] ? bytes : n->slot[v->slot];
    }
}
