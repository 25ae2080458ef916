/*
 * content.h - hashes of what decides the result of a run, by contents instead of file names.
 */
#ifndef MASE_TRAIN_CONTENT_H
#define MASE_TRAIN_CONTENT_H

#include <mase/train.h>

/* SHA-256 of what a graph computes: its text, and the values of the parameters that have some. */
void mase_content_of_graph(char hex[65], const struct mase_graph *g);
/* SHA-256 of the scaling of features or targets; "" without scaling. */
void mase_content_of_scaling(char hex[65], const struct mase_scaling *s);
/* SHA-256 of the user's own loss, traced or parsed anew; "" for the losses of losses.def. */
enum mase_status mase_content_of_loss(char hex[65], const struct mase_graph *g,
                                      const struct mase_dataset *d, const struct mase_train_opts *o,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_TRAIN_CONTENT_H */
