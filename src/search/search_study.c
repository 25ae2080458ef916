/*
 * search_study.c - the study of a search in a store: a new one, or one that is gone on with.
 */
#include <mase/log.h>

#include "search/search_parts.h"

static enum mase_status has_study(bool *has, struct mase_store *store, const char *name,
                                  struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const char *const *names;
    int count = 0;
    const enum mase_status st = mase_store_list(store, &a, &names, &count, err);
    *has = false;
    for (int i = 0; i < count && !st; i++)
        *has |= mase_streq(names[i], name);
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_search_take_study(struct mase_study *study, struct mase_search *s,
                                        struct mase_store *store, const char *name,
                                        const char *where, struct mase_err *err)
{
    bool has = false;
    if (store)
        MASE_TRY(has_study(&has, store, name, err));
    if (!has) {
        mase_search_describe(s, study, name);
        MASE_TRY(mase_search_note_baseline(s, study, err));
        return store ? mase_store_create(store, study, err) : MASE_OK;
    }
    MASE_TRY(mase_store_read(store, study, name, err));
    MASE_TRY(mase_search_check_study(s, study, where, err));
    mase_info("Study '%s' of %s: %lld trials so far", name, where, (long long)study->trials);
    return MASE_OK;
}
