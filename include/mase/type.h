/*
 * type.h - shapes that hold for any number of samples: every length is plus + times N.
 *
 * Shape rules of operations compute with numbers. What they find in batches of mase_batch_sizes
 * says what they would find in any: whoever wants shapes for "any batch" runs the rules at these
 * sizes and no others.
 */
#ifndef MASE_TYPE_H
#define MASE_TYPE_H

#include <stdbool.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/tensor.h>

MASE_API_BEGIN

/* The numbers of samples that stand for any. The first two give plus and times. They are primes:
 * lengths of networks are rarely one of them, so broadcasting does not hide what follows the
 * samples, and what would divide the samples leaves a rest. The third is at least as large as any
 * batch and larger than the constants of networks: a length that is cut (x[:100]), bounded, or a
 * product of two lengths that follow N, is not on the line through the first two. */
enum { MASE_BATCH_SIZES = 3 };
extern const int64_t mase_batch_sizes[MASE_BATCH_SIZES];

/* A number that may depend on the number of samples: plus + times N. */
struct mase_extent {
    int64_t plus, times;
};
int64_t mase_extent_at(struct mase_extent e, int64_t samples);
bool mase_extent_equal(struct mase_extent a, struct mase_extent b);
/* The one that is at[s] for n[s] samples, and in batches of mase_batch_sizes; false when there is
 * none. */
bool mase_extent_between(struct mase_extent *e, const int64_t n[MASE_BATCH_SIZES],
                         const int64_t at[MASE_BATCH_SIZES]);
bool mase_extent_through(struct mase_extent *e, const int64_t at[MASE_BATCH_SIZES]);

struct mase_ptype {
    enum mase_dtype dtype;
    int rank;
    struct mase_extent dim[MASE_MAX_RANK];
};
bool mase_ptype_equal(const struct mase_ptype *a, const struct mase_ptype *b);
/* The shape for so many samples. */
struct mase_shape mase_ptype_shape(const struct mase_ptype *t, int64_t samples);
bool mase_ptype_follows(const struct mase_ptype *t); /* does any length depend on N? */
/* Of a tensor that is t[s] in a batch of mase_batch_sizes[s]; false when there is none. */
bool mase_ptype_through(struct mase_ptype *type,
                        const struct mase_tensor *const t[MASE_BATCH_SIZES]);
/* Is it the same list of samples, each with one shape, in a batch of any size? One length at most
 * follows the samples, and is a multiple of them. Such a tensor follows N (times) or is constant.
 */
bool mase_ptype_is_batch(const struct mase_ptype *t);

MASE_API_END

#endif /* MASE_TYPE_H */
