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

/* What a model must know of its data. */
enum { MASE_MORE_INPUTS = 7 };

struct mase_data_info {
    const char *name;         /* "jsc" */
    struct mase_shape sample; /* one sample without the batch: [16], [3, 32, 32] */
    int classes;
    const char *help;
    int64_t targets; /* numbers of a sample to predict, or positions with a class; 0: a sample has a
                      * class */
    struct mase_shape more[MASE_MORE_INPUTS]; /* of the inputs behind the first, in their order */
    int more_count;
    const char *names[1 + MASE_MORE_INPUTS]; /* of the arrays that are the inputs; NULL: no names */
    /* Further arrays of the file with a row for each sample, which nobody has asked for: inputs of
     * these names may. */
    const struct mase_data_array *others; // (other_count)
    int other_count;
    bool guessed; /* no array has a usual name: the first that is no label is the input */
};

struct mase_data_array {
    const char *name;
    struct mase_shape sample;
};

/* Numbers of a sample, of all its inputs. */
int64_t mase_data_features(const struct mase_data_info *d);
/* A copy with its names in a. */
struct mase_arena;
struct mase_data_info *mase_data_info_copy(struct mase_arena *a, const struct mase_data_info *d);
/* The shape of the input that is called so, among the arrays that are inputs and the others; NULL:
 * there is none. */
const struct mase_shape *mase_data_input(const struct mase_data_info *d, const char *name);

extern const struct mase_data_info mase_datasets[]; /* from datasets.def; ends with a NULL name */

/* The kinds of file that a table of the user's own may come in: "csv" and how to name one. */
struct mase_data_kind {
    const char *prefix, *endings, *help; /* endings of names: ".csv .tsv" */
};
extern const struct mase_data_kind mase_data_kinds[]; /* ends with a NULL prefix */
/* The kind of "csv:FILE" or "FILE.csv", each with ":LABEL" or without; NULL when name is not of
 * that form. */
const struct mase_data_kind *mase_data_kind_of(const char *name);

/* By name; '-' and '_' are the same. Unknown: an error naming the nearest. */
enum mase_status mase_data_find(const struct mase_data_info **d, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_DATA_H */
