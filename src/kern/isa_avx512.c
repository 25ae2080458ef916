/* isa_avx512.c - every kernel for this instruction set; compiled alone with its flags. */
#include <math.h>
#include <string.h>

#include "kern/kern.h"
#include "kern/simd/avx512.h"

#define KERNEL(f) mase_##f##__avx512
#include "kern/bodies.inc.c"
