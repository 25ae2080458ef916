/*
 * swap.h - several files of a folder that take their places together, or not at all.
 *
 *     struct mase_swap *s = mase_swap_new(&a, dir, names, 2);
 *     enum mase_status st = mase_swap_begin(s, err);       // then write to mase_swap_next(s, i)
 *     if (!st)
 *         st = mase_swap_commit(s, err);
 *     mase_swap_free(s);
 *
 * They are first written completely into a folder beside the old ones and flushed to disk, all
 * together, then change places with them; when one cannot, all change back. What is not written then is removed from its place. A
 * process that is killed while files change places leaves a mixture.
 */
#ifndef MASE_BASE_SWAP_H
#define MASE_BASE_SWAP_H

#include <mase/arena.h>
#include <mase/err.h>

struct mase_swap;

/* Names lie in a, which must outlive it. */
struct mase_swap *mase_swap_new(struct mase_arena *a, const char *dir, const char *const *names,
                                int count);
/* Make the folder that is written to, and the one it is for, if there is none. */
enum mase_status mase_swap_begin(struct mase_swap *s, struct mase_err *err) MASE_MUST_CHECK;
const char *mase_swap_folder(const struct mase_swap *s);
const char *mase_swap_next(const struct mase_swap *s, int i);
/* In the order of names. Nothing is allocated: no call ends in between. */
enum mase_status mase_swap_commit(struct mase_swap *s, struct mase_err *err) MASE_MUST_CHECK;
/* The folder beside goes; without a commit, folders that were made for it, too. */
void mase_swap_free(struct mase_swap *s);

#endif /* MASE_BASE_SWAP_H */
