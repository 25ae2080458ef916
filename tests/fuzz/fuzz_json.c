/*
 * fuzz_json.c - any bytes read as JSON; what is accepted must print as JSON that reads back equal.
 */
#include <stdint.h>

#include <mase/value.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_round_trip(struct mase_arena *a, const struct mase_value *v, int indent)
{
    struct mase_str text = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *back;
    mase_json_print(&text, v, indent);
    if (mase_json_parse(&back, a, mase_str_text(&text), text.len, "printed", &err))
        mase_bug("%d:%d: %s in\n%s", err.loc.line, err.loc.col, err.msg, mase_str_text(&text));
    if (!mase_value_equal(v, back))
        mase_bug("reads back otherwise:\n%s", mase_str_text(&text));
    mase_str_release(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_arena a = { 0 };
    struct mase_err err = { 0 };
    struct mase_value *v;
    if (mase_json_parse(&v, &a, (const char *)data, size, "input", &err) == MASE_OK) {
        check_round_trip(&a, v, 0);
        check_round_trip(&a, v, 2);
    } else if (err.loc.line < 1 || err.loc.col < 1 || !err.msg[0]) {
        mase_bug("refused without place or cause");
    }
    mase_arena_release(&a);
    return 0;
}
