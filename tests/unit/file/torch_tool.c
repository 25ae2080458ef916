/*
 * torch_tool.c - the C side of tests/interop/torch_roundtrip.py.
 *
 *     torch_tool dump FILE        the tree as Python prints it, then every tensor of the state
 * dict: its name and its elements torch_tool copy FILE OUT    read, and write the same tree
 *     torch_tool write OUT        a tree with all that a checkpoint of ours holds
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <mase/torch.h>

static void print_tensor(struct mase_str *s, const char *name, const struct mase_tensor *t)
{
    mase_str_printf(s, "%s %s", name, mase_dtypes[t->dtype].torch);
    mase_shape_print(s, &t->shape);
    for (int64_t i = 0; i < mase_tensor_count(t); i++)
        if (t->dtype == MASE_I64)
            mase_str_printf(s, " %" PRId64, ((const int64_t *)t->data)[i]);
        else
            mase_str_printf(s, " %.17g", mase_tensor_get(t, i));
    mase_str_addc(s, '\n');
}

static enum mase_status dump(const char *path, struct mase_err *err)
{
    struct mase_torch t;
    MASE_TRY(mase_torch_open(&t, path, err));
    struct mase_named_tensor *items;
    int count;
    const enum mase_status st = mase_torch_state_dict(&t, &items, &count, err);
    if (!st) {
        struct mase_str s = { 0 };
        mase_obj_print(&s, t.root);
        mase_str_printf(&s, "\nconverted %d\n", t.converted);
        for (int i = 0; i < count; i++)
            print_tensor(&s, items[i].name, &items[i].tensor);
        fputs(mase_str_text(&s), stdout);
        mase_str_release(&s);
    }
    mase_torch_close(&t);
    return st;
}

static enum mase_status copy(const char *from, const char *to, struct mase_err *err)
{
    struct mase_torch t;
    MASE_TRY(mase_torch_open(&t, from, err));
    const enum mase_status st = mase_torch_write(t.root, to, err);
    mase_torch_close(&t);
    return st;
}

/* Element i is i - 1.5, rounded to the type. */
static struct mase_obj *counting(struct mase_arena *a, enum mase_dtype dtype,
                                 struct mase_shape shape)
{
    struct mase_tensor t = mase_tensor(a, dtype, &shape, true);
    for (int64_t i = 0; i < mase_tensor_count(&t); i++)
        mase_tensor_set(&t, i, (double)i - 1.5);
    return mase_obj_tensor(a, &t);
}

static void add_state(struct mase_arena *a, struct mase_obj *root)
{
    static const struct mase_shape matrix = { 2, { 3, 4 } }, scalar = { 0 },
                                   empty = { 2, { 0, 3 } };
    struct mase_obj *d = mase_obj_set(a, root, "state_dict", mase_obj_ordered_dict(a));
    mase_obj_set(a, d, "model.w", counting(a, MASE_F32, matrix));
    mase_obj_set(a, d, "model.tied", mase_obj_tensor(a, d->items[0]->tensor));
    mase_obj_set(a, d, "model.double", counting(a, MASE_F64, matrix));
    mase_obj_set(a, d, "model.long", counting(a, MASE_I64, scalar));
    mase_obj_set(a, d, "model.int", counting(a, MASE_I32, matrix));
    mase_obj_set(a, d, "model.byte", counting(a, MASE_U8, (struct mase_shape){ 1, { 1 } }));
    mase_obj_set(a, d, "model.bool", counting(a, MASE_DTYPE_BOOL, matrix));
    mase_obj_set(a, d, "model.empty", counting(a, MASE_F32, empty));
}

static enum mase_status write_sample(const char *path, struct mase_err *err)
{
    struct mase_arena arena = { 0 }, *a = &arena;
    struct mase_obj *root = mase_obj_dict(a);
    mase_obj_set(a, root, "epoch", mase_obj_int(a, 3));
    mase_obj_set(a, root, "global_step", mase_obj_int(a, 70000));
    mase_obj_set(a, root, "pytorch-lightning_version", mase_obj_text(a, "2.1.3"));
    add_state(a, root);
    struct mase_obj *numbers = mase_obj_set(a, root, "numbers", mase_obj_list(a));
    static const int64_t ints[] = { 0, 255, 256, 65536, -1, INT32_MIN, INT64_MIN, INT64_MAX };
    for (size_t i = 0; i < sizeof ints / sizeof ints[0]; i++)
        mase_obj_push(a, numbers, mase_obj_int(a, ints[i]));
    mase_obj_push(a, numbers, mase_obj_float(a, 0.1));
    struct mase_obj *states = mase_obj_set(a, root, "optimizer_states", mase_obj_list(a));
    struct mase_obj *adam = mase_obj_push(a, states, mase_obj_dict(a));
    struct mase_obj *state = mase_obj_set(a, adam, "state", mase_obj_dict(a));
    mase_obj_set_key(a, state, mase_obj_int(a, 0), mase_obj_dict(a));
    struct mase_obj *betas = mase_obj_set(a, adam, "betas", mase_obj_tuple(a));
    mase_obj_push(a, betas, mase_obj_float(a, 0.9));
    mase_obj_push(a, betas, mase_obj_float(a, 0.999));
    mase_obj_set(a, root, "nothing", mase_obj_none(a));
    mase_obj_set(a, root, "yes", mase_obj_bool(a, true));
    mase_obj_set(a, root, "empty", mase_obj_tuple(a));
    mase_obj_set(a, root, "rng", counting(a, MASE_U8, (struct mase_shape){ 1, { 4 } }));
    mase_obj_set(a, root, "text", mase_obj_text(a, "gr\xc3\xbc\xc3\x9f' \xe2\x82\xac"));
    const enum mase_status st = mase_torch_write(root, path, err);
    mase_arena_release(a);
    return st;
}

int main(int argc, char **argv)
{
    struct mase_err err;
    enum mase_status st;
    if (argc == 3 && mase_streq(argv[1], "dump"))
        st = dump(argv[2], &err);
    else if (argc == 4 && mase_streq(argv[1], "copy"))
        st = copy(argv[2], argv[3], &err);
    else if (argc == 3 && mase_streq(argv[1], "write"))
        st = write_sample(argv[2], &err);
    else
        st =
            mase_fail(&err, MASE_EVALUE, "usage: torch_tool dump FILE | copy FILE OUT | write OUT");
    if (st)
        mase_err_print(stderr, &err);
    return st ? 2 : 0;
}
