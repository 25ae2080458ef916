/*
 * names.c - looking things up by the name a person typed.
 */
#include <stdbool.h>

#include <mase/str.h>

#include "data/names.h"

static char fold(char c)
{
    return c == '_' ? '-' : c;
}

static bool same_name(const char *a, const char *b)
{
    while (*a && fold(*a) == fold(*b)) {
        a++;
        b++;
    }
    return fold(*a) == fold(*b);
}

enum mase_status mase_name_find(int *index, const char *what, const char *name,
                                const char *const *names, int n, struct mase_err *err)
{
    for (int i = 0; i < n; i++)
        if (same_name(names[i], name)) {
            *index = i;
            return MASE_OK;
        }
    struct mase_str text = { 0 };
    const char *near = mase_nearest(name, names, n);
    if (near)
        mase_str_printf(&text, "is '%s' meant? ", near);
    for (int i = 0; i < n; i++)
        mase_str_printf(&text, "%s%s", i ? ", " : "known are ", names[i]);
    const enum mase_status st =
        mase_fail(err, MASE_EVALUE, "there is no %s '%s'; %s", what, name, mase_str_text(&text));
    mase_str_release(&text);
    return st;
}
