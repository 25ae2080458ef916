/*
 * obj_value.h (private) - plain values as objects of a pickle, and back.
 */
#ifndef MASE_FILE_OBJ_VALUE_H
#define MASE_FILE_OBJ_VALUE_H

#include <mase/torch.h>
#include <mase/value.h>

/* A table is a dict, a string a text. */
struct mase_obj *mase_obj_of_value(struct mase_arena *a, const struct mase_value *v);
/* The inverse; a float64 tensor of one dimension is a list of numbers. NULL: o, or something in it,
 * is no plain value. */
struct mase_value *mase_value_of_obj(struct mase_arena *a, const struct mase_obj *o);

#endif /* MASE_FILE_OBJ_VALUE_H */
