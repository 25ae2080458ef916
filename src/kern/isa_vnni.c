/* isa_vnni.c - the kernels that sum bytes, with the instructions for it; the others are those of
 * AVX-512. Compiled alone with its flags. */
#include <math.h>
#include <string.h>

#include "kern/kern.h"
#include "kern/simd/avx512.h"

#define KERNEL(f) mase_##f##__vnni
#define KERNEL_ROW(name, args)
#define BYTE_ROW(name, args) void KERNEL(name) args;
#include "kern/kernels.def"

#include "kern/simd/inline.h"

#include "kern/int_layer.inc.c"
