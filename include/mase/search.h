/*
 * search.h - the section [search] of a configuration: what a search varies, and how.
 */
#ifndef MASE_SEARCH_H
#define MASE_SEARCH_H

#include <mase/api.h>
#include <mase/value.h>

MASE_API_BEGIN

/* Check a [search] section against its schema. */
enum mase_status mase_search_check(const struct mase_value *search,
                                   struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_SEARCH_H */
