/*
 * t_cursor.c - reading binary data without trusting it.
 */
#include "check.h"
#include "run_cases.h"

#include <mase/cursor.h>

static const unsigned char bytes[] = { 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
                                       0x09, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0xff };

static struct mase_cursor cursor(size_t size)
{
    const struct mase_file f = { .path = "m.npy", .data = bytes, .size = size };
    return mase_cursor_of(&f);
}

static void integers_are_little_endian(void **state)
{
    (void)state;
    struct mase_cursor c = cursor(sizeof(bytes));
    struct mase_err err = { 0 };
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    assert_int_equal(mase_get_u8(&c, &u8, &err), MASE_OK);
    assert_int_equal(mase_get_u16(&c, &u16, &err), MASE_OK);
    assert_int_equal(mase_get_u32(&c, &u32, &err), MASE_OK);
    assert_int_equal(mase_get_u64(&c, &u64, &err), MASE_OK);
    assert_int_equal(u8, 0x01);
    assert_int_equal(u16, 0x0302);
    assert_int_equal(u32, 0x07060504);
    assert_true(u64 == 0xff0e0d0c0b0a0908u);
    assert_int_equal(c.pos, c.size);
    assert_int_equal(err.status, MASE_OK); /* success leaves it alone */
}

/* Each read, at each distance from the end: a status, the offset, nothing moved, *v untouched. */
static void reading_past_the_end_fails_in_place(void **state)
{
    (void)state;
    static const char *const said[] = {
        "file ends inside a 8-bit integer",
        "file ends inside a 16-bit integer",
        "file ends inside a 32-bit integer",
        "file ends inside a 64-bit integer",
    };
    for (int kind = 0; kind < 4; kind++) {
        for (size_t left = 0; left < (size_t)1 << kind; left++) {
            struct mase_cursor c = cursor(left + 3);
            struct mase_err err = { 0 };
            uint64_t v = 77;
            c.pos = 3;
            const enum mase_status st = kind == 0   ? mase_get_u8(&c, (uint8_t *)&v, &err)
                                        : kind == 1 ? mase_get_u16(&c, (uint16_t *)&v, &err)
                                        : kind == 2 ? mase_get_u32(&c, (uint32_t *)&v, &err)
                                                    : mase_get_u64(&c, &v, &err);
            assert_int_equal(st, MASE_EPARSE);
            assert_int_equal(err.loc.off, 3);
            assert_string_equal(err.path, "m.npy");
            assert_string_equal(err.msg, said[kind]);
            assert_int_equal(c.pos, 3);
            assert_int_equal(v, 77);
        }
    }
}

static void bytes_are_borrowed(void **state)
{
    (void)state;
    struct mase_cursor c = cursor(10);
    struct mase_err err = { 0 };
    const unsigned char *p;
    assert_int_equal(mase_get_bytes(&c, &p, 4, &err), MASE_OK);
    assert_ptr_equal(p, bytes);
    assert_int_equal(mase_get_bytes(&c, &p, 0, &err), MASE_OK);
    assert_ptr_equal(p, bytes + 4);
    assert_int_equal(mase_get_bytes(&c, &p, 7, &err), MASE_EPARSE);
    assert_string_equal(err.msg, "file ends inside 7 bytes: only 6 left");
    assert_int_equal(mase_get_bytes(&c, &p, UINT64_MAX, &err), MASE_EPARSE);
    assert_int_equal(c.pos, 4);
    assert_int_equal(mase_get_bytes(&c, &p, 6, &err), MASE_OK);
}

static void magic_must_be_there(void **state)
{
    (void)state;
    struct mase_cursor c = cursor(3);
    struct mase_err err = { 0 };
    assert_int_equal(mase_get_magic(&c, "\x01\x02", 2, "NPY magic", &err), MASE_OK);
    assert_int_equal(c.pos, 2);
    assert_int_equal(mase_get_magic(&c, "\x04", 1, "NPY magic", &err), MASE_EPARSE);
    assert_string_equal(err.msg, "no NPY magic here");
    assert_int_equal(mase_get_magic(&c, "\x03\x04", 2, "NPY magic", &err), MASE_EPARSE);
    assert_string_equal(err.msg, "file ends where its NPY magic should be");
    assert_int_equal(c.pos, 2);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_are_little_endian),
        cmocka_unit_test(reading_past_the_end_fails_in_place),
        cmocka_unit_test(bytes_are_borrowed),
        cmocka_unit_test(magic_must_be_there),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
