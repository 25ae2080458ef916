/*
 * search.h - the section [search] of a configuration: what is varied, and how.
 */
#ifndef MASE_SEARCH_H
#define MASE_SEARCH_H

#include <mase/api.h>
#include <mase/value.h>

MASE_API_BEGIN

/* Check it against its schema: a file that is accepted now is one that a search can use. */
enum mase_status mase_search_check(const struct mase_value *search,
                                   struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_SEARCH_H */
