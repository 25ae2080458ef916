/*
 * t_weights.c - a graph's weights to a file and back; what does not fit is told and changes
 * nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/graph.h>
#include <mase/safetensors.h>
#include <mase/torch.h>

#include "run_cases.h"

static char temp[] = "/tmp/t_weights_XXXXXX";

static void add(struct mase_graph *g, const char *path, enum mase_op op, int a, int b)
{
    const struct mase_arg items[2] = { mase_arg_int(a), mase_arg_int(b) };
    const struct mase_arg args = mase_arg_seq(&g->arena, MASE_ARG_TUPLE, items, b ? 2 : 1);
    struct mase_err err;
    assert_int_equal(mase_graph_add_module(g, NULL, path, op, &args, NULL, &err), MASE_OK);
}

/* Two layers; weights drawn from seed, none for seed 0. */
static struct mase_graph *two_layers(uint64_t seed)
{
    struct mase_graph *g = mase_graph_new("two");
    add(g, "net.0", MASE_OP_linear, 3, 2);
    add(g, "net.1", MASE_OP_batch_norm1d, 2, 0);
    if (seed) {
        mase_graph_alloc(g);
        mase_graph_init_weights(g, seed);
    }
    return g;
}

struct pair {
    const struct mase_graph *other;
    int same, different;
};

static bool compare(const char *full, struct mase_param *p, void *data)
{
    struct pair *pair = data;
    const struct mase_param *q = mase_graph_attr(pair->other, full);
    const size_t size = (size_t)mase_tensor_bytes(&p->tensor);
    const bool same = memcmp(p->tensor.data, q->tensor.data, size) == 0;
    pair->same += same;
    pair->different += !same;
    return true;
}

/* How many tensors of a and b differ. */
static int differences(const struct mase_graph *a, const struct mase_graph *b)
{
    struct pair pair = { b, 0, 0 };
    mase_graph_each_param(a, compare, &pair);
    assert_int_equal(pair.same + pair.different, 7);
    return pair.different;
}

static void save_and_load(void **state)
{
    (void)state;
    struct mase_graph *a = two_layers(1), *b = two_layers(2), *c = two_layers(0);
    struct mase_err err;
    *(int64_t *)mase_graph_attr(a, "net.1.num_batches_tracked")->tensor.data =
        INT64_C(9007199254740993);          /* no double */
    assert_int_equal(differences(a, b), 3); /* two of the linear layer, the count */
    assert_int_equal(mase_weights_save(a, temp, &err), MASE_OK);
    assert_int_equal(mase_weights_load(b, temp, &err), MASE_OK);
    assert_int_equal(mase_weights_load(c, temp, &err), MASE_OK);
    assert_int_equal(differences(a, b), 0);
    assert_int_equal(differences(a, c), 0);
    mase_graph_free(a);
    mase_graph_free(b);
    mase_graph_free(c);
}

/* The same through PyTorch's format, by the name's end. */
static void as_pytorch_file(void **state)
{
    (void)state;
    struct mase_graph *a = two_layers(1), *b = two_layers(2);
    struct mase_err err;
    struct mase_torch t;
    char path[sizeof temp + 3];
    snprintf(path, sizeof path, "%s.pt", temp);
    assert_int_equal(mase_weights_save(a, path, &err), MASE_OK);
    assert_int_equal(mase_torch_open(&t, path, &err), MASE_OK);
    assert_true(t.root->ordered);
    mase_torch_close(&t);
    assert_int_equal(mase_weights_load(b, path, &err), MASE_OK);
    assert_int_equal(differences(a, b), 0);
    assert_int_equal(rename(path, temp), 0); /* the content tells, not the name */
    assert_int_equal(mase_weights_load(b, temp, &err), MASE_OK);
    mase_graph_free(a);
    mase_graph_free(b);
}

/* A checkpoint of another network: what it has and what is missed. */
static void another_checkpoint(void **state)
{
    (void)state;
    struct mase_graph *g = two_layers(1), *before = two_layers(1);
    struct mase_err err;
    assert_int_equal(mase_weights_load(g, MASE_SOURCE_DIR "/tests/data/torch/jsc-tiny.ckpt", &err),
                     MASE_EVALUE);
    assert_non_null(strstr(err.msg, "7 missing: net.0.weight, "));
    assert_non_null(strstr(err.msg, "7 unexpected: seq_blocks.0.weight")); /* without "model." */
    assert_int_equal(differences(g, before), 0);
    mase_graph_free(g);
    mase_graph_free(before);
}

static void nothing_to_save(void **state)
{
    (void)state;
    struct mase_graph *g = two_layers(0);
    struct mase_err err;
    assert_int_equal(mase_weights_save(g, temp, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "no weights"));
    mase_graph_free(g);
}

static void a_clone_has_its_own(void **state)
{
    (void)state;
    struct mase_graph *a = two_layers(1), *b = two_layers(2), *clone = mase_graph_clone(a);
    struct mase_err err;
    assert_int_equal(mase_weights_save(b, temp, &err), MASE_OK);
    assert_int_equal(mase_weights_load(clone, temp, &err), MASE_OK);
    assert_int_equal(differences(clone, b), 0);
    assert_int_equal(differences(clone, a), 2);
    mase_graph_free(clone);
    mase_graph_free(a);
    mase_graph_free(b);
}

/* ---- files of other programs ---- */

struct file {
    struct mase_arena arena;
    struct mase_named_tensor items[16];
    int count;
};

static void put(struct file *f, const char *name, enum mase_dtype dtype, struct mase_shape shape)
{
    struct mase_tensor t = mase_tensor(&f->arena, dtype, &shape, true);
    for (int64_t i = 0; i < mase_tensor_count(&t); i++)
        mase_tensor_set(&t, i, (double)i + 0.5);
    f->items[f->count++] = (struct mase_named_tensor){ name, t };
}

/* What two_layers has, each name with a prefix. */
static struct file file_for(const char *prefix, enum mase_dtype dtype)
{
    struct file f = { 0 };
    static const char *const vectors[] = { "net.0.bias", "net.1.weight", "net.1.bias",
                                           "net.1.running_mean", "net.1.running_var" };
#define NAMED(name) mase_arena_printf(&f.arena, "%s%s", prefix, name)
    put(&f, NAMED("net.0.weight"), dtype, (struct mase_shape){ 2, { 2, 3 } });
    for (int i = 0; i < 5; i++)
        put(&f, NAMED(vectors[i]), dtype, (struct mase_shape){ 1, { 2 } });
    put(&f, NAMED("net.1.num_batches_tracked"), MASE_I64, (struct mase_shape){ 0 });
#undef NAMED
    return f;
}

/* Load the file into fresh weights; a message that must come, or NULL. */
static void load(struct file *f, const char *message)
{
    struct mase_graph *g = two_layers(1), *before = two_layers(1);
    struct mase_err err = { 0 };
    assert_int_equal(mase_safetensors_write(f->items, f->count, NULL, temp, &err), MASE_OK);
    const enum mase_status st = mase_weights_load(g, temp, &err);
    if (message) {
        assert_int_equal(st, MASE_EVALUE);
        if (!strstr(err.msg, message))
            fail_msg("'%s' is not in '%s'", message, err.msg);
        assert_int_equal(differences(g, before), 0);
    } else {
        if (st)
            fail_msg("%s", err.msg);
        assert_true(mase_tensor_get(&mase_graph_attr(g, "net.0.weight")->tensor, 5) == 5.5);
        assert_int_equal(differences(g, before), 6); /* all but the count, 0 in both */
    }
    mase_graph_free(g);
    mase_graph_free(before);
    mase_arena_release(&f->arena);
}

static void prefixes(void **state)
{
    (void)state;
    static const char *const wrappers[] = { "", "model.", "module.", "module.model.",
                                            "model.module." };
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        struct file f = file_for(wrappers[i], MASE_F32);
        load(&f, NULL);
    }
    struct file f = file_for("other.", MASE_F32);
    load(&f, "7 missing: net.0.weight, ");
    f = file_for("model.", MASE_F32);
    f.items[6].name = "net.1.num_batches_tracked"; /* not on every name: no wrapper */
    load(&f, "6 missing: ");
}

static void other_types(void **state)
{
    (void)state;
    struct file f = file_for("", MASE_F64);
    load(&f, NULL);
}

static void what_does_not_fit(void **state)
{
    (void)state;
    struct file f = file_for("", MASE_F32);
    f.count--;
    load(&f, NULL); /* num_batches_tracked, which old files lack */
    f = file_for("", MASE_F32);
    f.items[5] = f.items[6];
    f.count--;
    load(&f, "these are not the model's weights: 1 missing: net.1.running_var; --strict no takes");
    f = file_for("", MASE_F32);
    put(&f, "net.2.bias", MASE_F32, (struct mase_shape){ 1, { 1 } });
    load(&f, "1 unexpected: net.2.bias");
    f = file_for("", MASE_F32);
    f.items[0].tensor.shape = (struct mase_shape){ 2, { 3, 2 } };
    load(&f, "1 of another shape: net.0.weight ([2, 3] in the model, [3, 2] in the file)");
    f = file_for("", MASE_F32);
    f.items[1].name = "net.0.bais";
    load(&f, "1 missing: net.0.bias; 1 unexpected: net.0.bais (for 'net.0.bias'?)");
    f = (struct file){ 0 };
    load(&f, "7 missing: net.0.weight, net.0.bias, net.1.weight, net.1.bias and 3 more");
}

static int make_temp(void **state)
{
    (void)state;
    const int fd = mkstemp(temp);
    return fd < 0 ? -1 : close(fd);
}

static int remove_temp(void **state)
{
    (void)state;
    return unlink(temp);
}

/* ---- other names ---- */

/* Tensors of these names, which have no data. */
static struct mase_tensors tensors_called(const char *const *names, int count)
{
    struct mase_tensors t = { .count = count };
    t.items = mase_new_array(&t.arena, struct mase_named_tensor, (size_t)count);
    for (int i = 0; i < count; i++)
        t.items[i].name = names[i];
    return t;
}

static void renames(void **state)
{
    (void)state;
    static const struct {
        struct mase_rename renames[2];
        const char *names[3];
    } rows[] = {
        { { { "a", "z" } }, { "model.z.w", "model.z.b", "model.ab" } }, /* first parts, whole */
        { { { "model.a.w", "w" } }, { "w", "model.a.b", "model.ab" } }, /* as the file has it */
        { { { "model", "" } }, { "a.w", "a.b", "ab" } },                /* dropped */
        { { { "", "top" } }, { "top.model.a.w", "top.model.a.b", "top.model.ab" } }, /* added */
        { { { "a", "z" }, { "model", "" } }, { "z.w", "z.b", "ab" } }, /* one after the other */
        { { { "a", "z" }, { "z.w", "v" } }, { "model.v", "model.z.b", "model.ab" } },
        { { { "a", "" } }, { "model.w", "model.b", "model.ab" } },
    };
    static const char *const names[] = { "model.a.w", "model.a.b", "model.ab" };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mase_tensors t = tensors_called(names, 3);
        struct mase_err err;
        assert_int_equal(
            mase_tensors_rename(&t, rows[i].renames, rows[i].renames[1].from ? 2 : 1, "f", &err),
            MASE_OK);
        for (int k = 0; k < 3; k++)
            assert_string_equal(t.items[k].name, rows[i].names[k]);
        mase_tensors_close(&t);
    }
}

static void bad_renames(void **state)
{
    (void)state;
    static const struct {
        struct mase_rename rename;
        const char *message;
    } rows[] = {
        { { "b", "c" }, "cannot map 'b' to 'c': no tensor has that name or begins with b." },
        { { "modle.a", "c" }, "did you mean 'model.a'?" },
        { { "model.a.w", "model.a.b" }, "two tensors would be called 'model.a.b'" },
    };
    static const char *const names[] = { "model.a.w", "model.a.b", "model.ab" };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mase_tensors t = tensors_called(names, 3);
        struct mase_err err;
        assert_int_equal(mase_tensors_rename(&t, &rows[i].rename, 1, "f", &err), MASE_EVALUE);
        assert_non_null(strstr(err.msg, rows[i].message));
        mase_tensors_close(&t);
    }
}

/* Two names of one parameter: a file has both, one is enough, and they must agree. */
static void tied_names(void **state)
{
    (void)state;
    struct mase_graph *a = mase_graph_new("a"), *b = mase_graph_new("b");
    struct mase_graph *const both[] = { a, b };
    struct mase_err err;
    for (int i = 0; i < 2; i++) {
        add(both[i], "one", MASE_OP_linear, 2, 2);
        add(both[i], "two", MASE_OP_linear, 2, 2);
        mase_graph_init_weights(both[i], 1 + (uint64_t)i);
    }
    assert_int_equal(mase_weights_save(b, temp, &err), MASE_OK);
    assert_int_equal(mase_graph_tie(a, "two.weight", "one.weight", &err), MASE_OK);
    const float before = mase_f32(&mase_graph_attr(a, "one.weight")->tensor)[0];
    assert_int_equal(mase_weights_load(a, temp, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "1 with other values than what it is tied to: two.weight "
                                    "(tied to 'one.weight')"));
    assert_float_equal(mase_f32(&mase_graph_attr(a, "two.weight")->tensor)[0], before, 0);

    struct mase_safetensors file;
    assert_int_equal(mase_weights_save(a, temp, &err), MASE_OK);
    assert_int_equal(mase_safetensors_open(&file, temp, &err), MASE_OK);
    assert_int_equal(file.count, 4); /* as PyTorch's state dict */
    for (int lacks = 0; lacks < file.count; lacks++) {
        struct mase_named_tensor items[3];
        int n = 0;
        for (int i = 0; i < file.count; i++)
            if (i != lacks)
                items[n++] = file.items[i];
        const struct mase_tensors less = { .items = items, .count = n };
        const bool tied = strstr(file.items[lacks].name, "weight") != NULL;
        mase_graph_init_weights(a, 9);
        assert_int_equal(mase_weights_take(a, &less, "t", &err), tied ? MASE_OK : MASE_EVALUE);
        const struct mase_param *p = mase_graph_attr(a, "two.weight");
        if (tied)
            assert_float_equal(mase_f32(&p->tensor)[0], before, 0);
    }
    mase_safetensors_close(&file);
    mase_graph_free(a);
    mase_graph_free(b);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tied_names),        cmocka_unit_test(save_and_load),
        cmocka_unit_test(as_pytorch_file),   cmocka_unit_test(another_checkpoint),
        cmocka_unit_test(nothing_to_save),   cmocka_unit_test(a_clone_has_its_own),
        cmocka_unit_test(prefixes),          cmocka_unit_test(renames),
        cmocka_unit_test(bad_renames),       cmocka_unit_test(other_types),
        cmocka_unit_test(what_does_not_fit),
    };
    return run_cases(argc, argv, tests, make_temp, remove_temp);
}
