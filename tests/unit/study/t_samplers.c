/*
 * t_samplers.c - what all samplers promise: possible points, a pure function of the seed, the
 * number and what was told; and what each promises of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "run_cases.h"
#include "sampler_study.h"

/* ---- of all samplers ---- */

static const struct {
    const char *name, *options;
    int objectives;
    bool discrete;
} kinds[] = {
    { "random", "{}", 1, false },
    { "grid", "{}", 1, true },
    { "bruteforce", "{}", 1, true },
    { "qmc", "{}", 2, false },
    { "qmc", "{\"scramble\": true}", 2, false },
    { "tpe", "{}", 1, false },
    { "tpe", "{}", 2, false },
    { "tpe", "{}", 2, true },
    { "tpe", "{\"multivariate\": true, \"n_startup_trials\": 3}", 3, false },
    { "tpe", "{\"multivariate\": false, \"constant_liar\": false}", 1, false },
    { "nsgaii", "{\"population_size\": 12}", 2, false },
    { "nsgaiii", "{\"population_size\": 9, \"mutation_prob\": 0.3}", 3, false },
    { "cmaes", "{}", 1, false },
    { "cmaes", "{\"popsize\": 6, \"with_margin\": false}", 1, true },
    { "greedy", "{}", 2, true },
    { "greedy", "{}", 1, true },
};
enum { KINDS = sizeof kinds / sizeof *kinds, TRIALS = 70 };

/* Every sampler is in the table above, so that none escapes these tests. */
static void every_sampler_is_tested(void **state)
{
    (void)state;
    for (const struct mase_sampler_kind *k = mase_samplers; k->name; k++) {
        int i = 0;
        while (i < KINDS && strcmp(kinds[i].name, k->name) != 0)
            i++;
        if (i == KINDS)
            fail_msg("%s is not in the table", k->name);
    }
}

/* Complete, infeasible, pruned, failed trials, NaN and infinite values: by the point alone. */
static void measure_all_sorts(struct mase_trial *t, const struct sampler_study *s)
{
    double sum = 0;
    for (int i = 0; i < s->space.count; i++)
        sum += t->x[i] * (i + 1);
    const int sort = (int)fabs(fmod(sum * 10, 17));
    for (int j = 0; j < s->setup.objectives; j++)
        t->value[j] = cos(sum * (j + 1)) + t->x[j % s->space.count];
    t->violation[0] = sort == 4 ? 1 : sort == 5 ? NAN : -1;
    t->state = sort == 6 ? MASE_TRIAL_FAIL : sort == 7 ? MASE_TRIAL_PRUNED : MASE_TRIAL_COMPLETE;
    t->value[0] = sort == 8 ? NAN : sort == 9 ? INFINITY : t->value[0];
    if (t->state == MASE_TRIAL_PRUNED) {
        t->reading[0] = (struct mase_reading){ 3, sum };
        t->readings = 1;
    }
}

static void run_kind(struct sampler_study *s, int kind, int64_t window)
{
    open_study(s, kinds[kind].discrete ? discrete_space : mixed_space, kinds[kind].objectives,
               window);
    start_sampler(s, kinds[kind].name, kinds[kind].options);
    run_study(s, TRIALS, measure_all_sorts);
}

static void points_are_possible(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct sampler_study s;
        run_kind(&s, k, 8);
        assert_true(s.trials > 3); /* greedy descent may end soon */
        for (int64_t n = 0; n < s.trials; n++)
            for (int i = 0; i < s.space.count; i++) {
                const struct mase_dimension *d = &s.space.dimension[i];
                const double x = s.trial[n].x[i];
                if (!(x >= d->low && x <= d->high && mase_dimension_nearest(d, x) == x))
                    fail_msg("%s: trial %d, %s = %.17g", kinds[k].name, (int)n, d->name, x);
            }
        close_study(&s);
    }
}

/* A sampler that is made anew and told everything chooses the same points as one that has chosen
 * those before, in whatever order it is asked. */
static void a_resumed_sampler_chooses_the_same(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct sampler_study s;
        run_kind(&s, k, 8);
        for (int64_t n = 0; n < s.trials; n += 7) {
            restart_sampler(&s);
            const int64_t needs = tell_needed(&s, n);
            for (int64_t later = n; later >= n - 3 && later >= needs; later--) {
                double x[DIMENSIONS];
                if (mase_sampler_needs(s.sampler, later) != needs)
                    continue;
                ask_point(&s, x, later);
                assert_memory_equal(x, s.trial[later].x, (size_t)s.space.count * sizeof *x);
            }
        }
        close_study(&s);
    }
}

static void needs_never_fall_and_come_before(void **state)
{
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct sampler_study s;
        run_kind(&s, k, 8);
        restart_sampler(&s);
        for (int64_t n = 0; n < s.trials; n++) {
            tell_needed(&s, n);
            assert_true(s.told <= n);
            for (int64_t later = n; later < n + 30; later++)
                assert_true(mase_sampler_needs(s.sampler, later + 1) >=
                            mase_sampler_needs(s.sampler, later));
        }
        close_study(&s);
    }
}

static void the_window_holds(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, mixed_space, 1, 8);
    start_sampler(&s, "tpe", "{}");
    assert_int_equal(mase_sampler_needs(s.sampler, 7), 0);
    assert_int_equal(mase_sampler_needs(s.sampler, 8), 1);
    assert_int_equal(mase_sampler_needs(s.sampler, 100), 93);
    close_study(&s);
    open_study(&s, mixed_space, 2, 8);
    start_sampler(&s, "nsgaii", "{\"population_size\": 12}");
    assert_int_equal(mase_sampler_needs(s.sampler, 11), 0);
    assert_int_equal(mase_sampler_needs(s.sampler, 12), 12);
    assert_int_equal(mase_sampler_needs(s.sampler, 35), 24);
    close_study(&s);
}

static void seeds_give_other_points(void **state)
{
    (void)state;
    static const int random_ones[] = { 0, 4, 5, 6, 10, 11, 12 };
    for (size_t i = 0; i < sizeof random_ones / sizeof *random_ones; i++) {
        struct sampler_study a, b;
        run_kind(&a, random_ones[i], 1);
        open_study(&b, mixed_space, kinds[random_ones[i]].objectives, 1);
        b.setup.seed++;
        start_sampler(&b, kinds[random_ones[i]].name, kinds[random_ones[i]].options);
        run_study(&b, TRIALS, measure_all_sorts);
        int same = 0;
        for (int n = 0; n < TRIALS; n++)
            same += a.trial[n].x[0] == b.trial[n].x[0];
        assert_true(same < TRIALS / 4);
        close_study(&a);
        close_study(&b);
    }
}

static void no_sampler_measures_twice_without_need(void **state)
{
    (void)state;
    static const int learning[] = { 7, 13 }; /* tpe, and cmaes, which may */
    struct sampler_study s;
    run_kind(&s, learning[0], 8);
    for (int64_t n = 0; n < s.trials; n++)
        for (int64_t m = 0; m < n; m++)
            assert_true(
                memcmp(s.trial[m].x, s.trial[n].x, (size_t)s.space.count * sizeof(double)) != 0);
    close_study(&s);
}

/* ---- each point once ---- */

static void brute_force_takes_every_point_once(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, discrete_space, 1, 64);
    start_sampler(&s, "bruteforce", "{}");
    assert_true(mase_sampler_trials(s.sampler) == 7 * 4 * 3);
    run_study(&s, 1000, measure_all_sorts);
    assert_int_equal(s.trials, 84);
    for (int n = 0; n < 84; n++) { /* the last dimension changes fastest */
        assert_true(s.trial[n].x[0] == 2 + n / 12);
        assert_true(s.trial[n].x[1] == n / 3 % 4);
        assert_true(s.trial[n].x[2] == n % 3);
    }
    close_study(&s);
}

static void a_grid_takes_what_is_given(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, mixed_space, 1, 64);
    start_sampler(&s, "grid",
                  "{\"search_space\": {\"u\": [0.25, 0], \"rate\": [0.01], \"w\": [8, 2]}}");
    run_study(&s, 1000, measure_all_sorts);
    assert_int_equal(s.trials, 2 * 1 * 2 * 4 * 3);
    for (int n = 0; n < s.trials; n++) {
        assert_true(s.trial[n].x[0] == (n < 24 ? 0.25 : 0));
        assert_true(s.trial[n].x[1] == 0.01);
        assert_true(s.trial[n].x[2] == (n / 12 % 2 ? 2 : 8));
        assert_true(s.trial[n].x[3] == n / 3 % 4 && s.trial[n].x[4] == n % 3);
    }
    close_study(&s);
}

static void impossible_spaces_and_options_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *options, *word;
        enum mase_status status;
        bool discrete;
        int objectives;
    } bad[] = {
        { "bruteforce", "{}", "u takes any number", MASE_EVALUE, false, 1 },
        { "greedy", "{}", "u takes any number", MASE_EVALUE, false, 1 },
        { "grid", "{\"search_space\": {\"u\": [0]}}", "rate takes any number", MASE_EVALUE, false,
          1 },
        { "grid", "{\"search_space\": {\"w\": [9]}}", "w has no such number", MASE_EVALUE, true,
          1 },
        { "grid", "{\"search_space\": {\"s\": [\"d\"]}}", "s has no such choice", MASE_EVALUE, true,
          1 },
        { "grid", "{\"search_space\": {\"w\": []}}", "w must be a list", MASE_EVALUE, true, 1 },
        { "grid", "{\"search_space\": {\"x\": [1]}}", "no dimension x", MASE_EVALUE, true, 1 },
        { "cmaes", "{}", "2 objectives", MASE_EVALUE, true, 2 },
        { "nsgaiii", "{\"dividing_parameter\": 100}", "176851 reference points", MASE_ELIMIT, true,
          4 },
        { "nsgaii", "{\"population_size\": 1}", "population_size", MASE_EVALUE, true, 2 },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct sampler_study s;
        open_study(&s, bad[i].discrete ? discrete_space : mixed_space, bad[i].objectives, 1);
        expect_refusal(&s, bad[i].name, bad[i].options, bad[i].status, bad[i].word);
        close_study(&s);
    }
}

static void too_many_points_are_refused_with_their_number(void **state)
{
    (void)state;
    struct mase_dimension d[40];
    for (int i = 0; i < 40; i++)
        d[i] = (struct mase_dimension){ "w", MASE_DIMENSION_INT, .low = 1, .high = 2, .step = 1 };
    for (int count = 31; count <= 40; count += 9) {
        struct sampler_study s;
        open_study(&s, discrete_space, 1, 1);
        s.space = (struct mase_space){ count, d };
        if (count == 31)
            start_sampler(&s, "bruteforce", "{}");
        else
            expect_refusal(&s, "bruteforce", "{}", MASE_ELIMIT, "1099511627776 points");
        close_study(&s);
    }
}

/* ---- greedy descent ---- */

static void measure_trade(struct mase_trial *t, const struct sampler_study *s)
{
    (void)s;
    t->value[0] = -(t->x[0] * 3 + t->x[1] * 2 + t->x[2]); /* minimised */
    t->value[1] = t->x[0] * 2 + t->x[1] * 2 + t->x[2] * 2;
    t->state = MASE_TRIAL_COMPLETE;
}

/* Each step costs 2 of the second objective less; the third dimension loses least. */
static void greedy_descends_by_the_cheapest_step(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, ordered_space, 2, 64);
    start_sampler(&s, "greedy", "{}");
    assert_true(mase_sampler_trials(s.sampler) == 1 + 3 + 3 + 3 + 3 + 2 + 1);
    run_study(&s, 1000, measure_trade);
    /* The start; 2 rounds of 3, as all can go down; 2 of 2; 2 of 1. */
    assert_int_equal(s.trials, 1 + 2 * 3 + 2 * 2 + 2 * 1);
    static const double path[][3] = { { 4, 2, 2 }, { 4, 2, 1 }, { 4, 2, 0 }, { 4, 1, 0 },
                                      { 4, 0, 0 }, { 3, 0, 0 }, { 2, 0, 0 } };
    static const int at[] = { 0, 3, 6, 8, 10, 11, 12 };
    for (int i = 0; i < 7; i++)
        assert_memory_equal(s.trial[at[i]].x, path[i], sizeof path[i]);
    close_study(&s);
}

static void measure_valley(struct mase_trial *t, const struct sampler_study *s)
{
    (void)s;
    t->value[0] = fabs(t->x[0] - 3) + fabs(t->x[1] - 1) + fabs(t->x[2] - 2);
    t->state = t->x[0] == 3 && t->x[1] == 2 ? MASE_TRIAL_FAIL : MASE_TRIAL_COMPLETE;
}

static void greedy_ends_where_no_step_improves(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, ordered_space, 1, 64);
    start_sampler(&s, "greedy", "{}");
    run_study(&s, 1000, measure_valley);
    /* 4 2 2, round the failed step to 4 1 2, then 3 1 2, and three steps that are worse. */
    assert_int_equal(s.trials, 1 + 3 + 3 + 3);
    assert_true(mase_sampler_trials(s.sampler) == 10);
    close_study(&s);
}

static void measure_limit(struct mase_trial *t, const struct sampler_study *s)
{
    measure_trade(t, s);
    t->violation[0] = fabs(t->value[1] - 10) - 2; /* feasible where the second is 8 .. 12 */
}

/* 16, which is not feasible, down to 8; no step beyond is feasible. */
static void greedy_stays_feasible(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, ordered_space, 2, 64);
    start_sampler(&s, "greedy", "{}");
    run_study(&s, 1000, measure_limit);
    assert_true(s.trial[0].value[1] == 16 && s.trial[0].violation[0] > 0);
    assert_int_equal(s.trials, 1 + 2 * 3 + 2 * 2 + 1);
    close_study(&s);
}

static void measure_no_first(struct mase_trial *t, const struct sampler_study *s)
{
    measure_trade(t, s);
    t->state = t->number == 0 ? MASE_TRIAL_FAIL : MASE_TRIAL_COMPLETE;
}

static void greedy_survives_a_first_trial_that_fails(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, ordered_space, 2, 64);
    start_sampler(&s, "greedy", "{}");
    run_study(&s, 1000, measure_no_first);
    assert_int_equal(s.trials, 13);
    close_study(&s);
}

/* ---- learning ---- */

static void measure_bowl(struct mase_trial *t, const struct sampler_study *s)
{
    double sum = 0;
    for (int i = 0; i < s->space.count; i++) {
        const struct mase_dimension *d = &s->space.dimension[i];
        const bool number = d->kind != MASE_DIMENSION_CHOICE || d->ordered;
        const double u = d->low < d->high ? (t->x[i] - d->low) / (d->high - d->low) : 0.7;
        sum += d->log   ? fabs(log10(t->x[i]) + 2)
               : number ? 4 * (u - 0.7) * (u - 0.7)
                        : t->x[i] != 1;
    }
    t->value[0] = sum;
    t->violation[0] = t->x[0] - 0.8;
    t->state = MASE_TRIAL_COMPLETE;
}

/* The mean of the last quarter is far below that of random points. */
static void learning_samplers_learn(void **state)
{
    (void)state;
    static const char *const names[] = { "random", "tpe", "cmaes", "nsgaii" };
    double mean[4];
    for (int k = 0; k < 4; k++) {
        struct sampler_study s;
        open_study(&s, mixed_space, 1, k == 1 ? 4 : 64);
        start_sampler(&s, names[k], k == 3 ? "{\"population_size\": 10}" : "{}");
        run_study(&s, 120, measure_bowl);
        mean[k] = 0;
        for (int n = 90; n < 120; n++)
            mean[k] += s.trial[n].value[0] / 30;
        close_study(&s);
    }
    assert_true(mean[0] > 1.5);
    assert_true(mean[1] < mean[0] / 2);
    assert_true(mean[2] < mean[0] / 3);
    assert_true(mean[3] < mean[0] * 2 / 3);
}

static void measure_wall(struct mase_trial *t, const struct sampler_study *s)
{
    measure_bowl(t, s);
    t->value[0] = fabs(t->x[2] - 5);
    t->violation[0] = t->x[0] - 0.4;
}

static void constraints_are_learnt(void **state)
{
    (void)state;
    static const char *const names[] = { "tpe", "cmaes", "nsgaii" };
    for (int k = 0; k < 3; k++) {
        struct sampler_study s;
        open_study(&s, mixed_space, 1, 1);
        start_sampler(&s, names[k], k == 2 ? "{\"population_size\": 10}" : "{}");
        run_study(&s, 120, measure_wall);
        int allowed = 0;
        for (int n = 80; n < 120; n++)
            allowed += s.trial[n].violation[0] <= 0;
        if (allowed < 28) /* of random ones about 16 are */
            fail_msg("%s: %d of 40 points are feasible", names[k], allowed);
        close_study(&s);
    }
}

static void measure_pruned(struct mase_trial *t, const struct sampler_study *s)
{
    measure_bowl(t, s);
    t->state = MASE_TRIAL_PRUNED;
    t->reading[0] = (struct mase_reading){ 0, t->value[0] };
    t->readings = 1;
    t->value[0] = NAN;
}

static void pruned_trials_teach_by_their_last_reading(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, mixed_space, 1, 1);
    start_sampler(&s, "tpe", "{}");
    run_study(&s, 120, measure_pruned);
    double mean = 0;
    for (int n = 90; n < 120; n++)
        mean += s.trial[n].reading[0].value / 30;
    assert_true(mean < 1);
    close_study(&s);
}

/* ---- the first points ---- */

/* With several objectives the diagonal of the ordered dimensions comes first, from end to end. */
static void tpe_begins_on_the_diagonal(void **state)
{
    (void)state;
    struct sampler_study s;
    open_study(&s, ordered_space, 2, 64);
    start_sampler(&s, "tpe", "{}");
    run_study(&s, 3, measure_trade);
    for (int n = 0; n < 3; n++)
        for (int i = 0; i < 3; i++)
            assert_true(s.trial[n].x[i] == s.space.dimension[i].low + n);
    close_study(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sampler_is_tested),
        cmocka_unit_test(points_are_possible),
        cmocka_unit_test(a_resumed_sampler_chooses_the_same),
        cmocka_unit_test(needs_never_fall_and_come_before),
        cmocka_unit_test(the_window_holds),
        cmocka_unit_test(seeds_give_other_points),
        cmocka_unit_test(no_sampler_measures_twice_without_need),
        cmocka_unit_test(brute_force_takes_every_point_once),
        cmocka_unit_test(a_grid_takes_what_is_given),
        cmocka_unit_test(impossible_spaces_and_options_are_refused),
        cmocka_unit_test(too_many_points_are_refused_with_their_number),
        cmocka_unit_test(greedy_descends_by_the_cheapest_step),
        cmocka_unit_test(greedy_ends_where_no_step_improves),
        cmocka_unit_test(greedy_stays_feasible),
        cmocka_unit_test(greedy_survives_a_first_trial_that_fails),
        cmocka_unit_test(learning_samplers_learn),
        cmocka_unit_test(constraints_are_learnt),
        cmocka_unit_test(pruned_trials_teach_by_their_last_reading),
        cmocka_unit_test(tpe_begins_on_the_diagonal),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
