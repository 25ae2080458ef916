/*
 * ref_whole.h - integers in the reference: they wrap around, and are exact or refused.
 */
#ifndef MASE_EXEC_REFERENCE_REF_WHOLE_H
#define MASE_EXEC_REFERENCE_REF_WHOLE_H

#include <mase/call.h>

bool mase_is_whole(enum mase_dtype dtype); /* an integer type that is computed with; not bool */
/* As 64 bits, the sign carried on. */
uint64_t mase_whole_get(const struct mase_tensor *t, int64_t i);
uint64_t mase_whole_operand(const struct mase_arg *a, int64_t off); /* or a number */
/* The lowest bits of v, as many as the type has. */
void mase_whole_set(struct mase_tensor *t, int64_t i, uint64_t v);

/* Compute the call if it is arithmetic of integers; *done: it was. */
enum mase_status mase_ref_whole(struct mase_call *c, bool *done,
                                struct mase_err *err) MASE_MUST_CHECK;
/* MASE_EVALUE: the call takes integers through double, which cannot hold these. */
enum mase_status mase_ref_check_whole(const struct mase_call *c,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_EXEC_REFERENCE_REF_WHOLE_H */
