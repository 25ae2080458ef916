/*
 * fuzz_csv.c - any bytes as a table in CSV or ARFF, of the user's own or with jsc's class names.
 */
#include <stddef.h>
#include <stdint.h>

#include "data/raw.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_table(const uint8_t *data, size_t size, const struct mase_columns *columns)
{
    const struct mase_file f = { .path = "fuzz.csv", .data = data, .size = size };
    struct mase_arena a = { 0 };
    struct mase_raw r = { 0 };
    struct mase_err err = { 0 };
    if (mase_csv_parse(&r, &a, &f, columns, &err) == MASE_OK) {
        double sum = 0; /* every number can be read, every label has its class */
        for (int64_t i = 0; i < r.rows * r.features; i++)
            sum += r.x[i];
        for (int64_t i = 0; i < r.rows; i++)
            if (r.label[i] < 0 || (r.classes && r.label[i] >= r.classes))
                mase_bug("label %d of %d classes", r.label[i], r.classes);
        (void)sum;
        mase_raw_drop_duplicates(&r);
    } else if (!err.msg[0]) {
        mase_bug("refused without cause");
    }
    mase_raw_release(&r);
    mase_arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const classes[] = { "g", "q", "t", "w", "z" };
    read_table(data, size, &(struct mase_columns){ 0 });
    read_table(data, size, &(struct mase_columns){ .classes = classes, .class_count = 5 });
    return 0;
}
