/*
 * obj_value.c - plain values as objects of a pickle, and back (obj_value.h).
 */
#include "file/obj_value.h"

struct mase_obj *mase_obj_of_value(struct mase_arena *a, const struct mase_value *v)
{
    struct mase_obj *o;
    switch (v->kind) {
    case MASE_NONE:
        return mase_obj_none(a);
    case MASE_BOOL:
        return mase_obj_bool(a, v->b);
    case MASE_INT:
        return mase_obj_int(a, v->i);
    case MASE_FLOAT:
        return mase_obj_float(a, v->f);
    case MASE_TABLE:
        o = mase_obj_dict(a);
        for (int i = 0; i < v->count; i++)
            mase_obj_set(a, o, v->keys[i], mase_obj_of_value(a, v->items[i]));
        return o;
    case MASE_LIST:
    case MASE_TUPLE:
        o = v->kind == MASE_LIST ? mase_obj_list(a) : mase_obj_tuple(a);
        for (int i = 0; i < v->count; i++)
            mase_obj_push(a, o, mase_obj_of_value(a, v->items[i]));
        return o;
    default:
        return mase_obj_text_n(a, v->s, v->len);
    }
}

static struct mase_value *list_of_tensor(struct mase_arena *a, const struct mase_tensor *t)
{
    struct mase_value *list = mase_value_list(a);
    if (t->dtype != MASE_F64 || t->shape.rank != 1)
        return NULL;
    for (int64_t i = 0; i < t->shape.dim[0]; i++)
        mase_value_push(a, list, mase_value_float(a, mase_tensor_get(t, i)));
    return list;
}

static struct mase_value *list_of_items(struct mase_arena *a, const struct mase_obj *o)
{
    struct mase_value *v = o->kind == MASE_OBJ_LIST ? mase_value_list(a) : mase_value_tuple(a);
    for (int i = 0; i < o->count; i++) {
        struct mase_value *item = mase_value_of_obj(a, o->items[i]);
        if (!item)
            return NULL;
        mase_value_push(a, v, item);
    }
    return v;
}

static struct mase_value *table_of_dict(struct mase_arena *a, const struct mase_obj *o)
{
    struct mase_value *v = mase_value_table(a);
    for (int i = 0; i < o->count; i++) {
        struct mase_value *item = mase_value_of_obj(a, o->items[i]);
        if (!item || o->keys[i]->kind != MASE_OBJ_TEXT)
            return NULL;
        mase_value_set(a, v, mase_arena_strndup(a, o->keys[i]->text, o->keys[i]->len), item);
    }
    return v;
}

struct mase_value *mase_value_of_obj(struct mase_arena *a, const struct mase_obj *o)
{
    switch (o->kind) {
    case MASE_OBJ_NONE:
        return mase_value_none(a);
    case MASE_OBJ_BOOL:
        return mase_value_bool(a, o->b);
    case MASE_OBJ_INT:
        return mase_value_int(a, o->i);
    case MASE_OBJ_FLOAT:
        return mase_value_float(a, o->f);
    case MASE_OBJ_TEXT:
        return mase_value_string_n(a, o->text, o->len);
    case MASE_OBJ_LIST:
    case MASE_OBJ_TUPLE:
        return list_of_items(a, o);
    case MASE_OBJ_DICT:
        return table_of_dict(a, o);
    case MASE_OBJ_TENSOR:
        return list_of_tensor(a, o->tensor);
    default:
        return NULL;
    }
}
