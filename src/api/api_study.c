/*
 * api_study.c - studies of programs: from a store or a file, printed, and written.
 */
#include "api/objects.h"

#include <string.h>

#include <mase/file.h>
#include <mase/search.h>

#include "base/alloc.h"

static bool is_json(const char *path)
{
    return mase_ends_with(path, ".json");
}

/* ---- opening ---- */

struct open {
    struct mase_session *session;
    struct mase_trials **out;
    const char *storage, *name;
};

static enum mase_status read_file(struct mase_study *s, const char *path, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_value *v;
    enum mase_status st = mase_json_read(&v, &a, path, err);
    if (!st)
        st = mase_study_from_value(s, v, err);
    mase_arena_release(&a);
    return st;
}

/* The study of this name, or the only one. */
static enum mase_status read_store(struct mase_study *s, struct mase_arena *a,
                                   struct mase_store *store, const struct open *o,
                                   struct mase_err *err)
{
    const char *name = o->name, *const * names;
    int count;
    MASE_TRY(mase_store_list(store, a, &names, &count, err));
    if (!name && count != 1)
        return mase_fail_in(err, MASE_EVALUE, o->storage, "there are %d studies: say which", count);
    return mase_store_read(store, s, name ? name : names[0], err);
}

static enum mase_status read_study(struct mase_study *s, struct mase_arena *a, const struct open *o,
                                   struct mase_err *err)
{
    struct mase_store *store;
    if (is_json(o->storage))
        return read_file(s, o->storage, err);
    MASE_TRY(mase_store_open(&store, o->storage, MASE_STORE_READ, err));
    const enum mase_status st = read_store(s, a, store, o, err);
    mase_store_close(store);
    return st;
}

static enum mase_status open_trials(void *data, struct mase_err *err)
{
    const struct open *o = data;
    MASE_TRY(mase_api_text(o->storage, "storage", err));
    MASE_TRY(mase_api_text(o->name, "name", err));
    struct mase_trials *t = mase_xcalloc(sizeof *t);
    t->session = o->session;
    const enum mase_status st = read_study(&t->study, &t->arena, o, err);
    if (st)
        mase_trials_free(t);
    else
        *o->out = t;
    return st;
}

enum mase_status mase_trials_open(struct mase_session *s, struct mase_trials **trials,
                                  const char *storage, const char *name, struct mase_err *err)
{
    MASE_API_NEED(trials, err);
    *trials = NULL;
    MASE_API_NEED(storage, err);
    return mase_api_run(s, open_trials, &(struct open){ s, trials, storage, name }, err);
}

void mase_trials_free(struct mase_trials *trials)
{
    if (!trials)
        return;
    if (trials->of)
        mase_net_free(trials->of->net);
    mase_study_release(&trials->study);
    mase_arena_release(&trials->arena);
    mase_xfree(trials);
}

int64_t mase_trials_count(const struct mase_trials *trials)
{
    return trials ? trials->study.trials : 0;
}

struct list {
    struct mase_text *out;
    const char *storage;
};

static enum mase_status list_in(struct mase_value *list, struct mase_arena *a, const char *storage,
                                struct mase_err *err)
{
    struct mase_store *store;
    const char *const *names;
    int count = 0;
    MASE_TRY(mase_store_open(&store, storage, MASE_STORE_READ, err));
    const enum mase_status st = mase_store_list(store, a, &names, &count, err);
    mase_store_close(store);
    for (int i = 0; i < count && !st; i++)
        mase_value_push(a, list, mase_value_string(a, names[i]));
    return st;
}

static enum mase_status list_studies(void *data, struct mase_err *err)
{
    const struct list *c = data;
    struct mase_arena a = { 0 };
    struct mase_value *list = mase_value_list(&a);
    const enum mase_status st = list_in(list, &a, c->storage, err);
    if (!st)
        mase_text_json(c->out, list);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_session_studies(struct mase_session *s, struct mase_text *out,
                                      const char *storage, struct mase_err *err)
{
    MASE_API_NEED(out, err);
    MASE_API_NEED(storage, err);
    MASE_TRY(mase_api_text(storage, "storage", err));
    return mase_api_run(s, list_studies, &(struct list){ out, storage }, err);
}

/* ---- printing ---- */

/* What fronts depend on. */
static struct mase_study_setup setup_of(struct mase_arena *a, const struct mase_study *s)
{
    enum mase_goal *d = mase_new_array(a, enum mase_goal, (size_t)s->objectives);
    for (int i = 0; i < s->objectives; i++)
        d[i] = s->objective[i].direction;
    return (struct mase_study_setup){ .space = &s->space,
                                      .direction = d,
                                      .objectives = s->objectives,
                                      .constraints = s->constraints };
}

static struct mase_value *whole(struct mase_arena *a, const struct mase_study *s)
{
    const struct mase_study_setup setup = setup_of(a, s);
    struct mase_value *v = mase_study_value(a, s), *best = mase_value_list(a);
    int64_t *index = mase_new_array(a, int64_t, (size_t)s->trials);
    const int64_t count = mase_search_distinct(index, &setup, s);
    char hash[65];
    mase_study_hash(hash, s);
    mase_value_set(a, v, "hash", mase_value_string(a, hash));
    for (int64_t i = 0; i < count; i++)
        mase_value_push(a, best, mase_value_int(a, s->trial[index[i]].number));
    mase_value_set(a, v, "best", best);
    return v;
}

static struct mase_value *best(struct mase_arena *a, const struct mase_study *s)
{
    const struct mase_study_setup setup = setup_of(a, s);
    return mase_search_best(a, &setup, s);
}

static const struct {
    const char *name;
    struct mase_value *(*make)(struct mase_arena *a, const struct mase_study *s);
} prints[] = { { "study", whole }, { "log", mase_search_log }, { "best", best } };
enum { PRINTS = sizeof prints / sizeof prints[0] };

struct print {
    const struct mase_trials *trials;
    struct mase_text *out;
    const char *what;
};

static enum mase_status print(void *data, struct mase_err *err)
{
    const struct print *p = data;
    const char *names[PRINTS];
    for (int i = 0; i < PRINTS; i++) {
        names[i] = prints[i].name;
        if (!mase_streq(p->what, prints[i].name))
            continue;
        struct mase_arena a = { 0 };
        mase_text_json(p->out, prints[i].make(&a, &p->trials->study));
        mase_arena_release(&a);
        return MASE_OK;
    }
    return mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ p->what, names, PRINTS, .tail = "there are ", .lists = true },
        "trials cannot be printed as '%s'", p->what);
}

enum mase_status mase_trials_print(const struct mase_trials *trials, struct mase_text *out,
                                   const char *what, struct mase_err *err)
{
    MASE_API_NEED(trials, err);
    MASE_API_NEED(out, err);
    MASE_API_NEED(what, err);
    return mase_api_run(trials->session, print, &(struct print){ trials, out, what }, err);
}

/* ---- writing ---- */

struct write {
    const struct mase_trials *trials;
    const char *path;
};

static enum mase_status write_json(const struct mase_study *s, const char *path,
                                   struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_str text = { 0 };
    mase_json_print(&text, mase_study_value(&a, s), 2);
    mase_str_addc(&text, '\n');
    const enum mase_status st = mase_file_write(path, text.data, text.len, err);
    mase_str_release(&text);
    mase_arena_release(&a);
    return st;
}

/* Numbers of rows are set as it is added: that is the copy's. */
static enum mase_status write_store(const struct mase_study *s, const char *path,
                                    struct mase_err *err)
{
    struct mase_store *store;
    struct mase_study copy = { 0 };
    struct mase_arena a = { 0 };
    MASE_TRY(mase_study_from_value(&copy, mase_study_value(&a, s), err));
    enum mase_status st = mase_store_open(&store, path, MASE_STORE_CREATE, err);
    if (!st) {
        st = mase_store_create(store, &copy, err);
        mase_store_close(store);
    }
    mase_study_release(&copy);
    mase_arena_release(&a);
    return st;
}

static enum mase_status write_trials(void *data, struct mase_err *err)
{
    const struct write *w = data;
    const struct mase_study *s = &w->trials->study;
    if (is_json(w->path))
        return write_json(s, w->path, err);
    if (mase_ends_with(w->path, ".db") || strstr(w->path, "://"))
        return write_store(s, w->path, err);
    return mase_fail(err, MASE_EVALUE,
                     "a study is written to FILE.db, a URL or FILE.json, not '%s'", w->path);
}

enum mase_status mase_trials_write(const struct mase_trials *trials, const char *path,
                                   struct mase_err *err)
{
    MASE_API_NEED(trials, err);
    MASE_API_NEED(path, err);
    MASE_TRY(mase_api_text(path, "path", err));
    return mase_api_run(trials->session, write_trials, &(struct write){ trials, path }, err);
}
