/*
 * save_trained.c - a network as a folder, with what its weights were trained on: all files or none.
 */
#include <mase/file.h>

#include "pass/interface/files.h"
#include "pass/support.h"
#include "train/trained_file.h"
#include "work/work_parts.h"

enum mase_status mase_work_save(struct mase_manager *m, struct mase_graph **g, const char *dir,
                                const struct mase_checkpoint_info *trained, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_str text = { 0 };
    struct mase_saved_more more = { .name = MASE_TRAINED_FILE };
    if (mase_trained_print(&text, &a, trained))
        more.text = mase_str_text(&text);
    const enum mase_status st = mase_manager_save_with(m, g, dir, &more, err);
    if (!st && more.text)
        mase_pass_wrote(&m->env, mase_path_join(&a, dir, MASE_TRAINED_FILE));
    mase_str_release(&text);
    mase_arena_release(&a);
    return st;
}
