/*
 * dispatch.c - choose the instruction set, once, by cpuid; the build machine has no influence.
 */
#include <stdlib.h>

#include <mase/str.h>

#include "kern/kern.h"

#define KERNEL_ROW(name, args)       \
    void mase_##name##__scalar args; \
    void mase_##name##__avx2 args;   \
    void mase_##name##__avx512 args;
#include "kern/kernels.def"
#define KERNEL_ROW(name, args)
#define BYTE_ROW(name, args) void mase_##name##__vnni args;
#include "kern/kernels.def"

const char *const mase_isa_names[] = { "scalar", "avx2", "avx512", "vnni", NULL };

static const struct mase_kernels sets[MASE_ISA_COUNT] = {
    [MASE_ISA_SCALAR] = { .isa = "scalar",
#define KERNEL_ROW(name, args) .name = mase_##name##__scalar,
#include "kern/kernels.def"
    },
    [MASE_ISA_AVX2] = { .isa = "avx2",
#define KERNEL_ROW(name, args) .name = mase_##name##__avx2,
#include "kern/kernels.def"
    },
    [MASE_ISA_AVX512] = { .isa = "avx512",
#define KERNEL_ROW(name, args) .name = mase_##name##__avx512,
#include "kern/kernels.def"
    },
    [MASE_ISA_VNNI] = { .isa = "vnni",
                        .long_sums = true,
#define KERNEL_ROW(name, args) .name = mase_##name##__avx512,
#define BYTE_ROW(name, args)   .name = mase_##name##__vnni,
#include "kern/kernels.def"
    },
};

bool mase_isa_supported(enum mase_isa isa)
{
    switch (isa) {
    case MASE_ISA_VNNI:
        return mase_isa_supported(MASE_ISA_AVX512) && __builtin_cpu_supports("avx512vnni");
    case MASE_ISA_AVX512:
        return __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx512f") &&
               __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vl");
    case MASE_ISA_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    default:
        return true;
    }
}

const struct mase_kernels *mase_kernels_of(enum mase_isa isa)
{
    if (!mase_isa_supported(isa))
        mase_bug("this CPU has no %s", mase_isa_names[isa]);
    return &sets[isa];
}

enum mase_status mase_kernels_select(const struct mase_kernels **k, struct mase_err *err)
{
    const char *wanted = getenv("MASE_ISA");
    for (int i = MASE_ISA_COUNT - 1; i >= 0; i--) {
        const enum mase_isa isa = (enum mase_isa)i;
        const bool named = wanted && *wanted && mase_streq(wanted, mase_isa_names[isa]);
        if (named && !mase_isa_supported(isa))
            return mase_fail(err, MASE_EUNSUPPORTED, "MASE_ISA=%s: this CPU has no %s", wanted,
                             wanted);
        if (named || ((!wanted || !*wanted) && mase_isa_supported(isa))) {
            *k = &sets[isa];
            return MASE_OK;
        }
    }
    return mase_fail(err, MASE_EVALUE, "MASE_ISA=%s is not one of scalar, avx2, avx512, vnni",
                     wanted);
}
