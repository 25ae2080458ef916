/*
 * claim.c - lock a project while a run writes to it.
 *
 * A project holds the latest run of every action. Results of an earlier run of the same action are
 * moved first, to the first free PROJECT/version_N, which is a project itself: nothing is
 * overwritten, and every command takes that folder as it takes this one. A run that goes on where
 * it stopped keeps its files.
 *
 * The folder of an action is locked while a run writes to it, the project for the moments in which
 * folders change places. Locks lie on the folders themselves and end with the process.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/log.h>

#include "base/fault.h"
#include "cli/project.h"

enum { MOST_PATHS = 6 };

/* Paths in a project that an action writes; the first is its folder. */
struct action {
    const char *name, *folder;
    const char *paths[MOST_PATHS]; /* moved aside before the next run */
    bool shared;                   /* the action does not write the project's run.json */
    bool waits;                    /* the action writes briefly: a second run waits for the lock */
};
static const struct action actions[] = {
    { .name = "train",
      .folder = "software/training_ckpts",
      .paths = { "software/training_ckpts", "software/metrics.csv", "software/bits.csv",
                 "software/training_curve.svg", "software/tensorboard" } },
    { .name = "transform", .folder = "software/transform", .paths = { "software/transform" } },
    { .name = "calibrate",
      .folder = "software/calibrate",
      .paths = { "software/calibrate" },
      .shared = true },
    /* results of configurations stay for the next sweep */
    { .name = "sweep",
      .folder = "software/sweep",
      .paths = { "software/sweep/sweep.csv", "software/sweep/sweep.svg", "software/sweep/seeds.csv",
                 "software/sweep/graph.mg", "software/sweep/run.json" } },
    { .name = "search", .folder = "software/search_ckpts", .paths = { "software/search_ckpts" } },
    { .name = "test",
      .folder = "software/test",
      .paths = { "software/test" },
      .shared = true,
      .waits = true },
    { .name = "predict",
      .folder = "software/predict",
      .paths = { "software/predict" },
      .shared = true,
      .waits = true },
};
enum { ACTIONS = sizeof actions / sizeof actions[0] };

static const struct action *find_action(const char *name)
{
    for (int i = 0; i < ACTIONS; i++)
        if (mase_streq(actions[i].name, name))
            return &actions[i];
    return NULL;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

/* ---- locks ---- */

/* Lock a folder; returns a descriptor, or -1 if another process holds the lock. On file systems
 * without locks the descriptor alone. */
static int lock_folder(const char *path, bool wait, struct mase_err *err, enum mase_status *st)
{
    const int fd = mase_sys_open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    *st = fd < 0 ? mase_fail_errno(err, path, "cannot open") : MASE_OK;
    int result = 0;
    while (fd >= 0 && (result = flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB))) != 0 && errno == EINTR)
        ;
    if (result == 0 || errno != EWOULDBLOCK)
        return fd;
    mase_sys_close(fd);
    return -1;
}

/* ---- records ---- */

/* Read the record of a run, or NULL. */
static const struct mase_value *read_record(struct mase_arena *a, const char *dir)
{
    struct mase_value *v;
    const char *path = mase_path_join(a, dir, "run.json");
    return mase_is_file(path) && !mase_json_read(&v, a, path, NULL) ? v : NULL;
}

static const char *text_of(const struct mase_value *record, const char *path)
{
    const struct mase_value *v = record ? mase_value_at(record, path) : NULL;
    return v && v->kind == MASE_STRING ? v->s : NULL;
}

/* ---- move earlier results ---- */

/* Moving an earlier run to a folder of its own. */
struct move {
    struct mase_cli *c;
    const char *from, *to; /* project folders; to is NULL until something is moved */
};

/* Create the first version_N that does not exist. */
static enum mase_status make_version(struct move *m, struct mase_err *err)
{
    for (int n = 0; !m->to; n++) {
        const char *dir = mase_arena_printf(&m->c->arena, "%s/version_%d", m->from, n);
        if (mase_sys_mkdir(dir, 0777) == 0)
            m->to = dir;
        else if (errno != EEXIST)
            return mase_fail_errno(err, dir, "cannot make the folder for the earlier run");
    }
    return MASE_OK;
}

/* If --load names a path that moves, change it. */
static void follow_load(struct move *m, const char *from, const char *to)
{
    struct mase_arena *a = &m->c->arena;
    const char *load = mase_cli_text(m->c, MASE_CLI_load_name);
    const char *old = mase_path_absolute(a, from);
    const size_t n = strlen(old);
    if (!load || !mase_starts_with(load, old) || (load[n] && load[n] != '/'))
        return;
    struct mase_value *v =
        mase_value_string(a, mase_arena_printf(a, "%s%s", mase_path_absolute(a, to), load + n));
    v->at = mase_cli_value(m->c, MASE_CLI_load_name)->at;
    mase_cli_settle(m->c, MASE_CLI_load_name, v);
}

static enum mase_status move_path(struct move *m, const char *name, const char *new_name,
                                  struct mase_err *err)
{
    struct mase_arena *a = &m->c->arena;
    const char *from = mase_path_join(a, m->from, name);
    if (!exists(from))
        return MASE_OK;
    MASE_TRY(make_version(m, err));
    const char *to = mase_path_join(a, m->to, new_name);
    MASE_TRY(mase_make_dirs(mase_arena_strndup(a, to, (size_t)(strrchr(to, '/') - to)), err));
    if (mase_sys_rename(from, to) != 0)
        return mase_fail_errno(err, from, "cannot set aside what an earlier run made");
    follow_load(m, from, to);
    return MASE_OK;
}

/* Is the folder of an action empty? Creating a project creates empty folders. */
static bool is_empty(const char *path)
{
    DIR *dir = opendir(path);
    bool empty = dir != NULL;
    for (const struct dirent *e; empty && (e = readdir(dir));)
        empty = mase_streq(e->d_name, ".") || mase_streq(e->d_name, "..");
    if (dir)
        closedir(dir);
    return empty;
}

/* Results of tests and predictions move with the network that they are of. */
static enum mase_status move_dependents(struct move *m, const struct action *act,
                                        struct mase_err *err)
{
    struct mase_arena *a = &m->c->arena;
    const char *old = mase_path_absolute(a, mase_path_join(a, m->from, act->folder));
    for (int i = 0; i < ACTIONS; i++) {
        const char *folder = actions[i].folder;
        const struct mase_value *record =
            actions[i].shared ? read_record(a, mase_path_join(a, m->from, folder)) : NULL;
        const char *load = text_of(record, "configuration.options.load_name");
        if (load && mase_starts_with(load, old))
            MASE_TRY(move_path(m, folder, folder, err));
    }
    return MASE_OK;
}

static enum mase_status set_aside(struct move *m, const struct action *act, struct mase_err *err)
{
    struct mase_arena *a = &m->c->arena;
    const char *record = text_of(read_record(a, m->from), "action");
    const char *own = mase_arena_printf(a, "%s/run.json", act->folder);
    for (int i = 0; i < MOST_PATHS && act->paths[i]; i++)
        if (!is_empty(mase_path_join(a, m->from, act->paths[i])))
            MASE_TRY(move_path(m, act->paths[i], act->paths[i], err));
    if (!act->shared && record && mase_streq(record, act->name)) {
        MASE_TRY(move_path(m, "run.json", "run.json", err));
        MASE_TRY(move_path(m, "report.html", "report.html", err));
    } else if (!act->shared && m->to && exists(mase_path_join(a, m->to, own)) &&
               mase_sys_rename(mase_path_join(a, m->to, own),
                               mase_path_join(a, m->to, "run.json"))) {
        return mase_fail_errno(err, m->to, "cannot set aside its record");
    }
    if (!act->shared && m->to)
        MASE_TRY(move_dependents(m, act, err));
    if (m->to)
        mase_info("What an earlier %s left in %s is now in %s", act->name, m->from, m->to);
    return MASE_OK;
}

/* ---- clean up after killed runs ---- */

enum { DEEPEST = 8 };

static bool is_real_dir(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void tidy(const char *path, int depth)
{
    struct mase_arena a = { 0 };
    DIR *dir = depth < DEEPEST ? opendir(path) : NULL;
    mase_remove_leftovers(path);
    for (const struct dirent *e; dir && (e = readdir(dir));) {
        const char *inner = mase_path_join(&a, path, e->d_name);
        if (e->d_name[0] != '.' && is_real_dir(inner))
            tidy(inner, depth + 1);
    }
    if (dir)
        closedir(dir);
    mase_arena_release(&a);
}

/* ---- claim, release ---- */

static enum mase_status lock_action(struct mase_cli_claim *claim, const char *folder,
                                    const struct action *act, struct mase_err *err)
{
    enum mase_status st;
    const int fd = lock_folder(folder, act->waits, err, &st);
    MASE_TRY(st);
    if (fd < 0)
        return mase_fail_in(err, MASE_EIO, folder,
                            "another %s is writing there: wait for it, or give --project another "
                            "name",
                            act->name);
    claim->lock = fd;
    return MASE_OK;
}

static void unlock(struct mase_cli_claim *claim)
{
    if (claim->lock >= 0)
        mase_sys_close(claim->lock);
    claim->lock = -1;
}

static void note_folders(struct mase_cli_claim *claim, struct mase_cli *c, const char *project_dir)
{
    struct mase_arena *a = &c->arena;
    const char *const folders[] = {
        mase_cli_text(c, MASE_CLI_project_dir),
        project_dir,
        mase_path_join(a, project_dir, "software"),
        mase_path_join(a, project_dir, find_action(c->command->name)->folder),
    };
    int n = 0;
    for (int i = 0; i < 4; i++)
        if (!exists(folders[i]))
            claim->made[n++] = folders[i];
}

/* The project is locked. */
static enum mase_status claim_folder(struct mase_cli_claim *claim, struct mase_cli *c,
                                     const char *project_dir, bool again, struct mase_err *err)
{
    const struct action *act = find_action(c->command->name);
    const char *folder = mase_path_join(&c->arena, project_dir, act->folder);
    struct move m = { .c = c, .from = project_dir };
    tidy(project_dir, 0);
    if (mase_is_dir(folder))
        MASE_TRY(lock_action(claim, folder, act, err));
    if (!again)
        MASE_TRY(set_aside(&m, act, err));
    MASE_TRY(mase_make_dirs(folder, err));
    unlock(claim); /* another process may have replaced the folder */
    return lock_action(claim, folder, act, err);
}

enum mase_status mase_cli_claim(struct mase_cli_claim *claim, struct mase_cli *c,
                                const char *project_dir, bool again, struct mase_err *err)
{
    enum mase_status st;
    *claim = (struct mase_cli_claim){ .lock = -1 };
    if (!find_action(c->command->name))
        mase_bug("%s leaves nothing in a project", c->command->name);
    note_folders(claim, c, project_dir);
    MASE_TRY(mase_make_dirs(project_dir, err));
    const int project = lock_folder(project_dir, true, err, &st);
    MASE_TRY(st);
    st = claim_folder(claim, c, project_dir, again, err);
    mase_sys_close(project);
    if (st)
        mase_cli_unclaim(claim);
    return st;
}

void mase_cli_unclaim(struct mase_cli_claim *claim)
{
    for (int i = 4; i-- > 0;)
        if (claim->made[i])
            rmdir(claim->made[i]); /* fails if the folder is not empty */
    unlock(claim);
}

/* ---- the record ---- */

/* Move a record of another action to the folder of that action. */
static enum mase_status make_room(struct mase_cli *c, const char *project_dir, struct mase_err *err)
{
    struct mase_arena *a = &c->arena;
    struct move m = { .c = c, .from = project_dir };
    const char *name = text_of(read_record(a, project_dir), "action");
    const struct action *act = name ? find_action(name) : NULL;
    if (name && mase_streq(name, c->command->name))
        return MASE_OK; /* record of this run, which was resumed */
    const char *folder = act ? mase_path_join(a, project_dir, act->folder) : NULL;
    if (!folder || !mase_is_dir(folder))
        return move_path(&m, "run.json", "run.json", err);
    const char *from = mase_path_join(a, project_dir, "run.json");
    if (mase_sys_rename(from, mase_path_join(a, folder, "run.json")) != 0)
        return mase_fail_errno(err, from, "cannot keep the record of the earlier run");
    return MASE_OK;
}

enum mase_status mase_cli_write_record(struct mase_cli *c, const char *project_dir,
                                       const char *name, const struct mase_str *text,
                                       struct mase_err *err)
{
    enum mase_status st;
    MASE_TRY(mase_make_dirs(project_dir, err));
    const int project = lock_folder(project_dir, true, err, &st);
    MASE_TRY(st);
    if (mase_streq(name, "run.json"))
        st = make_room(c, project_dir, err);
    if (!st)
        st = mase_file_write(mase_path_join(&c->arena, project_dir, name), mase_str_text(text),
                             text->len, err);
    mase_sys_close(project);
    return st;
}
