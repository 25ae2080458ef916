/*
 * eigen.h - eigenvalues of symmetric matrices.
 */
#ifndef MASE_STUDY_EIGEN_H
#define MASE_STUDY_EIGEN_H

/* a (n, n), symmetric, becomes diagonal: its eigenvalues. The columns of v (n, n) are the vectors,
 * of length 1. */
void mase_eigen(double *a, double *v, int n);

#endif /* MASE_STUDY_EIGEN_H */
