/*
 * cmd_study.c - ch study: the studies of a store, one of them, its best trials; as files and back.
 */
#include <math.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/study.h>

#include "cli/cli.h"

enum { TRIALS_SHOWN = 20, COLUMNS_MOST = 12 };

/* ---- which store, which study ---- */

/* A folder stands for the store that a search left in it; an URL and a file for themselves. */
static const char *find_in_folder(struct mase_arena *a, const char *dir)
{
    static const char *const places[] = { MASE_STUDY_FILE,
                                          "software/search_ckpts/" MASE_STUDY_FILE };
    for (int i = 0; i < 2; i++) {
        const char *path = mase_path_join(a, dir, places[i]);
        if (mase_is_file(path))
            return path;
    }
    return NULL;
}

static enum mase_status find_store(const char **where, struct mase_cli *c, int operand,
                                   struct mase_err *err)
{
    const char *word = c->operand_count > operand ? c->operands[operand] : NULL;
    const char *dir = word;
    if (!word) {
        dir = mase_cli_text(c, MASE_CLI_project);
        if (!dir)
            return mase_fail(err, MASE_EVALUE,
                             "ch study %s needs a store: a file, a URL, the folder of a run, or "
                             "--project NAME",
                             c->operands[0]);
        dir = mase_path_join(&c->arena, mase_cli_text(c, MASE_CLI_project_dir), dir);
    }
    *where = word && !mase_is_dir(word) ? word : find_in_folder(&c->arena, dir);
    if (!*where)
        return mase_fail_in(err, MASE_EVALUE, dir, "no search has left a study in this folder");
    return MASE_OK;
}

static enum mase_status open_store(struct mase_store **store, struct mase_cli *c, int operand,
                                   enum mase_store_access access, struct mase_err *err)
{
    const char *where;
    MASE_TRY(find_store(&where, c, operand, err));
    return mase_store_open(store, where, access, err);
}

/* The study of this name, or the only one. */
static enum mase_status read_study(struct mase_study *s, struct mase_store *store,
                                   struct mase_arena *a, const char *name, struct mase_err *err)
{
    const char *const *names;
    int count;
    if (!name) {
        MASE_TRY(mase_store_list(store, a, &names, &count, err));
        if (count != 1)
            return mase_fail(err, MASE_EVALUE,
                             "the store has %d studies: say which; ch study list names them",
                             count);
        name = names[0];
    }
    return mase_store_read(store, s, name, err);
}

static enum mase_status open_study(struct mase_study *s, struct mase_cli *c, int operand, int name,
                                   struct mase_err *err)
{
    struct mase_store *store;
    MASE_TRY(open_store(&store, c, operand, MASE_STORE_READ, err));
    const enum mase_status st =
        read_study(s, store, &c->arena, c->operand_count > name ? c->operands[name] : NULL, err);
    mase_store_close(store);
    return st;
}

/* ---- list ---- */

static int64_t count_states(const struct mase_study *s, int64_t states[MASE_TRIAL_WAITING + 1])
{
    for (int64_t n = 0; n < s->trials; n++)
        states[s->trial[n].state]++;
    return s->trials;
}

static const char *directions(struct mase_arena *a, const struct mase_study *s)
{
    struct mase_str text = { 0 };
    for (int i = 0; i < s->objectives; i++)
        mase_str_printf(&text, "%s%s %s", i ? ", " : "",
                        s->objective[i].direction == MASE_MAXIMIZE ? "maximize" : "minimize",
                        s->objective[i].name);
    const char *kept = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return kept;
}

static void list_study(struct mase_table *t, const struct mase_study *s)
{
    int64_t states[MASE_TRIAL_WAITING + 1] = { 0 };
    const int row = mase_table_row(t);
    mase_table_set(t, row, 0, s->name);
    mase_table_setf(t, row, 1, "%lld", (long long)count_states(s, states));
    mase_table_setf(t, row, 2, "%lld", (long long)states[MASE_TRIAL_COMPLETE]);
    mase_table_setf(t, row, 3, "%d", s->space.count);
    mase_table_set(t, row, 4, directions(t->arena, s));
}

static enum mase_status list_all(struct mase_cli *c, struct mase_store *store, struct mase_err *err)
{
    static const char *const headers[] = { "Study",      "Trials",     "Complete",
                                           "Parameters", "Objectives", NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    const char *const *names;
    int count;
    MASE_TRY(mase_store_list(store, &c->arena, &names, &count, err));
    for (int i = 0; i < count; i++) {
        struct mase_study s = { 0 };
        const enum mase_status st = mase_store_read(store, &s, names[i], err);
        if (!st)
            list_study(&t, &s);
        mase_study_release(&s);
        if (st)
            return st;
    }
    mase_cli_put_sheets(c, &(struct mase_sheet){ .key = "studies", .table = t }, 1);
    return MASE_OK;
}

static enum mase_status list(struct mase_cli *c, struct mase_err *err)
{
    struct mase_store *store;
    MASE_TRY(mase_cli_operands(c, 2, err));
    MASE_TRY(open_store(&store, c, 1, MASE_STORE_READ, err));
    const enum mase_status st = list_all(c, store, err);
    mase_store_close(store);
    return st;
}

/* ---- tables of trials ---- */

static void add_value(struct mase_table *t, int row, int column, double x)
{
    if (!isnan(x))
        mase_table_setf(t, row, column, "%.6g", x);
}

/* "fc1/width=4 lr=0.01" */
static const char *point_text(struct mase_arena *a, const struct mase_study *s,
                              const struct mase_trial *t)
{
    struct mase_str text = { 0 };
    for (int i = 0; i < s->space.count; i++) {
        const struct mase_dimension *d = &s->space.dimension[i];
        if (isnan(t->x[i]) || mase_dimension_size(d) == 1)
            continue;
        mase_str_printf(&text, "%s%s=", text.len ? " " : "", d->name);
        if (d->kind == MASE_DIMENSION_FLOAT)
            mase_str_printf(&text, "%.6g", t->x[i]);
        else
            mase_value_str(&text, mase_trial_param(a, d, t->x[i]));
    }
    const char *kept = mase_arena_strdup(a, mase_str_text(&text));
    mase_str_release(&text);
    return kept;
}

static struct mase_table trial_table(struct mase_arena *a, const struct mase_study *s,
                                     bool with_state)
{
    const char *headers[COLUMNS_MOST + 4] = { "Trial" };
    int n = 1;
    if (with_state)
        headers[n++] = "State";
    for (int i = 0; i < s->objectives && i < COLUMNS_MOST; i++)
        headers[n++] = s->objective[i].name;
    headers[n] = "Parameters";
    struct mase_table t = mase_table(a, headers);
    t.align[n] = MASE_ALIGN_LEFT;
    return t;
}

static void add_trial(struct mase_table *t, const struct mase_study *s,
                      const struct mase_trial *trial, bool with_state)
{
    const int row = mase_table_row(t);
    int n = 0;
    mase_table_setf(t, row, n++, "%lld", (long long)trial->number);
    if (with_state)
        mase_table_set(t, row, n++, mase_trial_states[trial->state]);
    for (int i = 0; i < s->objectives && i < COLUMNS_MOST; i++)
        add_value(t, row, n++, trial->value[i]);
    mase_table_set(t, row, n, point_text(t->arena, s, trial));
}

/* ---- show ---- */

static void put_facts(struct mase_cli *c, const struct mase_study *s)
{
    static const char *const headers[] = { "Property", "Value", NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    int64_t states[MASE_TRIAL_WAITING + 1] = { 0 };
    struct mase_str trials = { 0 };
    char hash[65];
    mase_str_printf(&trials, "%lld", (long long)count_states(s, states));
    for (int i = 0; i <= MASE_TRIAL_WAITING; i++)
        if (states[i])
            mase_str_printf(&trials, ", %lld %s", (long long)states[i], mase_trial_states[i]);
    mase_study_hash(hash, s);
    mase_table_add(&t, (const char *[]){ "study", s->name });
    mase_table_add(&t, (const char *[]){ "objectives", directions(&c->arena, s) });
    for (int i = 0; i < s->constraints; i++)
        mase_table_add(&t, (const char *[]){ "constraint", s->constraint[i] });
    mase_table_add(&t, (const char *[]){ "trials", mase_str_text(&trials) });
    mase_table_add(&t, (const char *[]){ "hash", hash });
    mase_str_release(&trials);
    mase_cli_put_pairs(c, &t);
}

static void put_space(struct mase_cli *c, const struct mase_study *s)
{
    static const char *const headers[] = { "Parameter", "From", "To", "Step", "Choices", NULL };
    struct mase_table t = mase_table(&c->arena, headers);
    for (int i = 0; i < s->space.count; i++) {
        const struct mase_dimension *d = &s->space.dimension[i];
        const int row = mase_table_row(&t);
        struct mase_str choices = { 0 };
        mase_table_set(&t, row, 0, d->name);
        if (d->kind == MASE_DIMENSION_CHOICE) {
            mase_repr(&choices, d->choices);
            mase_table_set(&t, row, 4, mase_str_text(&choices));
        } else {
            mase_table_setf(&t, row, 1, "%.6g", d->low);
            mase_table_setf(&t, row, 2, "%.6g", d->high);
            if (d->log)
                mase_table_set(&t, row, 3, "log");
            else if (d->step > 0)
                mase_table_setf(&t, row, 3, "%.6g", d->step);
        }
        mase_str_release(&choices);
    }
    mase_sheets_say(&c->sheets, "\n");
    mase_sheets_add(&c->sheets, &(struct mase_sheet){ .key = "parameters", .table = t });
}

static void put_last_trials(struct mase_cli *c, const struct mase_study *s)
{
    struct mase_table t = trial_table(&c->arena, s, true);
    const bool all = mase_sheets_for_programs(&c->sheets) || s->trials <= TRIALS_SHOWN;
    for (int64_t n = all ? 0 : s->trials - TRIALS_SHOWN; n < s->trials; n++)
        add_trial(&t, s, &s->trial[n], true);
    mase_sheets_say(&c->sheets, "\n");
    if (!all)
        mase_sheets_say(&c->sheets, "The last %d of %lld trials:\n\n", TRIALS_SHOWN,
                        (long long)s->trials);
    mase_sheets_add(&c->sheets, &(struct mase_sheet){ .key = "trials", .table = t });
}

static enum mase_status show(struct mase_cli *c, struct mase_err *err)
{
    struct mase_study s = { 0 };
    MASE_TRY(mase_cli_operands(c, 3, err));
    const enum mase_status st = open_study(&s, c, 1, 2, err);
    if (!st && mase_cli_wants_json(c)) {
        mase_cli_put_json(mase_study_value(&c->arena, &s));
    } else if (!st) {
        put_facts(c, &s);
        put_space(c, &s);
        put_last_trials(c, &s);
    }
    mase_study_release(&s);
    return st;
}

/* ---- best ---- */

static int64_t find_best(int64_t **index, struct mase_arena *a, const struct mase_study *s)
{
    enum mase_goal *direction = mase_new_array(a, enum mase_goal, (size_t)s->objectives);
    for (int i = 0; i < s->objectives; i++)
        direction[i] = s->objective[i].direction;
    const struct mase_study_setup setup = { .space = &s->space,
                                            .direction = direction,
                                            .objectives = s->objectives,
                                            .constraints = s->constraints };
    *index = mase_new_array(a, int64_t, (size_t)s->trials);
    const int64_t count = mase_pareto_front(*index, &setup, s->trial, s->trials);
    return s->objectives == 1 && count > 1 ? 1 : count; /* of equals, the first */
}

static enum mase_status best(struct mase_cli *c, struct mase_err *err)
{
    struct mase_study s = { 0 };
    int64_t *index;
    MASE_TRY(mase_cli_operands(c, 3, err));
    const enum mase_status st = open_study(&s, c, 1, 2, err);
    const int64_t count = st ? 0 : find_best(&index, &c->arena, &s);
    if (!st && mase_cli_wants_json(c)) {
        struct mase_value *all = mase_value_list(&c->arena);
        for (int64_t i = 0; i < count; i++)
            mase_value_push(&c->arena, all, mase_trial_value(&c->arena, &s, &s.trial[index[i]]));
        mase_cli_put_json(all);
    } else if (!st) {
        struct mase_table t = trial_table(&c->arena, &s, false);
        for (int64_t i = 0; i < count; i++)
            add_trial(&t, &s, &s.trial[index[i]], false);
        mase_cli_put_table(c, &t);
        if (count == 0)
            mase_sheets_say(&c->sheets, "\nNo trial is complete%s.\n",
                            s.constraints ? " and feasible" : "");
    }
    mase_study_release(&s);
    return st;
}

/* ---- export ---- */

static void add_csv(struct mase_str *out, const char *text)
{
    const bool quoted = strpbrk(text, ",\"\n\r") != NULL;
    if (out->len && out->data[out->len - 1] != '\n')
        mase_str_addc(out, ',');
    if (!quoted) {
        mase_str_add(out, text);
        return;
    }
    mase_str_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"')
            mase_str_addc(out, '"');
        mase_str_addc(out, *text);
    }
    mase_str_addc(out, '"');
}

static void add_csv_value(struct mase_str *out, const struct mase_value *v)
{
    struct mase_str text = { 0 };
    if (v->kind != MASE_NONE)
        mase_value_str(&text, v);
    add_csv(out, mase_str_text(&text));
    mase_str_release(&text);
}

/* Columns as those of Optuna's data frames. */
static void add_csv_head(struct mase_str *out, struct mase_arena *a, const struct mase_study *s)
{
    add_csv(out, "number");
    for (int i = 0; i < s->objectives; i++)
        add_csv(out,
                mase_arena_printf(a, s->objectives > 1 ? "values_%s" : "%s", s->objective[i].name));
    for (int i = 0; i < s->constraints; i++)
        add_csv(out, mase_arena_printf(a, "constraints_%s", s->constraint[i]));
    for (int i = 0; i < s->space.count; i++)
        add_csv(out, mase_arena_printf(a, "params_%s", s->space.dimension[i].name));
    add_csv(out, "duration");
    add_csv(out, "state");
    mase_str_addc(out, '\n');
}

static void add_csv_number(struct mase_str *out, struct mase_arena *a, double x)
{
    add_csv_value(out, isnan(x) ? mase_value_none(a) : mase_value_float(a, x));
}

static void add_csv_trial(struct mase_str *out, const struct mase_study *s,
                          const struct mase_trial *t)
{
    struct mase_arena a = { 0 };
    add_csv(out, mase_arena_printf(&a, "%lld", (long long)t->number));
    for (int i = 0; i < s->objectives; i++)
        add_csv_number(out, &a, t->value[i]);
    for (int i = 0; i < s->constraints; i++)
        add_csv_number(out, &a, t->violation[i]);
    for (int i = 0; i < s->space.count; i++)
        add_csv_value(out, mase_trial_param(&a, &s->space.dimension[i], t->x[i]));
    add_csv_number(out, &a, t->start && t->end ? 1e-6 * (double)(t->end - t->start) : NAN);
    add_csv(out, mase_trial_states[t->state]);
    mase_str_addc(out, '\n');
    mase_arena_release(&a);
}

static enum mase_status write_text(const char *path, struct mase_str *text, struct mase_err *err)
{
    const enum mase_status st = mase_file_write(path, text->data, text->len, err);
    mase_str_release(text);
    return st;
}

static enum mase_status write_csv(const struct mase_study *s, struct mase_cli *c, const char *path,
                                  struct mase_err *err)
{
    struct mase_str text = { 0 };
    add_csv_head(&text, &c->arena, s);
    for (int64_t n = 0; n < s->trials; n++)
        add_csv_trial(&text, s, &s->trial[n]);
    return write_text(path, &text, err);
}

static enum mase_status write_json(const struct mase_study *s, struct mase_cli *c, const char *path,
                                   struct mase_err *err)
{
    struct mase_str text = { 0 };
    mase_json_print(&text, mase_study_value(&c->arena, s), 2);
    mase_str_addc(&text, '\n');
    return write_text(path, &text, err);
}

/* Into another store, which may be there already. */
static enum mase_status write_store(struct mase_study *s, const char *path, bool older,
                                    struct mase_err *err)
{
    struct mase_store *store;
    MASE_TRY(older ? mase_store_open_older(&store, path, err)
                   : mase_store_open(&store, path, MASE_STORE_CREATE, err));
    const enum mase_status st = mase_store_create(store, s, err);
    mase_store_close(store);
    return st;
}

static bool is_store(const char *path)
{
    return mase_ends_with(path, ".db") || strstr(path, "://");
}

static enum mase_status write_study(struct mase_study *s, struct mase_cli *c, const char *path,
                                    struct mase_err *err)
{
    const bool older = mase_streq(mase_cli_text(c, MASE_CLI_optuna), "3.1");
    if (older && !is_store(path))
        return mase_fail(err, MASE_EVALUE, "--optuna is for a store, FILE.db, not '%s'", path);
    if (is_store(path))
        return write_store(s, path, older, err);
    if (mase_ends_with(path, ".json"))
        return write_json(s, c, path, err);
    if (mase_ends_with(path, ".csv"))
        return write_csv(s, c, path, err);
    return mase_fail(err, MASE_EVALUE, "a study is exported as .json, .csv or .db, not '%s'", path);
}

static enum mase_status export(struct mase_cli *c, struct mase_err *err) {
    struct mase_study s = { 0 }; MASE_TRY(mase_cli_operands(c, 4, err));
    if (c->operand_count <
        3) return mase_fail(err, MASE_EVALUE,
                            "ch study export needs a store and a file: ch study export STORE FILE");
    enum mase_status st = open_study(&s, c, 1, 3, err);
    if (!st) st = write_study(&s, c, c->operands[2], err);
    if (!st) mase_info("study '%s', %lld trials, written to %s", s.name, (long long)s.trials,
                       c->operands[2]);
    mase_study_release(&s);
    return st;
}

/* ---- import ---- */

static enum mase_status read_file(struct mase_study *s, struct mase_cli *c, const char *path,
                                  struct mase_err *err)
{
    struct mase_store *store;
    struct mase_value *v;
    const char *name = c->operand_count > 3 ? c->operands[3] : NULL;
    if (mase_ends_with(path, ".json")) {
        MASE_TRY(mase_json_read(&v, &c->arena, path, err));
        MASE_TRY(mase_study_from_value(s, v, err));
        if (name)
            s->name = name;
        return MASE_OK;
    }
    if (!is_store(path))
        return mase_fail(err, MASE_EVALUE, "a study is imported from .json or .db, not '%s'", path);
    MASE_TRY(mase_store_open(&store, path, MASE_STORE_READ, err));
    const enum mase_status st = read_study(s, store, &c->arena, name, err);
    mase_store_close(store);
    return st;
}

static enum mase_status import(struct mase_cli *c, struct mase_err *err)
{
    struct mase_study s = { 0 };
    MASE_TRY(mase_cli_operands(c, 4, err));
    if (c->operand_count < 3)
        return mase_fail(err, MASE_EVALUE,
                         "ch study import needs a store and a file: ch study import STORE FILE");
    enum mase_status st = read_file(&s, c, c->operands[2], err);
    if (!st)
        st = write_store(&s, c->operands[1], false, err);
    if (!st)
        mase_info("study '%s', %lld trials, added to %s", s.name, (long long)s.trials,
                  c->operands[1]);
    mase_study_release(&s);
    return st;
}

/* ---- remove ---- */

static enum mase_status remove_study(struct mase_cli *c, struct mase_err *err)
{
    struct mase_store *store;
    MASE_TRY(mase_cli_operands(c, 3, err));
    if (c->operand_count < 3)
        return mase_fail(err, MASE_EVALUE,
                         "ch study remove needs a store and a name: ch study remove STORE NAME");
    MASE_TRY(open_store(&store, c, 1, MASE_STORE_WRITE, err));
    const enum mase_status st = mase_store_remove(store, c->operands[2], err);
    mase_store_close(store);
    return st;
}

static const struct {
    const char *name;
    mase_cli_run_fn *run;
} verbs[] = { { "list", list },     { "show", show },     { "best", best },
              { "export", export }, { "import", import }, { "remove", remove_study } };

enum mase_status mase_cli_study(struct mase_cli *c, struct mase_err *err)
{
    for (size_t i = 0; c->operand_count && i < sizeof verbs / sizeof verbs[0]; i++)
        if (mase_streq(verbs[i].name, c->operands[0]))
            return verbs[i].run(c, err);
    return mase_fail(err, MASE_EVALUE,
                     "ch study can list, show, best, export, import and remove%s%s%s",
                     c->operand_count ? ", not '" : "; usage: ch study list STORE",
                     c->operand_count ? c->operands[0] : "", c->operand_count ? "'" : "");
}
