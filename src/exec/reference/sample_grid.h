/*
 * sample_grid.h - looking at an image in places between its pixels, as grid_sample does. The
 * reference and plans share it.
 */
#ifndef MASE_EXEC_REFERENCE_SAMPLE_GRID_H
#define MASE_EXEC_REFERENCE_SAMPLE_GRID_H

#include "ir/shape/shape.h"

struct mase_grid_sampler {
    int n;                 /* dimensions: 2 or 3 */
    int64_t size[3];       /* of the image, the last dimension first, as coordinates have it */
    bool nearest, corners; /* corners: -1 and 1 are the middles of the outermost pixels */
    enum mase_sampler_edge {
        MASE_GRID_ZEROS,
        MASE_GRID_BORDER,
        MASE_GRID_REFLECTION,
    } edge;
};

/* The pixels that one position samples, each with a weight, and the weight's derivatives by the
 * coordinates. */
struct mase_look {
    int count;
    int64_t off[8];
    double weight[8], slope[8][3];
};

enum mase_status mase_grid_read(const struct mase_call *c, struct mase_grid_sampler *g,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Sets n values of out, from `at` on, by the pixels that l sees in the plane of x that begins at
 * `plane`. */
typedef void mase_place_fn(struct mase_tensor *out, int64_t at, const struct mase_tensor *x,
                           int64_t plane, const struct mase_look *l, int n);
/* Calls fn for every plane and place of grid_sample. A place has one value in out, or, by_axis, one
 * for each coordinate, the first at `at`. */
enum mase_status mase_grid_each(const struct mase_call *c, struct mase_tensor *out, bool by_axis,
                                mase_place_fn *fn, struct mase_err *err) MASE_MUST_CHECK;
void mase_grid_look(const struct mase_grid_sampler *g, const double *coordinate,
                    struct mase_look *l);
/* The coordinates of a place before affine_grid's matrix moves it, and 1; size: (N, C, H, W) or
 * (N, C, D, H, W). */
void mase_affine_base(double *base, const struct mase_shape *size, bool corners, int64_t place);

#endif /* MASE_EXEC_REFERENCE_SAMPLE_GRID_H */
