/*
 * t_search.c - spaces over a network, and trials that measure what a network made anew measures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <mase/zoo.h>

#include "run_cases.h"
#include "search/search_parts.h"

static struct mase_err err;

#define STRATEGY                                                                      \
    "[strategy]\nname = \"optuna\"\n[strategy.sw_runner.basic_evaluation]\n"          \
    "[strategy.hw_runner.average_bitwidth]\n[strategy.setup]\nsampler = \"random\"\n" \
    "[strategy.metrics]\naccuracy.direction = \"maximize\"\n"                         \
    "average_bitwidth.direction = \"minimize\"\n"

static const char formats[] = "[search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
                              "[search_space.setup]\nby = \"type\"\n"
                              "[search_space.seed.default.config]\nname = [\"NA\"]\n"
                              "[search_space.seed.linear.config]\nname = [\"integer\", \"NA\"]\n"
                              "data_in_width = [4, 8]\ndata_in_frac_width = [\"NA\"]\n"
                              "weight_width = [2, 4, 8]\nweight_frac_width = [\"NA\"]\n"
                              "bias_width = [8]\nbias_frac_width = [\"NA\"]\n" STRATEGY;

struct fixture {
    struct mase_arena arena;
    struct mase_graph *graph;
    struct mase_dataset *data;
    struct mase_objective objective;
    struct mase_search *search;
};

static enum mase_status open_text(struct fixture *f, const char *text, int workers)
{
    struct mase_value *section;
    *f = (struct fixture){ 0 };
    assert_int_equal(mase_toml_parse(&section, &f->arena, text, strlen(text), "s.toml", &err), 0);
    mase_value_resolve_na(section);
    assert_int_equal(mase_objective_find(&f->objective, NULL, NULL, 0, &err), 0);
    assert_int_equal(mase_dataset_open(&f->data, "jsc-sim",
                                       &(struct mase_dataset_opts){ .sim_rows = 20000 }, &err),
                     0);
    assert_int_equal(
        mase_model_open(&f->graph, "jsc-tiny", &mase_dataset_info(f->data)->data, NULL, &err), 0);
    mase_graph_init_weights(f->graph, 1);
    const struct mase_search_opts o = { .section = section,
                                        .graph = f->graph,
                                        .data = f->data,
                                        .objective = &f->objective,
                                        .batch_size = 512,
                                        .seed = 7,
                                        .workers = workers };
    return mase_search_new(&f->search, &o, &err);
}

static void shut(struct fixture *f)
{
    mase_search_free(f->search);
    mase_graph_free(f->graph);
    mase_dataset_close(f->data);
    mase_arena_release(&f->arena);
}

static const struct mase_dimension *find(const struct fixture *f, const char *name)
{
    const struct mase_space *s = mase_search_setup(f->search)->space;
    for (int i = 0; i < s->count; i++)
        if (mase_streq(s->dimension[i].name, name))
            return &s->dimension[i];
    fail_msg("there is no dimension %s", name);
    return NULL;
}

/* relu is quantisable, so the default gives it a dimension of one choice; batch_norm1d is not. */
static void every_node_has_dimensions_of_its_own(void **state)
{
    struct fixture f;
    (void)state;
    assert_int_equal(open_text(&f, formats, 1), 0);
    assert_int_equal(mase_search_setup(f.search)->space->count, 9);
    assert_true(find(&f, "seq_blocks_1/config/name")->high == 0);
    const struct mase_dimension *w = find(&f, "seq_blocks_2/config/weight_width");
    assert_true(w->high == 2 && w->ordered);
    assert_false(find(&f, "seq_blocks_2/config/name")->ordered);
    assert_true(mase_space_size(mase_search_setup(f.search)->space) == 12);
    shut(&f);
}

/* The plan that follows formats against a predictor of a graph that was given them. */
static void a_trial_measures_what_a_new_network_does(void **state)
{
    struct fixture f;
    (void)state;
    assert_int_equal(open_text(&f, formats, 1), 0);
    struct mase_study study = { 0 };
    mase_search_describe(f.search, &study, "s");
    assert_int_equal(
        mase_search_run(f.search, &study, &(struct mase_search_run_opts){ .trials = 40 }, &err), 0);
    assert_int_equal(study.trials, 40);
    for (int64_t i = 0; i < study.trials; i++) {
        struct mase_candidate c;
        struct mase_predictor *p;
        struct mase_evaluation e;
        assert_int_equal(mase_candidate_init(&c, f.search, &err), 0);
        assert_int_equal(mase_candidate_move(&c, study.trial[i].x, &err), 0);
        assert_int_equal(
            mase_predictor_new(&p, c.graph, &mase_dataset_info(f.data)->data.sample, NULL, &err),
            0);
        assert_int_equal(mase_evaluate(&e, p, f.data, NULL, MASE_SPLIT_VALIDATION, 0, NULL, &err),
                         0);
        assert_true(study.trial[i].value[0] == e.accuracy);
        mase_predictor_free(p);
        mase_candidate_release(&c);
    }
    mase_study_release(&study);
    shut(&f);
}

static void a_point_outside_the_space_is_refused(void **state)
{
    struct fixture f;
    double x[9];
    (void)state;
    assert_int_equal(open_text(&f, formats, 1), 0);
    for (int i = 0; i < 9; i++) {
        const double wrong[] = { -1, 99, 0.5, NAN, INFINITY };
        for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
            memset(x, 0, sizeof x);
            x[i] = wrong[k];
            assert_int_equal(mase_candidate_move(&f.search->candidate[0], x, &err), MASE_EVALUE);
        }
    }
    shut(&f);
}

static void a_study_does_not_depend_on_workers(void **state)
{
    char hash[2][65];
    (void)state;
    for (int workers = 1; workers <= 2; workers++) {
        struct fixture f;
        struct mase_study study = { 0 };
        assert_int_equal(open_text(&f, formats, 2 * workers - 1), 0);
        mase_search_describe(f.search, &study, "s");
        assert_int_equal(
            mase_search_run(f.search, &study, &(struct mase_search_run_opts){ .trials = 60 }, &err),
            0);
        mase_study_hash(hash[workers - 1], &study);
        mase_study_release(&study);
        shut(&f);
    }
    assert_string_equal(hash[0], hash[1]);
}

/* Keys of a format that was not chosen are left out: integer has no exponent. */
static void several_formats_have_the_keys_of_all(void **state)
{
    static const char text[] =
        "[search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
        "[search_space.seed.default.config]\nname = [\"NA\"]\n"
        "[search_space.seed.seq_blocks_2.config]\nname = [\"integer\", \"minifloat_ieee\"]\n"
        "data_in_width = [8]\ndata_in_frac_width = [4]\ndata_in_exponent_width = [4]\n"
        "data_in_exponent_bias = [7]\nweight_width = [8]\nweight_frac_width = [4]\n"
        "weight_exponent_width = [4]\nweight_exponent_bias = [7]\nbias_width = [8]\n"
        "bias_frac_width = [4]\nbias_exponent_width = [4]\nbias_exponent_bias = [7]\n" STRATEGY;
    struct fixture f;
    (void)state;
    if (open_text(&f, text, 1))
        fail_msg("%s", err.msg);
    assert_true(mase_space_size(mase_search_setup(f.search)->space) == 2);
    shut(&f);
}

/* A scale is found once for each width; a wider integer has a finer one. */
static void auto_is_found_for_every_choice(void **state)
{
    static const char text[] =
        "[search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
        "[search_space.setup]\nby = \"type\"\n"
        "[search_space.seed.default.config]\nname = [\"NA\"]\n"
        "[search_space.seed.linear.config]\nname = [\"int\"]\n"
        "data_in_width = [4, 8]\ndata_in_scale = [\"auto\"]\n"
        "weight_width = [3, 4, 8]\nweight_scale = [\"auto\"]\nbias_name = [\"NA\"]\n" STRATEGY;
    struct fixture f;
    (void)state;
    if (open_text(&f, text, 1))
        fail_msg("%s", err.msg);
    const struct mase_format_site *s = NULL;
    for (int i = 0; i < f.search->formats.sites; i++)
        if (mase_streq(f.search->formats.site[i].node, "seq_blocks_2"))
            s = &f.search->formats.site[i];
    assert_non_null(s);
    for (int i = 0; i < 2; i++)
        assert_non_null(s->found[MASE_DATA_IN][i]);
    for (int i = 0; i < 3; i++)
        assert_non_null(s->found[MASE_WEIGHT][i]);
    assert_ptr_not_equal(s->found[MASE_WEIGHT][0], s->found[MASE_WEIGHT][1]);
    assert_null(s->found[MASE_BIAS]);
    shut(&f);
}

static void constraints_are_not_above_zero_where_they_hold(void **state)
{
    char text[2048];
    struct fixture f;
    struct mase_study study = { 0 };
    (void)state;
    strcpy(text, formats);
    strcat(text, "accuracy.at_least = 0.5\naverage_bitwidth.at_most = 4\n");
    if (open_text(&f, text, 1))
        fail_msg("%s", err.msg);
    mase_search_describe(f.search, &study, "s");
    assert_int_equal(study.constraints, 2);
    assert_int_equal(
        mase_search_run(f.search, &study, &(struct mase_search_run_opts){ .trials = 20 }, &err), 0);
    for (int64_t i = 0; i < study.trials; i++) {
        const struct mase_trial *t = &study.trial[i];
        assert_true((t->violation[0] <= 0) == (t->value[0] >= 0.5));
        assert_true((t->violation[1] <= 0) == (t->value[1] <= 4));
    }
    mase_study_release(&study);
    shut(&f);
}

static void mistakes_are_told(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        { "[search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
          "[search_space.seed.linear.config]\nname = [\"integer\"]\nweight_width = [8]\n" STRATEGY,
          "no section of its own" },
        { "[search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
          "[search_space.model]\nwidth = [8]\n" STRATEGY,
          "no constructor" },
        { "[search_space]\nname = \"graph/quantize/mixed_precision_ptq\"\n"
          "[search_space.train]\nmax_epochs = [1]\n" STRATEGY,
          "basic_train" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct fixture f;
        assert_int_not_equal(open_text(&f, cases[i].text, 1), 0);
        if (!strstr(err.msg, cases[i].message))
            fail_msg("'%s' does not say '%s'", err.msg, cases[i].message);
        shut(&f);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_has_dimensions_of_its_own),
        cmocka_unit_test(a_trial_measures_what_a_new_network_does),
        cmocka_unit_test(a_point_outside_the_space_is_refused),
        cmocka_unit_test(a_study_does_not_depend_on_workers),
        cmocka_unit_test(several_formats_have_the_keys_of_all),
        cmocka_unit_test(auto_is_found_for_every_choice),
        cmocka_unit_test(constraints_are_not_above_zero_where_they_hold),
        cmocka_unit_test(mistakes_are_told),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
