/*
 * bounded.h - no file makes a reader take more memory than it says.
 *
 * Tests of damaged and hostile files call bound_memory first. From there on the process may grow by
 * MEMORY_BOUND: every reader promises at most 128 MiB plus 16 times the size of its file, files of
 * these tests are small, and the rest is the tests' own. What asks for more is refused by the
 * kernel, and the arena that wanted it ends the test.
 */
#ifndef TESTS_BOUNDED_H
#define TESTS_BOUNDED_H

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define BOUNDED_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define BOUNDED_ASAN 1
#endif
#endif

enum { MEMORY_BOUND = 256 << 20 };

static inline void bound_memory(void)
{
#ifndef BOUNDED_ASAN /* its shadow is larger than any bound */
    unsigned long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%lu", &pages) == 1) {
        const rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_BOUND;
        (void)setrlimit(RLIMIT_AS, &(struct rlimit){ most, most });
    }
    if (f)
        fclose(f);
#endif
}

#endif /* TESTS_BOUNDED_H */
