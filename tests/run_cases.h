/*
 * run_cases.h - main of a test program: all cases, one of them, or their names.
 *
 *     t_x            run every case
 *     t_x CASE...    run these; a name may have * and ?
 *     t_x --list     print the names
 */
#ifndef MASE_TESTS_RUN_CASES_H
#define MASE_TESTS_RUN_CASES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Appends to chosen the cases whose names match; how many there are then. */
static inline size_t choose_cases(struct CMUnitTest *chosen, size_t n,
                                  const struct CMUnitTest *tests, size_t count, const char *pattern)
{
    for (size_t i = 0; i < count; i++)
        if (!fnmatch(pattern, tests[i].name, 0))
            chosen[n++] = tests[i];
    return n;
}

/* The number of failed cases; 2 where no case has a name that was asked for. */
static inline int run_some(int argc, char **argv, const struct CMUnitTest *tests, size_t count,
                           CMFixtureFunction set_up, CMFixtureFunction tear_down)
{
    const bool listed = argc > 1 && !strcmp(argv[1], "--list");
    struct CMUnitTest *chosen = calloc((size_t)argc * count, sizeof *chosen);
    size_t n = 0;
    for (size_t i = 0; i < count && listed; i++)
        puts(tests[i].name);
    for (int i = 1; i < argc && !listed; i++) {
        const size_t before = n;
        n = choose_cases(chosen, n, tests, count, argv[i]);
        if (n > before)
            continue;
        fprintf(stderr, "no case is called '%s'; --list prints the names\n", argv[i]);
        free(chosen);
        return 2;
    }
    const int failed = listed ? 0
                       : argc > 1
                           ? _cmocka_run_group_tests("tests", chosen, n, set_up, tear_down)
                           : _cmocka_run_group_tests("tests", tests, count, set_up, tear_down);
    free(chosen);
    return failed;
}

#define run_cases(argc, argv, tests, set_up, tear_down) \
    run_some(argc, argv, tests, sizeof(tests) / sizeof((tests)[0]), set_up, tear_down)

#endif
