/*
 * ranks.h - the processes of one job, on one machine or several, which run the same command and
 * exchange data.
 *
 * Ranks are numbered 0 .. count - 1. Rank 0 speaks for all: it prints and writes files. Every
 * function that all ranks call is called by all of them in the same order, by one thread at a time.
 * The link moves bytes; MPI is one (ranks_mpi.c), threads of a test are another. A link that breaks
 * ends the process, and with it the job. All ranks run the same build, so structs travel as bytes.
 *
 *     MASE_TRY(mase_ranks_join(&ranks, err));            NULL: the process works alone
 *     st = mase_ranks_agree(ranks, work(err), err);      one failure for all
 *     mase_ranks_leave(ranks, st);
 */
#ifndef MASE_BASE_RANKS_H
#define MASE_BASE_RANKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mase/err.h>

struct mase_ranks;

/* What moves bytes between ranks. */
struct mase_link {
    /* Rank r has bytes at[r] .. at[r + 1] - 1 of `all`; every rank gets all of them. */
    void (*gather)(struct mase_ranks *r, void *all, const int64_t *at);
    void (*send)(struct mase_ranks *r, const void *x, size_t bytes, int to);
    void (*receive)(struct mase_ranks *r, void *x, size_t bytes, int from);
    void (*broadcast)(struct mase_ranks *r, void *x, size_t bytes, int from);
    void (*leave)(struct mase_ranks *r); /* and free r */
    void (*abort)(struct mase_ranks *r, int status);
};

struct mase_ranks {
    int rank, count;
    const struct mase_link *link;
    void *data;    /* the link's */
    int threads;   /* a fair share of the CPUs that ranks of this machine may use */
    bool parted;   /* no rank waits for another any more: all have failed, or are done */
    int64_t *at;   // (count + 1): scratch
    int64_t bytes; /* sent by this rank: its part of a gather counts for every other rank */
    int64_t waits; /* calls of the link */
};

/* ---- life ---- */

/* Join the job that a launcher (mpirun, srun) started this process for, as it says in the
 * environment. *out = NULL: there is none, or one of a single process. */
enum mase_status mase_ranks_join(struct mase_ranks **out, struct mase_err *err) MASE_MUST_CHECK;
/* Make ranks of a link; data are the link's. */
struct mase_ranks *mase_ranks_new(const struct mase_link *link, void *data, int rank, int count);
/* Free what mase_ranks_new made; links call it. */
void mase_ranks_free(struct mase_ranks *r);
/* Leave the job at the end of the process. Returns the status to exit with, which is 0 of a failure
 * that rank 0 tells: the launcher ends all processes at the first other status. When this rank
 * alone has failed, and the others still wait for it, it does not return: the job ends with this
 * status. r may be NULL. */
int mase_ranks_leave(struct mase_ranks *r, int status);
/* Did a launcher start this process as one of several that begin with the same command line, and
 * not as the first? Known before joining. */
bool mase_ranks_is_follower(void);

/* ranks_mpi.c: connect by Open MPI. */
enum mase_status mase_ranks_connect(struct mase_ranks **out, struct mase_err *err) MASE_MUST_CHECK;

/* ---- exchange; with r NULL each is that of a single rank ---- */

/* Does this process speak for the job? */
bool mase_ranks_speaks(const struct mase_ranks *r);
/* The share of n items, in order, that rank `rank` of `count` has: from .. the result - 1. Shares
 * differ by one at most; with fewer items than ranks some are empty, but never that of rank 0. */
int64_t mase_ranks_share(int64_t *from, int64_t n, int rank, int count);
/* Items of `size` bytes: every rank has its share of n and gets all. */
void mase_ranks_gather(struct mase_ranks *r, void *items, size_t size, int64_t n);
/* From one rank to another, which calls the other one. */
void mase_ranks_send(struct mase_ranks *r, const void *x, size_t bytes, int to);
void mase_ranks_receive(struct mase_ranks *r, void *x, size_t bytes, int from);
/* Every rank gets what rank `from` has. */
void mase_ranks_broadcast(struct mase_ranks *r, void *x, size_t bytes, int from);
/* All ranks tell how they fared. If any failed, all have the status of the first rank that did;
 * rank 0 has its message, with the rank's number, and the others have an empty one. */
enum mase_status mase_ranks_agree(struct mase_ranks *r, enum mase_status st,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Do all ranks have the same bytes? *differs: the first that has others than rank 0; 0: none. */
bool mase_ranks_same(struct mase_ranks *r, const void *x, size_t bytes, int *differs);
/* All ranks are done with each other: what fails behind this fails alone. */
void mase_ranks_part(struct mase_ranks *r);

#endif /* MASE_BASE_RANKS_H */
