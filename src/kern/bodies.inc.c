/*
 * bodies.inc.c - all kernels, over the lanes that simd/ISA.h defines.
 */
#define KERNEL_ROW(name, args) void KERNEL(name) args;
#include "kern/kernels.def"

#include "kern/simd/math.h"
#include "quant/quant.h"

/* Register blocks are arrays with constant bounds: they live in registers only when unrolled. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE inline __attribute__((always_inline))

#include "kern/binary.inc.c"
#include "kern/block.inc.c"
#include "kern/curve.inc.c"
#include "kern/gather.inc.c"
#include "kern/gemm.inc.c"
#include "kern/int.inc.c"
#include "kern/loss.inc.c"
#include "kern/norm.inc.c"
#include "kern/optim.inc.c"
#include "kern/original.inc.c"
#include "kern/round.inc.c"
#include "kern/rows.inc.c"
#include "kern/stat.inc.c"
#include "kern/unit.inc.c"
#include "kern/window.inc.c"
