/*
 * loss_source.h - a loss of one's own: an expression of output and target, or a module or function
 * in a .py file, as a graph with these two inputs.
 *
 *     mean((output - target) ** 2) + 1e-3 * mean(abs(output))
 *     losses.py:FocalLoss(gamma=2)
 */
#ifndef MASE_FRONTEND_LOSS_SOURCE_H
#define MASE_FRONTEND_LOSS_SOURCE_H

#include <mase/zoo.h>

/* Is this more than the name of a loss? */
bool mase_loss_is_own(const char *text);
/* What can be said of it before the network is known: whether an expression is one. Places in it
 * are those of the file MASE_LOSS_PLACE, whose first line it is. */
#define MASE_LOSS_PLACE "loss"
enum mase_status mase_loss_check(const char *text, struct mase_err *err) MASE_MUST_CHECK;
/* Its graph, with the values of its constants; target: of a sample. */
enum mase_status mase_loss_open(struct mase_graph **g, const char *text,
                                const struct mase_data_info *output,
                                const struct mase_tensor *target,
                                struct mase_err *err) MASE_MUST_CHECK;

/* The graph of an expression (loss_expr.c). */
enum mase_status mase_loss_parse(struct mase_graph **g, const char *text,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FRONTEND_LOSS_SOURCE_H */
