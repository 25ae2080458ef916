/*
 * attributes.h - what the attributes of a study's trials say, for charts and tables.
 *
 * A study of another program has none of them: then there are no error bars, no baseline and no
 * bits, and nothing fails.
 */
#ifndef MASE_SEARCH_ATTRIBUTES_H
#define MASE_SEARCH_ATTRIBUTES_H

#include <mase/study.h>

/* What the search multiplied an objective's metric by; 1 where that is not known. */
double mase_search_scale(const struct mase_study *s, int objective);
/* "accuracy"; "0.2 x average_bitwidth" where the search scaled it. Allocated in a. */
const char *mase_search_label(struct mase_arena *a, const struct mase_study *s, int objective);
/* The standard error of an objective's value; NaN: not known. */
double mase_search_spread(const struct mase_study *s, const struct mase_trial *t, int objective);
/* The value of an objective before the search; NaN: not known. */
double mase_search_baseline_value(const struct mase_study *s, int objective);
double mase_search_baseline_spread(const struct mase_study *s, int objective);

/* How many bits an operand of a node has in some trials. */
struct mase_search_bits_row {
    const char *node, *operand;
    double *bits; /* (trials): NaN: float */
};
struct mase_search_bits {
    struct mase_search_bits_row *row;
    int rows, cap, trials;
};
/* Of the trials with these indices. Only operands that have bits in one of them. */
void mase_search_bits_of(struct mase_search_bits *out, struct mase_arena *a,
                         const struct mase_study *s, const int64_t *index, int trials);

#endif /* MASE_SEARCH_ATTRIBUTES_H */
