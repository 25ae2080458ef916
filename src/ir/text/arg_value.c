/*
 * arg_value.c - arguments of calls as values of files and reports, and back.
 */
#include "ir/text/arg.h"

static struct mase_value *printed(struct mase_arena *a, const struct mase_arg *arg)
{
    struct mase_str text = { 0 };
    mase_arg_print(&text, arg, false);
    struct mase_value *v = mase_value_atom(a, mase_str_text(&text));
    mase_str_release(&text);
    return v;
}

struct mase_value *mase_arg_to_value(struct mase_arena *a, const struct mase_arg *arg)
{
    struct mase_value *v;
    switch (arg->kind) {
    case MASE_ARG_NONE:
        return mase_value_none(a);
    case MASE_ARG_BOOL:
        return mase_value_bool(a, arg->b);
    case MASE_ARG_INT:
        return mase_value_int(a, arg->i);
    case MASE_ARG_FLOAT:
        return mase_value_float(a, arg->f);
    case MASE_ARG_TEXT:
        return mase_value_string(a, arg->s);
    case MASE_ARG_TUPLE:
    case MASE_ARG_LIST:
        v = arg->kind == MASE_ARG_TUPLE ? mase_value_tuple(a) : mase_value_list(a);
        for (int i = 0; i < arg->count; i++)
            mase_value_push(a, v, mase_arg_to_value(a, &arg->items[i]));
        return v;
    case MASE_ARG_DICT:
        v = mase_value_table(a);
        for (int i = 0; i < arg->count; i++)
            mase_value_set(a, v, arg->keys[i], mase_arg_to_value(a, &arg->items[i]));
        return v;
    default:
        return printed(a, arg);
    }
}

static struct mase_arg from_items(struct mase_arena *a, const struct mase_value *v)
{
    struct mase_arg out = {
        .kind = v->kind == MASE_TABLE   ? MASE_ARG_DICT
                : v->kind == MASE_TUPLE ? MASE_ARG_TUPLE
                                        : MASE_ARG_LIST,
    };
    out.items = mase_new_array(a, struct mase_arg, (size_t)v->count);
    out.count = v->count;
    if (v->kind == MASE_TABLE)
        out.keys = mase_new_array(a, const char *, (size_t)v->count);
    for (int i = 0; i < v->count; i++) {
        out.items[i] = mase_arg_from_value(a, v->items[i]);
        if (out.keys)
            out.keys[i] = mase_arena_strdup(a, v->keys[i]);
    }
    return out;
}

struct mase_arg mase_arg_from_value(struct mase_arena *a, const struct mase_value *v)
{
    switch (v->kind) {
    case MASE_NONE:
        return mase_arg_none();
    case MASE_BOOL:
        return mase_arg_bool(v->b);
    case MASE_INT:
        return mase_arg_int(v->i);
    case MASE_FLOAT:
        return mase_arg_float(v->f);
    case MASE_LIST:
    case MASE_TUPLE:
    case MASE_TABLE:
        return from_items(a, v);
    default:
        return mase_arg_text(mase_arena_strdup(a, v->s));
    }
}
