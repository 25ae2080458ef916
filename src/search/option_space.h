/*
 * option_space.h - options as dimensions: of training, of pruning, of the constructor of a network.
 *
 *     learning_rate = { low = 1e-4, high = 1e-1, log = true }
 *     batch_size = [64, 256, 1024]
 */
#ifndef MASE_SEARCH_OPTION_SPACE_H
#define MASE_SEARCH_OPTION_SPACE_H

#include <mase/study.h>

/* Dimensions first .. first + count - 1 of a space are these options, in the order of the file. */
struct mase_option_space {
    int first, count;
    const char *const *key;
};

/* Add a dimension PREFIX/KEY for each key of a table (NULL: none). */
enum mase_status mase_option_space_read(struct mase_option_space *o, struct mase_space *space,
                                        struct mase_arena *a, const char *prefix,
                                        const struct mase_value *table,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Set the options of a point in a table. */
void mase_option_space_set(struct mase_value *table, struct mase_arena *a,
                           const struct mase_option_space *o, const struct mase_space *space,
                           const double *x);

/* Append a dimension; and one of choices, whose list is borrowed. */
void mase_space_add(struct mase_space *space, struct mase_arena *a, struct mase_dimension d);
void mase_space_add_choices(struct mase_space *space, struct mase_arena *a, const char *name,
                            const struct mase_value *list);

#endif /* MASE_SEARCH_OPTION_SPACE_H */
