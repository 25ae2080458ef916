/*
 * data.h - the datasets that have a name.
 */
#ifndef MASE_DATA_H
#define MASE_DATA_H

#include <stdbool.h>

#include <mase/api.h>
#include <mase/err.h>
#include <mase/tensor.h>

MASE_API_BEGIN

/* The shapes of a dataset, as far as a model depends on them. */
enum { MASE_MORE_INPUTS = 7 };

struct mase_data_info {
    const char *name;         /* "jsc" */
    struct mase_shape sample; /* one sample without the batch: [16], [3, 32, 32] */
    int classes;
    const char *help;
    int64_t targets; /* numbers to predict for a sample, or positions that have a class each; 0: a
                        sample has one class */
    struct mase_shape
        more[MASE_MORE_INPUTS]; /* shapes of the second and further inputs, in order */
    int more_count;
    const char *names[1 + MASE_MORE_INPUTS]; /* names of the arrays that the inputs are read from;
                                                NULL: no names */
    /* Further arrays of the file with a row for each sample, which no input is read from yet: an
     * input of such a name may be. */
    const struct mase_data_array *others; // (other_count)
    int other_count;
    bool guessed; /* no array has a usual name, so the first that is not the label is taken as the
                     input */
};

struct mase_data_array {
    const char *name;
    struct mase_shape sample;
};

/* The number of values in a sample, summed over all inputs. */
int64_t mase_data_features(const struct mase_data_info *d);
/* A copy whose texts live in a. */
struct mase_arena;
struct mase_data_info *mase_data_info_copy(struct mase_arena *a, const struct mase_data_info *d);
/* The shape of a sample of the array `name`, among the inputs and the others; NULL: no such array.
 */
const struct mase_shape *mase_data_input(const struct mase_data_info *d, const char *name);

extern const struct mase_data_info mase_datasets[]; /* from datasets.def; ends with a NULL name */

/* The kinds of file that a user's own table may be: "csv" and how to name one. */
struct mase_data_kind {
    const char *prefix, *endings, *help; /* endings of names: ".csv .tsv" */
};
extern const struct mase_data_kind mase_data_kinds[]; /* ends with a NULL prefix */
/* The kind of "csv:FILE" or "FILE.csv", each with ":LABEL" or without; NULL when name is not of
 * that form. */
const struct mase_data_kind *mase_data_kind_of(const char *name);

/* Find a dataset by name; '-' and '_' are equal. An unknown name is an error that says the nearest
 * one. */
enum mase_status mase_data_find(const struct mase_data_info **d, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_DATA_H */
