/*
 * find_name.c - look up a name that a user typed.
 */
#include <stdbool.h>

#include <mase/str.h>

#include "data/find_name.h"

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
    return mase_fail_unknown(err, MASE_NOWHERE,
                             &(struct mase_unknown){ name, names, n, "; is '", "' meant?",
                                                     .tail = "known are ", .lists = true },
                             "there is no %s '%s'", what, name);
}
