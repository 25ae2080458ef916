/*
 * t_fold.c - transforms that keep what a network computes: batch norms folded, dropouts removed.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <mase/pass.h>
#include <mase/rng.h>
#include <mase/run.h>

#include "run_cases.h"

static struct mase_err err;

struct net {
    struct mase_graph *g;
    struct mase_arena arena;
    struct mase_input in;
};

/* Statistics and weights that are neither 0 nor 1. */
static bool fill(const char *full, struct mase_param *p, void *data)
{
    struct mase_rng r = mase_rng(3, MASE_STREAM_TEST, mase_rng_name(full));
    (void)data;
    for (int64_t i = 0; p->tensor.dtype == MASE_F32 && i < mase_tensor_count(&p->tensor); i++)
        mase_f32(&p->tensor)[i] =
            strstr(full, "running_var") ? mase_rng_range(&r, 0.2f, 3.0f) : mase_rng_normal(&r);
    return true;
}

static struct net open_net(const char *text, struct mase_shape shape)
{
    struct net n = { 0 };
    if (mase_graph_parse_mg(&n.g, text, strlen(text), "text", &err))
        fail_msg("%d: %s", err.loc.line, err.msg);
    mase_graph_alloc(n.g);
    mase_graph_each_param(n.g, fill, NULL);
    n.in =
        (struct mase_input){ .name = "x", .tensor = mase_tensor(&n.arena, MASE_F32, &shape, true) };
    struct mase_rng r = mase_rng(4, MASE_STREAM_TEST, 0);
    for (int64_t i = 0; i < mase_tensor_count(&n.in.tensor); i++)
        mase_f32(&n.in.tensor)[i] = mase_rng_normal(&r);
    return n;
}

static void close_net(struct net *n)
{
    mase_graph_free(n->g);
    mase_arena_release(&n->arena);
}

static const struct mase_tensor *output(struct net *n, const struct mase_graph *g)
{
    struct mase_values v;
    if (mase_run_reference(&v, &n->arena, g, &n->in, 1, &err))
        fail_msg("%s", err.msg);
    return mase_run_output(&v, g)->tensor;
}

/* Runs the pass; the outputs must stay within a few places, those of a clone to the bit. Returns
 * how many nodes the pass says it changed. */
static int64_t transform(struct net *n, const char *pass, double *change)
{
    struct mase_graph *clone = mase_graph_clone(n->g);
    const struct mase_tensor *before = output(n, n->g);
    FILE *null = fopen("/dev/null", "w");
    struct mase_manager m = { .env = { .out = null,
                                       .inputs = &n->in,
                                       .input_count = 1,
                                       .info = mase_value_table(&n->arena),
                                       .info_arena = &n->arena },
                              .verify = true };
    if (mase_manager_run(&m, &n->g, pass, NULL, &err))
        fail_msg("%s", err.msg);
    const struct mase_value *note = mase_value_get(m.env.info, pass);
    const struct mase_value *largest = mase_value_get(note, "largest_change");
    *change = largest ? largest->f / mase_value_get(note, "largest_output")->f : -1;
    const struct mase_tensor *after = output(n, n->g), *kept = output(n, clone);
    assert_memory_equal(mase_f32(kept), mase_f32(before), (size_t)mase_tensor_bytes(before));
    for (int64_t i = 0; i < mase_tensor_count(before); i++)
        assert_float_equal(mase_f32(after)[i], mase_f32(before)[i],
                           1e-5f * fmaxf(1.0f, fabsf(mase_f32(before)[i])));
    const int64_t changed = mase_value_get(note, "changed")->i;
    mase_manager_release(&m);
    fclose(null);
    mase_graph_free(clone);
    return changed;
}

#define CALL(name, module, from) \
    "%" name " = call_module[target=" module "](args = (%" from ",), kwargs = {})\n"

static void batch_norms_become_weights(void **state)
{
    double change;
    (void)state;
    struct net n = open_net(
        "mase-graph 1\nname net\n\n"
        "module c1 = Conv2d(3, 4, 3, padding=1, bias=False)\nmodule b1 = BatchNorm2d(4)\n"
        "module c2 = Conv2d(4, 6, 3, stride=2, groups=2)\n"
        "module b2 = BatchNorm2d(6, eps=0.01, affine=False)\n"
        "module c3 = ConvTranspose2d(6, 4, 2, stride=2, groups=2, bias=False)\n"
        "module b3 = BatchNorm2d(4)\nmodule fc = Linear(256, 5)\nmodule b4 = BatchNorm1d(5)\n\n"
        "%x = placeholder[target=x]\n" CALL("c1", "c1", "x") CALL("b1", "b1", "c1")
            CALL("c2", "c2", "b1") CALL("b2", "b2", "c2") CALL("c3", "c3", "b2")
                CALL("b3", "b3", "c3") "%flat = call_function[target=torch.flatten](args = (%b3, "
                                       "1), kwargs = {})\n" CALL("fc", "fc", "flat")
                                           CALL("b4", "b4", "fc") "return %b4\n",
        (struct mase_shape){ 4, { 3, 3, 9, 9 } });
    assert_int_equal(transform(&n, "fold_batch_norm", &change), 4);
    assert_true(change >= 0 && change < 1e-5);
    assert_null(mase_graph_find(n.g, "b1"));
    assert_null(mase_graph_module(n.g, "b1"));
    assert_non_null(mase_module_param(mase_graph_module(n.g, "c1"), "bias"));
    assert_string_equal(mase_graph_output(n.g)->inputs[0]->name, "fc");
    assert_int_equal(transform(&n, "fold_batch_norm", &change), 0);
    close_net(&n);
}

/* Layers behind batch norms take them: those of groups too, and with edges behind a ReLU, where
 * only a scale goes on. Then the batch norm multiplies by a power of two. */
static void layers_behind_take_batch_norms(void **state)
{
    double change;
    (void)state;
    struct net n =
        open_net("mase-graph 1\nname net\n\n"
                 "module b1 = BatchNorm2d(4)\nmodule c1 = Conv2d(4, 6, 3, groups=2, bias=False)\n"
                 "module p = MaxPool2d(2)\nmodule b2 = BatchNorm2d(6)\nmodule r = ReLU()\n"
                 "module c2 = Conv2d(6, 4, 3, padding=1)\nmodule q = MaxPool2d(2)\n"
                 "module b3 = BatchNorm2d(4)\nmodule s = ReLU()\n"
                 "module c3 = ConvTranspose2d(4, 2, 3, stride=2, padding=1, groups=2)\n\n"
                 "%x = placeholder[target=x]\n" CALL("b1", "b1", "x") CALL("c1", "c1", "b1")
                     CALL("p", "p", "c1") CALL("b2", "b2", "p") CALL("r", "r", "b2")
                         CALL("c2", "c2", "r") CALL("q", "q", "c2") CALL("b3", "b3", "q")
                             CALL("s", "s", "b3") CALL("c3", "c3", "s") "return %c3\n",
                 (struct mase_shape){ 4, { 3, 4, 10, 10 } });
    assert_int_equal(transform(&n, "fold_batch_norm", &change), 3);
    assert_true(change >= 0 && change < 1e-5);
    assert_null(mase_graph_find(n.g, "b1"));
    const struct mase_module *b2 = mase_graph_module(n.g, "b2");
    for (int64_t c = 0; c < 6; c++) {
        int e;
        const double w = mase_tensor_get(&mase_module_param(b2, "weight")->tensor, c);
        assert_true(fabs(frexp(w, &e)) == 0.5);
        assert_true(mase_tensor_get(&mase_module_param(b2, "running_var")->tensor, c) == 1);
    }
    assert_int_equal(transform(&n, "fold_batch_norm", &change), 0);
    close_net(&n);
}

/* Factors of channels pass what keeps channels apart, and nothing else. */
static void channels_are_equalised_where_they_meet(void **state)
{
    static const struct {
        const char *modules, *calls;
        struct mase_shape shape;
        int pairs;
    } cases[] = {
        { "module a = Conv2d(2, 3, 3)\nmodule p = MaxPool2d(2)\nmodule f = Flatten()\n"
          "module b = Linear(27, 4)\n",
          CALL("a", "a", "x") CALL("p", "p", "a") CALL("f", "f", "p") CALL("b", "b", "f"),
          { 4, { 2, 2, 8, 8 } },
          1 },
        { "module a = Conv1d(2, 3, 3)\nmodule r = ReLU()\nmodule p = AvgPool1d(2)\n"
          "module b = Conv1d(3, 4, 3)\n",
          CALL("a", "a", "x") CALL("r", "r", "a") CALL("p", "p", "r") CALL("b", "b", "p"),
          { 3, { 2, 2, 12 } },
          1 },
        { "module a = Linear(6, 5)\nmodule r = ReLU()\nmodule b = Linear(5, 4)\n",
          CALL("a", "a", "x") CALL("r", "r", "a") CALL("b", "b", "r"),
          { 3, { 2, 4, 6 } },
          1 },
        { /* a flatten that begins behind the channels: features are positions */
          "module a = Conv2d(2, 3, 3)\nmodule f = Flatten(start_dim=2)\nmodule b = Linear(36, 4)\n",
          CALL("a", "a", "x") CALL("f", "f", "a") CALL("b", "b", "f"),
          { 4, { 2, 2, 8, 8 } },
          0 },
        { /* pools over the features of a linear layer */
          "module a = Linear(6, 8)\nmodule p = MaxPool1d(3, stride=1, padding=1)\n"
          "module b = Linear(8, 4)\n",
          CALL("a", "a", "x") CALL("p", "p", "a") CALL("b", "b", "p"),
          { 3, { 2, 4, 6 } },
          0 },
        { "module a = Linear(6, 8)\nmodule p = AdaptiveAvgPool1d(8)\nmodule b = Linear(8, 4)\n",
          CALL("a", "a", "x") CALL("p", "p", "a") CALL("b", "b", "p"),
          { 3, { 2, 4, 6 } },
          0 },
        { "module a = Linear(6, 9)\nmodule p = AvgPool2d(3, stride=1, padding=1)\n"
          "module b = Linear(9, 4)\n",
          CALL("a", "a", "x") CALL("p", "p", "a") CALL("b", "b", "p"),
          { 4, { 2, 3, 5, 6 } },
          0 },
        { /* two flattens: the first merges channels with samples' positions */
          "module a = Linear(6, 3)\nmodule f = Flatten()\nmodule b = Linear(12, 4)\n",
          CALL("a", "a", "x") CALL("f", "f", "a") CALL("b", "b", "f"),
          { 3, { 2, 4, 6 } },
          0 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_str text = { 0 };
        double change;
        mase_str_printf(&text,
                        "mase-graph 1\nname net\n\n%s\n%%x = placeholder[target=x]\n%sreturn %%b\n",
                        cases[i].modules, cases[i].calls);
        struct net n = open_net(mase_str_text(&text), cases[i].shape);
        assert_int_equal(transform(&n, "equalise", &change), cases[i].pairs);
        assert_true(change < 1e-5);
        close_net(&n);
        mase_str_release(&text);
    }
}

/* What would change numbers stays. */
static void what_cannot_be_folded_stays(void **state)
{
    static const struct {
        const char *text;
        struct mase_shape shape;
    } nets[] = {
        /* the layer's result is used twice */
        { "module c = Conv2d(2, 2, 1)\nmodule b = BatchNorm2d(2)\n\n"
          "%x = placeholder[target=x]\n" CALL("c", "c", "x")
              CALL("b", "b", "c") "%add = call_function[target=operator.add](args = (%b, %c), "
                                  "kwargs = {})\nreturn %add\n",
          { 4, { 3, 2, 4, 4 } } },
        /* the layer is called twice */
        { "module c = Conv2d(2, 2, 1)\nmodule b = BatchNorm2d(2)\n\n"
          "%x = placeholder[target=x]\n" CALL("c", "c", "x") CALL("d", "c", "c")
              CALL("b", "b", "d") "return %b\n",
          { 4, { 3, 2, 4, 4 } } },
        /* channels are the positions, as many as there are features */
        { "module c = Linear(4, 4)\nmodule b = BatchNorm1d(4)\n\n"
          "%x = placeholder[target=x]\n" CALL("c", "c", "x") CALL("b", "b", "c") "return %b\n",
          { 3, { 3, 4, 4 } } },
        /* the weights are read by another call */
        { "module c = Linear(4, 4)\nmodule b = BatchNorm1d(4)\n\n"
          "%x = placeholder[target=x]\n%w = get_attr[target=c.weight]\n" CALL("c", "c", "x")
              CALL("b", "b", "c") "%mm = call_function[target=torch.matmul](args = (%b, %w), "
                                  "kwargs = {})\nreturn %mm\n",
          { 2, { 3, 4 } } },
        /* zeros around what the batch norm gives */
        { "module b = BatchNorm2d(2)\nmodule c = Conv2d(2, 2, 3, padding=1)\n\n"
          "%x = placeholder[target=x]\n" CALL("b", "b", "x") CALL("c", "c", "b") "return %c\n",
          { 4, { 3, 2, 4, 4 } } },
        { "module b = BatchNorm2d(2)\nmodule c = ConvTranspose2d(2, 2, 3, stride=2)\n\n"
          "%x = placeholder[target=x]\n" CALL("b", "b", "x") CALL("c", "c", "b") "return %c\n",
          { 4, { 3, 2, 4, 4 } } },
        /* the result of the ReLU is used twice */
        { "module b = BatchNorm1d(4)\nmodule r = ReLU()\nmodule c = Linear(4, 4)\n\n"
          "%x = placeholder[target=x]\n" CALL("b", "b", "x") CALL("r", "r", "b")
              CALL("c", "c", "r") "%add = call_function[target=operator.add](args = (%c, %r), "
                                  "kwargs = {})\nreturn %add\n",
          { 2, { 3, 4 } } },
    };
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        char text[1024];
        double change;
        snprintf(text, sizeof text, "mase-graph 1\nname net\n\n%s", nets[i].text);
        struct net n = open_net(text, nets[i].shape);
        assert_int_equal(transform(&n, "fold_batch_norm", &change), 0);
        assert_non_null(mase_graph_find(n.g, "b"));
        close_net(&n);
    }
}

static void dropouts_go(void **state)
{
    double change;
    (void)state;
    struct net n = open_net(
        "mase-graph 1\nname net\n\nmodule d = Dropout(0.5)\nmodule fc = Linear(4, 3)\n\n"
        "%x = placeholder[target=x]\n" CALL("d", "d", "x")
            CALL("fc", "fc", "d") "%f = call_function[target=torch.nn.functional.dropout](args = "
                                  "(%fc,), kwargs = {p: 0.5, "
                                  "training: self.training})\n"
                                  "%g = call_function[target=torch.nn.functional.dropout](args = "
                                  "(%f, 0.5, False), kwargs = "
                                  "{})\nreturn %g\n",
        (struct mase_shape){ 2, { 3, 4 } });
    assert_int_equal(transform(&n, "remove_dropout", &change), 3);
    assert_true(change == 0);
    assert_string_equal(mase_graph_output(n.g)->inputs[0]->name, "fc");
    assert_null(mase_graph_module(n.g, "d"));
    close_net(&n);
}

/* F.dropout drops out unless it is told not to. */
static void dropout_that_is_on_stays(void **state)
{
    (void)state;
    struct net n = open_net("mase-graph 1\nname net\n\n%x = placeholder[target=x]\n"
                            "%f = call_function[target=torch.nn.functional.dropout](args = (%x, "
                            "0.5), kwargs = {})\nreturn %f\n",
                            (struct mase_shape){ 2, { 3, 4 } });
    FILE *null = fopen("/dev/null", "w");
    struct mase_manager m = { .env = { .out = null } };
    assert_int_equal(mase_manager_run(&m, &n.g, "remove_dropout", NULL, &err), MASE_OK);
    assert_non_null(mase_graph_find(n.g, "f"));
    mase_manager_release(&m);
    fclose(null);
    close_net(&n);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batch_norms_become_weights),
        cmocka_unit_test(layers_behind_take_batch_norms),
        cmocka_unit_test(channels_are_equalised_where_they_meet),
        cmocka_unit_test(what_cannot_be_folded_stays),
        cmocka_unit_test(dropouts_go),
        cmocka_unit_test(dropout_that_is_on_stays),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
