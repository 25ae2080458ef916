/*
 * t_limit.c - sizes in the environment, and what they replace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "base/limit.h"
#include "run_cases.h"

static const struct {
    const char *text;
    uint64_t bytes; /* 0: no size */
} cases[] = {
    { "1", 1 },
    { "4096", 4096 },
    { "2k", 2048 },
    { "3M", 3 << 20 },
    { "8G", UINT64_C(8) << 30 },
    { "1T", UINT64_C(1) << 40 },
    { "18446744073709551615", UINT64_MAX },
    { "18446744073709551616", 0 },
    { "16777216T", 0 },
    { "0", 0 },
    { "-1", 0 },
    { "4 G", 0 },
    { "4GB", 0 },
    { "G", 0 },
    { "1e9", 0 },
};

static void sizes(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct mase_err err = { 0 };
        const uint64_t n = cases[i].bytes;
        assert_int_equal(setenv("MASE_MEMORY", cases[i].text, 1), 0);
        assert_int_equal(mase_limit_check(&err), n ? MASE_OK : MASE_EVALUE);
        assert_int_equal(mase_limit_of_file(1000), n ? n : (128 << 20) + 16000);
        assert_int_equal(mase_limit_of_text(1000), n ? n : (1 << 20) + 16000);
        if (n)
            assert_int_equal(mase_limit_of_network(), n);
    }
    assert_int_equal(unsetenv("MASE_MEMORY"), 0);
    assert_int_equal(mase_limit_of_file(UINT64_MAX / 2), UINT64_MAX);
    assert_true(mase_limit_of_network() > 1 << 20);
}

static void texts(void **state)
{
    (void)state;
    assert_string_equal(mase_size_text(397).s, "397 bytes");
    assert_string_equal(mase_size_text(1024).s, "1.0 KiB");
    assert_string_equal(mase_size_text(UINT64_C(137438953408)).s, "128.0 GiB");
    assert_string_equal(mase_size_text(UINT64_MAX).s, "16384.0 PiB");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sizes), cmocka_unit_test(texts) };
    return run_cases(argc, argv, tests, NULL, NULL);
}
