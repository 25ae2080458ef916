/*
 * session.c - hosts of the library, their passes, texts that go out, and lists of what there is.
 */
#include "api/objects.h"

#include <omp.h>
#include <pthread.h>
#include <string.h>

#include <mase/value.h>

#include "base/alloc.h"
#include "base/number.h"

const char *mase_version(void)
{
    return MASE_VERSION;
}

int mase_abi(void)
{
    return MASE_ABI;
}

/* ---- texts ---- */

void mase_text_release(struct mase_text *t)
{
    if (!t)
        return;
    mase_xfree(t->data);
    *t = (struct mase_text){ 0 };
}

void mase_text_take(struct mase_text *t, struct mase_str *s)
{
    if (!s->data)
        mase_str_add(s, "");
    mase_text_release(t);
    mase_block_disown(s->data);
    *t = (struct mase_text){ s->data, s->len };
    *s = (struct mase_str){ 0 };
}

void mase_text_json(struct mase_text *t, const struct mase_value *v)
{
    struct mase_str s = { 0 };
    mase_json_print(&s, v, 0);
    mase_text_take(t, &s);
}

/* ---- calls ---- */

enum mase_status mase_api_run(struct mase_session *s, mase_guarded_fn *fn, void *data,
                              struct mase_err *err)
{
    struct mase_err unwanted = { 0 };
    MASE_API_NEED(s, err);
    return mase_guarded(&s->host, fn, data, err ? err : &unwanted);
}

enum mase_status mase_api_change(struct mase_net *net, mase_guarded_fn *fn, void *data,
                                 struct mase_err *err)
{
    if (net->busy)
        return mase_fail(
            err, MASE_EVALUE,
            "another call is changing this network: its callbacks can only look at it");
    struct mase_err unwanted = { 0 };
    net->busy = true;
    const enum mase_status st =
        net->lent ? mase_guarded_part(net->lender, fn, data, err ? err : &unwanted)
                  : mase_api_run(net->session, fn, data, err);
    net->busy = false;
    return st;
}

enum mase_status mase_api_agree(enum mase_status st, struct mase_err *err)
{
    if (st && !err->msg[0])
        return mase_fail(err, st, "failed without a message");
    if (st)
        err->status = st;
    return st;
}

/* A function of the program's own may fail without a word; what was said before is not about it. */
struct foreign {
    mase_call_fn *fn;
    void *data;
};

static enum mase_status call_foreign(void *data, struct mase_err *err)
{
    const struct foreign *f = data;
    *err = (struct mase_err){ 0 };
    return mase_api_agree(f->fn(f->data, err), err);
}

enum mase_status mase_session_call(struct mase_session *s, mase_call_fn *fn, void *data,
                                   struct mase_err *err)
{
    MASE_API_NEED(fn, err);
    return mase_api_run(s, call_foreign, &(struct foreign){ fn, data }, err);
}

enum mase_status mase_api_missing(const char *what, struct mase_err *err)
{
    return mase_fail(err, MASE_EVALUE, "%s is NULL", what);
}

enum mase_status mase_api_text(const char *text, const char *what, struct mase_err *err)
{
    return !text || *text ? MASE_OK : mase_fail(err, MASE_EVALUE, "%s is empty", what);
}

enum mase_status mase_api_number(int64_t number, int64_t most, const char *what,
                                 struct mase_err *err)
{
    if (number >= 0 && number <= most)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "%s = %lld is outside 0..%lld", what, (long long)number,
                     (long long)most);
}

enum mase_status mase_api_train_number(int64_t number, enum mase_train_option option,
                                       struct mase_err *err)
{
    const struct mase_opt *row = &mase_train_rows[option];
    return mase_api_number(number, (int64_t)row->max, row->key, err);
}

enum mase_status mase_api_shape(struct mase_shape *s, int rank, const int64_t *dim, int most,
                                struct mase_err *err)
{
    *s = (struct mase_shape){ 0 };
    if (rank < 0 || rank > most || (rank && !dim))
        return mase_fail(err, MASE_EVALUE, "there are up to %d dimensions, not %d%s", most, rank,
                         rank > 0 && !dim ? " at NULL" : "");
    for (int i = 0; i < rank; i++) {
        if (dim[i] < 1)
            return mase_fail(err, MASE_EVALUE, "dimension %d is %lld", i, (long long)dim[i]);
        s->dim[i] = dim[i];
    }
    s->rank = rank;
    if (mase_shape_count(s) > MASE_API_VALUES)
        return mase_fail(err, MASE_ELIMIT, "no memory has so many values as %d dimensions say",
                         rank);
    return MASE_OK;
}

int mase_api_dims(const struct mase_shape *s, int64_t dim[8])
{
    if (dim)
        memcpy(dim, s->dim, sizeof s->dim);
    return s->rank;
}

enum mase_status mase_api_size(size_t size, size_t least, const char *what, struct mase_err *err)
{
    if (size >= least && size % sizeof(size_t) == 0)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "struct %s: size is %zu; it must be sizeof(struct %s)", what,
                     size, what);
}

enum mase_status mase_api_options(struct mase_value **v, struct mase_arena *a, const char *text,
                                  struct mase_err *err)
{
    const char *start = text ? text + strspn(text, " \t\r\n") : "";
    if (!*start) {
        *v = mase_value_table(a);
        return MASE_OK;
    }
    MASE_TRY((*start == '{' ? mase_json_parse : mase_toml_parse)(v, a, text, strlen(text),
                                                                 "<options>", err));
    if ((*v)->kind != MASE_TABLE)
        return mase_fail_at(err, MASE_EVALUE, (*v)->at, "options are a table");
    mase_value_resolve_na(*v);
    return MASE_OK;
}

struct set_text {
    struct mase_text *text;
    const char *value;
};

static enum mase_status set_text(void *data, struct mase_err *err)
{
    const struct set_text *c = data;
    struct mase_str s = { 0 };
    (void)err;
    mase_str_add(&s, c->value);
    mase_text_take(c->text, &s);
    return MASE_OK;
}

enum mase_status mase_text_set(struct mase_session *s, struct mase_text *t, const char *value,
                               struct mase_err *err)
{
    MASE_API_NEED(t, err);
    MASE_API_NEED(value, err);
    return mase_api_run(s, set_text, &(struct set_text){ t, value }, err);
}

/* ---- forks ---- */

/* A child has the one thread that forked, and would wait for ever for those that parallel regions
 * keep. They end before the fork; where a region wants some, both processes start their own. */
static void end_threads(void)
{
    (void)omp_pause_resource_all(omp_pause_soft);
}

__attribute__((constructor)) static void watch_forks(void)
{
    (void)pthread_atfork(end_threads, NULL, NULL);
}

/* ---- sessions ---- */

struct make {
    struct mase_host host;
    struct mase_session *made;
};

static enum mase_status make_session(void *data, struct mase_err *err)
{
    struct make *m = data;
    (void)err;
    m->made = mase_xcalloc(sizeof *m->made);
    m->made->host = m->host;
    return MASE_OK;
}

struct mase_session *mase_session_new(const struct mase_hooks *given)
{
    struct mase_hooks hooks = { 0 };
    struct mase_err err;
    if (given && mase_api_size(given->size, offsetof(struct mase_hooks, user), "mase_hooks", &err))
        return NULL;
    if (given)
        MASE_API_COPY(hooks, given);
    struct make m = { .host = { .user = hooks.user,
                                .alloc = hooks.alloc,
                                .log = hooks.log,
                                .level = hooks.log_level,
                                .progress = hooks.progress } };
    return mase_guarded(&m.host, make_session, &m, &err) ? NULL : m.made;
}

void mase_session_free(struct mase_session *s)
{
    if (!s)
        return;
    mase_arena_release(&s->arena);
    mase_xfree(s);
}

/* ---- passes of its own ---- */

struct add_pass {
    struct mase_session *session;
    const struct mase_own_pass *pass;
};

/* Copied, since the caller's strings may go. */
static struct mase_own_pass *copy_pass(struct mase_arena *a, const struct mase_own_pass *from)
{
    struct mase_own_pass *p = mase_new(a, struct mase_own_pass);
    MASE_API_COPY(*p, from);
    p->size = sizeof *p;
    p->name = mase_arena_strdup(a, from->name);
    p->help = mase_arena_strdup(a, from->help ? from->help : "");
    return p;
}

static enum mase_status add_pass(void *data, struct mase_err *err)
{
    const struct add_pass *c = data;
    struct mase_session *s = c->session;
    MASE_TRY(mase_api_size(c->pass->size, sizeof *c->pass, "mase_own_pass", err));
    if (!c->pass->name || !c->pass->name[0] || !c->pass->run)
        return mase_fail(err, MASE_EVALUE, "a pass needs a name and a function");
    if (mase_pass_find(c->pass->name))
        return mase_fail(err, MASE_EVALUE, "there is a pass of the name '%s'", c->pass->name);
    mase_guard_keep_arena(&s->arena);
    struct mase_own_pass *own = copy_pass(&s->arena, c->pass);
    struct mase_pass *p = mase_new(&s->arena, struct mase_pass);
    *p = (struct mase_pass){
        .name = own->name,
        .help = own->help,
        .opts = mase_api_own_opts,
        .opts_size = mase_api_own_size(),
        .analyse = own->transform ? NULL : mase_api_look_own,
        .transform = own->transform ? mase_api_run_own : NULL,
        .user = own,
    };
    const struct mase_pass **all = mase_new_array(&s->arena, const struct mase_pass *,
                                                  (size_t)s->pass_count + 2); /* NULL ends them */
    if (s->pass_count)
        memcpy(all, s->passes, (size_t)s->pass_count * sizeof *all);
    all[s->pass_count++] = p;
    s->passes = all;
    s->host.passes = all;
    return MASE_OK;
}

enum mase_status mase_session_add_pass(struct mase_session *s, const struct mase_own_pass *pass,
                                       struct mase_err *err)
{
    MASE_API_NEED(pass, err);
    return mase_api_run(s, add_pass, &(struct add_pass){ s, pass }, err);
}
