/*
 * find_name.h - look up a name that a user typed: of datasets and models.
 */
#ifndef MASE_DATA_FIND_NAME_H
#define MASE_DATA_FIND_NAME_H

#include <mase/err.h>

/* The index of name among n names, where '-' equals '_'. If it is unknown, fail with what was
 * looked for ("dataset"), the nearest name if one is similar, and all names. */
enum mase_status mase_name_find(int *index, const char *what, const char *name,
                                const char *const *names, int n,
                                struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_FIND_NAME_H */
