/*
 * t_child.c - what a child process wrote is read, whenever it ended.
 */
#define _GNU_SOURCE /* syscall */
#include "run_cases.h"

#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mase/str.h>

#include "frontend/child.h"

static bool waits; /* a call of poll that finds nothing returns when the child has ended */

/* In place of libc's. A machine with much to do leaves as much time between two calls. */
int poll(struct pollfd *fds, nfds_t count, int ms)
{
    const int ready = (int)syscall(SYS_poll, fds, count, ms);
    siginfo_t info;
    if (ready == 0 && waits)
        waitid(P_ALL, 0, &info, WEXITED | WNOWAIT);
    return ready;
}

static void check(const char *script, const char *expected, int expected_code)
{
    const char *const argv[] = { "sh", "-c", script, NULL };
    const struct mase_child c = { .program = "sh",
                                  .argv = argv,
                                  .input = "",
                                  .seconds = 20,
                                  .memory = (int64_t)1 << 30,
                                  .max_output = 1 << 16,
                                  .max_errors = 1 << 10 };
    struct mase_str out = { 0 };
    struct mase_err err = { 0 };
    enum mase_child_end end;
    size_t dropped;
    int code = -1;
    assert_int_equal(mase_child_run(&end, &code, &out, &dropped, &c, &err), MASE_OK);
    assert_int_equal(end, MASE_CHILD_DONE);
    assert_int_equal(code, expected_code);
    assert_string_equal(mase_str_text(&out), expected);
    mase_str_release(&out);
}

static void the_output_is_read_to_its_end(void **state)
{
    (void)state;
    check("echo one; sleep 0.2; echo two", "one\ntwo\n", 0);
    check("echo one; exit 3", "one\n", 3);
}

static void what_is_written_just_before_the_end_is_read(void **state)
{
    (void)state;
    waits = true;
    check("sleep 0.2; echo answer", "answer\n", 0);
    waits = false;
}

/* It holds the output open; its time is not waited for. */
static void a_process_that_the_child_left_does_not_count(void **state)
{
    (void)state;
    check("sleep 30 & echo answer", "answer\n", 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_output_is_read_to_its_end),
        cmocka_unit_test(what_is_written_just_before_the_end_is_read),
        cmocka_unit_test(a_process_that_the_child_left_does_not_count),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
