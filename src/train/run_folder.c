/*
 * run_folder.c - the network of a folder: a saved network, or the result of a run.
 *
 * If a project folder has results of several commands, run.json says which was the last. The result
 * of training is its best checkpoint.
 */
#include <mase/trained.h>

#include <mase/file.h>
#include <mase/saved.h>
#include <mase/value.h>

/* Where each command leaves its network. Earlier versions saved the quantised network separately
 * after training: their checkpoints lack formats. */
static const struct {
    const char *action, *path;
} places[] = {
    { "transform", "software/transform/transformed_ckpt" },
    { "train", "software/training_ckpts/transformed_ckpt" },
    { "train", "software/training_ckpts/best.ckpt" },
    { "train", "software/training_ckpts/last.ckpt" },
    { "train", "best.ckpt" },
    { "train", "last.ckpt" },
};
enum { PLACES = sizeof places / sizeof places[0] };

bool mase_is_saved(const char *dir)
{
    struct mase_arena a = { 0 };
    const bool saved = mase_is_file(mase_path_join(&a, dir, MASE_SAVED_GRAPH));
    mase_arena_release(&a);
    return saved;
}

/* The last command that run.json names, such as "train"; or NULL. */
static const char *last_action(struct mase_arena *a, const char *dir)
{
    struct mase_value *run;
    const char *path = mase_path_join(a, dir, "run.json");
    if (!mase_is_file(path) || mase_json_read(&run, a, path, NULL))
        return NULL;
    const struct mase_value *action = mase_value_get(run, "action");
    return action && action->kind == MASE_STRING ? action->s : NULL;
}

static const char *find(struct mase_arena *a, const char *dir, const char *action)
{
    for (int i = 0; i < PLACES; i++) {
        const char *path = mase_path_join(a, dir, places[i].path);
        if ((!action || mase_streq(action, places[i].action)) &&
            (mase_is_file(path) || mase_is_saved(path)))
            return path;
    }
    return NULL;
}

const char *mase_network_in(struct mase_arena *a, const char *dir)
{
    if (mase_is_file(dir) || mase_is_saved(dir))
        return dir;
    const char *action = last_action(a, dir), *path = action ? find(a, dir, action) : NULL;
    return path ? path : find(a, dir, NULL);
}

enum mase_status mase_network_find(const char **path, struct mase_arena *a, const char *dir,
                                   struct mase_err *err)
{
    *path = mase_network_in(a, dir);
    if (*path)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "'%s' has no graph_module.mg, and no run of train or transform left anything "
                     "in it",
                     dir);
}
