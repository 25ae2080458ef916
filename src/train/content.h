/*
 * content.h - what decides a run, told by contents: what a file is called says nothing of it.
 */
#ifndef MASE_TRAIN_CONTENT_H
#define MASE_TRAIN_CONTENT_H

#include <mase/train.h>

/* SHA-256 of what a graph computes: its text, and the values of the parameters that have some. */
void mase_content_of_graph(char hex[65], const struct mase_graph *g);
/* Of what was done to features or targets; "" when nothing was. */
void mase_content_of_scaling(char hex[65], const struct mase_scaling *s);
/* Of the loss of one's own that these options train the network by, traced or parsed anew; "":
 * the loss has no contents but its name. */
enum mase_status mase_content_of_loss(char hex[65], const struct mase_graph *g,
                                      const struct mase_dataset *d, const struct mase_train_opts *o,
                                      struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_TRAIN_CONTENT_H */
