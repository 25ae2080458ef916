/*
 * t_portable.c - exp, log and the normal distribution, beside the C library's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>

#include "run_cases.h"
#include "study/portable.h"

static void exp_and_log_are_near_the_library(void **state)
{
    (void)state;
    for (int i = -69900; i <= 69900; i += 7) {
        const double x = i * 0.01, e = exp(x);
        assert_true(fabs(mase_study_exp(x) - e) <= 4 * DBL_EPSILON * e);
        assert_true(fabs(mase_natural_log(e) - log(e)) <= 4 * DBL_EPSILON * fmax(fabs(x), 1));
    }
}

static void exp_has_ends(void **state)
{
    (void)state;
    assert_true(mase_study_exp(0) == 1 && mase_natural_log(1) == 0);
    assert_true(mase_study_exp(-INFINITY) == 0 && mase_study_exp(-701) == 0);
    assert_true(isinf(mase_study_exp(INFINITY)) && isnan(mase_study_exp(NAN)));
}

static void the_normal_share_is_that_of_erf(void **state)
{
    (void)state;
    for (double x = -9; x <= 9; x += 0.01)
        assert_true(fabs(mase_study_normal_share(x) - erfc(-x / sqrt(2)) / 2) < 2e-7);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exp_and_log_are_near_the_library),
        cmocka_unit_test(exp_has_ends),
        cmocka_unit_test(the_normal_share_is_that_of_erf),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
