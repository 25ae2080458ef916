/*
 * t_images.c - mnist and cifar files, made here: every pixel and label arrives, gzipped or not;
 * augmentation depends on seed, epoch and row alone; damaged files are refused.
 */
#include "bounded.h"
#include "run_cases.h"
#include "scratch.h"

#include <zlib.h>

enum { PIXELS = 28 * 28, TRAIN = 30, TEST = 12, COLOUR = 3 * 32 * 32 };

static unsigned char pixel(int part, int i, int k)
{
    return (unsigned char)(part * 100 + i * 7 + k * 13);
}

static void put_idx(const char *name, bool gzipped, const unsigned char *data, size_t size)
{
    if (!gzipped) {
        put(name, data, size);
        return;
    }
    char file[64];
    snprintf(file, sizeof file, "%s.gz", name);
    gzFile f = gzopen(in_scratch(file), "wb");
    assert_int_equal(gzwrite(f, data, (unsigned)size), (int)size);
    assert_int_equal(gzclose(f), Z_OK);
}

static size_t fill_images(unsigned char *to, int part, int n)
{
    const unsigned char head[16] = {
        0, 0, 8, 3, 0, 0, 0, (unsigned char)n, 0, 0, 0, 28, 0, 0, 0, 28
    };
    memcpy(to, head, 16);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < PIXELS; k++)
            to[16 + i * PIXELS + k] = pixel(part, i, k);
    return 16 + (size_t)n * PIXELS;
}

static size_t fill_labels(unsigned char *to, int n)
{
    const unsigned char head[8] = { 0, 0, 8, 1, 0, 0, 0, (unsigned char)n };
    memcpy(to, head, 8);
    for (int i = 0; i < n; i++)
        to[8 + i] = (unsigned char)(i % 10);
    return 8 + (size_t)n;
}

static unsigned char file_bytes[16 + TRAIN * PIXELS + 1];

static void put_mnist(bool gzipped)
{
    empty_folder(scratch);
    put_idx("train-images-idx3-ubyte", gzipped, file_bytes, fill_images(file_bytes, 0, TRAIN));
    put_idx("t10k-images-idx3-ubyte", gzipped, file_bytes, fill_images(file_bytes, 1, TEST));
    put_idx("train-labels-idx1-ubyte", gzipped, file_bytes, fill_labels(file_bytes, TRAIN));
    put_idx("t10k-labels-idx1-ubyte", gzipped, file_bytes, fill_labels(file_bytes, TEST));
}

static void check_mnist(const char *name)
{
    const struct mase_dataset_opts opts = { .data_dir = scratch, .original_splits = true };
    struct mase_dataset *d = open_data(name, &opts);
    const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN),
                                 test = mase_dataset_split(d, MASE_SPLIT_TEST);
    assert_int_equal(train.count, TRAIN);
    assert_int_equal(test.count, TEST);
    assert_ptr_equal(mase_dataset_split(d, MASE_SPLIT_VALIDATION).row, test.row);
    assert_null(mase_dataset_table(d).data);
    float *x = malloc(sizeof(float) * TRAIN * PIXELS);
    int32_t label[TRAIN];
    mase_dataset_batch(d, &(struct mase_batch){ .row = train.row,
                                                .n = TRAIN,
                                                .x = x,
                                                .feature_stride = TRAIN,
                                                .sample_stride = 1,
                                                .label = label });
    for (int i = 0; i < TRAIN; i++) {
        assert_int_equal(label[i], i % 10);
        for (int k = 0; k < PIXELS; k++)
            assert_true(x[k * TRAIN + i] == pixel(0, i, k));
    }
    mase_dataset_batch(d, &(struct mase_batch){ .row = test.row,
                                                .n = TEST,
                                                .x = x,
                                                .augment = true,
                                                .feature_stride = 1,
                                                .sample_stride = PIXELS,
                                                .label = label });
    for (int i = 0; i < TEST; i++) /* mnist has no augmentation */
        for (int k = 0; k < PIXELS; k++)
            assert_true(x[i * PIXELS + k] == pixel(1, i, k));
    free(x);
    mase_dataset_close(d);
}

static void mnist(void **state)
{
    (void)state;
    put_mnist(false);
    check_mnist("mnist");
    put_mnist(true);
    check_mnist("mnist");
    check_mnist("fashion_mnist");
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    struct mase_dataset *d = open_data("mnist", &opts);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, TRAIN - TRAIN / 10);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_VALIDATION).count, TRAIN / 10);
    assert_int_equal(strlen(mase_dataset_info(d)->checksum), 64);
    mase_dataset_close(d);
}

static void bad_mnist(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    empty_folder(scratch);
    refuse("mnist", &opts, MASE_EIO, "there is no file train-images-idx3-ubyte of dataset mnist");
    refuse("mnist", NULL, MASE_EIO, "name their folder by --data-dir or MASE_DATA");
    refuse("mnist:x", NULL, MASE_EVALUE, "is read from a folder");

    put_mnist(false);
    size_t n = fill_images(file_bytes, 0, TRAIN);
    put("train-images-idx3-ubyte", file_bytes, n - 1);
    assert_int_equal(refuse("mnist", &opts, MASE_EPARSE,
                            "the file ends after 23535 bytes, expected 23536 for 30 items"),
                     23535);
    put("train-images-idx3-ubyte", file_bytes, n + 1);
    assert_int_equal(refuse("mnist", &opts, MASE_EPARSE, "1 bytes follow the 30 items"), 23536);
    put("train-images-idx3-ubyte", "", 0);
    refuse("mnist", &opts, MASE_EPARSE, "the file is empty");
    file_bytes[3] = 1;
    put("train-images-idx3-ubyte", file_bytes, n);
    refuse("mnist", &opts, MASE_EPARSE, "it must begin with 00 00 08 03");
    fill_images(file_bytes, 0, TRAIN);
    file_bytes[11] = 32;
    put("train-images-idx3-ubyte", file_bytes, n);
    refuse("mnist", &opts, MASE_EVALUE, "images are 32 pixels in dimension 0, expected 28");

    put_mnist(false);
    n = fill_labels(file_bytes, TRAIN);
    file_bytes[20] = 10;
    put("train-labels-idx1-ubyte", file_bytes, n);
    assert_int_equal(refuse("mnist", &opts, MASE_EVALUE, "label 10 of image 12 is outside 0..9"),
                     20);
    put("train-labels-idx1-ubyte", file_bytes, fill_labels(file_bytes, TRAIN - 1));
    refuse("mnist", &opts, MASE_EVALUE, "29 labels for 30 images");
}

/* Every byte of a gzip file counts: its CRC says so. */
static void damaged_gzip(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    put_mnist(true);
    struct mase_file f;
    struct mase_err err;
    assert_int_equal(mase_file_open(&f, in_scratch("train-labels-idx1-ubyte.gz"), &err), MASE_OK);
    const size_t size = f.size;
    unsigned char *bytes = malloc(size);
    memcpy(bytes, f.data, size);
    mase_file_close(&f);
    for (size_t n = 0; n < size; n++) {
        put("train-labels-idx1-ubyte.gz", bytes, n);
        refuse("mnist", &opts, MASE_EPARSE, "");
    }
    for (size_t i = 10; i < size; i++) { /* after the header, where name and time may be anything */
        bytes[i] ^= 0xff;
        put("train-labels-idx1-ubyte.gz", bytes, size);
        refuse("mnist", &opts, MASE_EPARSE, "");
        bytes[i] ^= 0xff;
    }
    free(bytes);
}

/* Every prefix of an IDX file is refused, and every changed byte of its header. */
static void damaged_idx(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    put_mnist(false);
    const size_t size = fill_labels(file_bytes, TRAIN);
    for (size_t n = 0; n < size; n++) {
        put("train-labels-idx1-ubyte", file_bytes, n);
        refuse("mnist", &opts, MASE_EPARSE, "");
    }
    for (size_t i = 0; i < 8; i++) {
        const unsigned char bit = (unsigned char)(1 << i);
        file_bytes[i] ^= bit;
        put("train-labels-idx1-ubyte", file_bytes, size);
        refuse("mnist", &opts, MASE_EPARSE, "");
        file_bytes[i] ^= bit;
    }
}

/* 200 kB that claim to be 200 MB, which deflate could gain. */
static void gzip_bomb(void **state)
{
    (void)state;
    enum { SIZE = 200000, CLAIMED = 200000000 };
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    unsigned char *bytes = calloc(1, SIZE);
    bytes[0] = 0x1f;
    bytes[1] = 0x8b;
    for (int i = 0; i < 4; i++)
        bytes[SIZE - 4 + i] = (unsigned char)((unsigned)CLAIMED >> (8 * i));
    put_mnist(true);
    put("train-images-idx3-ubyte.gz", bytes, SIZE);
    refuse("mnist", &opts, MASE_ELIMIT, "would unpack to 200000000 bytes, more than 137417728");
    free(bytes);
}

/* ---- cifar ---- */

enum { RECORDS = 10 };

static unsigned char colour(int file, int i, int k)
{
    return (unsigned char)(file * 31 + i * 17 + k * 3 + k / 100);
}

static void put_cifar(int label_bytes, const char *const *names, int n)
{
    static unsigned char bytes[RECORDS * (2 + COLOUR)];
    empty_folder(scratch);
    for (int file = 0; file < n; file++) {
        unsigned char *p = bytes;
        for (int i = 0; i < RECORDS; i++) {
            for (int b = 0; b < label_bytes; b++)
                *p++ = (unsigned char)(b == label_bytes - 1 ? i : 200);
            for (int k = 0; k < COLOUR; k++)
                *p++ = colour(file, i, k);
        }
        put(names[file], bytes, (size_t)(p - bytes));
    }
}

static const char *const cifar10_files[] = { "data_batch_1.bin", "data_batch_2.bin",
                                             "data_batch_3.bin", "data_batch_4.bin",
                                             "data_batch_5.bin", "test_batch.bin" };

static float level(int c, unsigned char byte)
{
    static const double mean[] = { 0.485, 0.456, 0.406 }, std[] = { 0.229, 0.224, 0.225 };
    return (float)((byte / 255.0 - mean[c]) / std[c]);
}

static void take(const struct mase_dataset *d, float *x, uint32_t row, uint64_t seed,
                 uint64_t epoch, bool augment)
{
    mase_dataset_batch(d, &(struct mase_batch){ .row = &row,
                                                .n = 1,
                                                .x = x,
                                                .feature_stride = 1,
                                                .sample_stride = COLOUR,
                                                .augment = augment,
                                                .seed = seed,
                                                .epoch = epoch });
}

static void cifar(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    static const char *const cifar100_files[] = { "train.bin", "test.bin" };
    static float x[COLOUR];
    put_cifar(1, cifar10_files, 6);
    struct mase_dataset *d = open_data("cifar10", &opts);
    assert_int_equal(mase_dataset_info(d)->rows, 6 * RECORDS);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, RECORDS);
    for (uint32_t row = 0; row < 6 * RECORDS; row++) {
        assert_int_equal(mase_dataset_labels(d)[row], row % RECORDS);
        take(d, x, row, 0, 0, false);
        for (int k = 0; k < COLOUR; k++)
            assert_true(x[k] == level(k / 1024, colour((int)row / RECORDS, (int)row % RECORDS, k)));
    }
    mase_dataset_close(d);
    put_cifar(2, cifar100_files, 2);
    d = open_data("cifar100", &opts);
    assert_int_equal(mase_dataset_info(d)->rows, 2 * RECORDS);
    for (int i = 0; i < 2 * RECORDS; i++)
        assert_int_equal(mase_dataset_labels(d)[i], i % RECORDS);
    mase_dataset_close(d);
}

/* Is x the image of this row, cropped at (top, left) of its padded form, and flipped? */
static bool is_placed(const float *x, uint32_t row, int top, int left, bool flip)
{
    for (int c = 0; c < 3; c++)
        for (int h = 0; h < 32; h++)
            for (int w = 0; w < 32; w++) {
                const int y = h + top, at = (flip ? 31 - w : w) + left;
                const unsigned char byte =
                    y < 0 || y > 31 || at < 0 || at > 31
                        ? 0
                        : colour((int)row / RECORDS, (int)row % RECORDS, (c * 32 + y) * 32 + at);
                if (x[(c * 32 + h) * 32 + w] != level(c, byte))
                    return false;
            }
    return true;
}

/* The one placing that explains x, numbered. */
static int placing_of(const float *x, uint32_t row)
{
    int found = -1;
    for (int top = -4; top <= 4; top++)
        for (int left = -4; left <= 4; left++)
            for (int flip = 0; flip < 2; flip++)
                if (is_placed(x, row, top, left, flip)) {
                    assert_int_equal(found, -1);
                    found = ((top + 4) * 9 + left + 4) * 2 + flip;
                }
    assert_int_not_equal(found, -1);
    return found;
}

static void augmentation(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    static float x[COLOUR], again[COLOUR];
    put_cifar(1, cifar10_files, 6);
    struct mase_dataset *d = open_data("cifar10", &opts);
    int tops[9] = { 0 }, lefts[9] = { 0 }, flips[2] = { 0 };
    for (int i = 0; i < 300; i++) {
        const uint32_t row = (uint32_t)i % 50;
        take(d, x, row, 1, (uint64_t)i / 50, true);
        const int placing = placing_of(x, row);
        flips[placing % 2]++;
        lefts[placing / 2 % 9]++;
        tops[placing / 18]++;
        take(d, again, row, 1, (uint64_t)i / 50, true);
        assert_memory_equal(x, again, sizeof x);
    }
    for (int i = 0; i < 9; i++) /* 33 expected, deviation 5.4 */
        assert_true(tops[i] > 12 && tops[i] < 55 && lefts[i] > 12 && lefts[i] < 55);
    assert_true(flips[0] > 110 && flips[1] > 110);

    /* the same in a batch, in any order and layout */
    const uint32_t rows[] = { 30, 2, 17 };
    static float lanes[COLOUR * 3];
    mase_dataset_batch(d, &(struct mase_batch){ .row = rows,
                                                .n = 3,
                                                .x = lanes,
                                                .feature_stride = 3,
                                                .sample_stride = 1,
                                                .augment = true,
                                                .seed = 1,
                                                .epoch = 4 });
    for (int i = 0; i < 3; i++) {
        take(d, x, rows[i], 1, 4, true);
        for (int k = 0; k < COLOUR; k++)
            assert_true(lanes[k * 3 + i] == x[k]);
    }
    mase_dataset_close(d);
}

static void bad_cifar(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .data_dir = scratch };
    put_cifar(1, cifar10_files, 6);
    assert_int_equal(truncate(in_scratch("data_batch_3.bin"), 3073 * 10 - 1), 0);
    assert_int_equal(
        refuse("cifar10", &opts, MASE_EPARSE, "the last record has 3072 bytes, expected 3073"),
        3073 * 9);
    assert_int_equal(truncate(in_scratch("data_batch_3.bin"), 3073 * 9), 0);
    refuse("cifar10", &opts, MASE_EPARSE, "9 images, expected at least 10");
    put_cifar(1, cifar10_files, 5);
    refuse("cifar10", &opts, MASE_EIO, "there is no file test_batch.bin of dataset cifar10");
    put_cifar(2, cifar10_files, 6); /* other records: the labels make no sense */
    assert_int_equal(truncate(in_scratch("data_batch_1.bin"), 30730), 0);
    refuse("cifar10", &opts, MASE_EVALUE, "label 200 of image 0 is outside 0..9");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mnist),        cmocka_unit_test(bad_mnist), cmocka_unit_test(damaged_gzip),
        cmocka_unit_test(damaged_idx),  cmocka_unit_test(gzip_bomb), cmocka_unit_test(cifar),
        cmocka_unit_test(augmentation), cmocka_unit_test(bad_cifar),
    };
    bound_memory();
    return run_cases(argc, argv, tests, make_scratch, remove_scratch);
}
