/*
 * swap.c - replace several files of a folder, all or none (swap.h).
 */
#include "base/swap.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <mase/file.h>

#include "base/alloc.h"
#include "base/fault.h"

/* One file: where it stands, the new one, where the old one waits. */
struct change {
    const char *now, *next, *last;
    bool out, in; /* the old one is gone from its place; the new one is there */
};

struct mase_swap {
    const char *dir, *temp;
    char *path;  /* dir, cut while it is removed */
    size_t kept; /* of it, what was there before */
    struct change *change;
    int count;
    bool done;
};

/* ---- the folder beside ---- */

static void undo(void *record)
{
    struct mase_swap *s = record;
    for (int i = 0; i < s->count; i++) {
        unlink(s->change[i].next);
        unlink(s->change[i].last);
    }
    rmdir(s->temp);
    while (!s->done && strlen(s->path) > s->kept && rmdir(s->path) == 0) {
        char *slash = strrchr(s->path, '/');
        *(slash ? slash : s->path) = '\0';
    }
}

/* How much of a path is there already. */
static size_t existing(struct mase_arena *a, const char *dir)
{
    char *path = mase_arena_strdup(a, dir);
    while (path[0] && !mase_is_dir(path)) {
        char *slash = strrchr(path, '/');
        *(slash ? slash : path) = '\0';
    }
    return strlen(path);
}

struct mase_swap *mase_swap_new(struct mase_arena *a, const char *dir, const char *const *names,
                                int count)
{
    static atomic_uint number; /* threads may write to the same folder */
    struct change *change = mase_new_array(a, struct change, (size_t)count);
    const char *temp =
        mase_arena_printf(a, "%s/.mase-%ld-%u-save.tmp", dir, (long)getpid(), number++);
    for (int i = 0; i < count; i++) {
        change[i].now = mase_path_join(a, dir, names[i]);
        change[i].next = mase_path_join(a, temp, names[i]);
        change[i].last = mase_arena_printf(a, "%s.last", change[i].next);
    }
    char *path = mase_arena_strdup(a, dir);
    const size_t kept = existing(a, dir);
    struct mase_swap *s = mase_xcalloc_with_cleanup(sizeof *s, undo);
    *s = (struct mase_swap){ dir, temp, path, kept, change, count, false };
    return s;
}

enum mase_status mase_swap_begin(struct mase_swap *s, struct mase_err *err)
{
    mase_remove_leftovers(s->dir);
    return mase_make_dirs(s->temp, err);
}

const char *mase_swap_folder(const struct mase_swap *s)
{
    return s->temp;
}

const char *mase_swap_next(const struct mase_swap *s, int i)
{
    return s->change[i].next;
}

void mase_swap_free(struct mase_swap *s)
{
    undo(s);
    mase_xfree(s);
}

/* ---- changing places ---- */

static bool change_place(struct change *c)
{
    if (mase_is_file(c->now)) {
        if (mase_sys_rename(c->now, c->last))
            return false;
        c->out = true;
    }
    if (mase_is_file(c->next)) {
        if (mase_sys_rename(c->next, c->now))
            return false;
        c->in = true;
    }
    return true;
}

static void change_back(const struct change *c)
{
    if (c->in)
        (void)mase_sys_rename(c->now, c->next);
    if (c->out)
        (void)mase_sys_rename(c->last, c->now);
}

enum mase_status mase_swap_commit(struct mase_swap *s, struct mase_err *err)
{
    enum mase_status st = MASE_OK;
    int changed = 0;
    for (int i = 0; i < s->count; i++)
        if (mase_is_file(s->change[i].next))
            MASE_TRY(mase_flush(s->change[i].next, err));
    while (!st && changed < s->count)
        if (!change_place(&s->change[changed++]))
            st = mase_fail_errno(err, s->change[changed - 1].now, "cannot replace");
    if (!st)
        st = mase_flush(s->dir, err);
    while (st && changed)
        change_back(&s->change[--changed]);
    s->done = !st;
    return st;
}
