/*
 * t_host.c - guarded calls: what is given back when they fail, and what stays.
 */
#include "check.h"
#include "run_cases.h"

#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>

#include <mase/log.h>
#include <mase/progress.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "base/host.h"
#include "base/process.h"
#include "traces.h"

/* ---- a host that counts ---- */

struct counter {
    long alive;     /* blocks */
    long taken;     /* in all */
    long fails_at;  /* the number of the allocation that fails; 0: none */
    char said[256]; /* the last message */
    enum mase_log_level at;
    int messages, shown; /* calls of log and progress */
    int64_t done, total; /* of the last */
};

static void *count_alloc(void *user, void *p, size_t size)
{
    struct counter *c = user;
    if (!size) {
        c->alive--;
        free(p);
        return NULL;
    }
    if (++c->taken == c->fails_at)
        return NULL;
    c->alive += !p;
    void *q = realloc(p, size);
    assert_non_null(q);
    if (!p)
        memset(q, 0xa5, size);
    return q;
}

static void count_log(void *user, enum mase_log_level level, const char *message)
{
    struct counter *c = user;
    c->messages++;
    c->at = level;
    snprintf(c->said, sizeof c->said, "%s", message);
}

static void count_progress(void *user, const char *title, int64_t done, int64_t total)
{
    struct counter *c = user;
    assert_string_equal(title, "epochs");
    c->shown++;
    c->done = done;
    c->total = total;
}

static struct mase_host host_of(struct counter *c)
{
    return (struct mase_host){ .user = c,
                               .alloc = count_alloc,
                               .log = count_log,
                               .level = MASE_INFO,
                               .progress = count_progress };
}

/* ---- memory ---- */

/* A bit of everything that allocates; what it leaves is handed out. */
struct made {
    struct mase_arena arena; /* of the caller, and empty before */
    char *kept;
    float *aligned;
};

static enum mase_status make(void *data, struct mase_err *err)
{
    struct made *m = data;
    struct mase_arena scratch = { 0 };
    struct mase_str s = { 0 };
    (void)err;
    for (int i = 0; i < 100; i++) {
        mase_arena_printf(&scratch, "number %d", i);
        mase_str_printf(&s, "%d ", i);
        mase_arena_alloc(&scratch, (size_t)i * 100);
    }
    const char *text = mase_xstrdup("kept");
    m->aligned = mase_aligned_calloc(1 << 20);
    assert_int_equal((uintptr_t)m->aligned % 64, 0);
    for (int i = 0; i < 1 << 18; i++)
        assert_true(m->aligned[i] == 0);
    m->kept = (char *)text;
    mase_str_release(&s);
    mase_arena_release(&scratch);
    return MASE_OK;
}

static void every_failing_allocation_gives_all_back(void **state)
{
    (void)state;
    struct counter c = { 0 };
    const struct mase_host host = host_of(&c);
    struct mase_err err;
    long n = 0;
    enum mase_status st = MASE_ENOMEM;
    while (st) {
        struct made m = { 0 };
        c = (struct counter){ .fails_at = ++n };
        st = mase_guarded(&host, make, &m, &err);
        if (st) {
            assert_int_equal(st, MASE_ENOMEM);
            assert_int_equal(err.status, MASE_ENOMEM);
            assert_non_null(strstr(err.msg, "out of memory: "));
            assert_int_equal(c.alive, 0);
            continue;
        }
        assert_int_equal(c.alive, 2); /* they are the caller's now, and know whom they came from */
        assert_string_equal(m.kept, "kept");
        mase_xfree(m.kept);
        mase_aligned_free(m.aligned);
        assert_int_equal(c.alive, 0);
    }
    assert_true(n > 10);
}

static enum mase_status ask_too_much(void *data, struct mase_err *err)
{
    (void)err;
    const size_t *size = data;
    mase_xfree(mase_xcalloc(100));
    mase_xcalloc(*size);
    return MASE_OK;
}

static void sizes_that_no_machine_has(void **state)
{
    (void)state;
    static const size_t sizes[] = { SIZE_MAX, SIZE_MAX - 8, SIZE_MAX / 2, SIZE_MAX / 2 - 16 };
    for (int i = 0; i < COUNT(sizes); i++) {
        size_t size = sizes[i];
        struct mase_err err;
        assert_int_equal(mase_guarded(NULL, ask_too_much, &size, &err), MASE_ENOMEM);
        assert_int_equal(mase_guarded(NULL, ask_too_much, &size, NULL), MASE_ENOMEM);
    }
}

/* ---- what is older than the call ---- */

struct older {
    struct mase_arena empty, used;
    struct mase_str text;
    char *block; /* grown */
    void *owner; /* given something */
    void *given, *given_too;
};

static enum mase_status extend(void *data, struct mase_err *err)
{
    struct older *o = data;
    (void)err;
    mase_guard_keep_arena(&o->empty);
    for (int i = 0; i < 2000; i++) {
        mase_arena_printf(&o->empty, "%d", i);
        mase_arena_printf(&o->used, "%d", i);
        mase_str_printf(&o->text, "%d", i);
    }
    o->block = mase_xrealloc(o->block, 100000);
    o->given = mase_aligned_calloc(64);
    mase_aligned_give(o->given, o->owner);
    o->given_too = mase_aligned_calloc(64);
    mase_aligned_give_to_arena(o->given_too, &o->used);
    mase_xcalloc(1000); /* the call's own */
    mase_out_of_memory(1);
}

static void what_is_older_than_the_call_stays(void **state)
{
    (void)state;
    struct counter c = { 0 };
    const struct mase_host host = host_of(&c);
    struct older o = { .block = mase_xstrdup("before"), .owner = mase_xcalloc(8) };
    mase_arena_strdup(&o.used, "before");
    mase_str_add(&o.text, "before");
    assert_int_equal(mase_guarded(&host, extend, &o, NULL), MASE_ENOMEM);
    assert_string_equal(o.block, "before");
    assert_int_equal(strncmp(mase_str_text(&o.text), "before012", 9), 0);
    assert_true(o.text.len > 6000);
    mase_arena_release(&o.empty);
    mase_arena_release(&o.used);
    mase_str_release(&o.text);
    mase_xfree(o.block);
    mase_aligned_free(o.given);
    mase_aligned_free(o.given_too);
    mase_xfree(o.owner);
    assert_int_equal(c.alive, 0);
}

/* ---- objects of several calls ---- */

struct object {
    struct mase_heap *heap;
    struct mase_arena arena;
    char *first, *second; /* parts that come and go */
};

static enum mase_status make_object(void *data, struct mase_err *err)
{
    struct object **out = data;
    (void)err;
    struct object *o = mase_xcalloc(sizeof *o);
    mase_arena_strdup(&o->arena, "something");
    o->first = mase_xstrdup("first");
    *out = o;
    return MASE_OK;
}

static enum mase_status new_object(void *data, struct mase_err *err)
{
    struct object **out = data;
    struct mase_heap *heap = mase_heap_new();
    MASE_TRY(mase_heap_run(heap, make_object, out, err));
    (*out)->heap = heap;
    return MASE_OK;
}

/* Without memory it has freed one part, and has another that is freed behind its back. */
static enum mase_status change(void *data, struct mase_err *err)
{
    struct object *o = data;
    (void)err;
    o->second = mase_xstrdup("second");
    mase_arena_alloc(&o->arena, 100000);
    mase_xfree(o->first);
    o->first = mase_xcalloc(1000);
    return MASE_OK;
}

static enum mase_status change_object(void *data, struct mase_err *err)
{
    struct object *o = data;
    return mase_heap_run(o->heap, change, o, err);
}

static enum mase_status new_and_fail(void *data, struct mase_err *err)
{
    MASE_TRY(new_object(data, err));
    mase_out_of_memory(1);
}

static void a_broken_object_can_be_freed(void **state)
{
    (void)state;
    struct counter c = { 0 };
    const struct mase_host host = host_of(&c);
    struct object *o;
    bool broken = true;
    for (long n = 1; broken; n++) {
        struct mase_err err;
        c = (struct counter){ 0 };
        assert_int_equal(mase_guarded(&host, new_object, &o, &err), MASE_OK);
        c.fails_at = c.taken + n;
        const enum mase_status st = mase_guarded(&host, change_object, o, &err);
        broken = mase_heap_broken(o->heap);
        assert_int_equal(st, broken ? MASE_ENOMEM : MASE_OK);
        struct mase_heap *heap = o->heap;
        if (!broken) { /* the usual end of such an object */
            assert_string_equal(o->second, "second");
            mase_xfree(o->first);
            mase_arena_release(&o->arena);
        }
        mase_heap_free(heap);
        assert_int_equal(c.alive, 0);
    }
    assert_int_equal(mase_guarded(&host, new_and_fail, &o, NULL), MASE_ENOMEM);
    assert_int_equal(c.alive, 0);
    assert_int_equal(new_object(&o, NULL), MASE_OK); /* the command line */
    mase_heap_free(o->heap);
    mase_xfree(o->first);
    mase_arena_release(&o->arena);
    mase_xfree(o);
}

/* ---- our own fault ---- */

static enum mase_status be_wrong(void *data, struct mase_err *err)
{
    (void)data, (void)err;
    mase_xcalloc(100);
    mase_bug("seven is %d", 8);
}

static void a_bug_is_a_status_with_its_place(void **state)
{
    (void)state;
    struct counter c = { 0 };
    const struct mase_host host = host_of(&c);
    struct mase_err err;
    assert_int_equal(mase_guarded(&host, be_wrong, NULL, &err), MASE_EBUG);
    assert_non_null(strstr(err.msg, "t_host.c:"));
    assert_non_null(strstr(err.msg, ": bug: seven is 8"));
    assert_int_equal(c.alive, 0);
    assert_null(mase_host_current());
}

static enum mase_status fail_usually(void *data, struct mase_err *err)
{
    void **kept = data;
    *kept = mase_xcalloc(1);
    return mase_fail_in(err, MASE_EVALUE, "a.txt", "no");
}

static void other_statuses_pass_through(void **state)
{
    (void)state;
    void *kept;
    struct mase_err err;
    assert_int_equal(mase_guarded(NULL, fail_usually, &kept, &err), MASE_EVALUE);
    assert_string_equal(err.msg, "no");
    assert_string_equal(err.loc.path, "a.txt");
    mase_xfree(kept);
}

/* ---- nested calls ---- */

struct outer {
    const struct mase_host *inner;
    struct made inner_made;
    void *own;
};

static enum mase_status nest(void *data, struct mase_err *err)
{
    struct outer *o = data;
    struct mase_err inner_err;
    const struct mase_host *mine = mase_host_current();
    mase_xcalloc(10);
    assert_int_equal(mase_guarded(o->inner, be_wrong, NULL, &inner_err), MASE_EBUG);
    assert_ptr_equal(mase_host_current(), mine);
    assert_int_equal(mase_guarded(o->inner, make, &o->inner_made, &inner_err), MASE_OK);
    assert_ptr_equal(mase_host_current(), mine);
    o->own = mase_xcalloc(10);
    (void)err;
    mase_out_of_memory(5);
}

static void what_a_nested_call_made_survives_the_outer_one(void **state)
{
    (void)state;
    struct counter c = { 0 }, inner = { 0 };
    const struct mase_host host = host_of(&c), inner_host = host_of(&inner);
    struct outer o = { .inner = &inner_host };
    struct mase_err err;
    assert_int_equal(mase_guarded(&host, nest, &o, &err), MASE_ENOMEM);
    assert_int_equal(c.alive, 0);
    assert_int_equal(inner.alive, 2);
    assert_string_equal(o.inner_made.kept, "kept");
    mase_xfree(o.inner_made.kept);
    mase_aligned_free(o.inner_made.aligned);
    assert_int_equal(inner.alive, 0);
}

/* ---- parts of a call on other threads ---- */

struct thread {
    struct mase_guard *guard;
    enum mase_status st;
    struct mase_err err;
    void *made, **shared;
    bool fails;
};

static enum mase_status work(void *data, struct mase_err *err)
{
    struct thread *t = data;
    (void)err;
    mase_warn("from a thread");
    t->made = mase_xcalloc(100);
    if (t->shared)
        *t->shared = mase_xrealloc(*t->shared, 5000); /* another thread's, and its ledger's */
    if (t->fails)
        mase_out_of_memory(7);
    return MASE_OK;
}

static void *start(void *data)
{
    struct thread *t = data;
    t->st = mase_guarded_part(t->guard, work, t, &t->err);
    return NULL;
}

static enum mase_status divide(void *data, struct mase_err *err)
{
    const bool fails = *(bool *)data;
    void *shared = mase_xcalloc(10);
    struct thread t[2] = { { .guard = mase_guard_current(), .shared = &shared },
                           { .guard = mase_guard_current(), .fails = fails } };
    pthread_t id[2];
    (void)err;
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&id[i], NULL, start, &t[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(id[i], NULL);
    assert_int_equal(t[0].st, MASE_OK);
    assert_int_equal(t[1].st, fails ? MASE_ENOMEM : MASE_OK);
    for (int i = 0; i < 2; i++)
        (void)mase_guard_propagate(t[i].st, &t[i].err);
    mase_out_of_memory(8); /* what the threads left is the call's */
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* The counter is not made for threads. */
static void *locked_alloc(void *user, void *p, size_t size)
{
    pthread_mutex_lock(&lock);
    void *q = count_alloc(user, p, size);
    pthread_mutex_unlock(&lock);
    return q;
}

static void threads_fail_for_the_call(void **state)
{
    (void)state;
    for (int fails = 0; fails < 2; fails++) {
        struct counter c = { 0 };
        struct mase_host host = host_of(&c);
        host.alloc = locked_alloc;
        bool wanted = fails;
        struct mase_err err;
        assert_int_equal(mase_guarded(&host, divide, &wanted, &err), MASE_ENOMEM);
        assert_string_equal(err.msg, fails ? "out of memory: 7 bytes" : "out of memory: 8 bytes");
        assert_int_equal(c.alive, 0);
        assert_int_equal(c.messages, 2);
    }
}

/* ---- files and processes ---- */

struct files {
    const char *read, *write, *dir;
    bool whole; /* all is closed again before memory runs out */
};

static enum mase_status use_files(void *data, struct mase_err *err)
{
    const struct files *f = data;
    struct mase_file in;
    struct mase_writer out;
    struct mase_dir d = mase_dir_open(f->dir);
    assert_non_null(d.dir);
    MASE_TRY(mase_file_open(&in, f->read, err));
    MASE_TRY(mase_writer_open(&out, f->write, err));
    MASE_TRY(mase_writer_put(&out, "half", 4, err));
    int *fd = mase_cleanup_fd();
    *fd = dup(0);
    if (f->whole) {
        close(*fd);
        mase_xfree(fd);
        MASE_TRY(mase_writer_close(&out, err));
        mase_file_close(&in);
        mase_dir_close(&d);
    }
    mase_out_of_memory(6);
}

static void files_are_closed_and_unfinished_ones_removed(void **state)
{
    (void)state;
    struct folder at = folder_make();
    struct files f = { folder_at(&at, "in"), folder_at(&at, "out"), at.path, false };
    write_text(f.read, "text", 4);
    write_text(f.write, "old", 3);
    const int before = open_files();
    for (int whole = 0; whole < 2; whole++) {
        f.whole = whole;
        assert_int_equal(mase_guarded(NULL, use_files, &f, NULL), MASE_ENOMEM);
        assert_int_equal(open_files(), before);
        assert_int_equal(folder_entries(&at), 2);
        assert_content(f.write, whole ? "half" : "old");
    }
    folder_remove(&at);
}

static enum mase_status open_one(void *data, struct mase_err *err)
{
    struct mase_file *f = data;
    return mase_file_open(f, f->path, err);
}

static void files_that_a_call_gives_stay_open(void **state)
{
    (void)state;
    struct folder at = folder_make();
    struct mase_file f = { .path = folder_at(&at, "in") };
    write_text(f.path, "text", 4);
    assert_int_equal(mase_guarded(NULL, open_one, &f, NULL), MASE_OK);
    assert_int_equal(memcmp(f.data, "text", 4), 0);
    mase_file_close(&f);
    folder_remove(&at);
}

static enum mase_status leave_child(void *data, struct mase_err *err)
{
    pid_t *child = data;
    int ends[2];
    (void)err;
    struct mase_process *p = mase_process_cleanup();
    assert_int_equal(pipe(ends), 0);
    p->fd[0] = ends[0];
    p->fd[1] = ends[1];
    *child = p->child = fork();
    if (!*child)
        for (;;)
            pause();
    mase_out_of_memory(6);
}

static void children_are_ended(void **state)
{
    (void)state;
    pid_t child = 0;
    const int before = open_files();
    assert_int_equal(mase_guarded(NULL, leave_child, &child, NULL), MASE_ENOMEM);
    assert_true(child > 0);
    assert_int_equal(waitpid(child, NULL, 0), -1);
    assert_int_equal(errno, ECHILD); /* it is gone, and waited for */
    assert_int_equal(open_files(), before);
}

/* ---- log and progress ---- */

static enum mase_status speak(void *data, struct mase_err *err)
{
    const struct counter *c = data;
    struct mase_progress p;
    (void)err;
    mase_debug("too low");
    assert_int_equal(c->messages, 0);
    assert_int_equal(mase_log_get_level(), MASE_INFO);
    mase_warn("a bell \a of %s", "others");
    assert_int_equal(c->messages, 1);
    assert_int_equal(c->at, MASE_WARNING);
    assert_string_equal(c->said, "a bell \\x07 of others");
    mase_progress_start(&p, "epochs", 7);
    assert_int_equal(c->shown, 1);
    mase_progress_step(&p, 3); /* too soon to be told */
    assert_int_equal(c->shown, 1);
    mase_progress_step(&p, 7);
    mase_progress_end(&p);
    assert_int_equal(c->shown, 2);
    assert_int_equal(c->done, 7);
    assert_int_equal(c->total, 7);
    assert_int_equal(mase_flush_output(), 0);
    return MASE_OK;
}

static enum mase_status speak_to_nobody(void *data, struct mase_err *err)
{
    struct mase_progress p;
    (void)data, (void)err;
    mase_log(MASE_CRITICAL, "nobody hears that");
    mase_progress_start(&p, "epochs", 1);
    mase_progress_end(&p);
    return MASE_OK;
}

static void the_host_hears_and_nobody_else(void **state)
{
    (void)state;
    FILE *f = tmpfile();
    struct counter c = { 0 };
    const struct mase_host host = host_of(&c);
    mase_log_set_stream(f);
    assert_int_equal(mase_guarded(&host, speak, &c, NULL), MASE_OK);
    assert_int_equal(mase_guarded(NULL, speak_to_nobody, NULL, NULL), MASE_OK);
    mase_warn("after the call");
    mase_log_set_stream(NULL);
    char *text = stream_text(f);
    assert_string_equal(text, "WARNING  after the call\n");
    free(text);
    fclose(f);
    assert_int_equal(c.alive, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_failing_allocation_gives_all_back),
        cmocka_unit_test(sizes_that_no_machine_has),
        cmocka_unit_test(what_is_older_than_the_call_stays),
        cmocka_unit_test(a_broken_object_can_be_freed),
        cmocka_unit_test(a_bug_is_a_status_with_its_place),
        cmocka_unit_test(other_statuses_pass_through),
        cmocka_unit_test(what_a_nested_call_made_survives_the_outer_one),
        cmocka_unit_test(threads_fail_for_the_call),
        cmocka_unit_test(files_are_closed_and_unfinished_ones_removed),
        cmocka_unit_test(files_that_a_call_gives_stay_open),
        cmocka_unit_test(children_are_ended),
        cmocka_unit_test(the_host_hears_and_nobody_else),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
