/*
 * find_name.h - looking things up by the name a person typed: datasets here, models in the layer
 * above.
 */
#ifndef MASE_DATA_FIND_NAME_H
#define MASE_DATA_FIND_NAME_H

#include <mase/err.h>

/* The index of name among the n names, '-' and '_' being the same. Unknown: an error that says
 * what was looked for ("dataset"), the nearest name if one is near, and all of them. */
enum mase_status mase_name_find(int *index, const char *what, const char *name,
                                const char *const *names, int n,
                                struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_DATA_FIND_NAME_H */
