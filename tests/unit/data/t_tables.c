/*
 * t_tables.c - tables of the user's own: csv, npz, h5; and toy_tiny. What they hold arrives, in the
 * split that was promised; what is wrong with them is said with its place.
 */
#include "bounded.h"
#include "run_cases.h"
#include "scratch.h"

#include <math.h>

#include <mase/npy.h>

#include "data/numpy.h"

static const struct mase_dataset_opts plain = { .scale = MASE_SCALE_NONE, .original_splits = true };

/* ---- csv ---- */

static const char *csv_of(const char *text, const char *label)
{
    static char spec[600];
    snprintf(spec, sizeof spec, "csv:%s%s", put_text("x.csv", text), label);
    return spec;
}

#define ROWS_10 "1,a,2\n2,b,2\n3,a,2\n4,b,2\n5,a,2\n6,b,2\n7,a,2\n8,b,2\n9,a,2\n10,b,2\n"

/* The file's row that lies at row r of the table: 10 rows, 2 of them tested. */
static uint32_t row_in_file(int64_t r)
{
    struct mase_numpy random;
    uint32_t p[10];
    mase_numpy_seed(&random, 42);
    mase_numpy_permutation(&random, p, 10);
    return r < 8 ? p[r + 2] : p[r - 8];
}

static void csv_rows(void **state)
{
    (void)state;
    struct mase_dataset *d = open_data(csv_of("n,kind,m\n" ROWS_10, ":kind"), &plain);
    const struct mase_dataset_info *info = mase_dataset_info(d);
    assert_int_equal(info->rows, 10);
    assert_int_equal(info->data.classes, 2);
    assert_string_equal(info->class_names[1], "b");
    assert_string_equal(info->feature_names[0], "n");
    assert_string_equal(info->feature_names[1], "m");
    assert_true(info->data.sample.rank == 1 && info->data.sample.dim[0] == 2);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 2);
    const struct mase_table_view t = mase_dataset_table(d);
    for (int64_t i = 0; i < 10; i++) {
        const uint32_t row = row_in_file(i);
        assert_true(t.data[i * t.stride] == (float)(row + 1) && t.data[i * t.stride + 1] == 2);
        assert_int_equal(mase_dataset_labels(d)[i], row % 2);
    }
    mase_dataset_close(d);
}

static void csv_forms(void **state)
{
    (void)state;
    /* a byte order mark, CRLF, blanks, quotes, blank lines, numbers as labels, no last newline */
    struct mase_dataset *d = open_data(
        csv_of("\xef\xbb\xbf\"a \"\"x\"\"\" , label\r\n\r\n\"1\",3\r\n 2 ,0\n3, \"2\" \n4,1\n5,1\n"
               "1e3,1\n-7,1\n8,1\n+9,1\n16,1",
               ""),
        &plain);
    const struct mase_dataset_info *info = mase_dataset_info(d);
    assert_int_equal(info->rows, 10);
    assert_string_equal(info->feature_names[0], "a \"x\"");
    assert_int_equal(info->data.classes, 4);
    assert_string_equal(info->class_names[3], "3");
    static const float expected[] = { 1, 2, 3, 4, 5, 1000, -7, 8, 9, 16 };
    for (int64_t i = 0; i < 10; i++)
        assert_true(mase_dataset_table(d).data[i] == expected[row_in_file(i)]);
    mase_dataset_close(d);
}

/* 100 rows of powers of three, so that the sum of some rows is that of no others; a constant. */
static const char *cubes(void)
{
    struct mase_str text = { 0 };
    mase_str_add(&text, "n,same,label\n");
    for (int i = 0; i < 100; i++)
        mase_str_printf(&text, "%.17g,7,%d\n", pow(3, i % 30) + i, i % 2);
    const char *spec = csv_of(mase_str_text(&text), "");
    mase_str_release(&text);
    return spec;
}

/* A table of one's own is left as it is, and scaled by the rows that train when that is asked for.
 */
static void own_scaling(void **state)
{
    (void)state;
    struct mase_dataset_opts opts = { .ranges = true };
    struct mase_dataset *raw = open_data(cubes(), &opts);
    assert_int_equal(mase_dataset_info(raw)->scale, MASE_SCALE_NONE);
    assert_int_equal(mase_dataset_info(raw)->scaling.n, 0);
    opts.scale = MASE_SCALE_STANDARD;
    struct mase_dataset *standard = open_data(cubes(), &opts);
    opts.scale = MASE_SCALE_MINMAX;
    struct mase_dataset *minmax = open_data(cubes(), &opts);

    const struct mase_split_rows train = mase_dataset_split(raw, MASE_SPLIT_TRAIN);
    const float *x = mase_dataset_table(raw).data, *y = mase_dataset_table(standard).data,
                *z = mase_dataset_table(minmax).data;
    const double n = (double)train.count;
    double mean = 0, variance = 0, low = INFINITY, high = -INFINITY;
    assert_int_equal(train.count, 72); /* of 80 that train or validate */
    for (int64_t i = 0; i < train.count; i++) {
        const double v = (double)x[2 * train.row[i]];
        mean += v / n;
        low = fmin(low, v);
        high = fmax(high, v);
    }
    for (int64_t i = 0; i < train.count; i++)
        variance += pow((double)x[2 * train.row[i]] - mean, 2) / n;
    for (int64_t i = 0; i < 100; i++) {
        const double v = (double)x[2 * i];
        assert_true(fabs((double)y[2 * i] - (v - mean) / sqrt(variance)) < 1e-5);
        assert_true(fabs((double)z[2 * i] - (v - low) / (high - low)) < 1e-5);
        assert_true(y[2 * i + 1] == 0 && z[2 * i + 1] == 0 && x[2 * i + 1] == 7);
    }
    assert_int_equal(mase_dataset_info(standard)->scale_rows, 72);
    assert_int_equal(mase_dataset_info(minmax)->scale, MASE_SCALE_MINMAX);
    const struct mase_feature_range r = mase_dataset_range(standard, MASE_SPLIT_TRAIN, 0);
    assert_true(r.min == low && r.max == high); /* not computed back */
    mase_dataset_close(raw);
    mase_dataset_close(standard);
    mase_dataset_close(minmax);
}

/* The message, and the line and column it points at. */
static void refuse_csv(const char *text, const char *label, const char *message, int line, int col)
{
    struct mase_dataset *d = NULL;
    struct mase_err err = { 0 };
    const char *spec = csv_of(text, label);
    assert_int_not_equal(mase_dataset_open(&d, spec, &plain, &err), MASE_OK);
    if (!strstr(err.msg, message) || err.loc.line != line || err.loc.col != col)
        fail_msg("'%s' at %d:%d expected, got '%s' at %d:%d", message, line, col, err.msg,
                 err.loc.line, err.loc.col);
    assert_string_equal(err.path, in_scratch("x.csv"));
}

static void bad_csv(void **state)
{
    (void)state;
    refuse_csv("", "", "the file is empty", 0, 0);
    refuse_csv("\n \n", "", "the file is empty", 0, 0);
    refuse_csv("a,label\n1,2\n3\n", "", "1 fields, expected 2", 3, 1);
    refuse_csv("a,label\n1,2\n\n3,4,5\n", "", "3 fields, expected 2", 4, 1);
    refuse_csv("a,label\n1,2\nxyz,4\n", "", "a is 'xyz', not a number", 3, 1);
    refuse_csv("a,label\n1,2\n 1e,4\n", "", "a is '1e', not a number", 3, 2);
    refuse_csv("b,a,label\n1,nan,0\n", "", "the value of a is missing; --drop-nan leaves", 2, 3);
    refuse_csv("a,label\n1e999,0\n", "", "a is inf; features must be finite", 2, 1);
    refuse_csv("a,label\n,0\n", "", "the value of a is missing", 2, 1);
    refuse_csv("a,label\n?,0\n", "", "the value of a is missing", 2, 1);
    refuse_csv("a,label\n1,\n", "", "the label is missing", 2, 3);
    refuse_csv("a,label\n\"1,0\n", "", "the closing quote is missing", 2, 1);
    refuse_csv("a,label\n\"1\"x,0\n", "", "expected ',' after the quoted field", 2, 4);
    refuse_csv("a,kind\n1,2\n", "", "there is no column 'label'", 1, 1);
    refuse_csv("a,kind\n1,2\n", ":kid", "there is no column 'kid' for the labels; is 'kind' meant?",
               1, 1);
    refuse_csv("a,label\n1e39,0\n", "", "a is 1e39; 32-bit floats end at 3.40282e+38", 2, 1);
    refuse_csv("a,label\n-3.5e38,0\n", "", "32-bit floats end at", 2, 1);
    refuse_csv("a,label\ninf,0\n", "", "a is inf; features must be finite", 2, 1);
    refuse_csv("a,a,label\n1,2,0\n", "", "column 2 is called 'a', as column 1 is", 1, 3);
    refuse_csv("a,label,label\n1,2,0\n", "", "column 3 is called 'label', as column 2 is", 1, 9);
    refuse_csv("a,,label\n0,1,2\n", "", "column 2 has no name; only the first may have none", 1, 3);
    refuse_csv("a;label\n1,500;0\n", "", "a is '1,500', not a number: its comma may be", 2, 1);
    refuse_csv("a;label\n1,5;0\n1.5;0\n", "", "a is '1,5', not a number", 2, 1);
    refuse_csv("a;label\n1,5;0\n1.200,5;0\n", "", "a is '1.200,5', not a number", 3, 1);
    refuse_csv("a,label\n0x1f,0\n", "", "a is '0x1f', not a number", 2, 1);
    refuse_csv("label\n1\n", "", "there is no column beside the label's", 1, 1);
    refuse_csv("a,label\n1,0\n", "", "1 rows are too few to split; 10 are needed", 0, 0);
    refuse_csv("@relation x\n@attribute a real\n", "", "the ARFF file has no @data", 0, 0);
    refuse_csv("@relation x\nnonsense\n", "", "expected @relation or @attribute", 2, 1);
    refuse_csv("@relation x\n@attribute a real\nnonsense\n", "",
               "expected @relation, @attribute or @data", 3, 1);
    refuse_csv("@relation x\n@data\n1,2\n", "", "expected @relation or @attribute", 2, 1);
    refuse("csv:", &plain, MASE_EVALUE, "dataset 'csv:' names no file; it is FILE.csv:LABEL");
    refuse("csv:/nowhere.csv", &plain, MASE_EIO, "file not found");
}

/* No prefix and no changed byte of a small file does harm. */
/* Labels are classes 0, 1, ... or names; what is neither has a place. */
static void bad_labels(void **state)
{
    (void)state;
    refuse_csv("a,label\n1,0\n1,-1\n", "", "label -1 is no class; classes are whole numbers", 3, 3);
    refuse_csv("a,label\n1,0\n1,0.5\n", "", "label 0.5 is no class", 3, 3);
    refuse_csv("a,label\n1,0\n1,65536\n", "", "label 65536 is no class", 3, 3);
    refuse_csv("a,label\n1,1e300\n", "", "label 1e300 is no class", 2, 3);
    refuse_csv("a,label\n1,0\n1,cat\n", "",
               "label 'cat' is a name, but that of line 2 is the number '0'", 3, 3);
    refuse_csv("a,label\n1,cat\n1,cat\n1,2\n", "",
               "label '2' is a number, but that of line 2 is the name 'cat'", 4, 3);
    refuse_csv("a,label\n1,NaN\n", "", "the label is missing", 2, 3);
}

static void check_labels(const char *text, const int *expected, int classes, const char *last)
{
    struct mase_dataset *d = open_data(csv_of(text, ""), &plain);
    assert_int_equal(mase_dataset_info(d)->data.classes, classes);
    assert_string_equal(mase_dataset_info(d)->class_names[classes - 1], last);
    for (int64_t i = 0; i < 10; i++)
        assert_int_equal(mase_dataset_labels(d)[i], expected[row_in_file(i)]);
    mase_dataset_close(d);
}

/* The same number is the same class, however it is written. */
static void whole_labels(void **state)
{
    (void)state;
    static const int numbers[] = { 0, 1, 10, 2, 1, 0, 2, 10, 1, 0 },
                     names[] = { 0, 1, 0, 2, 1, 0, 2, 1, 1, 0 };
    check_labels("a,label\n1,0.0\n2,1.0\n3,10.0\n4,2.0\n5,1\n6,0\n7,2\n8,10\n9,+1\n9,0e3\n",
                 numbers, 11, "10");
    check_labels(
        "a,label\n1,99999999999x\n2,b\n3,99999999999x\n4,inf\n5,b\n6,99999999999x\n7,inf\n8,b\n"
        "9,b\n9,99999999999x\n",
        names, 3, "inf");
    check_labels("a,label\n1,1a\n2,b\n3,1a\n4,inf\n5,b\n6,1a\n7,inf\n8,b\n9,b\n9,1a\n", names, 3,
                 "inf");
}

/* Of bytes that are no text: put whole, since they hold a NUL. */
static void binary_csv(void **state)
{
    (void)state;
    static const char text[] = "a,label\n1\0002,0\n3,1\n", wide[] = "\xff\xfe"
                                                                    "a\0,\0l\0";
    char spec[600];
    snprintf(spec, sizeof spec, "csv:%s", put("x.csv", text, sizeof text - 1));
    refuse(spec, &plain, MASE_EPARSE, "a byte 0: this is no text file");
    snprintf(spec, sizeof spec, "csv:%s", put("x.csv", wide, sizeof wide - 1));
    refuse(spec, &plain, MASE_EPARSE, "a byte 0: this is no text file");
}

static void other_separators(void **state)
{
    (void)state;
    static const int labels[] = { 0, 1, 0, 1, 0, 1, 0, 1, 0, 1 };
    check_labels("\"a, b\";label\n1;x\n2;y\n3;x\n4;y\n5;x\n6;y\n7;x\n8;y\n9;x\n9;y\n", labels, 2,
                 "y");
    check_labels("a\tlabel\r\n1\tx\r\n2\ty\r\n3\tx\r\n4\ty\r\n5\tx\r\n6\ty\r\n7\tx\r\n8\ty\r\n9\tx"
                 "\r\n9\ty\r\n",
                 labels, 2, "y");
}

static void damaged_csv(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "\"a\",label\n1,x\n\"2\",\"y\"\"\"\n" ROWS_10,
        "% c\n@relation r\n@attribute 'a b' real\n@attribute label {x,'y z'}\n@data\n1,'y "
        "z'\n2,x\n",
    };
    for (size_t s = 0; s < 2; s++) {
        char *text = strdup(seeds[s]);
        const size_t n = strlen(text);
        for (size_t i = 0; i < n; i++) {
            static const char changes[] = "\",'\n@{?\xff ";
            const char kept = text[i];
            for (size_t c = 0; c < sizeof changes; c++) { /* the last is a NUL: cut short */
                struct mase_dataset *d = NULL;
                struct mase_err err = { 0 };
                text[i] = changes[c];
                if (mase_dataset_open(&d, csv_of(text, ""), &plain, &err) == MASE_OK)
                    mase_dataset_close(d);
                else
                    assert_true(err.msg[0]);
            }
            text[i] = kept;
        }
        free(text);
    }
}

/* ---- npz, h5 ---- */

/* own.npz and own.h5 hold the same arrays: X (50, 2, 3), y = i % 4. */
static void npz_and_h5(void **state)
{
    (void)state;
    struct mase_dataset *n = open_data("npz:" DATA "own.npz", &plain);
    struct mase_dataset *h = open_data("h5:" DATA "own.h5", &plain);
    const struct mase_dataset_info *info = mase_dataset_info(n);
    assert_int_equal(info->rows, 50);
    assert_int_equal(info->data.classes, 4);
    assert_true(mase_shape_equal(&info->data.sample, &(struct mase_shape){ 2, { 2, 3 } }));
    assert_true(mase_shape_equal(&info->data.sample, &mase_dataset_info(h)->data.sample));
    assert_memory_equal(mase_dataset_table(n).data, mase_dataset_table(h).data, 50 * 6 * 4);
    assert_memory_equal(mase_dataset_labels(n), mase_dataset_labels(h), 50 * 4);
    mase_dataset_close(h);

    struct mase_dataset *s = open_data("npz:" DATA "own_split.npz", &plain); /* deflated */
    assert_int_equal(mase_dataset_split(s, MASE_SPLIT_TRAIN).count, 40);
    assert_int_equal(mase_dataset_split(s, MASE_SPLIT_TEST).count, 10);
    for (int i = 0; i < 50; i++)
        assert_int_equal(mase_dataset_labels(s)[i], i % 4); /* in the order of the file */
    float sum_n = 0, sum_s = 0;
    for (int i = 0; i < 300; i++) {
        sum_n += fabsf(mase_dataset_table(n).data[i]);
        sum_s += fabsf(mase_dataset_table(s).data[i]);
    }
    assert_true(fabsf(sum_n - sum_s) < 1e-3f);
    mase_dataset_close(n);
    mase_dataset_close(s);
}

static void h5_records(void **state)
{
    (void)state;
    struct mase_dataset *d = open_data("h5:" DATA "own_table.h5:kind", &plain);
    const struct mase_dataset_info *info = mase_dataset_info(d);
    assert_int_equal(info->data.sample.dim[0], 2);
    assert_string_equal(info->feature_names[0], "a");
    assert_string_equal(info->feature_names[1], "b");
    for (int i = 0; i < 50; i++) /* b counts the rows, kind is b % 4 */
        assert_int_equal(mase_dataset_labels(d)[i], (int)mase_dataset_table(d).data[2 * i + 1] % 4);
    mase_dataset_close(d);
}

/* What kinds/generate.py puts there: features (7i + 3k) % 11 - 5, "on" where the label is 1, and
 * labels i % 3. The rows are shuffled: i is known by the first feature and the label. */
static int row_of(float first, int32_t label)
{
    int i = 0;
    while (i < 33 && (i % 3 != label || (float)(7 * i % 11 - 5) != first))
        i++;
    return i;
}

static void h5_kinds(void **state)
{
    (void)state;
    static const struct {
        const char *name, *classes[3];
    } files[] = { { "lzf", { 0 } },
                  { "gzip_latest", { 0 } },
                  { "user_block", { 0 } },
                  { "half", { 0 } },
                  { "enumeration", { 0 } },
                  { "texts", { "a", "a ", "bb" } },
                  { "padded", { "a", "b", "cc" } },
                  { "any_length", { "a", "a ", "bb" } },
                  { "records", { 0 } },
                  { "records_text", { "cat", "dog", "emu" } },
                  { "records_any_length", { "cat", "dog", "emu" } } };
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        char path[600];
        int sum = 0;
        snprintf(path, sizeof path, "%skinds/%s.h5", DATA, files[f].name);
        struct mase_dataset *d = open_data(path, &plain);
        const struct mase_dataset_info *info = mase_dataset_info(d);
        const struct mase_table_view t = mase_dataset_table(d);
        assert_int_equal(info->rows, 33);
        assert_int_equal(info->data.classes, 3);
        for (int c = 0; c < 3 && files[f].classes[c]; c++)
            assert_string_equal(info->class_names[c], files[f].classes[c]);
        for (int r = 0; r < 33; r++) {
            const float *x = t.data + r * t.stride;
            const int label = mase_dataset_labels(d)[r], i = row_of(x[0], label);
            sum += i;
            for (int k = 0; k < info->data.sample.dim[0]; k++) {
                const bool on = strcmp(info->feature_names[k], "on") == 0;
                if (x[k] != (float)(on ? label == 1 : (7 * i + 3 * k) % 11 - 5))
                    fail_msg("%s: row %d, feature %d is %g", files[f].name, i, k, (double)x[k]);
            }
        }
        assert_int_equal(sum, 33 * 32 / 2);
        mase_dataset_close(d);
    }
}

static void h5_bytes_above_127(void **state)
{
    (void)state;
    struct mase_dataset *d = open_data(DATA "kinds/large_enumeration.h5", &plain);
    for (int i = 0; i < 33; i++)
        assert_true(mase_dataset_table(d).data[i * mase_dataset_table(d).stride] == 200);
    mase_dataset_close(d);
}

static void bad_tables(void **state)
{
    (void)state;
    refuse("npz:" DATA "bad_y.npz", &plain, MASE_EVALUE, "shapes [50, 2, 3] and [49]");
    refuse("npz:" DATA "bad_float_y.npz", &plain, MASE_EVALUE,
           "row 0: y is 0.5, which is not an integer from 0 to 65535");
    refuse("npz:" DATA "bad_none.npz", &plain, MASE_EVALUE, "there is no array 'X' in the file");
    refuse("npz:" DATA "own.h5", &plain, MASE_EPARSE, "no zip file");
    refuse("h5:" DATA "own.npz", &plain, MASE_EPARSE, "not an HDF5 file");
    refuse("h5:" DATA "own_table.h5", &plain, MASE_EVALUE,
           "neither datasets X and y nor a table with a column 'label'");
    refuse("h5:" DATA "bad_nan.h5:j_t", &plain, MASE_EVALUE, "row 17: feature j_c2_b1_mmdt is nan");
    refuse("h5:" DATA "bad_link.h5", &plain, MASE_EUNSUPPORTED, "'X' is a link into another file");
    refuse("h5:" DATA "bad_soft_link.h5", &plain, MASE_EPARSE, "a dataset cannot be opened");
    refuse("h5:" DATA "bad_virtual.h5", &plain, MASE_EUNSUPPORTED, "are not in this file");
    refuse("h5:" DATA "bad_stored_out.h5", &plain, MASE_EUNSUPPORTED, "are not in this file");
    refuse("h5:" DATA "bad_chunk.h5", &plain, MASE_ELIMIT,
           "dataset X has 480 bytes in chunks of 1610612736");
    refuse(DATA "kinds/records_text.h5:on", &plain, MASE_EVALUE,
           "column 'label' of table t holds texts, not numbers; --features '!label' leaves it out");
    refuse("h5:" DATA "bad_label.h5:j_zlogz", &plain, MASE_EVALUE, "is not an integer from 0");
}

static void damaged_npz(void **state)
{
    (void)state;
    struct mase_file f;
    struct mase_err err;
    char spec[600];
    assert_int_equal(mase_file_open(&f, DATA "own_split.npz", &err), MASE_OK);
    unsigned char *bytes = malloc(f.size);
    memcpy(bytes, f.data, f.size);
    for (size_t i = 0; i < f.size; i += 3) {
        bytes[i] ^= 0x55;
        snprintf(spec, sizeof spec, "npz:%s", put("x.npz", bytes, f.size));
        struct mase_dataset *d = NULL;
        if (mase_dataset_open(&d, spec, &plain, &err) == MASE_OK)
            mase_dataset_close(d);
        bytes[i] ^= 0x55;
    }
    free(bytes);
    mase_file_close(&f);
}

/* ---- toy_tiny ---- */

static void toy_tiny(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_tensor doubles;
    struct mase_err err;
    struct mase_dataset *d = open_data("toy-tiny", NULL);
    assert_int_equal(mase_npy_read(&doubles, &a, DATA "numpy_rand.npy", &err), MASE_OK);
    assert_int_equal(mase_dataset_info(d)->rows, 4 * 10240);
    const struct mase_table_view t = mase_dataset_table(d);
    const struct mase_split_rows pred = mase_dataset_split(d, MASE_SPLIT_PRED); /* RandomState(3) */
    assert_int_equal(pred.count, 10240);
    for (int i = 0; i < 1500 / 4; i++) {
        double sum = 0;
        for (int k = 0; k < 4; k++) {
            const double v = (mase_tensor_get(&doubles, 4 * i + k) - 0.5) * 2;
            assert_true(t.data[pred.row[i] * t.stride + k] == (float)v);
            sum += v;
        }
        assert_int_equal(mase_dataset_labels(d)[pred.row[i]], sum > 0);
    }
    mase_dataset_close(d);
    mase_arena_release(&a);
    refuse("toy_tiny:x", NULL, MASE_EVALUE, "built in");
    const struct mase_dataset_opts scaled = { .scale = MASE_SCALE_STANDARD };
    refuse("toy_tiny", &scaled, MASE_EVALUE, "scaling is for tables of numbers");
    refuse("imagenet", NULL, MASE_EUNSUPPORTED, "known by its shape only");
}

/* ---- batches of a table ---- */

static void batches(void **state)
{
    (void)state;
    struct mase_dataset *d = open_data("jsc-sim", &(struct mase_dataset_opts){ .sim_rows = 200 });
    const struct mase_table_view t = mase_dataset_table(d);
    const uint32_t row[] = { 7, 199, 0, 7, 55 };
    float lanes[16 * 8], rows[5 * 16];
    int32_t label[5];
    for (int i = 0; i < 16 * 8; i++)
        lanes[i] = -99;
    mase_dataset_batch(d, &(struct mase_batch){ .row = row,
                                                .n = 5,
                                                .x = lanes,
                                                .feature_stride = 8,
                                                .sample_stride = 1,
                                                .label = label });
    mase_dataset_batch(
        d, &(struct mase_batch){
               .row = row, .n = 5, .x = rows, .feature_stride = 1, .sample_stride = 16 });
    for (int i = 0; i < 5; i++) {
        assert_int_equal(label[i], mase_dataset_labels(d)[row[i]]);
        for (int f = 0; f < 16; f++) {
            assert_true(lanes[f * 8 + i] == t.data[row[i] * 16 + (uint32_t)f]);
            assert_true(rows[i * 16 + f] == lanes[f * 8 + i]);
            assert_true(lanes[f * 8 + 5] == -99); /* nothing beyond the samples */
        }
    }
    mase_dataset_close(d);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(csv_rows),    cmocka_unit_test(own_scaling),
        cmocka_unit_test(bad_labels),  cmocka_unit_test(whole_labels),
        cmocka_unit_test(binary_csv),  cmocka_unit_test(other_separators),
        cmocka_unit_test(csv_forms),   cmocka_unit_test(bad_csv),
        cmocka_unit_test(damaged_csv), cmocka_unit_test(npz_and_h5),
        cmocka_unit_test(h5_records),  cmocka_unit_test(bad_tables),
        cmocka_unit_test(h5_kinds),    cmocka_unit_test(h5_bytes_above_127),
        cmocka_unit_test(damaged_npz), cmocka_unit_test(toy_tiny),
        cmocka_unit_test(batches),
    };
    bound_memory();
    return run_cases(argc, argv, tests, make_scratch, remove_scratch);
}
