/*
 * t_attributes.c - what charts learn from the attributes of trials, and from a study without any.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <mase/search.h>

#include "run_cases.h"
#include "search/attributes.h"
#include "study/study_parts.h"

static struct mase_study_objective objectives[] = { { "accuracy", MASE_MAXIMIZE },
                                                    { "average_bitwidth", MASE_MINIMIZE } };
static struct mase_dimension dimensions[] = {
    { "fc1/config/weight_width", MASE_DIMENSION_INT, .low = 2, .high = 8, .step = 1 },
    { "fc10/config/weight_width", MASE_DIMENSION_INT, .low = 2, .high = 8, .step = 1 },
};

#define METRICS(accuracy, error, bits, scaled)                                            \
    "\"software_metrics\": {\"accuracy\": " accuracy ", \"accuracy_error\": " error "}, " \
    "\"hardware_metrics\": {\"average_bitwidth\": " bits "}, "                            \
    "\"scaled_metrics\": {\"accuracy\": " accuracy ", \"average_bitwidth\": " scaled "}"

/* Trials: one that failed, one whose second layer is float, one that has both in integers. */
static const char *const attributes[] = {
    "{\"failure\": \"no\"}",
    "{" METRICS("0.5", "0.01", "4",
                "0.8") ", \"sampled_config\": {\"by\": \"name\", "
                       "\"default\": {\"config\": {\"name\": \"integer\", \"weight_width\": 8}}, "
                       "\"fc1\": {\"config\": {\"name\": \"integer\", \"weight_width\": 4, "
                       "\"weight_frac_width\": 2, "
                       "\"data_in_width\": 6}}, \"fc10\": {\"config\": {\"name\": null}}}}",
    "{" METRICS("0.6", "0.02", "5",
                "1.0") ", \"sampled_config\": {"
                       "\"fc1\": {\"config\": {\"name\": \"integer\", \"weight_width\": 3, "
                       "\"data_in_width\": 8}}, "
                       "\"fc10\": {\"config\": {\"name\": \"integer\", \"weight_width\": 2}}}}",
};

static const struct mase_value *parse(struct mase_study *s, const char *text)
{
    struct mase_value *v;
    struct mase_err err = { 0 };
    assert_int_equal(mase_json_parse(&v, &s->arena, text, strlen(text), "trial", &err), MASE_OK);
    return v;
}

static struct mase_study new_study(bool has_attributes)
{
    struct mase_study s = { .objective = objectives, .objectives = 2, .space = { 2, dimensions } };
    for (int i = 0; i < 3; i++) {
        struct mase_trial *t = mase_study_add(&s);
        t->state = i ? MASE_TRIAL_COMPLETE : MASE_TRIAL_FAIL;
        t->user = has_attributes ? parse(&s, attributes[i]) : NULL;
    }
    if (has_attributes)
        s.user =
            parse(&s, "{\"" MASE_SEARCH_BASELINE "\": {" METRICS("0.7", "0.03", "32", "6.4") "}}");
    return s;
}

static void scales_are_those_of_the_search(void **state)
{
    (void)state;
    struct mase_study s = new_study(true);
    assert_true(mase_search_scale(&s, 0) == 1);
    assert_float_equal(mase_search_scale(&s, 1), 0.2, 1e-12);
    assert_string_equal(mase_search_label(&s.arena, &s, 0), "accuracy");
    assert_string_equal(mase_search_label(&s.arena, &s, 1), "0.2 x average_bitwidth");
    mase_study_release(&s);
}

static void errors_and_the_baseline_are_those_of_the_values(void **state)
{
    (void)state;
    struct mase_study s = new_study(true);
    assert_true(isnan(mase_search_spread(&s, &s.trial[0], 0)));
    assert_float_equal(mase_search_spread(&s, &s.trial[2], 0), 0.02, 1e-12);
    assert_true(isnan(mase_search_spread(&s, &s.trial[2], 1)));
    assert_float_equal(mase_search_baseline_value(&s, 0), 0.7, 0);
    assert_float_equal(mase_search_baseline_value(&s, 1), 6.4, 0);
    assert_float_equal(mase_search_baseline_spread(&s, 0), 0.03, 1e-12);
    mase_study_release(&s);
}

static void bits_are_listed_by_layer_and_operand(void **state)
{
    (void)state;
    static const struct {
        const char *node, *operand;
        double first, second;
    } wanted[] = { { "fc1", "weight", 4, 3 },
                   { "fc1", "data_in", 6, 8 },
                   { "fc10", "weight", NAN, 2 } };
    struct mase_study s = new_study(true);
    struct mase_search_bits bits;
    mase_search_bits_of(&bits, &s.arena, &s, (const int64_t[]){ 1, 2 }, 2);
    assert_int_equal(bits.rows, 3);
    for (int i = 0; i < 3; i++) {
        assert_string_equal(bits.row[i].node, wanted[i].node);
        assert_string_equal(bits.row[i].operand, wanted[i].operand);
        assert_true(isnan(wanted[i].first) ? isnan(bits.row[i].bits[0])
                                           : bits.row[i].bits[0] == wanted[i].first);
        assert_true(bits.row[i].bits[1] == wanted[i].second);
    }
    mase_study_release(&s);
}

static void a_study_of_another_program_has_none(void **state)
{
    (void)state;
    struct mase_study s = new_study(false);
    struct mase_search_bits bits;
    mase_search_bits_of(&bits, &s.arena, &s, (const int64_t[]){ 1, 2 }, 2);
    assert_int_equal(bits.rows, 0);
    assert_true(mase_search_scale(&s, 1) == 1);
    assert_true(isnan(mase_search_spread(&s, &s.trial[1], 0)));
    assert_true(isnan(mase_search_baseline_value(&s, 0)));
    mase_study_release(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_are_those_of_the_search),
        cmocka_unit_test(errors_and_the_baseline_are_those_of_the_values),
        cmocka_unit_test(bits_are_listed_by_layer_and_operand),
        cmocka_unit_test(a_study_of_another_program_has_none),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
