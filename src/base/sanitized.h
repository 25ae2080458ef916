/*
 * sanitized.h - does this build have a sanitizer whose shadow memory exceeds any limit of the
 * address space?
 */
#ifndef MASE_BASE_SANITIZED_H
#define MASE_BASE_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define MASE_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define MASE_SANITIZED 1
#endif
#endif
#ifndef MASE_SANITIZED
#define MASE_SANITIZED 0
#endif

#endif /* MASE_BASE_SANITIZED_H */
