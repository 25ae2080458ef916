/*
 * trained_file.h (private) - the file of a saved folder that says what its weights were trained on.
 */
#ifndef MASE_TRAIN_TRAINED_FILE_H
#define MASE_TRAIN_TRAINED_FILE_H

#include <mase/trained.h>

#define MASE_TRAINED_FILE "scaling.json"

/* Its text; false: there is nothing to say, and such a folder has no such file. */
bool mase_trained_print(struct mase_str *out, struct mase_arena *a,
                        const struct mase_checkpoint_info *info);

#endif /* MASE_TRAIN_TRAINED_FILE_H */
