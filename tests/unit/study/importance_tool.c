/*
 * importance_tool.c - the C side of tests/interop/optuna_importance.py: reads a study of one
 * objective as JSON from a file, and prints the importance of each parameter.
 *
 *     {"maximize": false, "space": [{"kind": "float", "low": 0, "high": 1, "step": 0, "log":
 * false}], "trials": [{"x": [0.5], "value": 0.25}, {"x": [null], "value": null}]}
 *
 * A value of null is a trial that failed, a number of null a parameter that a trial has not got.
 */
#include <math.h>
#include <stdio.h>

#include <mase/err.h>

#include "study/study_parts.h"
#include "study/study_statistics.h"

static struct mase_dimension dimension_of(const struct mase_value *v)
{
    static const char *const kinds[] = { "float", "int", "choice" };
    struct mase_dimension d = { .name = "x",
                                .low = mase_value_number(mase_value_get(v, "low")),
                                .high = mase_value_number(mase_value_get(v, "high")),
                                .step = mase_value_number(mase_value_get(v, "step")),
                                .log = mase_value_get(v, "log")->b };
    for (int i = 0; i < 3; i++)
        if (mase_streq(kinds[i], mase_value_get(v, "kind")->s))
            d.kind = (enum mase_dimension_kind)i;
    return d;
}

static void add_trial(struct mase_study *s, const struct mase_value *v)
{
    struct mase_trial *t = mase_study_add(s);
    for (int i = 0; i < s->space.count; i++)
        t->x[i] = mase_value_number(mase_value_get(v, "x")->items[i]);
    t->value[0] = mase_value_number(mase_value_get(v, "value"));
    t->state = isnan(t->value[0]) ? MASE_TRIAL_FAIL : MASE_TRIAL_COMPLETE;
}

static void print_importance(const struct mase_study *s)
{
    double *share = mase_study_numbers((struct mase_study *)s, s->space.count);
    struct mase_str out = { 0 };
    mase_study_importance(share, s, 0);
    for (int i = 0; i < s->space.count; i++)
        mase_str_printf(&out, "%.17g\n", share[i]);
    fputs(mase_str_text(&out), stdout);
    mase_str_release(&out);
}

int main(int argc, char **argv)
{
    struct mase_study s = { 0 };
    struct mase_study_objective objective = { .name = "value" };
    struct mase_value *v;
    struct mase_err err = { 0 };
    if (argc != 2 || mase_json_read(&v, &s.arena, argv[1], &err)) {
        fprintf(stderr, "importance_tool: %s\n", argc == 2 ? err.msg : "expected a file");
        return 2;
    }
    const struct mase_value *space = mase_value_get(v, "space"),
                            *trials = mase_value_get(v, "trials");
    objective.direction = mase_value_get(v, "maximize")->b ? MASE_MAXIMIZE : MASE_MINIMIZE;
    s.objective = &objective;
    s.objectives = 1;
    s.space.count = space->count;
    s.space.dimension = mase_new_array(&s.arena, struct mase_dimension, (size_t)space->count);
    for (int i = 0; i < space->count; i++)
        s.space.dimension[i] = dimension_of(space->items[i]);
    for (int i = 0; i < trials->count; i++)
        add_trial(&s, trials->items[i]);
    print_importance(&s);
    mase_study_release(&s);
    return 0;
}
