/*
 * study_tool.c - runs a study of a function that costs nothing, for tests by other programs.
 *
 *     study_tool WHERE NAME [--trials N] [--workers N] [--window N] [--pause MICROSECONDS]
 *                [--lease SECONDS] [--one] [--tell]
 *
 * It goes on with the study, or begins it, and prints its hash. --one: it has one objective, and no
 * constraint. --tell: print the number of each trial when it is stored. SIGTERM ends the run.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "chain.h"
#include "study/study_parts.h"

static volatile sig_atomic_t terminated;

struct tool {
    const char *where, *name;
    long trials, workers, window, pause, lease;
    bool one, tells;
};

static void terminate(int signal)
{
    (void)signal;
    terminated = 1;
}

static bool stops(void *data)
{
    (void)data;
    return terminated;
}

/* Some fail, some are infinite, all have readings. */
static enum mase_status measure(void *data, int worker, struct mase_study_run *run,
                                struct mase_trial *t, struct mase_arena *a, struct mase_err *err)
{
    const struct tool *tool = data;
    const struct timespec pause = { tool->pause / 1000000, tool->pause % 1000000 * 1000 };
    (void)worker, (void)a;
    nanosleep(&pause, NULL);
    if (t->number % 31 == 30)
        return mase_fail(err, MASE_EVALUE, "trial %lld fails", (long long)t->number);
    mase_study_report(run, t, 1, 2 * t->x[0]);
    mase_study_report(run, t, 2, t->number % 3 ? t->x[0] : INFINITY);
    t->value[0] = (t->x[0] - 0.3) * (t->x[0] - 0.3) + t->x[1] / 100 + t->x[2];
    if (!tool->one) {
        t->value[1] = t->number % 13 == 12 ? INFINITY : 1 - t->x[0];
        t->violation[0] = t->x[1] - 6.5;
    }
    return MASE_OK;
}

static void tell(void *data, const struct mase_study *s, const struct mase_trial *t)
{
    (void)data, (void)s;
    mase_fprintf(stdout, "%lld\n", (long long)t->number);
    fflush(stdout);
}

static long *find_option(struct tool *t, const char *word)
{
    const struct {
        const char *name;
        long *value;
    } options[] = { { "--trials", &t->trials },
                    { "--workers", &t->workers },
                    { "--window", &t->window },
                    { "--pause", &t->pause },
                    { "--lease", &t->lease } };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (mase_streq(options[i].name, word))
            return options[i].value;
    return NULL;
}

static bool read_arguments(struct tool *t, int argc, char **argv)
{
    if (argc < 3)
        return false;
    t->where = argv[1];
    t->name = argv[2];
    for (int i = 3; i < argc; i++) {
        long *value = find_option(t, argv[i]);
        if (value && i + 1 < argc)
            *value = strtol(argv[++i], NULL, 10);
        else if (mase_streq(argv[i], "--one"))
            t->one = true;
        else if (mase_streq(argv[i], "--tell"))
            t->tells = true;
        else
            return false;
    }
    return true;
}

static struct mase_space make_space(struct mase_arena *a)
{
    struct mase_dimension *d = mase_new_array(a, struct mase_dimension, 3);
    struct mase_value *choices = mase_value_list(a);
    mase_value_push(a, choices, mase_value_string(a, "integer"));
    mase_value_push(a, choices, mase_value_none(a));
    d[0] = (struct mase_dimension){ "rate", MASE_DIMENSION_FLOAT, .low = 0, .high = 1 };
    d[1] = (struct mase_dimension){ "width", MASE_DIMENSION_INT, .low = 2, .high = 8, .step = 1 };
    d[2] = (struct mase_dimension){ "name", MASE_DIMENSION_CHOICE, .high = 1, .choices = choices };
    return (struct mase_space){ 3, d };
}

/* The study of this name, from wherever it is. */
static enum mase_status find_study(struct mase_study *s, struct mase_store *store,
                                   const struct tool *t, struct mase_err *err)
{
    static struct mase_study_objective objective[] = { { "loss", MASE_MINIMIZE },
                                                       { "gain", MASE_MAXIMIZE } };
    static const char *const constraint[] = { "wide" };
    struct mase_arena a = { 0 };
    const char *const *names;
    int count;
    bool has = false;
    MASE_TRY(mase_store_list(store, &a, &names, &count, err));
    for (int i = 0; i < count; i++)
        has = has || mase_streq(names[i], t->name);
    mase_arena_release(&a);
    if (has)
        return mase_store_read(store, s, t->name, err);
    s->name = t->name;
    s->objective = objective;
    s->objectives = t->one ? 1 : 2;
    s->constraint = constraint;
    s->constraints = !t->one;
    return MASE_OK;
}

static enum mase_status run(struct tool *t, struct mase_store *store, struct mase_err *err)
{
    static const enum mase_goal directions[] = { MASE_MINIMIZE, MASE_MAXIMIZE };
    struct mase_arena a = { 0 };
    struct mase_study s = { 0 };
    const struct mase_space space = make_space(&a);
    const struct mase_study_setup setup = { &space,         directions, t->one ? 1 : 2,
                                            t->one ? 0 : 1, 7,          t->window };
    struct mase_study_run_opts o = { .store = store,
                                     .trials = t->trials,
                                     .workers = (int)t->workers,
                                     .lease_seconds = (double)t->lease,
                                     .measure = measure,
                                     .data = t,
                                     .ended = t->tells ? tell : NULL,
                                     .stop = stops };
    char hex[65];
    MASE_TRY(find_study(&s, store, t, err));
    MASE_TRY(mase_sampler_new(&o.sampler, &chain_kind, &setup, NULL, err));
    if (t->trials)
        MASE_TRY(mase_study_run(&s, &setup, &o, err));
    mase_study_hash(hex, &s);
    mase_fprintf(stdout, "hash %s %lld\n", hex, (long long)s.trials);
    mase_sampler_free(o.sampler);
    mase_study_release(&s);
    mase_arena_release(&a);
    return MASE_OK;
}

int main(int argc, char **argv)
{
    struct tool t = { .trials = 100, .workers = 1, .window = 64 };
    struct mase_store *store;
    struct mase_err err;
    if (!read_arguments(&t, argc, argv)) {
        fputs("usage: study_tool WHERE NAME [OPTION]...; its first lines say which\n", stderr);
        return 2;
    }
    const struct sigaction on_term = { .sa_handler = terminate };
    sigaction(SIGTERM, &on_term, NULL);
    enum mase_status st = mase_store_open(&store, t.where, MASE_STORE_CREATE, &err);
    if (!st) {
        st = run(&t, store, &err);
        mase_store_close(store);
    }
    if (st)
        mase_err_print(stderr, &err);
    return st ? 2 : 0;
}
