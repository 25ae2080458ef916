/*
 * t_ranks.c - what the processes of a job owe each other, among threads in their place: shares, one
 * failure for all, and who ends the job.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "run_cases.h"
#include "thread_ranks.h"

/* Every item belongs to one rank, in order; rank 0 has one if there is any. */
static void shares(void **state)
{
    (void)state;
    for (int count = 1; count <= 9; count++)
        for (int64_t n = 0; n <= 40; n++) {
            int64_t next = 0, least = n, most = 0;
            for (int rank = 0; rank < count; rank++) {
                int64_t from;
                const int64_t to = mase_ranks_share(&from, n, rank, count);
                assert_int_equal(from, next);
                next = to;
                least = to - from < least ? to - from : least;
                most = to - from > most ? to - from : most;
                if (rank == 0)
                    assert_true(to > 0 || n == 0);
            }
            assert_int_equal(next, n);
            assert_true(most - least <= 1);
        }
}

static void gather(struct mase_ranks *r, void *data)
{
    const int64_t n = *(const int64_t *)data;
    int64_t items[40], from;
    const int64_t to = mase_ranks_share(&from, n, r->rank, r->count);
    memset(items, 0xff, sizeof items);
    for (int64_t i = from; i < to; i++)
        items[i] = 100 * i + r->count;
    mase_ranks_gather(r, items, sizeof *items, n);
    for (int64_t i = 0; i < n; i++)
        assert_int_equal(items[i], 100 * i + r->count);
    assert_int_equal(r->bytes, (to - from) * (int64_t)sizeof *items * (r->count - 1));
    assert_int_equal(mase_ranks_leave(r, 0), 0);
}

static void everybody_gets_all(void **state)
{
    (void)state;
    for (int count = 1; count <= 5; count++)
        for (int64_t n = 0; n <= 40; n += 1 + n / 4)
            assert_int_equal(thread_ranks_run(count, gather, &n), 0);
}

/* Which ranks fail, and with what message rank 0 is left. */
struct failing {
    bool fails[4];
    enum mase_status status;
    const char *message, *place;
};

static void agree(struct mase_ranks *r, void *data)
{
    const struct failing *f = data;
    struct mase_err err = { 0 };
    enum mase_status st = MASE_OK;
    if (f->fails[r->rank])
        st = mase_fail_in(&err, r->rank % 2 ? MASE_EIO : MASE_EVALUE, r->rank ? "file" : NULL,
                          "trouble %d", r->rank);
    assert_int_equal(mase_ranks_agree(r, st, &err), f->status);
    if (f->status) {
        assert_string_equal(err.msg, r->rank ? "" : f->message);
        assert_int_equal(err.status, f->status);
    }
    if (f->place && r->rank == 0)
        assert_string_equal(err.loc.path, f->place);
    const bool first = r->rank == 0; /* whose status the launcher sees */
    assert_int_equal(mase_ranks_leave(r, f->status ? 2 : 0), f->status && first ? 2 : 0);
}

static void the_first_failure_is_that_of_all(void **state)
{
    static struct failing cases[] = {
        { { false, false, false, false }, MASE_OK, NULL, NULL },
        { { true, true, true, true }, MASE_EVALUE, "trouble 0", NULL },
        { { false, true, false, true }, MASE_EIO, "trouble 1 (on rank 1 of 4)", "file" },
        { { false, false, false, true }, MASE_EIO, "trouble 3 (on rank 3 of 4)", "file" },
        { { false, false, true, true }, MASE_EVALUE, "trouble 2 (on rank 2 of 4)", "file" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(thread_ranks_run(4, agree, &cases[i]), 0); /* none is waited for */
}

static void fail_alone(struct mase_ranks *r, void *data)
{
    const bool *parted = data;
    if (*parted)
        mase_ranks_part(r);
    mase_ranks_leave(r, r->rank == 1 ? 2 : 0);
}

static void whoever_fails_alone_ends_the_job(void **state)
{
    bool parted = false;
    (void)state;
    assert_int_equal(thread_ranks_run(3, fail_alone, &parted), 2);
    parted = true;
    assert_int_equal(thread_ranks_run(3, fail_alone, &parted), 0);
}

static void compare(struct mase_ranks *r, void *data)
{
    const int odd = *(const int *)data;
    int differs;
    char own[6] = "equal";
    own[4] = r->rank >= odd ? 'L' : 'l';
    assert_int_equal(mase_ranks_same(r, own, sizeof own, &differs), odd >= r->count);
    assert_int_equal(differs, odd < r->count ? odd : 0);
    assert_int_equal(mase_ranks_leave(r, 0), 0);
}

static void what_differs_is_found(void **state)
{
    (void)state;
    for (int odd = 1; odd <= 4; odd++)
        assert_int_equal(thread_ranks_run(4, compare, &odd), 0);
}

/* A process that no launcher has started, or that is the only one. */
static void a_process_alone_joins_nothing(void **state)
{
    struct mase_ranks *r;
    struct mase_err err = { 0 };
    int differs = 1;
    (void)state;
    unsetenv("PMIX_RANK");
    unsetenv("OMPI_COMM_WORLD_SIZE");
    assert_int_equal(mase_ranks_join(&r, &err), MASE_OK);
    assert_null(r);
    setenv("OMPI_COMM_WORLD_SIZE", "1", 1);
    assert_int_equal(mase_ranks_join(&r, &err), MASE_OK);
    assert_null(r);
    unsetenv("OMPI_COMM_WORLD_SIZE");
    assert_true(mase_ranks_speaks(NULL) && mase_ranks_same(NULL, "x", 1, &differs) && !differs);
    assert_int_equal(mase_ranks_agree(NULL, mase_fail(&err, MASE_EIO, "said"), &err), MASE_EIO);
    assert_string_equal(err.msg, "said");
    assert_int_equal(mase_ranks_leave(NULL, 2), 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares),
        cmocka_unit_test(everybody_gets_all),
        cmocka_unit_test(the_first_failure_is_that_of_all),
        cmocka_unit_test(whoever_fails_alone_ends_the_job),
        cmocka_unit_test(what_differs_is_found),
        cmocka_unit_test(a_process_alone_joins_nothing),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
