/*
 * t_golden_quantize.c - every golden quantisation in fixed point and block floating point: tables,
 * graph text, metadata, quantised weights to the bit, outputs within rounding.
 */
#include <math.h>

#include "golden.h"
#include "run_cases.h"

struct quant_case {
    struct golden *t;
    const char *name;
    const struct mase_value *golden; /* of this case */
    const struct mase_safetensors *numbers;
};

static const struct mase_tensor *numbers(const struct quant_case *c, const char *what)
{
    char name[128];
    snprintf(name, sizeof name, "%s/%s", c->name, what);
    for (int i = 0; i < c->numbers->count; i++)
        if (!strcmp(c->numbers->items[i].name, name))
            return &c->numbers->items[i].tensor;
    return NULL;
}

static void check_text(const struct quant_case *c, const char *file, const char *got)
{
    const struct mase_value *want = mase_value_get(c->golden, file);
    if (want)
        compare_text(c->t, c->name, file, want->s, got);
}

/* ---- what the summary prints and writes ---- */

/* Two tables follow their headings; golden texts end with a newline. */
static void check_screen(const struct quant_case *c)
{
    static const char first[] = "Compare nodes:\n", second[] = "Quantized graph histogram:\n";
    const char *text = printed(c->t->f), *table = strstr(text, first);
    const char *histogram = strstr(text, second);
    assert_non_null(table);
    assert_non_null(histogram);
    table += strlen(first);
    check_text(c, "table.txt",
               mase_arena_strndup(&c->t->f->arena, table, (size_t)(histogram - table)));
    check_text(c, "histogram.txt", histogram + strlen(second));
}

static void check_files(const struct quant_case *c, const char *dir)
{
    static const char *const files[] = { "quantize_table.csv", "quantize_histogram.csv" };
    for (int i = 0; i < 2; i++) {
        const char *path = mase_arena_printf(&c->t->f->arena, "%s/quantize/%s", dir, files[i]);
        check_text(c, files[i], file_text(c->t->f, path));
        assert_int_equal(remove(path), 0);
    }
    assert_int_equal(remove(mase_path_join(&c->t->f->arena, dir, "quantize")), 0);
}

static void check_graph(const struct quant_case *c)
{
    struct mase_str text = { 0 };
    mase_graph_print(&text, c->t->f->g);
    mase_str_addc(&text, '\n');
    check_text(c, "graph.txt", mase_str_text(&text));
    mase_str_release(&text);
}

/* The metadata after a bypassed quantisation is float with us: compare as text when listed. */
static void check_meta(const struct quant_case *c)
{
    struct fixture *f = c->t->f;
    const struct mase_value *want = mase_value_get(c->golden, "meta_common.json");
    if (want && is_listed(c->t, c->name, "meta_common.json")) {
        struct mase_str w = { 0 }, g = { 0 };
        mase_json_print(&w, want, 0);
        for (const struct mase_node *n = f->g->first; n; n = n->next)
            for (int i = 0; i < n->meta->arg_count; i++) {
                mase_str_printf(&g, "%s.%s: ", n->name, n->meta->args[i].name);
                mase_format_print(&g, n->meta->args[i].format);
                mase_str_addc(&g, '\n');
            }
        compare_text(c->t, c->name, "meta_common.json", mase_str_text(&w), mase_str_text(&g));
        mase_str_release(&w);
        mase_str_release(&g);
    } else if (want) {
        assert_within(f, c->name, want, section(f, MASE_COMMON));
    }
}

/* ---- numbers ---- */

static void check_bits(const struct quant_case *c, const struct mase_module *m, const char *param,
                       enum mase_operand operand, const char *what)
{
    const struct mase_tensor *want = numbers(c, what);
    if (!want)
        return;
    const struct mase_param *p = mase_module_param(m, param);
    int64_t n = mase_tensor_count(&p->tensor);
    float *q = mase_new_array(&c->t->f->arena, float, (size_t)n);
    mase_quantize(m->quant->operand[operand], q, p->tensor.data, &p->tensor.shape, MASE_ROLE_WEIGHT,
                  MASE_SIGNED);
    assert_int_equal(n, mase_tensor_count(want));
    for (int64_t i = 0; i < n; i++) /* the sign of a zero differs from machine to machine there */
        assert_true(q[i] == mase_f32(want)[i]);
}

static void check_first_layer(const struct quant_case *c)
{
    const struct mase_value *first = mase_value_get(c->golden, "first");
    if (!first)
        return;
    const struct mase_module *m = mase_graph_module(c->t->f->g, first->s);
    assert_non_null(m);
    assert_non_null(m->quant);
    check_bits(c, m, "weight", MASE_WEIGHT, "wq");
    check_bits(c, m, "bias", MASE_BIAS, "bq");
}

/* A row in which some value lies on a rounding boundary may go either way. */
static bool is_sensitive(const struct quant_case *c, int64_t row)
{
    const struct mase_value *rows = mase_value_get(c->golden, "rows_sensitive");
    for (int i = 0; rows && i < rows->count; i++)
        if (rows->items[i]->i == row)
            return true;
    return false;
}

static void check_output(const struct quant_case *c)
{
    struct fixture *f = c->t->f;
    const struct mase_tensor *want = numbers(c, "y");
    if (!want)
        return;
    struct mase_values v;
    struct mase_input in = { .name = "x", .tensor = f->x };
    MUST(f, mase_run_reference(&v, &f->arena, f->g, &in, 1, &f->err));
    const struct mase_arg *out = mase_run_output(&v, f->g);
    assert_int_equal(out->kind, MASE_ARG_TENSOR);
    assert_true(mase_shape_equal(&out->tensor->shape, &want->shape));
    int64_t count = mase_tensor_count(want), row = count / want->shape.dim[0];
    double scale = 1;
    for (int64_t i = 0; i < count; i++)
        scale = fmax(scale, fabs(mase_tensor_get(want, i)));
    for (int64_t i = 0; i < count; i++) {
        double d = fabs(mase_tensor_get(want, i) - mase_tensor_get(out->tensor, i));
        if (d > 1e-5 * scale && !is_sensitive(c, i / row))
            fail_msg("%s %s: value %lld is %g, golden %g", c->t->model, c->name, (long long)i,
                     mase_tensor_get(out->tensor, i), mase_tensor_get(want, i));
    }
}

/* ---- one case ---- */

static void check_case(struct quant_case *c, const char *dir)
{
    struct fixture *f = c->t->f;
    const struct mase_value *args = mase_value_get(c->golden, "args");
    const struct mase_value *kept = mase_value_copy(&f->arena, args);
    f->m.env.out_dir = dir;
    MUST(f, mase_manager_run(&f->m, &f->g, "quantize", args, &f->err));
    assert_true(mase_value_equal(args, kept)); /* arguments are the caller's */
    check_screen(c);
    check_files(c, dir);
    check_graph(c);
    check_meta(c);
    check_first_layer(c);
    check_output(c);
    if (mase_value_get(c->golden, "error")) /* where the original fails, we must not */
        compare_text(c->t, c->name, "error", mase_value_get(c->golden, "error")->s, "none");
    f->m.env.out_dir = NULL;
    RUN(f, "verify_common_metadata", NULL);
    (void)printed(f);
}

/* A fresh graph for every case; returns whether there is another. */
static bool check_nth(const char *model, int i, const char *dir)
{
    struct fixture f;
    struct golden t;
    struct mase_safetensors st;
    setup(&f, model);
    golden_open(&t, &f, model);
    const struct mase_value *cases = mase_value_get(t.root, "cases");
    bool more = i + 1 < cases->count;
    MUST(&f,
         mase_safetensors_open(&st, data_path(&f, "passes", model, "golden.safetensors"), &f.err));
    struct quant_case c = { &t, cases->keys[i], cases->items[i], &st };
    check_case(&c, dir);
    mase_safetensors_close(&st);
    golden_close(&t);
    teardown(&f);
    return more;
}

static void quantisation_equals_the_originals(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    const char *dir = temp_dir(&f);
    int cases = 0;
    for (int i = 0; golden_models[i]; i++) {
        int k = 0;
        while (check_nth(golden_models[i], k, dir))
            k++;
        cases += k + 1;
    }
    assert_int_equal(cases, 12 * 27 + 4);
    assert_int_equal(remove(dir), 0);
    mase_arena_release(&f.arena);
}

/* Every row of differences.txt must be about a case that is run. */
static void every_difference_is_of_a_known_file(void **state)
{
    (void)state;
    struct fixture f = { 0 };
    const char *text = file_text(&f, DATA "/passes/differences.txt");
    char *copy = strdup(text), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char model[64], kase[64], file[64], why[256];
        struct mase_value *root;
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%63s %63s %63s %255[^\n]", model, kase, file, why), 4);
        MUST(&f, mase_json_read(&root, &f.arena, data_path(&f, "passes", model, "golden.json"),
                                &f.err));
        const struct mase_value *c = mase_value_get(mase_value_get(root, "cases"), kase);
        if (!c || !mase_value_get(c, file))
            fail_msg("no such golden file: %s", line);
    }
    free(copy);
    mase_arena_release(&f.arena);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantisation_equals_the_originals),
        cmocka_unit_test(every_difference_is_of_a_known_file),
    };
    mase_log_set_level(MASE_CRITICAL);
    return run_cases(argc, argv, tests, NULL, NULL);
}
