/* inline.h - what makes register blocks of bodies. */

/* Register blocks are arrays with constant bounds: they live in registers only when unrolled. */
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif
#define INLINE inline __attribute__((always_inline))
