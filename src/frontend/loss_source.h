/*
 * loss_source.h - a user's own loss: an expression of output and target, or a module or function in
 * a .py file, as a graph with these two inputs.
 *
 *     mean((output - target) ** 2) + 1e-3 * mean(abs(output))
 *     losses.py:FocalLoss(gamma=2)
 */
#ifndef MASE_FRONTEND_LOSS_SOURCE_H
#define MASE_FRONTEND_LOSS_SOURCE_H

#include <mase/zoo.h>

/* Is this a user's own loss, not the name of a loss? */
bool mase_loss_is_own(const char *text);
/* Check the syntax of an expression, before the network is known. Errors have places in the file
 * MASE_LOSS_PLACE, whose only line is the expression. */
#define MASE_LOSS_PLACE "loss"
enum mase_status mase_loss_check(const char *text, struct mase_err *err) MASE_MUST_CHECK;
/* The graph of a loss, with the values of its constants; target: that of a sample. */
enum mase_status mase_loss_open(struct mase_graph **g, const char *text,
                                const struct mase_data_info *output,
                                const struct mase_tensor *target,
                                struct mase_err *err) MASE_MUST_CHECK;

/* The graph of an expression (loss_expr.c). */
enum mase_status mase_loss_parse(struct mase_graph **g, const char *text,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FRONTEND_LOSS_SOURCE_H */
