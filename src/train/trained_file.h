/*
 * trained_file.h (private) - the file of a saved folder that records what its weights were trained
 * on.
 */
#ifndef MASE_TRAIN_TRAINED_FILE_H
#define MASE_TRAIN_TRAINED_FILE_H

#include <mase/trained.h>
#include <mase/value.h>

#define MASE_TRAINED_FILE "scaling.json"

/* Read what a table, of such a file or of a checkpoint, says of the data. Fields that it lacks keep
 * their values, except columns and scaling. */
enum mase_status mase_trained_from_table(struct mase_checkpoint_info *info, struct mase_arena *a,
                                         const struct mase_value *root, const char *path,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Read the task and its loss. */
void mase_trained_task(struct mase_checkpoint_info *info, const struct mase_value *root);
/* Read a list of at least so many names; without one, names and count keep their values. */
enum mase_status mase_trained_names(const char ***names, int *count, struct mase_arena *a,
                                    const struct mase_value *root, const char *key, int least,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* Print the text of the file; false: there is nothing to record, and the folder gets no file. */
bool mase_trained_print(struct mase_str *out, struct mase_arena *a,
                        const struct mase_checkpoint_info *info);

#endif /* MASE_TRAIN_TRAINED_FILE_H */
