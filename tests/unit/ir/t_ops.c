/*
 * t_ops.c - the table of operations: every row can be found by every name it goes by, and what a
 * row says in text can be understood.
 */
#include "run_cases.h"
#include "unit/ir/build.h"

#include "ir/graph/bind_call.h"

static void each_word(const char *words, enum mase_op want, enum mase_op (*find)(const char *))
{
    char word[128];
    for (; words && *words; words += strspn(words, " ")) {
        size_t n = strcspn(words, " ");
        assert_true(n < sizeof word);
        memcpy(word, words, n);
        word[n] = '\0';
        words += n;
        assert_int_equal(find(word), want);
    }
}

static void test_found_by_every_name(void **state)
{
    (void)state;
    for (int op = MASE_OP_unknown + 1; op < MASE_OP_COUNT; op++) {
        const struct mase_op_info *info = &mase_ops[op];
        assert_int_equal(mase_op_find(info->name), op);
        each_word(info->functions, op, mase_op_of_function);
        each_word(info->methods, op, mase_op_of_method);
        each_word(info->module, op, mase_op_of_module);
    }
    assert_int_equal(mase_op_find("nonsense"), MASE_OP_unknown);
    assert_int_equal(mase_op_of_function("torch.nonsense"), MASE_OP_unknown);
    assert_int_equal(mase_op_of_function(NULL), MASE_OP_unknown);
}

static void test_rows_are_complete(void **state)
{
    (void)state;
    for (int op = MASE_OP_unknown + 1; op < MASE_OP_COUNT; op++) {
        const struct mase_op_info *info = &mase_ops[op];
        assert_non_null(info->help);
        assert_int_not_equal(info->type, MASE_TYPE_NONE);
        assert_int_equal(!info->call, !info->shape); /* called if and only if it has a shape */
        assert_int_equal(!info->module, info->module_type == MASE_TYPE_NONE);
        if (info->quantisable)
            assert_non_null(info->quant_func);
    }
}

/* Defaults are literals or earlier parameters; the words of a repr are parameters. */
static void test_signatures(void **state)
{
    (void)state;
    struct mase_arena arena = { 0 };
    for (int op = MASE_OP_unknown + 1; op < MASE_OP_COUNT; op++) {
        const struct mase_sig *sigs[] = { mase_op_call_sig(op), mase_op_ctor_sig(op) };
        for (int s = 0; s < 2; s++) {
            struct mase_arg value[MASE_MAX_PARAMS] = { { 0 } };
            for (int i = 0; i < sigs[s]->count; i++) {
                const struct mase_sig_param *p = &sigs[s]->param[i];
                assert_int_equal(mase_sig_find(sigs[s], p->name), i); /* no name twice */
                if (p->has_default)
                    value[i] = mase_bind_default(&arena, sigs[s], i, value);
            }
        }
    }
    mase_arena_release(&arena);
}

static void test_conv2d_signature(void **state)
{
    (void)state;
    const struct mase_sig *sig = mase_op_ctor_sig(MASE_OP_conv2d);
    assert_int_equal(sig->count, 9);
    assert_string_equal(sig->param[2].name, "kernel_size");
    assert_int_equal(sig->param[2].coerce, '2');
    assert_false(sig->param[2].has_default);
    assert_string_equal(sig->param[8].dflt, "'zeros'");
    sig = mase_op_call_sig(MASE_OP_conv2d);
    assert_int_equal(sig->param[1].role, 'w');
    assert_true(mase_op_call_sig(MASE_OP_view)->param[1].variadic);
}

/* What defaults and patterns reach is what the original quantises, and its recurrent layers. */
static void test_the_usual(void **state)
{
    (void)state;
    struct mase_str names = { 0 };
    for (int op = 0; op < MASE_OP_COUNT; op++)
        if (mase_ops[op].usual)
            mase_str_printf(&names, "%s ", mase_ops[op].name);
    assert_string_equal(mase_str_text(&names), "linear matmul bmm conv1d conv2d rnn lstm gru "
                                               "rnn_cell lstm_cell gru_cell relu add sub mul ");
    mase_str_release(&names);
}

/* All layers of these names can be quantised, and as functions where there are any. */
static void test_the_quantisable(void **state)
{
    static const char *const names[] = {
        "batch_norm1d",
        "batch_norm2d",
        "batch_norm",
        "layer_norm",
        "rms_norm",
        "group_norm",
        "leaky_relu",
        "elu",
        "selu",
        "silu",
        "gelu",
        "sigmoid",
        "tanh",
        "hardtanh",
        "softplus",
        "softsign",
        "softmax",
        "max_pool1d",
        "max_pool2d",
        "avg_pool1d",
        "avg_pool2d",
        "embedding",
        "cat",
        "mean",
        "adaptive_avg_pool2d",
        "adaptive_max_pool2d",
        "relu6",
        "stack",
        "convtranspose2d",
        "scaled_dot_product_attention",
    };
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const enum mase_op op = mase_op_find(names[i]);
        if (op == MASE_OP_unknown || !mase_ops[op].quantisable || mase_ops[op].usual)
            fail_msg("%s", names[i]);
    }
    for (int op = 0; op < MASE_OP_COUNT; op++) /* a format needs an operand */
        for (int i = 0, marks = 0; mase_ops[op].quantisable && !marks; i++) {
            assert_true(i < mase_op_call_sig(op)->count);
            marks += mase_mark_find(mase_op_call_sig(op)->param[i].role) != NULL;
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_by_every_name), cmocka_unit_test(test_rows_are_complete),
        cmocka_unit_test(test_signatures),          cmocka_unit_test(test_conv2d_signature),
        cmocka_unit_test(test_the_usual),           cmocka_unit_test(test_the_quantisable),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
