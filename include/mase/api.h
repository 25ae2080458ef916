/*
 * api.h - the marks around declarations that libmase.so exports. Everything else is hidden.
 *
 * The library is compiled with hidden symbols. A public header encloses its declarations,
 *
 *     MASE_API_BEGIN
 *     void mase_arena_release(struct mase_arena *a);
 *     MASE_API_END
 *
 * and so exports them from libmase.so and from ch, where plugins find them. In C++ the declarations
 * have C linkage. MASE_API marks the stable interface, in mase.h and the headers that mase.h
 * includes: such a function keeps its meaning, and its symbol has the version MASE_0
 * (cmake/version_script.cmake).
 */
#ifndef MASE_API_H
#define MASE_API_H

#define MASE_API __attribute__((visibility("default")))

/* clang-format off */
#ifdef __cplusplus
#define MASE_API_BEGIN _Pragma("GCC visibility push(default)") extern "C" {
#define MASE_API_END } _Pragma("GCC visibility pop")
#else
#define MASE_API_BEGIN _Pragma("GCC visibility push(default)")
#define MASE_API_END _Pragma("GCC visibility pop")
#endif
/* clang-format on */

#endif /* MASE_API_H */
