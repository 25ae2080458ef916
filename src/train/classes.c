/*
 * classes.c - the classes of a dataset and those of a checkpoint, matched by their names.
 */
#include <mase/trained.h>

#include <mase/log.h>

static int find_class(const char *const *names, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (mase_streq(names[i], name))
            return i;
    return -1;
}

void mase_classes_match(struct mase_classes *c, struct mase_arena *a, const struct mase_dataset *d,
                        const struct mase_checkpoint_info *of)
{
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const int n = info->data.classes;
    const char *const *theirs = (const char *const *)of->class_names;
    *c = (struct mase_classes){ .names = info->class_names };
    if (!theirs || of->data.classes != n)
        return;
    int32_t *map = mase_new_array(a, int32_t, (size_t)n);
    bool same = true;
    for (int i = 0; i < n; i++) {
        map[i] = find_class(theirs, n, info->class_names[i]);
        same = same && map[i] == i;
        if (map[i] < 0) {
            mase_warn("the checkpoint knows no class '%s': classes are matched by their order",
                      info->class_names[i]);
            return;
        }
    }
    if (same)
        return;
    mase_info("Classes are matched by their names: their order differs from the checkpoint's");
    *c = (struct mase_classes){ .map = map, .names = theirs };
}
