/*
 * t_study_kills.c - a run in a file is killed at random moments: the file is never damaged, no
 * trial that was told of is lost, and the study ends as one that nobody killed.
 *
 * Runs are processes of their own; this one starts no threads, so it can fork.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"
#include "chain.h"
#include "run_cases.h"
#include "study/store.h"

enum { TRIALS = 12000, KILLS = 100, KILLS_QUICK = 10, LONGEST = 250000 /* microseconds */ };

static char folder[] = "/tmp/t_kills_XXXXXX", path[64];
static int told; /* the pipe that a run writes to */

static int make_folder(void **state)
{
    (void)state;
    mase_snprintf(path, sizeof path, "%s/s.db", mkdtemp(folder) ? folder : "/nowhere");
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder); /* nothing but the file was left beside it */
}

static enum mase_status measure(void *data, int worker, struct mase_study_run *run,
                                struct mase_trial *t, struct mase_arena *a, struct mase_err *err)
{
    const struct timespec pause = { .tv_nsec = (long)(4e6 * t->x[1]) };
    (void)worker, (void)run, (void)a;
    if (*(const bool *)data)
        nanosleep(&pause, NULL);
    if (t->number % 9 == 4)
        return mase_fail(err, MASE_EVALUE, "no");
    t->value[0] = t->x[0] + t->x[1];
    return MASE_OK;
}

static void tell(void *data, const struct mase_study *s, const struct mase_trial *t)
{
    (void)data, (void)s;
    if (write(told, &t->number, sizeof t->number) != sizeof t->number)
        _exit(3);
}

/* Run the study to its end, in a file or in memory; its hash goes to the pipe. */
static void run(const char *where, bool slowly)
{
    static struct mase_dimension two[] = { { "a", MASE_DIMENSION_FLOAT, .high = 1 },
                                           { "b", MASE_DIMENSION_FLOAT, .high = 1 } };
    static struct mase_study_objective objective[] = { { "sum", MASE_MINIMIZE } };
    static const enum mase_goal least[] = { MASE_MINIMIZE };
    const struct mase_space space = { 2, two };
    const struct mase_study_setup setup = { &space, least, 1, 0, .seed = 1, .window = 16 };
    struct mase_study s = { 0 };
    struct mase_study_run_opts o = { .trials = TRIALS,
                                     .workers = 2,
                                     .measure = measure,
                                     .data = &slowly,
                                     .ended = where ? tell : NULL };
    struct mase_err err;
    char hex[65];
    if ((where && mase_store_open(&o.store, where, MASE_STORE_CREATE, &err)) ||
        mase_sampler_new(&o.sampler, &chain_kind, &setup, NULL, &err))
        _exit(1);
    if (!where || mase_store_read(o.store, &s, "killed", &err)) {
        mase_study_release(&s);
        s = (struct mase_study){ .name = "killed", .objective = objective, .objectives = 1 };
    }
    if (mase_study_run(&s, &setup, &o, &err)) {
        mase_err_print(stderr, &err);
        _exit(2);
    }
    mase_store_close(o.store);
    mase_study_hash(hex, &s);
    if (write(told, hex, sizeof hex) != sizeof hex)
        _exit(3);
    _exit(0);
}

/* A child that runs; its pipe. */
static pid_t start(const char *where, bool slowly, int *from)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        close(ends[0]);
        told = ends[1];
        run(where, slowly);
    }
    close(ends[1]);
    *from = ends[0];
    return child;
}

/* All that a child wrote, to the end. */
static size_t drain(int from, char **text)
{
    static char all[TRIALS * sizeof(int64_t) + 65];
    size_t size = 0;
    ssize_t n;
    while ((n = read(from, all + size, sizeof all - size)) > 0)
        size += (size_t)n;
    close(from);
    *text = all;
    return size;
}

static void check_file(const int64_t *number, size_t count)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows rows = { .arena = &a };
    struct mase_store *store;
    struct mase_study s = { 0 };
    struct mase_err err;
    if (mase_store_open(&store, path, MASE_STORE_WRITE, &err) ||
        MASE_SQL_PLAIN(store->sql, &rows, &err, "PRAGMA integrity_check") ||
        mase_store_read(store, &s, "killed", &err))
        fail_msg("%s", err.msg);
    assert_string_equal(mase_sql_text(&rows, 0, 0), "ok");
    for (size_t i = 0; i < count; i++) {
        assert_in_range(number[i], 0, s.trials - 1);
        assert_true(mase_trial_ended(&s.trial[number[i]]));
    }
    mase_study_release(&s);
    mase_store_close(store);
    mase_arena_release(&a);
}

static void kill_one(struct mase_rng *r)
{
    const long after = (long)(mase_rng_u32(r) % LONGEST);
    const struct timespec pause = { .tv_nsec = 1000 * after };
    int from, status;
    char *text;
    const pid_t child = start(path, true, &from);
    nanosleep(&pause, NULL);
    kill(child, SIGKILL);
    const size_t size = drain(from, &text);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status)); /* else it ended, or failed, by itself */
    if (access(path, F_OK) == 0 && size >= sizeof(int64_t))
        check_file((const int64_t *)(const void *)text, size / sizeof(int64_t));
}

static void finish(const char *where, char hex[65])
{
    int from, status;
    char *text;
    const pid_t child = start(where, false, &from);
    const size_t size = drain(from, &text);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(size >= 65);
    memcpy(hex, text + size - 65, 65);
}

static void a_study_survives_being_killed(void **state)
{
    struct mase_rng r = mase_rng((uint64_t)getpid(), MASE_STREAM_TEST, 0);
    const int kills = getenv("MASE_QUICK") ? KILLS_QUICK : KILLS;
    char hex[65], expected[65];
    (void)state;
    print_message("seed %ld\n", (long)getpid());
    for (int i = 0; i < kills; i++)
        kill_one(&r);
    finish(path, hex);
    finish(NULL, expected);
    assert_string_equal(hex, expected);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(a_study_survives_being_killed) };
    return run_cases(argc, argv, tests, make_folder, remove_folder);
}
