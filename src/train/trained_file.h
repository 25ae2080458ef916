/*
 * trained_file.h (private) - the file of a saved folder that says what its weights were
 * trained on, and the entry of a checkpoint that does.
 */
#ifndef MASE_TRAIN_TRAINED_FILE_H
#define MASE_TRAIN_TRAINED_FILE_H

#include <mase/trained.h>
#include <mase/value.h>

#define MASE_TRAINED_FILE "scaling.json"

/* What a checkpoint says of its data, and the inverse; what it does not say is left as it is, but
 * of columns and scaling. */
enum mase_status mase_trained_from_data(struct mase_checkpoint_info *info, struct mase_arena *a,
                                        const struct mase_value *data, const char *path,
                                        struct mase_err *err) MASE_MUST_CHECK;
struct mase_value *mase_trained_table(struct mase_arena *a,
                                      const struct mase_checkpoint_info *info);
/* Of the task and its loss. */
void mase_trained_task(struct mase_checkpoint_info *info, const struct mase_value *root);

/* The text of the file; false: there is nothing to say, and such a folder has no such file. */
bool mase_trained_print(struct mase_str *out, struct mase_arena *a,
                        const struct mase_checkpoint_info *info);

#endif /* MASE_TRAIN_TRAINED_FILE_H */
