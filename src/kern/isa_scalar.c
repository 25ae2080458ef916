/* isa_scalar.c - every kernel for this instruction set; compiled alone with its flags. */
#include <math.h>
#include <string.h>

#include "kern/kern.h"
#include "kern/simd/scalar.h"

#define KERNEL(f) mase_##f##__scalar
#include "kern/bodies.inc.c"
