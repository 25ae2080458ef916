/*
 * t_store.c - studies in SQLite: what is written reads back equal, runs go on, and files that are
 * no studies are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mase/file.h>

#include "base/number.h"
#include "chain.h"
#include "run_cases.h"
#include "study/store.h"

static char folder[] = "/tmp/t_store_XXXXXX", path[64];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    mase_snprintf(path, sizeof path, "%s/s.db", folder);
    return 0;
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

/* The one that closed last could not write. */
static int remove_reader(void **state)
{
    char beside[sizeof path + 4];
    (void)state;
    mase_snprintf(beside, sizeof beside, "%s-wal", path);
    unlink(beside);
    mase_snprintf(beside, sizeof beside, "%s-shm", path);
    unlink(beside);
    return unlink(path);
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder); /* nothing but the file was left beside it */
}

/* ---- a study of all kinds of dimensions */

static struct mase_value *choices(struct mase_arena *a)
{
    struct mase_value *v = mase_value_list(a);
    mase_value_push(a, v, mase_value_string(a, "integer \"8\""));
    mase_value_push(a, v, mase_value_none(a));
    mase_value_push(a, v, mase_value_int(a, 4));
    mase_value_push(a, v, mase_value_bool(a, true));
    mase_value_push(a, v, mase_value_float(a, 0.1));
    return v;
}

enum { DIMENSIONS = 6 };

static struct mase_space all_kinds(struct mase_arena *a)
{
    const struct mase_dimension all[DIMENSIONS] = {
        { "lr", MASE_DIMENSION_FLOAT, .low = 1e-5, .high = 0.1, .log = true },
        { "drop", MASE_DIMENSION_FLOAT, .low = 0, .high = 0.5 },
        { "share", MASE_DIMENSION_FLOAT, .low = 0, .high = 1, .step = 0.125 },
        { "width", MASE_DIMENSION_INT, .low = 2, .high = 8, .step = 2 },
        { "units", MASE_DIMENSION_INT, .low = 1, .high = 512, .step = 1, .log = true },
        { "fc1/config/name", MASE_DIMENSION_CHOICE, .high = 4, .choices = choices(a) },
    };
    return (struct mase_space){ DIMENSIONS, mase_arena_memdup(a, all, sizeof all) };
}

static const enum mase_goal directions[] = { MASE_MAXIMIZE, MASE_MINIMIZE };
static struct mase_study_objective objectives[] = { { "accuracy", MASE_MAXIMIZE },
                                                    { "bits", MASE_MINIMIZE } };
static const char *const constraints[] = { "size", "time" };

static enum mase_status measure(void *data, int worker, struct mase_study_run *run,
                                struct mase_trial *t, struct mase_arena *a, struct mase_err *err)
{
    (void)data, (void)worker;
    struct mase_value *user = mase_value_table(a);
    if (t->number % 11 == 5)
        return mase_fail(err, MASE_EVALUE, "no network of %g units", t->x[4]);
    mase_value_set(a, user, "note", mase_value_string(a, "a \"note\" of\nü"));
    mase_value_set(a, user, "number", mase_value_int(a, t->number));
    t->user = user;
    mase_study_report(run, t, 3, t->x[1]);
    mase_study_report(run, t, 1, t->number % 2 ? NAN : -INFINITY);
    t->value[0] = t->number % 7 == 6 ? INFINITY : -t->x[1] / 3;
    t->value[1] = t->number % 5 == 4 ? -0.0 : t->x[3] + 1e-17 * t->x[4];
    t->violation[0] = t->x[2] - 0.5;
    t->violation[1] = -1;
    return MASE_OK;
}

struct test {
    struct mase_arena arena;
    struct mase_space space;
    struct mase_study_setup setup;
    struct mase_study study;
    struct mase_study_run_opts opts;
};

static void begin(struct test *t, int64_t trials)
{
    *t = (struct test){ 0 };
    t->space = all_kinds(&t->arena);
    t->setup = (struct mase_study_setup){ &t->space,        directions, .objectives = 2,
                                          .constraints = 2, .seed = 3,  .window = 8 };
    t->study = (struct mase_study){ .name = "a study",
                                    .objective = objectives,
                                    .objectives = 2,
                                    .constraint = constraints,
                                    .constraints = 2 };
    t->opts = (struct mase_study_run_opts){ .trials = trials, .measure = measure, .data = t };
}

static void end(struct test *t)
{
    mase_study_release(&t->study);
    mase_arena_release(&t->arena);
}

static enum mase_status run(struct test *t, const char *where, int workers, struct mase_err *err)
{
    t->opts.workers = workers;
    assert_int_equal(mase_sampler_new(&t->opts.sampler, &chain_kind, &t->setup, NULL, err), 0);
    enum mase_status st = MASE_OK;
    if (where)
        st = mase_store_open(&t->opts.store, where, MASE_STORE_CREATE, err);
    if (!st)
        st = mase_study_run(&t->study, &t->setup, &t->opts, err);
    mase_store_close(t->opts.store);
    t->opts.store = NULL;
    mase_sampler_free(t->opts.sampler);
    return st;
}

/* The hash of a run in memory. */
static void expect(char hex[65], int64_t trials)
{
    struct test t;
    struct mase_err err;
    begin(&t, trials);
    assert_int_equal(run(&t, NULL, 1, &err), MASE_OK);
    mase_study_hash(hex, &t.study);
    end(&t);
}

static void read_back(struct mase_study *s, const char *where, const char *name)
{
    struct mase_store *store;
    struct mase_err err;
    *s = (struct mase_study){ 0 };
    if (mase_store_open(&store, where, MASE_STORE_READ, &err) ||
        mase_store_read(store, s, name, &err))
        fail_msg("%s", err.msg);
    mase_store_close(store);
}

/* Change the database by a statement. */
static void change(const char *statement)
{
    struct mase_sql *c;
    struct mase_err err;
    if (mase_sql_open(&c, path, MASE_STORE_WRITE, &err) ||
        mase_sql_run(c, NULL, statement, NULL, 0, &err))
        fail_msg("%s: %s", statement, err.msg);
    mase_sql_close(c);
}

static void a_study_reads_back_as_it_was_run(void **state)
{
    char expected[65], hex[65];
    struct mase_err err;
    (void)state;
    expect(expected, 40);
    for (int workers = 1; workers <= 3; workers++) {
        struct test t;
        struct mase_study s;
        begin(&t, 40);
        assert_int_equal(run(&t, path, workers, &err), MASE_OK);
        mase_study_hash(hex, &t.study);
        assert_string_equal(hex, expected);
        read_back(&s, path, "a study");
        mase_study_hash(hex, &s);
        assert_string_equal(hex, expected);
        assert_string_equal(s.objective[0].name, "accuracy");
        assert_int_equal(s.objective[0].direction, MASE_MAXIMIZE);
        assert_string_equal(s.constraint[1], "time");
        assert_true(mase_value_equal(mase_value_get(s.trial[1].user, "note"),
                                     mase_value_get(t.study.trial[1].user, "note")));
        assert_true(s.trial[1].start == t.study.trial[1].start);
        assert_true(s.trial[1].end == t.study.trial[1].end);
        for (int i = 0; i < DIMENSIONS; i++) {
            const struct mase_dimension *d = &s.space.dimension[i], *e = &t.space.dimension[i];
            assert_string_equal(d->name, e->name);
            assert_int_equal(d->kind, e->kind);
            assert_true(d->low == e->low && d->high == e->high && d->step == e->step);
            assert_true(d->log == e->log);
            if (e->choices)
                assert_true(mase_value_equal(d->choices, e->choices));
        }
        mase_study_release(&s);
        end(&t);
        remove_file(NULL);
    }
}

/* In parts, each by a store of its own, as a program that is started again. */
static void a_stored_study_goes_on(void **state)
{
    char expected[65], hex[65];
    struct mase_err err;
    (void)state;
    expect(expected, 40);
    for (int trials = 10; trials <= 40; trials += 10) {
        struct test t;
        begin(&t, trials);
        if (trials > 10)
            read_back(&t.study, path, "a study");
        assert_int_equal(run(&t, path, 2, &err), MASE_OK);
        mase_study_hash(hex, &t.study);
        end(&t);
    }
    assert_string_equal(hex, expected);
}

/* Killed with more trials under way than there are workers now: change() has the same effect. */
static void trials_that_were_under_way_are_measured_again(void **state)
{
    char expected[65], hex[65];
    struct mase_err err;
    struct test t;
    (void)state;
    expect(expected, 40);
    begin(&t, 30);
    assert_int_equal(run(&t, path, 2, &err), MASE_OK);
    end(&t);
    change("UPDATE trials SET state = 'RUNNING', datetime_complete = NULL WHERE number > 20");
    change("DELETE FROM trial_values WHERE trial_id > 21");
    begin(&t, 40);
    read_back(&t.study, path, "a study");
    assert_int_equal(t.study.trial[29].state, MASE_TRIAL_RUNNING);
    assert_int_equal(run(&t, path, 1, &err), MASE_OK);
    mase_study_hash(hex, &t.study);
    assert_string_equal(hex, expected);
    end(&t);
}

static void a_study_is_there_once(void **state)
{
    struct mase_arena a = { 0 };
    struct mase_store *store;
    struct mase_err err;
    const char *const *names;
    int count;
    struct mase_study s = { .name = "one", .objective = objectives, .objectives = 2 };
    struct mase_study other = s, absent = { 0 };
    (void)state;
    other.name = "two";
    assert_int_equal(mase_store_open(&store, path, MASE_STORE_CREATE, &err), MASE_OK);
    assert_int_equal(mase_store_create(store, &s, &err), MASE_OK);
    assert_int_equal(mase_store_create(store, &other, &err), MASE_OK);
    assert_int_equal(mase_store_create(store, &s, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "there is a study 'one' already");
    assert_int_equal(mase_store_remove(store, "one", &err), MASE_OK);
    assert_int_equal(mase_store_list(store, &a, &names, &count, &err), MASE_OK);
    assert_int_equal(count, 1);
    assert_string_equal(names[0], "two");
    assert_int_equal(mase_store_read(store, &absent, "tow", &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, "there is no study 'tow', did you mean 'two'?"));
    mase_store_close(store);
    mase_study_release(&absent);
    mase_arena_release(&a);
}

/* ---- who runs it */

static void another_process_is_told_who_runs_the_study(void **state)
{
    struct mase_store *store, *second;
    struct mase_err err;
    struct mase_study s = { .name = "one", .objective = objectives, .objectives = 2 };
    char pid[32];
    (void)state;
    mase_snprintf(pid, sizeof pid, "process, %ld;", (long)getpid());
    assert_int_equal(mase_store_open(&store, path, MASE_STORE_CREATE, &err), MASE_OK);
    assert_int_equal(mase_store_create(store, &s, &err), MASE_OK);
    assert_int_equal(mase_store_hold(store, &s, &err), MASE_OK);
    assert_int_equal(mase_store_open(&second, path, MASE_STORE_WRITE, &err), MASE_OK);
    assert_int_equal(mase_store_hold(second, &s, &err), MASE_EVALUE);
    assert_non_null(strstr(err.msg, pid));
    mase_store_release_hold(store);
    assert_int_equal(mase_store_hold(second, &s, &err), MASE_OK);
    mase_store_release_hold(second);
    mase_store_close(second);
    mase_store_close(store);
}

/* Somebody looks at the study while it ends: the file stays open, and nobody waits. */
static void a_reader_does_not_hold_up_the_end(void **state)
{
    struct mase_store *writer, *reader;
    struct mase_err err;
    struct mase_study s = { .name = "one", .objective = objectives, .objectives = 2 };
    const time_t began = time(NULL);
    (void)state;
    assert_int_equal(mase_store_open(&writer, path, MASE_STORE_CREATE, &err), MASE_OK);
    assert_int_equal(mase_store_create(writer, &s, &err), MASE_OK);
    assert_int_equal(mase_store_open(&reader, path, MASE_STORE_READ, &err), MASE_OK);
    assert_int_equal(MASE_SQL_PLAIN(reader->sql, NULL, &err, "BEGIN"), MASE_OK);
    assert_int_equal(MASE_SQL_PLAIN(reader->sql, NULL, &err, "SELECT * FROM studies"), MASE_OK);
    mase_store_close(writer);
    mase_store_close(reader);
    assert_true(time(NULL) - began < 10);
}

/* ---- times */

static void times_are_those_of_the_calendar(void **state)
{
    static const struct {
        int64_t microseconds;
        const char *text;
    } cases[] = {
        { 1, "1970-01-01 00:00:00.000001" },
        { 951782400000000, "2000-02-29 00:00:00.000000" },
        { 1709251199999999, "2024-02-29 23:59:59.999999" },
        { 4107542400000000, "2100-03-01 00:00:00.000000" },
    };
    struct mase_arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(mase_store_time(&a, cases[i].microseconds).s, cases[i].text);
    mase_arena_release(&a);
}

/* ---- distributions of other versions */

static void distributions_of_every_version_are_read(void **state)
{
    static const struct {
        const char *json;
        struct mase_dimension d;
    } cases[] = {
        { "{\"name\": \"UniformDistribution\", \"attributes\": {\"low\": 0.5, \"high\": 2.0}}",
          { .kind = MASE_DIMENSION_FLOAT, .low = 0.5, .high = 2 } },
        { "{\"name\": \"LogUniformDistribution\", \"attributes\": {\"low\": 0.5, \"high\": 2.0}}",
          { .kind = MASE_DIMENSION_FLOAT, .low = 0.5, .high = 2, .log = true } },
        { "{\"name\": \"DiscreteUniformDistribution\", \"attributes\": "
          "{\"low\": 0, \"high\": 2, \"q\": 0.5}}",
          { .kind = MASE_DIMENSION_FLOAT, .low = 0, .high = 2, .step = 0.5 } },
        { "{\"name\": \"IntUniformDistribution\", \"attributes\": "
          "{\"low\": 1, \"high\": 7, \"step\": 3}}",
          { .kind = MASE_DIMENSION_INT, .low = 1, .high = 7, .step = 3 } },
        { "{\"name\": \"IntLogUniformDistribution\", \"attributes\": "
          "{\"low\": 1, \"high\": 64, \"step\": 1}}",
          { .kind = MASE_DIMENSION_INT, .low = 1, .high = 64, .step = 1, .log = true } },
    };
    struct mase_arena a = { 0 };
    struct mase_err err;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_dimension d = { 0 };
        assert_int_equal(mase_distribution_read(&d, &a, cases[i].json, &err), MASE_OK);
        assert_memory_equal(&d, &cases[i].d, sizeof d);
    }
    mase_arena_release(&a);
}

static void bad_distributions_are_refused(void **state)
{
    static const struct {
        const char *json, *message;
    } cases[] = {
        { "{\"name\": \"GammaDistribution\", \"attributes\": {}}", "GammaDistribution" },
        { "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": []}}", "choices" },
        { "{\"name\": \"CategoricalDistribution\", \"attributes\": {\"choices\": [[1]]}}", "list" },
        { "{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": 2, \"high\": 1}}", "range" },
        { "{\"name\": \"FloatDistribution\", \"attributes\": {\"low\": \"a\", \"high\": 1}}",
          "range" },
        { "{\"name\": \"FloatDistribution\", \"attributes\": "
          "{\"low\": 0, \"high\": 1, \"log\": true}}",
          "begins at 0" },
        { "[]", "name" },
        { "{", "" },
    };
    struct mase_arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_dimension d = { 0 };
        struct mase_err err;
        assert_int_not_equal(mase_distribution_read(&d, &a, cases[i].json, &err), MASE_OK);
        assert_non_null(strstr(err.msg, cases[i].message));
    }
    mase_arena_release(&a);
}

/* Ranges that differ between trials: all of their numbers are possible. */
static void ranges_of_several_trials_are_joined(void **state)
{
    struct mase_dimension d = { "w", MASE_DIMENSION_INT, .low = 2, .high = 8, .step = 2 };
    const struct mase_dimension wider = { "w", MASE_DIMENSION_INT, .low = 0, .high = 4, .step = 2 };
    const struct mase_dimension odd = { "w", MASE_DIMENSION_INT, .low = 3, .high = 9, .step = 2 };
    const struct mase_dimension choice = { "w", MASE_DIMENSION_CHOICE, .high = 3 };
    struct mase_err err;
    (void)state;
    assert_int_equal(mase_dimension_join(&d, &wider, &err), MASE_OK);
    assert_true(d.low == 0 && d.high == 8 && d.step == 2);
    assert_int_equal(mase_dimension_join(&d, &odd, &err), MASE_OK);
    assert_true(d.low == 0 && d.high == 9 && d.step == 1);
    assert_int_equal(mase_dimension_join(&d, &choice, &err), MASE_EPARSE);
}

/* ---- files that are not what they should be */

static enum mase_status open_and_read(struct mase_err *err)
{
    struct mase_store *store;
    struct mase_study s = { 0 };
    MASE_TRY(mase_store_open(&store, path, MASE_STORE_READ, err));
    const enum mase_status st = mase_store_read(store, &s, "a study", err);
    mase_store_close(store);
    mase_study_release(&s);
    return st;
}

static void files_that_are_no_studies_are_refused(void **state)
{
    struct mase_err err;
    struct mase_str text = { 0 };
    FILE *f = fopen(path, "w");
    (void)state;
    mase_str_pad(&text, 'x', 9000);
    assert_int_equal(fwrite(text.data, 1, text.len, f), text.len);
    fclose(f);
    assert_int_equal(open_and_read(&err), MASE_EPARSE);
    assert_string_equal(err.msg, "file is not a database");
    assert_string_equal(err.loc.path, path);
    mase_str_release(&text);
    unlink(path);
    assert_int_equal(open_and_read(&err), MASE_EIO);
    assert_string_equal(err.msg, "there is no such file");
    fclose(fopen(path, "w"));
    assert_int_equal(open_and_read(&err), MASE_EPARSE);
    assert_string_equal(err.msg, "it has no studies: there is no table of that name");
}

static void studies_that_are_not_sound_are_refused(void **state)
{
    static const struct {
        const char *change, *message;
    } cases[] = {
        { "UPDATE alembic_version SET version_num = 'v2.6.0.a'",
          "the schema of its studies is 'v2.6.0.a'" },
        { "DROP TABLE trial_params", "no such table: trial_params" },
        { "ALTER TABLE trials DROP COLUMN state", "no such column: state" },
        { "UPDATE trials SET state = 'ASLEEP' WHERE number = 3", "trial 3: its state is 'ASLEEP'" },
        { "UPDATE trials SET number = 9 WHERE number = 3", "trial 3: it has the number 9" },
        { "UPDATE trial_params SET param_value = 'much'", "trial 0: parameter 'lr' cannot be" },
        { "UPDATE trial_params SET param_value = 5 WHERE param_name LIKE 'fc1%'", "cannot be 5" },
        { "UPDATE trial_params SET param_name = NULL", "has no name" },
        { "UPDATE trial_params SET distribution_json = '{' WHERE param_id = 4", "'width'" },
        { "UPDATE trial_params SET distribution_json = replace(distribution_json, '0.1]', '0.2]') "
          "WHERE trial_id = 2",
          "other choices" },
        { "UPDATE trial_values SET objective = 7 WHERE objective = 1", "objective 7" },
        { "UPDATE trial_values SET value = 'high', value_type = 'FINITE'", "is no number" },
        { "DELETE FROM trial_values", "complete without a value of 'accuracy'" },
        { "UPDATE study_directions SET direction = 'UP'", "direction of objective 0 is 'UP'" },
        { "UPDATE trial_intermediate_values SET intermediate_value_type = 'BIG'", "step 1" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct test t;
        struct mase_err err;
        begin(&t, 4);
        assert_int_equal(run(&t, path, 1, &err), MASE_OK);
        end(&t);
        change(cases[i].change);
        assert_int_not_equal(open_and_read(&err), MASE_OK);
        if (!strstr(err.msg, cases[i].message))
            fail_msg("'%s' does not say '%s'", err.msg, cases[i].message);
        assert_string_equal(err.loc.path, path);
        remove_file(NULL);
    }
}

/* A trigger of somebody else's file does not run. */
static void triggers_do_not_run(void **state)
{
    struct test t;
    struct mase_study s;
    struct mase_err err;
    (void)state;
    begin(&t, 2);
    assert_int_equal(run(&t, path, 1, &err), MASE_OK);
    change("CREATE TRIGGER evil AFTER INSERT ON trials BEGIN DELETE FROM trials; END");
    t.opts.trials = 5;
    assert_int_equal(run(&t, path, 1, &err), MASE_OK);
    end(&t);
    read_back(&s, path, "a study");
    assert_int_equal(s.trials, 5);
    mase_study_release(&s);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_study_reads_back_as_it_was_run, remove_file),
        cmocka_unit_test_teardown(a_stored_study_goes_on, remove_file),
        cmocka_unit_test_teardown(trials_that_were_under_way_are_measured_again, remove_file),
        cmocka_unit_test_teardown(a_study_is_there_once, remove_file),
        cmocka_unit_test_teardown(another_process_is_told_who_runs_the_study, remove_file),
        cmocka_unit_test_teardown(a_reader_does_not_hold_up_the_end, remove_reader),
        cmocka_unit_test(times_are_those_of_the_calendar),
        cmocka_unit_test(distributions_of_every_version_are_read),
        cmocka_unit_test(bad_distributions_are_refused),
        cmocka_unit_test(ranges_of_several_trials_are_joined),
        cmocka_unit_test_teardown(files_that_are_no_studies_are_refused, remove_file),
        cmocka_unit_test_teardown(studies_that_are_not_sound_are_refused, remove_file),
        cmocka_unit_test_teardown(triggers_do_not_run, remove_file),
    };
    return run_cases(argc, argv, tests, make_folder, remove_folder);
}
