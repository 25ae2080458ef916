/*
 * bodies.inc.c - all kernels, over the lanes that simd/ISA.h defines.
 */
#define KERNEL_ROW(name, args) void KERNEL(name) args;
#include "kern/kernels.def"

#include "kern/simd/math.h"
#include "quant/quant.h"

#include "kern/simd/inline.h"

#include "kern/binary.inc.c"
#include "kern/block.inc.c"
#include "kern/curve.inc.c"
#include "kern/gather.inc.c"
#include "kern/gemm.inc.c"
#include "kern/int.inc.c"
#include "kern/int_layer.inc.c"
#include "kern/loss.inc.c"
#include "kern/norm.inc.c"
#include "kern/optim.inc.c"
#include "kern/original.inc.c"
#include "kern/round.inc.c"
#include "kern/rows.inc.c"
#include "kern/stat.inc.c"
#include "kern/unit.inc.c"
#include "kern/window.inc.c"
