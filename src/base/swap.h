/*
 * swap.h - replace several files of a folder, all or none.
 *
 *     struct mase_swap *s = mase_swap_new(&a, dir, names, 2);
 *     enum mase_status st = mase_swap_begin(s, err);       // then write to mase_swap_next(s, i)
 *     if (!st)
 *         st = mase_swap_commit(s, err);
 *     mase_swap_free(s);
 *
 * New files are written to a temporary folder beside the old files, flushed to disk all at once,
 * then exchanged with the old files; if one exchange fails, all are undone. An old file without a
 * new one is removed. A process that is killed between exchanges leaves a mixture of old and new
 * files.
 */
#ifndef MASE_BASE_SWAP_H
#define MASE_BASE_SWAP_H

#include <mase/arena.h>
#include <mase/err.h>

struct mase_swap;

/* The swap is allocated in a, which must outlive it. */
struct mase_swap *mase_swap_new(struct mase_arena *a, const char *dir, const char *const *names,
                                int count);
/* Make the temporary folder, and the final one if it does not exist. */
enum mase_status mase_swap_begin(struct mase_swap *s, struct mase_err *err) MASE_MUST_CHECK;
const char *mase_swap_folder(const struct mase_swap *s);
const char *mase_swap_next(const struct mase_swap *s, int i);
/* Exchange the files in the order of names. Does not allocate, so no call ends halfway. */
enum mase_status mase_swap_commit(struct mase_swap *s, struct mase_err *err) MASE_MUST_CHECK;
/* Remove the temporary folder; without a commit, also the folders that were made for it. */
void mase_swap_free(struct mase_swap *s);

#endif /* MASE_BASE_SWAP_H */
