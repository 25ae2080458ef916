/*
 * t_api.c - what mase.h promises: objects, errors with places, and networks that are as they were
 * when a call fails.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mase.h>
#include <mase/str.h>
#include <mase/value.h>

#include "run_cases.h"

/* ---- what the tests share ---- */

struct world {
    struct mase_session *s;
    struct mase_net *net;
    struct mase_rows *rows;
    struct mase_text text;
    struct mase_err err;
    struct mase_str log;
    int64_t blocks; /* that the session has */
};

#define MUST(call)                                       \
    do {                                                 \
        if (call) {                                      \
            char text_[2048];                            \
            mase_err_text(&w->err, text_, sizeof text_); \
            fail_msg("%s", text_);                       \
        }                                                \
    } while (0)

static void *count_blocks(void *user, void *p, size_t size)
{
    struct world *w = user;
    if (!size) {
        w->blocks -= p != NULL;
        free(p);
        return NULL;
    }
    w->blocks += p == NULL;
    return realloc(p, size);
}

static void hear(void *user, enum mase_log_level level, const char *message)
{
    struct world *w = user;
    mase_str_printf(&w->log, "%s: %s\n", mase_log_level_names[level], message);
}

enum { ROWS = 1000, FEATURES = 16, CLASSES = 5 };

/* Classes that can be learnt: the largest of the first five features. */
static void fill(float *x, int32_t *labels)
{
    unsigned random = 7;
    for (int i = 0; i < ROWS * FEATURES; i++) {
        random = random * 1664525u + 1013904223u;
        x[i] = (float)(random >> 16) / 32768.0f - 1.0f;
    }
    for (int i = 0; i < ROWS; i++) {
        labels[i] = 0;
        for (int c = 1; c < CLASSES; c++)
            if (x[i * FEATURES + c] > x[i * FEATURES + labels[i]])
                labels[i] = c;
    }
}

static int begin(void **state)
{
    static float x[ROWS * FEATURES];
    static int32_t labels[ROWS];
    static const int64_t shape[] = { FEATURES };
    struct world *w = calloc(1, sizeof *w);
    const struct mase_hooks hooks = {
        .size = sizeof hooks, .user = w, .alloc = count_blocks, .log = hear, .log_level = MASE_INFO
    };
    fill(x, labels);
    w->s = mase_session_new(&hooks);
    const struct mase_arrays arrays = { .size = sizeof arrays,
                                        .name = "made up",
                                        .x = x,
                                        .count = ROWS,
                                        .shape = shape,
                                        .rank = 1,
                                        .labels = labels };
    MUST(mase_rows_from(w->s, &w->rows, &arrays, NULL, &w->err));
    MUST(mase_net_open(w->s, &w->net, "jsc-tiny", NULL, &w->err));
    *state = w;
    return 0;
}

/* Whatever a test does, everything goes back to the host. */
static int end(void **state)
{
    struct world *w = *state;
    mase_text_release(&w->text);
    mase_net_free(w->net);
    mase_rows_free(w->rows);
    mase_session_free(w->s);
    mase_str_release(&w->log);
    const int64_t left = w->blocks;
    free(w);
    if (left)
        print_error("%lld blocks were not given back\n", (long long)left);
    return left != 0;
}

static const char by_type[] = "by = 'type'\ndefault.config.name = 'NA'\n"
                              "linear.config = { name = 'integer', data_in_width = 8,"
                              " data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4,"
                              " bias_width = 8, bias_frac_width = 4 }\n";

static char *print(struct world *w, const char *what)
{
    MUST(mase_net_print(w->net, &w->text, what, &w->err));
    char *copy = strdup(w->text.data);
    return copy;
}

static const struct mase_value *parse(struct world *w, struct mase_arena *a)
{
    struct mase_value *v = NULL;
    MUST(mase_json_parse(&v, a, w->text.data, w->text.len, "json", &w->err));
    return v;
}

/* ---- sessions ---- */

static void a_session_is_for_one_library(void **state)
{
    (void)state;
    struct mase_hooks hooks = { 0 }; /* without its size */
    assert_int_equal(mase_abi(), MASE_ABI);
    assert_true(strchr(mase_version(), '.') != NULL);
    assert_null(mase_session_new(&hooks));
}

static void lists_say_what_there_is(void **state)
{
    struct world *w = *state;
    MUST(mase_session_list(w->s, &w->text, "engines", &w->err));
    assert_non_null(strstr(w->text.data, "\"name\": \"int\""));
    MUST(mase_session_list(w->s, &w->text, "targets", &w->err));
    assert_non_null(strstr(w->text.data, "\"key\": \"style\""));
    static const char *const lists[] = { "passes",   "formats", "ops",     "models",
                                         "datasets", "tasks",   "training" };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        struct mase_arena a = { 0 };
        MUST(mase_session_list(w->s, &w->text, lists[i], &w->err));
        assert_true(parse(w, &a)->count > 2);
        mase_arena_release(&a);
    }
    assert_int_equal(mase_session_list(w->s, &w->text, "pases", &w->err), MASE_EVALUE);
    assert_non_null(strstr(w->err.msg, "passes"));
}

static void the_host_hears_what_is_said(void **state)
{
    struct world *w = *state;
    MUST(mase_net_pass(w->net, "quantize",
                       "by = 'type'\ndefault.config.name = 'NA'\n"
                       "conv2d.config = { name = 'integer', data_in_width = 8,"
                       " data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4,"
                       " bias_width = 8, bias_frac_width = 4 }\n",
                       NULL, NULL, &w->err));
    assert_non_null(strstr(mase_str_text(&w->log), "the network has no conv2d"));
}

/* ---- errors ---- */

static void options_have_places(void **state)
{
    struct world *w = *state;
    char text[2048];
    assert_int_equal(
        mase_net_pass(w->net, "quantize", "by = 'type'\nlinear.confg = 3\n", NULL, NULL, &w->err),
        MASE_EVALUE);
    mase_err_text(&w->err, text, sizeof text);
    assert_true(mase_starts_with(text, "<options>:2:"));
    assert_int_equal(mase_rows_open(w->s, &(struct mase_rows *){ NULL }, "jsc-sim",
                                    "{\"spilt\": \"0.8,0.1,0.1\"}", NULL, &w->err),
                     MASE_EVALUE);
    assert_non_null(strstr(w->err.msg, "'split'"));
    assert_int_equal(mase_err_text(&w->err, text, 8),
                     strlen(w->err.msg) + strlen("<options>:1:2: "));
    assert_int_equal(strlen(text), 7); /* cut, and whole */
}

static void errors_may_be_unwanted(void **state)
{
    struct world *w = *state;
    struct mase_net *none = NULL;
    assert_int_equal(mase_net_open(w->s, &none, "no-such-network", NULL, NULL), MASE_EVALUE);
    assert_null(none);
    assert_int_equal(mase_net_open(w->s, &none, "/no/such/file.onnx", NULL, NULL), MASE_EIO);
}

static void structs_have_sizes(void **state)
{
    struct world *w = *state;
    struct mase_scores scores = { 0 };
    struct mase_net *none = NULL;
    struct mase_open open = { 0 };
    assert_int_equal(mase_net_evaluate(w->net, &scores, w->rows, NULL, NULL, &w->err), MASE_EVALUE);
    assert_non_null(strstr(w->err.msg, "sizeof(struct mase_scores)"));
    assert_int_equal(mase_net_open(w->s, &none, "jsc-tiny", &open, &w->err), MASE_EVALUE);
    open.size = offsetof(struct mase_open, weights); /* of an older version: the rest is zero */
    open.weights = "/no/such/file";
    MUST(mase_net_open(w->s, &none, "jsc-tiny", &open, &w->err));
    mase_net_free(none);
}

/* ---- walking ---- */

static void nodes_stand_in_order(void **state)
{
    struct world *w = *state;
    static const char *const names[] = {
        "x", "seq_blocks_0", "seq_blocks_1", "seq_blocks_2", "seq_blocks_3", "output"
    };
    int i = 0;
    for (const struct mase_node *n = NULL; (n = mase_net_next(w->net, n)); i++)
        assert_string_equal(mase_node_name(n), names[i]);
    assert_int_equal(i, 6);
    const struct mase_node *n = mase_net_find(w->net, "seq_blocks_2");
    assert_string_equal(mase_node_op(n), "call_module");
    assert_string_equal(mase_node_path(n), "seq_blocks.2");
    assert_string_equal(mase_node_mase_op(n), "linear");
    assert_string_equal(mase_node_mase_type(n), "module_related_func");
    assert_string_equal(mase_node_name(mase_node_input(n, 0)), "seq_blocks_1");
    assert_string_equal(mase_node_name(mase_node_user(n, 0)), "seq_blocks_3");
    assert_null(mase_node_input(n, 1));
    assert_null(mase_node_user(n, -1));
    assert_null(mase_net_find(w->net, "nobody"));
}

static const struct mase_value *named(const struct mase_value *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (mase_streq(mase_value_get(list->items[i], "name")->s, name))
            return list->items[i];
    return NULL;
}

static void json_has_all_of_a_network(void **state)
{
    struct world *w = *state;
    struct mase_arena a = { 0 };
    MUST(mase_net_pass(w->net, "quantize", by_type, NULL, NULL, &w->err));
    free(print(w, "json"));
    const struct mase_value *v = parse(w, &a), *nodes = mase_value_get(v, "nodes");
    const struct mase_value *n = named(nodes, "seq_blocks_2");
    assert_true(mase_value_get(v, "quantised")->b);
    assert_string_equal(mase_value_get(n, "type_name")->s, "LinearInteger");
    assert_string_equal(mase_value_at(n, "formats.weight")->s, "integer(8, 4)");
    assert_int_equal(mase_value_at(n, "config.weight_width")->i, 8);
    const struct mase_value *arg = mase_value_get(n, "args")->items[0];
    assert_string_equal(mase_value_get(arg, "%")->s, "seq_blocks_1");
    const struct mase_value *weight = mase_value_at(n, "meta.common.args.weight.precision");
    assert_int_equal(weight->items[1]->i, 4);
    const struct mase_value *m = mase_value_get(v, "modules")->items[2];
    assert_string_equal(mase_value_get(m, "class")->s, "LinearInteger");
    assert_string_equal(mase_value_get(m, "base")->s, "Linear");
    assert_int_equal(mase_value_at(m, "attrs.in_features")->i, 16);
    mase_arena_release(&a);
}

static void weights_stay_where_they_are(void **state)
{
    struct world *w = *state;
    const struct mase_training training = { .size = sizeof training,
                                            .max_epochs = 1,
                                            .learning_rate = 1e-2 };
    struct mase_weight_info before = { .size = sizeof before }, now = { .size = sizeof now };
    MUST(mase_net_weight(w->net, 5, &before, &w->err)); /* behind those of the batch norm */
    assert_string_equal(before.name, "seq_blocks.2.weight");
    assert_string_equal(before.dtype, "float32");
    assert_int_equal(before.rank, 2);
    assert_int_equal(before.dim[1], 16);
    const float was = ((float *)before.data)[0];
    MUST(mase_net_pass(w->net, "quantize", by_type, NULL, NULL, &w->err));
    MUST(mase_net_train(w->net, NULL, w->rows, &training, &w->err));
    MUST(mase_net_weight(w->net, 5, &now, &w->err));
    assert_ptr_equal(now.data, before.data);
    assert_true(((float *)before.data)[0] != was);
    assert_int_equal(mase_net_weights(w->net), 7);
    assert_int_equal(mase_net_params(w->net), 117);
    assert_int_equal(mase_net_weight(w->net, 7, &now, &w->err), MASE_EVALUE);
}

/* ---- editing ---- */

static void edits_change_what_is_computed(void **state)
{
    struct world *w = *state;
    struct mase_runner *r = NULL;
    const struct mase_node *twice = NULL, *last = mase_net_find(w->net, "seq_blocks_3");
    float x[16], y[5], z[5];
    for (int i = 0; i < 16; i++)
        x[i] = 0.25f * (float)i - 2;
    MUST(mase_runner_new(w->net, &r, NULL, &w->err));
    MUST(mase_runner_run(r, y, x, 1, &w->err));
    mase_runner_free(r);
    const uint64_t edits = mase_net_edits(w->net);
    MUST(mase_net_add(w->net, &twice, NULL,
                      "%twice = call_function[target=operator.mul](args = (%seq_blocks_3, 2))",
                      &w->err));
    MUST(mase_net_replace(w->net, last, twice, &w->err));
    MUST(mase_net_check(w->net, &w->err));
    assert_true(mase_net_edits(w->net) > edits);
    MUST(mase_runner_new(w->net, &r, NULL, &w->err));
    MUST(mase_runner_run(r, z, x, 1, &w->err));
    mase_runner_free(r);
    for (int i = 0; i < 5; i++)
        assert_true(z[i] == 2 * y[i]);
    MUST(mase_net_set_args(w->net, mase_net_find(w->net, "twice"), "(%seq_blocks_3, 3)", NULL,
                           &w->err));
    char *text = print(w, "graph");
    assert_non_null(strstr(text, "(%seq_blocks_3, 3)"));
    free(text);
}

static void refused_edits_change_nothing(void **state)
{
    struct world *w = *state;
    static const char *const statements[] = {
        "%seq_blocks_2 = call_function[target=torch.relu](args = (%x,))", /* the name is taken */
        "%a = call_function[target=torch.rleu](args = (%x,))",            /* there is none */
        "%a = call_function[target=torch.relu](args = (%nobody,))",
        "%a = call_module[target=nowhere](args = (%x,))",
        "module fc = Linear(16)",
        "return %x",
        "%a = placeholder[target=a]\n%b = placeholder[target=b]",
        "",
    };
    char *before = print(w, "mg");
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        const struct mase_node *added = (const struct mase_node *)w;
        if (!mase_net_add(w->net, &added, NULL, statements[i], &w->err))
            fail_msg("'%s' was taken", statements[i]);
        assert_null(added);
        char *now = print(w, "mg");
        assert_string_equal(now, before);
        free(now);
    }
    const struct mase_node *first = mase_net_find(w->net, "seq_blocks_0");
    assert_int_equal(mase_net_add(w->net, NULL, first,
                                  "%a = call_function[target=torch.relu](args = (%seq_blocks_2,))",
                                  &w->err),
                     MASE_EVALUE);
    assert_int_equal(mase_net_erase(w->net, first, &w->err), MASE_EVALUE);
    assert_int_equal(mase_net_replace(w->net, mase_net_find(w->net, "x"),
                                      mase_net_find(w->net, "seq_blocks_3"), &w->err),
                     MASE_EVALUE);
    char *now = print(w, "mg");
    assert_string_equal(now, before);
    free(now);
    free(before);
}

static void a_network_is_built_from_nothing(void **state)
{
    struct world *w = *state;
    static const char *const statements[] = {
        "%x = placeholder[target=x]",
        "module fc1 = Linear(16, 8)",
        "%fc1 = call_module[target=fc1](args = (%x,))",
        "%relu = call_function[target=torch.relu](args = (%fc1,))",
        "module fc2 = Linear(8, 5)",
        "%fc2 = call_module[target=fc2](args = (%relu,))",
        "return %fc2",
    };
    struct mase_scores scores = { .size = sizeof scores };
    struct mase_epoch last = { .size = sizeof last };
    const struct mase_training training = {
        .size = sizeof training, .max_epochs = 40, .batch_size = 32, .learning_rate = 1e-2
    };
    mase_net_free(w->net);
    MUST(mase_net_parse(w->s, &w->net, "mase-graph 1\n", "mine", &w->err));
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++)
        MUST(mase_net_add(w->net, NULL, NULL, statements[i], &w->err));
    assert_int_equal(mase_net_sample(w->net, (int64_t[8]){ 0 }), -1);
    assert_int_equal(mase_runner_new(w->net, &(struct mase_runner *){ NULL }, NULL, &w->err),
                     MASE_EVALUE);
    MUST(mase_net_set_sample(w->net, 1, (const int64_t[]){ 16 }, &w->err));
    MUST(mase_net_start(w->net, 3, &w->err));
    MUST(mase_net_train(w->net, &last, w->rows, &training, &w->err));
    assert_int_equal(last.epoch, 39);
    assert_string_equal(last.stop, "all epochs done");
    MUST(mase_net_evaluate(w->net, &scores, w->rows, NULL, &w->text, &w->err));
    assert_true(scores.score > 0.8);
    assert_int_equal(scores.samples, 200);
}

static void new_parameters_start_alone(void **state)
{
    struct world *w = *state;
    struct mase_weight_info i = { .size = sizeof i };
    MUST(mase_net_weight(w->net, 5, &i, &w->err));
    ((float *)i.data)[0] = 42;
    MUST(mase_net_add(w->net, NULL, NULL, "module more = Linear(5, 5)", &w->err));
    MUST(mase_net_add(w->net, NULL, NULL,
                      "%more = call_module[target=more](args = (%seq_blocks_3,))", &w->err));
    MUST(mase_net_start(w->net, 0, &w->err));
    assert_true(((float *)i.data)[0] == 42);
    MUST(mase_net_weight(w->net, 7, &i, &w->err));
    assert_string_equal(i.name, "more.weight");
    assert_true(((float *)i.data)[0] != 0);
}

/* ---- passes ---- */

static void failed_passes_change_nothing(void **state)
{
    struct world *w = *state;
    char *before = print(w, "mg");
    const uint64_t edits = mase_net_edits(w->net);
    assert_int_equal(mase_net_passes(w->net,
                                     "[passes.quantize]\nby = 'type'\n"
                                     "default.config.name = 'NA'\n"
                                     "[passes.quantize.linear.config]\nname = 'integer'\n"
                                     "data_in_width = 8\ndata_in_frac_width = 4\n"
                                     "weight_width = 8\nweight_frac_width = 4\n"
                                     "bias_width = 8\nbias_frac_width = 4\n"
                                     "[passes.load_mase_graph]\nload_dir = '/no/such/folder'\n",
                                     NULL, NULL, &w->err),
                     MASE_EIO);
    char *now = print(w, "mg");
    assert_string_equal(now, before);
    assert_int_equal(mase_net_edits(w->net), edits);
    assert_int_equal(mase_net_pass(w->net, "quantise_transform_pass", NULL, NULL, NULL, &w->err),
                     MASE_EVALUE);
    struct mase_weight_info i = { .size = sizeof i };
    float before_it[80];
    MUST(mase_net_weight(w->net, 5, &i, &w->err));
    memcpy(before_it, i.data, sizeof before_it);
    assert_int_equal(mase_net_passes(w->net,
                                     "[passes.prune]\nsparsity = 0.5\n"
                                     "[passes.load_mase_graph]\nload_dir = '/no/such/folder'\n",
                                     NULL, NULL, &w->err),
                     MASE_EIO);
    assert_memory_equal(i.data, before_it,
                        sizeof before_it); /* weights that were zero for a while */
    MUST(mase_net_pass(w->net, "prune", "sparsity = 0.5", NULL, NULL, &w->err));
    MUST(mase_net_weight(w->net, 5, &i, &w->err)); /* they may lie elsewhere now */
    assert_memory_not_equal(i.data, before_it, sizeof before_it);
    free(now);
    free(before);
}

static void passes_tell_what_they_found(void **state)
{
    struct world *w = *state;
    struct mase_arena a = { 0 };
    MUST(mase_net_pass(w->net, "quantize_transform_pass", by_type, NULL, &w->text, &w->err));
    const struct mase_value *v = parse(w, &a);
    assert_non_null(strstr(mase_value_get(v, "text")->s, "LinearInteger"));
    assert_non_null(mase_value_at(v, "results.summarize_quantization"));
    const struct mase_value *table = mase_value_get(v, "tables")->items[0];
    assert_string_equal(mase_value_get(table, "columns")->items[0]->s, "Ori name");
    assert_int_equal(mase_value_get(table, "rows")->count, 6);
    assert_int_equal(mase_value_get(v, "files")->count, 0);
    mase_arena_release(&a);
    const uint64_t edits = mase_net_edits(w->net);
    MUST(mase_net_pass(w->net, "summarize_quantization_analysis_pass", NULL, NULL, &w->text,
                       &w->err));
    assert_int_equal(mase_net_edits(w->net), edits);        /* whoever only looks changes nothing */
    assert_non_null(strstr(w->text.data, "LinearInteger")); /* it still knows what was before */
}

static void costs_are_compared_for_as_many_samples(void **state)
{
    struct world *w = *state;
    MUST(mase_net_pass(w->net, "add_common_metadata", "batch = 8", NULL, NULL, &w->err));
    MUST(mase_net_pass(w->net, "quantize", by_type, NULL, NULL, &w->err));
    MUST(mase_net_pass(w->net, "count_flops", NULL, NULL, &w->text, &w->err));
    assert_non_null(strstr(w->text.data, "\"before\""));
    MUST(mase_net_pass(w->net, "add_common_metadata", "batch = 1", NULL, NULL, &w->err));
    MUST(mase_net_pass(w->net, "count_flops", NULL, NULL, &w->text, &w->err));
    assert_null(strstr(w->text.data, "\"before\""));
}

static enum mase_status count_nodes(void *user, struct mase_net *net, const char *args,
                                    struct mase_text *info, struct mase_err *err)
{
    struct world *w = user;
    char text[64];
    int n = 0;
    for (const struct mase_node *node = NULL; (node = mase_net_next(net, node));)
        n++;
    snprintf(text, sizeof text, "{\"nodes\": %d, \"args\": %s}", n, args);
    return mase_text_set(w->s, info, text, err);
}

static enum mase_status add_relu(void *user, struct mase_net *net, const char *args,
                                 struct mase_text *info, struct mase_err *err)
{
    const struct mase_node *added;
    (void)user;
    (void)args;
    (void)info;
    MASE_TRY(mase_net_add(net, &added, NULL,
                          "%more = call_function[target=torch.relu](args = (%seq_blocks_3,))",
                          err));
    MASE_TRY(mase_net_replace(net, mase_net_find(net, "seq_blocks_3"), added, err));
    MASE_TRY(mase_net_pass(net, "quantize", by_type, NULL, NULL, err)); /* a pass within the pass */
    struct mase_runner *r = NULL;
    MASE_TRY(mase_runner_new(net, &r, NULL, err)); /* the weights are there still */
    mase_runner_free(r);
    return MASE_OK;
}

static enum mase_status give_up(void *user, struct mase_net *net, const char *args,
                                struct mase_text *info, struct mase_err *err)
{
    MASE_TRY(
        mase_net_add(net, NULL, NULL, "%a = call_function[target=torch.relu](args = (%x,))", err));
    (void)user;
    (void)args;
    (void)info;
    return mase_fail(err, MASE_EUNSUPPORTED, "not today");
}

static enum mase_status spoil(void *user, struct mase_net *net, const char *args,
                              struct mase_text *info, struct mase_err *err)
{
    struct mase_weight_info i = { .size = sizeof i };
    (void)user;
    (void)args;
    (void)info;
    MASE_TRY(mase_net_weight(net, 5, &i, err));
    ((float *)i.data)[0] = 42;
    return MASE_OK;
}

static enum mase_status meddle(void *user, struct mase_net *net, const char *args,
                               struct mase_text *info, struct mase_err *err)
{
    (void)user;
    (void)args;
    (void)info;
    return mase_net_add(net, NULL, NULL, "%b = call_function[target=torch.relu](args = (%x,))",
                        err);
}

static void programs_bring_passes(void **state)
{
    struct world *w = *state;
    struct mase_arena a = { 0 };
    const struct mase_own_pass passes[] = {
        { sizeof *passes, "count_them", "counts nodes", false, w, count_nodes },
        { sizeof *passes, "add_relu", "adds one", true, w, add_relu },
        { sizeof *passes, "give_up", "fails", true, w, give_up },
        { sizeof *passes, "spoil", "writes a weight", true, w, spoil },
        { sizeof *passes, "meddle", "changes what it should look at", false, w, meddle },
    };
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        MUST(mase_session_add_pass(w->s, &passes[i], &w->err));
    assert_int_equal(mase_session_add_pass(w->s, &passes[0], &w->err), MASE_EVALUE);
    MUST(mase_net_passes(w->net,
                         "[passes.add_relu]\n[passes.count_them]\ndeep = true\n"
                         "[passes.report_graph]\n",
                         NULL, &w->text, &w->err));
    const struct mase_value *v = parse(w, &a);
    assert_int_equal(mase_value_at(v, "results.count_them.nodes")->i, 7);
    assert_true(mase_value_at(v, "results.count_them.args.deep")->b);
    mase_arena_release(&a);
    MUST(mase_net_check(w->net, &w->err));
    char *before = print(w, "mg");
    assert_non_null(strstr(before, "quantized"));
    assert_int_equal(mase_net_pass(w->net, "give_up", NULL, NULL, NULL, &w->err),
                     MASE_EUNSUPPORTED);
    assert_non_null(strstr(w->err.msg, "not today"));
    assert_int_equal(mase_net_pass(w->net, "meddle", NULL, NULL, NULL, &w->err), MASE_EVALUE);
    struct mase_weight_info i = { .size = sizeof i };
    assert_int_equal(
        mase_net_passes(w->net, "[passes.spoil]\n[passes.give_up]\n", NULL, NULL, &w->err),
        MASE_EUNSUPPORTED);
    MUST(mase_net_weight(w->net, 5, &i, &w->err));
    assert_true(((float *)i.data)[0] != 42);
    MUST(mase_net_pass(w->net, "spoil", NULL, NULL, NULL, &w->err));
    MUST(mase_net_weight(w->net, 5, &i, &w->err));
    assert_true(((float *)i.data)[0] == 42);
    char *now = print(w, "mg");
    assert_string_equal(now, before);
    free(now);
    free(before);
}

/* ---- quantising ---- */

static void decisions_are_carried_out(void **state)
{
    struct world *w = *state;
    static const char config[] = "name = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 4\n"
                                 "weight_width = 4\nweight_frac_width = 3\n"
                                 "bias_width = 8\nbias_frac_width = 4\n";
    const struct mase_decision_text one[] = { { "seq_blocks_2", config } };
    const struct mase_decision_text none[] = { { "seq_blocks_2", NULL } };
    const struct mase_decision_text wrong[] = { { "seq_blocks_2", config }, { "nobody", config } };
    char *floats = print(w, "mg");
    assert_int_equal(mase_net_quantize(w->net, wrong, 2, NULL, &w->err), MASE_EVALUE);
    char *still = print(w, "mg");
    assert_string_equal(still, floats);
    free(still);
    MUST(mase_net_quantize(w->net, one, 1, NULL, &w->err));
    char *now = print(w, "program");
    assert_non_null(strstr(now, "to integer(4, 3) signed weight"));
    free(now);
    MUST(mase_net_quantize(w->net, none, 1, NULL, &w->err));
    now = print(w, "program");
    assert_null(strstr(now, "integer"));
    free(now);
    free(floats);
}

static void explanations_change_nothing(void **state)
{
    struct world *w = *state;
    struct mase_arena a = { 0 };
    MUST(mase_net_explain(w->net, &w->text, by_type, &w->err));
    const struct mase_value *v = parse(w, &a);
    assert_int_equal(v->count, 6);
    assert_string_equal(mase_value_get(v->items[3], "reason")->s, "quantised");
    assert_string_equal(mase_value_at(v->items[3], "formats.bias")->s, "integer(8, 4)");
    mase_arena_release(&a);
    char *now = print(w, "mg");
    assert_null(strstr(now, "quantized"));
    free(now);
}

static void statistics_are_by_node_and_operand(void **state)
{
    struct world *w = *state;
    struct mase_arena a = { 0 };
    MUST(mase_net_profile(w->net, &w->text, w->rows,
                          "by = 'type'\ntarget_weight_nodes = ['linear']\n"
                          "target_activation_nodes = ['relu']\nnum_samples = 32\n"
                          "[weight_statistics.range_min_max]\ndevice = 'cpu'\n"
                          "[activation_statistics.range_min_max]\ndevice = 'cpu'\n",
                          &w->err));
    const struct mase_value *v = parse(w, &a);
    assert_int_equal(v->count, 3);
    assert_int_equal(mase_value_at(v, "seq_blocks_2.weight.range_min_max.count")->i, 80);
    assert_int_equal(mase_value_at(v, "seq_blocks_1.data_in_0.range_min_max.count")->i, 512);
    mase_arena_release(&a);
}

static void numbers_are_rounded(void **state)
{
    struct world *w = *state;
    static const char format[] = "{\"name\": \"integer\", \"width\": 8, \"frac_width\": 4}";
    static const float want[] = { 0.3125f, -1.25f, 7.9375f, -8 };
    float y[] = { 0.3f, -1.26f, 100, -100 };
    MUST(mase_session_round(w->s, y, y, 1, (const int64_t[]){ 4 }, format, "weight", &w->err));
    assert_memory_equal(y, want, sizeof y);
    y[0] = -1;
    y[1] = 100;
    MUST(mase_session_round(w->s, y, y, 1, (const int64_t[]){ 2 }, format, "unsigned data",
                            &w->err));
    assert_true(y[0] == 0 && y[1] == 15.9375f);
    assert_int_equal(
        mase_session_round(w->s, y, y, 1, (const int64_t[]){ 2 }, format, "thing", &w->err),
        MASE_EVALUE);
}

static void integers_are_what_is_emulated(void **state)
{
    struct world *w = *state;
    struct mase_proof proof = { .size = sizeof proof };
    struct mase_runner *floats = NULL, *integers = NULL;
    struct mase_run_opts exact = { .size = sizeof exact, .exact = true };
    float x[200 * 16], y[200 * 5], z[200 * 5];
    assert_int_equal(mase_runner_new(w->net, &integers, &exact, &w->err), MASE_EUNSUPPORTED);
    assert_null(integers);
    MUST(mase_net_pass(w->net, "quantize", by_type, NULL, NULL, &w->err));
    MUST(mase_net_prove(w->net, &proof, w->rows, NULL, 0, &w->text, &w->err));
    assert_int_equal(proof.samples, 200);
    assert_int_equal(proof.outputs, 1000);
    assert_int_equal(proof.differ, 0);
    MUST(mase_rows_read(w->rows, "test", 0, 200, x, NULL, NULL, &w->err));
    MUST(mase_runner_new(w->net, &floats, NULL, &w->err));
    MUST(mase_runner_new(w->net, &integers, &exact, &w->err));
    mase_net_free(w->net); /* they need it no more */
    w->net = NULL;
    MUST(mase_runner_run(floats, y, x, 200, &w->err));
    MUST(mase_runner_run(integers, z, x, 200, &w->err));
    assert_memory_equal(y, z, sizeof y);
    assert_int_equal(mase_runner_result(floats, (int64_t[8]){ 0 }), 1);
    assert_int_equal(mase_runner_features(integers), 16);
    mase_runner_free(floats);
    mase_runner_free(integers);
}

/* An engine goes by its name, which wins over what is asked for otherwise. */
static void engines_go_by_their_names(void **state)
{
    struct world *w = *state;
    struct mase_runner *runner = NULL;
    struct mase_run_opts o = { .size = sizeof o, .exact = true, .engine = "float" };
    struct mase_test_opts t = { .size = sizeof t, .engine = "int" };
    struct mase_scores scores = { .size = sizeof scores };
    MUST(mase_runner_new(w->net, &runner, &o, &w->err)); /* which has no integers */
    mase_runner_free(runner);
    assert_int_equal(mase_net_evaluate(w->net, &scores, w->rows, &t, NULL, &w->err),
                     MASE_EUNSUPPORTED);
    o.engine = "abacus";
    assert_int_equal(mase_runner_new(w->net, &runner, &o, &w->err), MASE_EVALUE);
    assert_non_null(strstr(w->err.msg, "there is no engine 'abacus'; available: float, int"));
}

/* The class by its number, as a float and as the integer that it is. */
static void results_have_the_type_that_is_computed(void **state)
{
    struct world *w = *state;
    const struct mase_node *last = mase_net_find(w->net, "seq_blocks_3"), *class = NULL;
    struct mase_runner *r = NULL;
    float x[3 * 16], y[3];
    int64_t typed[3];
    for (int i = 0; i < 3 * 16; i++)
        x[i] = 0.25f * (float)(i * i % 19) - 2;
    MUST(mase_runner_new(w->net, &r, NULL, &w->err));
    assert_string_equal(mase_runner_type(r), "float32");
    mase_runner_free(r);
    MUST(mase_net_add(w->net, &class, NULL,
                      "%class = call_function[target=torch.argmax](args = (%seq_blocks_3, 1))",
                      &w->err));
    MUST(mase_net_replace(w->net, last, class, &w->err));
    MUST(mase_runner_new(w->net, &r, NULL, &w->err));
    assert_string_equal(mase_runner_type(r), "int64");
    MUST(mase_runner_run(r, y, x, 3, &w->err));
    MUST(mase_runner_run_typed(r, typed, x, 3, &w->err));
    for (int i = 0; i < 3; i++)
        assert_true(typed[i] >= 0 && typed[i] < 5 && (float)typed[i] == y[i]);
    mase_runner_free(r);
}

/* ---- training ---- */

struct told {
    int epochs, stop_after;
    bool again;
    struct world *w;
};

static bool on_epoch(void *user, const struct mase_epoch *e)
{
    struct told *t = user;
    struct mase_scores s = { .size = sizeof s };
    assert_int_equal(e->epoch, t->epochs);
    if (t->again) /* a callback may call the library, with another network */
        assert_int_equal(mase_net_evaluate(t->w->net, &s, t->w->rows, NULL, NULL, NULL), MASE_OK);
    return ++t->epochs != t->stop_after;
}

static void callbacks_stop_training(void **state)
{
    struct world *w = *state;
    struct mase_net *other = NULL;
    struct told told = { .stop_after = 3, .again = true, .w = w };
    struct mase_epoch last = { .size = sizeof last };
    const struct mase_training training = { .size = sizeof training,
                                            .max_epochs = 10,
                                            .learning_rate = 1e-3,
                                            .user = &told,
                                            .on_epoch = on_epoch };
    MUST(mase_net_clone(w->net, &other, &w->err));
    MUST(mase_net_train(other, &last, w->rows, &training, &w->err));
    assert_int_equal(told.epochs, 3);
    assert_int_equal(last.epoch, 2);
    assert_string_equal(last.stop, "stopped");
    mase_net_free(other);
}

static void failed_training_changes_nothing(void **state)
{
    struct world *w = *state;
    struct mase_weight_info i = { .size = sizeof i };
    MUST(mase_net_weight(w->net, 5, &i, &w->err));
    const float was = ((float *)i.data)[0];
    struct mase_training training = { .size = sizeof training,
                                      .options = "training_optimizer = 'adm'" };
    assert_int_equal(mase_net_train(w->net, NULL, w->rows, &training, &w->err), MASE_EVALUE);
    assert_int_equal(w->err.loc.line, 1);
    training.options = NULL;
    training.max_epochs = 1;
    training.checkpoint_dir = "/dev/null/nowhere";
    assert_int_equal(mase_net_train(w->net, NULL, w->rows, &training, &w->err), MASE_EIO);
    assert_true(((float *)i.data)[0] == was);
}

static void the_same_seed_gives_the_same_bits(void **state)
{
    struct world *w = *state;
    struct mase_net *other = NULL;
    struct mase_training training = {
        .size = sizeof training, .max_epochs = 2, .learning_rate = 1e-3, .threads = 1, .seed = 5
    };
    struct mase_weight_info a = { .size = sizeof a }, b = { .size = sizeof b };
    MUST(mase_net_clone(w->net, &other, &w->err));
    MUST(mase_net_train(w->net, NULL, w->rows, &training, &w->err));
    training.threads = 2;
    MUST(mase_net_train(other, NULL, w->rows, &training, &w->err));
    for (int i = 0; i < mase_net_weights(w->net); i++) {
        MUST(mase_net_weight(w->net, i, &a, &w->err));
        MUST(mase_net_weight(other, i, &b, &w->err));
        if (strcmp(a.dtype, "float32") == 0)
            assert_memory_equal(a.data, b.data, sizeof(float) * (size_t)a.dim[0]);
    }
    mase_net_free(other);
}

/* ---- data ---- */

static void tables_are_not_copied(void **state)
{
    struct world *w = *state;
    struct mase_table_rows t = { .size = sizeof t };
    float x[16];
    int32_t label;
    MUST(mase_rows_table(w->rows, &t, "validation", &w->err));
    assert_int_equal(t.count, mase_rows_count(w->rows, "validation"));
    MUST(mase_rows_read(w->rows, "validation", 1, 1, x, &label, NULL, &w->err));
    assert_memory_equal(x, t.x + t.split[1] * t.stride, sizeof x);
    assert_int_equal(label, t.labels[t.split[1]]);
    assert_int_equal(mase_rows_count(w->rows, "tets"), -1);
    assert_int_equal(mase_rows_read(w->rows, "test", 199, 2, x, NULL, NULL, &w->err), MASE_EVALUE);
    assert_int_equal(mase_rows_read(w->rows, "test", 0, 1, NULL, NULL, x, &w->err), MASE_EVALUE);
}

static void few_rows_may_all_train(void **state)
{
    struct world *w = *state;
    static const float x[] = { 1, 2, 3, 4, 5, 6 };
    static const int64_t shape[] = { 2 };
    struct mase_arrays arrays = {
        .size = sizeof arrays, .x = x, .count = 3, .shape = shape, .rank = 1, .train = 3
    };
    const struct mase_training training = { .size = sizeof training, .max_epochs = 1 };
    const int32_t labels[] = { 0, 1, 0 };
    struct mase_rows *few = NULL;
    float y[6];
    MUST(mase_rows_from(w->s, &few, &arrays, NULL, &w->err)); /* samples alone */
    assert_int_equal(mase_rows_count(few, "train"), 3);
    assert_int_equal(mase_rows_count(few, "validation"), 0);
    assert_int_equal(mase_rows_count(few, "test"), 0);
    MUST(mase_rows_read(few, "train", 0, 3, y, NULL, NULL, &w->err));
    assert_memory_equal(y, x, sizeof x);
    mase_rows_free(few);
    arrays.labels = labels;
    MUST(mase_rows_from(w->s, &few, &arrays, NULL, &w->err));
    mase_net_free(w->net);
    MUST(mase_net_parse(w->s, &w->net,
                        "mase-graph 1\n%x = placeholder[target=x]\nmodule fc = Linear(2, 2)\n"
                        "%fc = call_module[target=fc](args = (%x,))\nreturn %fc\n",
                        "small", &w->err));
    MUST(mase_net_start(w->net, 0, &w->err));
    assert_int_equal(mase_net_train(w->net, NULL, few, &training, &w->err), MASE_EVALUE);
    assert_non_null(strstr(w->err.msg, "validat"));
    mase_rows_free(few);
}

static void data_are_scaled_as_they_were(void **state)
{
    struct world *w = *state;
    struct mase_rows *jets = NULL, *again = NULL;
    const struct mase_training training = { .size = sizeof training, .options = "max_steps = 1" };
    float x[16], y[16];
    if (getenv("MASE_QUICK")) /* 800 000 rows */
        skip();
    MUST(mase_rows_open(w->s, &jets, "jsc-sim", "scaling = 'minmax'", NULL, &w->err));
    MUST(mase_net_train(w->net, NULL, jets, &training, &w->err));
    MUST(mase_rows_open(w->s, &again, "jsc-sim", NULL, w->net, &w->err));
    MUST(mase_rows_read(jets, "test", 0, 1, x, NULL, NULL, &w->err));
    MUST(mase_rows_read(again, "test", 0, 1, y, NULL, NULL, &w->err));
    for (int i = 0; i < 16; i++) /* by numbers that are given now */
        assert_true(fabsf(x[i] - y[i]) < 1e-6f);
    mase_rows_free(jets);
    mase_rows_free(again);
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(a_session_is_for_one_library),
        TEST(lists_say_what_there_is),
        TEST(the_host_hears_what_is_said),
        TEST(options_have_places),
        TEST(errors_may_be_unwanted),
        TEST(structs_have_sizes),
        TEST(nodes_stand_in_order),
        TEST(json_has_all_of_a_network),
        TEST(weights_stay_where_they_are),
        TEST(edits_change_what_is_computed),
        TEST(refused_edits_change_nothing),
        TEST(a_network_is_built_from_nothing),
        TEST(new_parameters_start_alone),
        TEST(failed_passes_change_nothing),
        TEST(passes_tell_what_they_found),
        TEST(costs_are_compared_for_as_many_samples),
        TEST(programs_bring_passes),
        TEST(decisions_are_carried_out),
        TEST(explanations_change_nothing),
        TEST(statistics_are_by_node_and_operand),
        TEST(numbers_are_rounded),
        TEST(integers_are_what_is_emulated),
        TEST(engines_go_by_their_names),
        TEST(results_have_the_type_that_is_computed),
        TEST(callbacks_stop_training),
        TEST(failed_training_changes_nothing),
        TEST(the_same_seed_gives_the_same_bits),
        TEST(tables_are_not_copied),
        TEST(few_rows_may_all_train),
        TEST(data_are_scaled_as_they_were),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
