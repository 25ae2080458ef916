/*
 * tell.c - messages before results: where the weights come from, infinite or NaN weights, options
 * without effect.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>

#include "cli/project.h"

/* ---- weights ---- */

struct tally {
    int64_t tensors, values;
};

static bool count_param(const char *full, struct mase_param *p, void *data)
{
    struct tally *t = data;
    (void)full;
    if (p->kind == MASE_PARAM_CONSTANT || p->tied) /* a constant of the code, or another name */
        return true;
    t->tensors++;
    t->values += mase_tensor_count(&p->tensor);
    return true;
}

void mase_cli_warn_of_weights(const struct mase_graph *g)
{
    struct mase_str where = { 0 };
    const int64_t n = mase_graph_not_finite(g, &where);
    if (n)
        mase_warn("%" PRId64 " of the weights %s NaN or infinite: %s", n, n == 1 ? "is" : "are",
                  mase_str_text(&where));
    mase_str_release(&where);
}

/* Shorten a path below the current folder, which was made absolute when it was read. */
static const char *as_typed(const char *path)
{
    struct mase_arena a = { 0 };
    const char *here = mase_path_absolute(&a, ".");
    const size_t n = strlen(here);
    if (mase_starts_with(path, here) && path[n] == '/')
        path += n + 1;
    mase_arena_release(&a);
    return path;
}

void mase_cli_log_weights(const struct mase_cli *c, const struct mase_graph *g, const char *from)
{
    struct tally t = { 0 };
    mase_graph_each_param(g, count_param, &t);
    if (!t.tensors)
        return;
    if (from && mase_streq(mase_cli_text(c, MASE_CLI_strict), "no"))
        mase_info("Weights from %s where they fit: of %" PRId64 " tensors, %" PRId64 " values",
                  as_typed(from), t.tensors, t.values);
    else if (from)
        mase_info("Weights from %s: %" PRId64 " tensors, %" PRId64 " values", as_typed(from),
                  t.tensors, t.values);
    else if (mase_cli_value(c, MASE_CLI_seed)->kind == MASE_LIST)
        mase_info("Weights are random, from the seed of each configuration");
    else
        mase_info("Weights are random, from seed %" PRId64, mase_cli_value(c, MASE_CLI_seed)->i);
    mase_cli_warn_of_weights(g);
}

/* ---- options ---- */

/* Values that ask for the default behaviour. */
static const struct {
    enum mase_cli_option_id id;
    const char *text; /* NULL: compare the number */
    int64_t number;
} harmless[] = {
    { MASE_CLI_accelerator, "cpu", 0 },
    { MASE_CLI_num_workers, NULL, 0 },
};

static bool is_harmless(enum mase_cli_option_id id, const struct mase_value *v)
{
    for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
        if (harmless[i].id == id &&
            (harmless[i].text ? mase_streq(v->s, harmless[i].text)
                              : v->kind == MASE_INT && v->i == harmless[i].number))
            return true;
    return false;
}

/* Is a given option unused? From the command line: by this command; from a file, which serves
 * several commands: by any. */
static bool is_unused(const struct mase_cli *c, enum mase_cli_option_id id)
{
    const struct mase_cli_setting *s = &c->setting[id];
    const struct mase_cli_option *o = &mase_cli_options[id];
    const struct mase_value *v = mase_cli_effective(s);
    const bool ignored =
        s->cmdline ? !mase_cli_command_uses(c->command, o) : s->file && !o->used_by;
    return ignored && !mase_value_equal(v, s->dflt) && !is_harmless(id, v);
}

static void warn_ignored(const struct mase_cli *c)
{
    struct mase_str list = { 0 };
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        if (!is_unused(c, (enum mase_cli_option_id)i))
            continue;
        mase_str_printf(&list, "%s%s = ", list.len ? ", " : "", mase_cli_options[i].key);
        mase_value_str(&list, mase_cli_value(c, (enum mase_cli_option_id)i));
    }
    if (list.len)
        mase_warn("of no effect on ch %s: %s", c->command->name, mase_str_text(&list));
    mase_str_release(&list);
}

/* Options that act only if another option has one of these values; none: any value. */
enum { MOST_VALUES = 4 };
static const struct {
    enum mase_cli_option_id id, needs;
    const char *value[MOST_VALUES];
} conditions[] = {
    { MASE_CLI_load_type, MASE_CLI_load_name, { NULL } },
    { MASE_CLI_map, MASE_CLI_load_name, { NULL } },
    { MASE_CLI_strict, MASE_CLI_load_name, { NULL } },
    { MASE_CLI_momentum, MASE_CLI_training_optimizer, { "sgd" } },
    { MASE_CLI_plain_momentum, MASE_CLI_training_optimizer, { "sgd" } },
    { MASE_CLI_constant_momentum, MASE_CLI_lr_schedule, { "onecycle" } },
    { MASE_CLI_lr_interval, MASE_CLI_lr_schedule, { "cosine", "restarts", "polynomial" } },
    { MASE_CLI_lr_min, MASE_CLI_lr_schedule, { "cosine", "restarts", "plateau" } },
    { MASE_CLI_lr_step_size, MASE_CLI_lr_schedule, { "step", "restarts" } },
    { MASE_CLI_lr_gamma, MASE_CLI_lr_schedule, { "step", "plateau" } },
    { MASE_CLI_lr_power, MASE_CLI_lr_schedule, { "polynomial" } },
    { MASE_CLI_lr_mult, MASE_CLI_lr_schedule, { "restarts" } },
    { MASE_CLI_lr_patience, MASE_CLI_lr_schedule, { "plateau" } },
};

static bool holds(const struct mase_value *v, const char *const *value)
{
    if (v->kind == MASE_LIST) /* a list of a sweep */
        return true;
    bool met = v->kind == MASE_STRING && !value[0];
    for (int i = 0; i < MOST_VALUES && value[i] && v->kind == MASE_STRING; i++)
        met |= mase_streq(v->s, value[i]);
    return met;
}

static void warn_condition(enum mase_cli_option_id id, enum mase_cli_option_id needs,
                           const char *const *value)
{
    struct mase_str list = { 0 };
    for (int i = 0; i < MOST_VALUES && value[i]; i++)
        mase_str_printf(&list, "%s%s", i ? " or " : " = ", value[i]);
    mase_warn("%s is of no effect: it is for %s%s", mase_cli_options[id].key,
              mase_cli_options[needs].key, mase_str_text(&list));
    mase_str_release(&list);
}

static void warn_conditions(const struct mase_cli *c)
{
    for (size_t i = 0; i < sizeof conditions / sizeof conditions[0]; i++) {
        const enum mase_cli_option_id id = conditions[i].id, needs = conditions[i].needs;
        const struct mase_value *v = mase_cli_value(c, id);
        const char *const *value = conditions[i].value;
        if (!mase_cli_command_uses(c->command, &mase_cli_options[id]) ||
            mase_value_equal(v, c->setting[id].dflt) || holds(mase_cli_value(c, needs), value))
            continue;
        warn_condition(id, needs, value);
    }
}

void mase_cli_warn_unused_options(const struct mase_cli *c)
{
    warn_ignored(c);
    warn_conditions(c);
}
