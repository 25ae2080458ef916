/*
 * work_parts.h (private) - what the files of this layer share.
 */
#ifndef MASE_WORK_WORK_PARTS_H
#define MASE_WORK_WORK_PARTS_H

#include <mase/work.h>

/* Find the source of w's weights: sets w->source and w->weights. */
enum mase_status mase_work_find_weights(struct mase_opened *w,
                                        struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_WORK_WORK_PARTS_H */
