/*
 * rename.c - the names of a file's tensors, changed as asked.
 */
#include <string.h>

#include <mase/torch.h>

#include "file/weights_match.h"

/* Prefixes of wrappers: DataParallel, Lightning, DataParallel within it. */
static const char *const wrappers[] = { "module.", "model.", "module." };

/* Infixes of torch.compile and other wrappers. */
static const char *const inner_wrappers[] = { "_orig_mod.", "_fsdp_wrapped_module.",
                                              "_checkpoint_wrapped_module." };

const char *mase_name_without_wrappers(struct mase_arena *a, const char *name, const char **gone)
{
    for (size_t i = 0; i < sizeof inner_wrappers / sizeof inner_wrappers[0]; i++) {
        const char *w = inner_wrappers[i], *at = name;
        while ((at = strstr(at, w))) {
            if (at > name && at[-1] != '.') {
                at++;
                continue;
            }
            const size_t before = (size_t)(at - name);
            name = mase_arena_printf(a, "%.*s%s", (int)before, name, at + strlen(w));
            at = name + before;
            *gone = w;
        }
    }
    return name;
}

static bool all_begin_with(const struct mase_tensors *t, size_t skip, const char *prefix)
{
    for (int i = 0; i < t->count; i++)
        if (!mase_starts_with(t->items[i].name + skip, prefix))
            return false;
    return t->count > 0;
}

static size_t wrapper_length(const struct mase_tensors *t)
{
    size_t skip = 0;
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++)
        if (all_begin_with(t, skip, wrappers[i]))
            skip += strlen(wrappers[i]);
    return skip;
}

static void drop(struct mase_tensors *t, const char *prefix)
{
    for (int i = 0; i < t->count; i++)
        t->items[i].name += strlen(prefix);
}

const char *mase_tensors_unwrap(struct mase_tensors *t, bool lightning)
{
    struct mase_str gone = { 0 };
    const char *inner = NULL;
    for (int i = 0; i < t->count; i++)
        t->items[i].name = mase_name_without_wrappers(&t->arena, t->items[i].name, &inner);
    if (inner)
        mase_str_printf(&gone, "'%s'", inner);
    for (size_t i = 0; i < sizeof wrappers / sizeof wrappers[0]; i++) {
        if ((i == 1 && !lightning) || !all_begin_with(t, 0, wrappers[i]))
            continue;
        drop(t, wrappers[i]);
        mase_str_printf(&gone, "%s'%s'", gone.len ? " and " : "", wrappers[i]);
    }
    const char *text = gone.len ? mase_arena_strdup(&t->arena, mase_str_text(&gone)) : NULL;
    mase_str_release(&gone);
    return text;
}

/* The rest of name after r->from: "" or ".weight"; NULL if name does not begin so. */
static const char *after(const struct mase_rename *r, const char *name)
{
    const size_t n = strlen(r->from);
    if (n == 0)
        return name;
    return strncmp(name, r->from, n) == 0 && (!name[n] || name[n] == '.') ? name + n : NULL;
}

/* to + rest, with one dot between where both are there. */
static const char *joined(struct mase_arena *a, const char *before, size_t n, const char *to,
                          const char *rest)
{
    rest += *rest == '.';
    return mase_arena_printf(a, "%.*s%s%s%s", (int)n, before, to, *to && *rest ? "." : "", rest);
}

/* Every name that r fits as it is, or without its wrapper, which then stays; false: none. */
static bool apply(struct mase_tensors *t, const struct mase_rename *r)
{
    const size_t skip = wrapper_length(t);
    bool any = false;
    for (int i = 0; i < t->count; i++) {
        const char **name = &t->items[i].name;
        const char *whole = after(r, *name), *inner = after(r, *name + skip);
        any |= whole || inner;
        if (whole)
            *name = joined(&t->arena, "", 0, r->to, whole);
        else if (inner)
            *name = joined(&t->arena, *name, skip, r->to, inner);
    }
    return any;
}

static enum mase_status fail_unused(const struct mase_tensors *t, const struct mase_rename *r,
                                    const char *path, struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const char **names = mase_new_array(&a, const char *, 2 * (size_t)t->count);
    for (int i = 0; i < t->count; i++) { /* the names, and those of the modules that have them */
        const char *dot = strrchr(t->items[i].name, '.');
        names[2 * i] = t->items[i].name;
        names[2 * i + 1] =
            dot ? mase_arena_strndup(&a, names[2 * i], (size_t)(dot - names[2 * i])) : names[2 * i];
    }
    const enum mase_status st = mase_fail_unknown(
        err, (struct mase_loc){ .path = path, .off = -1 },
        &(struct mase_unknown){ r->from, names, 2 * t->count, .before = "; did you mean '" },
        "cannot map '%s' to '%s': no tensor has that name or begins with %s.", r->from, r->to,
        r->from);
    mase_arena_release(&a);
    return st;
}

/* Two of one name would be one too few. */
static enum mase_status check_unique(const struct mase_tensors *t, const char *path,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    struct mase_map seen = { .arena = &a };
    enum mase_status st = MASE_OK;
    for (int i = 0; i < t->count && !st; i++) {
        if (mase_map_get(&seen, t->items[i].name))
            st = mase_fail_in(err, MASE_EVALUE, path, "two tensors would be called '%s'",
                              t->items[i].name);
        mase_map_put(&seen, t->items[i].name, &t->items[i]);
    }
    mase_arena_release(&a);
    return st;
}

enum mase_status mase_tensors_rename(struct mase_tensors *t, const struct mase_rename *renames,
                                     int count, const char *path, struct mase_err *err)
{
    for (int i = 0; i < count; i++)
        if (!apply(t, &renames[i]))
            return fail_unused(t, &renames[i], path, err);
    return count ? check_unique(t, path, err) : MASE_OK;
}
