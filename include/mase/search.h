/*
 * search.h - the section [search] of a configuration: what is varied, and how.
 */
#ifndef MASE_SEARCH_H
#define MASE_SEARCH_H

#include <mase/value.h>

/* Check it against its schema: a file that is accepted now is one that a search can use. */
enum mase_status mase_search_check(const struct mase_value *search,
                                   struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_SEARCH_H */
