/*
 * trained_file.h (private) - the file of a saved folder that says what its weights were trained on.
 */
#ifndef MASE_TRAIN_TRAINED_FILE_H
#define MASE_TRAIN_TRAINED_FILE_H

#include <mase/trained.h>
#include <mase/value.h>

#define MASE_TRAINED_FILE "scaling.json"

/* What a table says of the data, of such a file or of a checkpoint; what it does not say is left as
 * it is, but of columns and scaling. */
enum mase_status mase_trained_from_table(struct mase_checkpoint_info *info, struct mase_arena *a,
                                         const struct mase_value *root, const char *path,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Of the task and its loss. */
void mase_trained_task(struct mase_checkpoint_info *info, const struct mase_value *root);
/* A list of at least so many names; none: both are left as they are. */
enum mase_status mase_trained_names(const char ***names, int *count, struct mase_arena *a,
                                    const struct mase_value *root, const char *key, int least,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* Its text; false: there is nothing to say, and such a folder has no such file. */
bool mase_trained_print(struct mase_str *out, struct mase_arena *a,
                        const struct mase_checkpoint_info *info);

#endif /* MASE_TRAIN_TRAINED_FILE_H */
