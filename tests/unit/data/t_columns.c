/*
 * t_columns.c - which columns and arrays of a table of one's own are features and labels, and which
 * rows are left out.
 */
#include "run_cases.h"
#include "scratch.h"

#include <math.h>

#include <mase/npy.h>

#include "data/raw.h"

static const char *table(const char *text)
{
    static char spec[600];
    snprintf(spec, sizeof spec, "csv:%s", put_text("x.csv", text));
    return spec;
}

/* Columns a, b, c are 1, 2, 3 times the row from 1 on; kind is x or y. */
static const char *letters(const char *header)
{
    struct mase_str text = { 0 };
    mase_str_printf(&text, "%s\n", header);
    for (int i = 1; i <= 12; i++)
        mase_str_printf(&text, "%d,%d,%s,%d\n", i, 2 * i, i % 2 ? "x" : "y", 3 * i);
    const char *spec = table(mase_str_text(&text));
    mase_str_release(&text);
    return spec;
}

static struct mase_dataset_opts choose(struct mase_arena *a, const char *labels,
                                       const char *features)
{
    struct mase_dataset_opts o = { .original_splits = true };
    struct mase_err err;
    assert_int_equal(mase_data_columns_parse(&o.columns, a, labels, features, &err), MASE_OK);
    return o;
}

/* The features are those of the list, in its order. */
static void chosen(void **state)
{
    (void)state;
    static const struct {
        const char *features;
        int count;
        int times[3]; /* what each feature of row i is, by i */
    } cases[] = {
        { NULL, 3, { 1, 2, 3 } },   { "a", 1, { 1 } },
        { "c,a", 2, { 3, 1 } },     { " b , c ", 2, { 2, 3 } },
        { "a..c", 3, { 1, 2, 3 } }, { "!b", 2, { 1, 3 } },
        { "!a,c", 1, { 2 } },       { "c,a..b", 3, { 3, 1, 2 } },
        { "!a..b", 1, { 3 } },
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct mase_arena a = { 0 };
        const struct mase_dataset_opts o = choose(&a, "kind", cases[k].features);
        struct mase_dataset *d = open_data(letters("a,b,kind,c"), &o);
        const struct mase_table_view t = mase_dataset_table(d);
        const struct mase_data_columns *read = &mase_dataset_info(d)->columns;
        assert_int_equal(t.stride, cases[k].count);
        assert_int_equal(read->feature_count, cases[k].count);
        assert_string_equal(read->labels[0], "kind");
        for (int64_t i = 0; i < 12; i++) {
            const float row = t.data[i * t.stride] / (float)cases[k].times[0];
            for (int f = 0; f < cases[k].count; f++)
                assert_true(t.data[i * t.stride + f] == row * (float)cases[k].times[f]);
            assert_int_equal(mase_dataset_labels(d)[i], (int)row % 2 ? 0 : 1);
        }
        mase_dataset_close(d);
        mase_arena_release(&a);
    }
}

static void refuse_choice(const char *labels, const char *features, const char *message)
{
    struct mase_arena a = { 0 };
    const struct mase_dataset_opts o = choose(&a, labels, features);
    refuse(letters("a,b,kind,c"), &o, MASE_EVALUE, message);
    mase_arena_release(&a);
}

static void refused(void **state)
{
    (void)state;
    refuse_choice(NULL, NULL, "there is no column 'label' for the labels");
    refuse_choice("kin", NULL, "is 'kind' meant?");
    refuse_choice("kind", "a,d", "there is no column 'd' for the features");
    refuse_choice("kind", "a,kind", "column 'kind' is the label's and cannot be a feature, too");
    refuse_choice("kind", "a,b,a", "the features name column 'a' twice");
    refuse_choice("kind", "a..b,b", "the features name column 'b' twice");
    refuse_choice("kind", "c..a", "column 'c' stands behind 'a' in the file");
    refuse_choice("kind", "a..z", "there is no column 'z' for the features");
    refuse_choice("kind", "!a..c", "there is no column beside the label's");
    refuse_choice("kind,a", NULL, "--label names 2 columns, 'kind' and others; classes are in one");
    struct mase_data_columns c;
    struct mase_arena a = { 0 };
    struct mase_err err;
    static const char *const bad[] = { "", "a,,b", ",a", "a,", "!", " " };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(mase_data_columns_parse(&c, &a, NULL, bad[i], &err), MASE_EVALUE);
    const struct mase_dataset_opts o = choose(&a, "kind", NULL);
    char spec[700];
    snprintf(spec, sizeof spec, "%s:a", letters("a,b,kind,c"));
    refuse(spec, &o, MASE_EVALUE, "contradicts --label kind");
    refuse("jsc-sim", &o, MASE_EVALUE, "--label is for tables of your own");
    refuse("toy_tiny", &(struct mase_dataset_opts){ .drop_missing = true }, MASE_EVALUE,
           "--drop-nan is for tables of your own");
    mase_arena_release(&a);
}

/* A column of HDF5's table, and one that is no feature. */
static void of_h5(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    const struct mase_dataset_opts o = choose(&a, "kind", "b");
    struct mase_dataset *d = open_data(DATA "own_table.h5", &o);
    assert_int_equal(mase_dataset_table(d).stride, 1);
    assert_string_equal(mase_dataset_info(d)->columns.labels[0], "kind");
    for (int i = 0; i < 50; i++) /* b counts the rows, kind is b % 4 */
        assert_int_equal(mase_dataset_labels(d)[i], (int)mase_dataset_table(d).data[i] % 4);
    mase_dataset_close(d);
    const struct mase_dataset_opts other = choose(&a, "kind", "bb");
    refuse(DATA "own_table.h5", &other, MASE_EVALUE, "there is no column 'bb' for the features");
    mase_arena_release(&a);
}

/* ---- arrays ---- */

enum { ROWS = 12 };

/* Arrays of 12 rows: those of features are (12, 2) and hold `base` more for each part. */
static const char *arrays(const char *const *names, int count)
{
    static char spec[600];
    static float x[4][2 * ROWS], y[ROWS];
    struct mase_named_tensor items[8];
    for (int i = 0; i < 2 * ROWS; i++)
        for (int p = 0; p < 4; p++)
            x[p][i] = (float)(100 * p + i);
    for (int i = 0; i < ROWS; i++)
        y[i] = (float)(i % 3);
    for (int i = 0; i < count; i++) {
        const bool labels = i % 2;
        items[i] = (struct mase_named_tensor){
            names[i],
            { MASE_F32,
              labels ? (struct mase_shape){ 1, { ROWS } } : (struct mase_shape){ 2, { ROWS, 2 } },
              labels ? y : x[i / 2] },
        };
    }
    struct mase_err err;
    assert_int_equal(mase_npz_write(items, count, in_scratch("x.npz"), &err), MASE_OK);
    snprintf(spec, sizeof spec, "%s", in_scratch("x.npz"));
    return spec;
}

static void usual_names(void **state)
{
    (void)state;
    static const struct {
        const char *name[6];
        int count, train, validation, test;
    } cases[] = {
        { { "x_train", "y_train", "x_test", "y_test" }, 4, 12, 0, 12 },
        { { "train_x", "train_y", "test_x", "test_y" }, 4, 12, 0, 12 },
        { { "X_train", "y_train", "X_val", "y_val", "X_test", "y_test" }, 6, 12, 12, 12 },
        { { "train_images", "train_labels", "val_images", "val_labels", "test_images",
            "test_labels" },
          6,
          12,
          12,
          12 },
        { { "x_train", "y_train", "x_valid", "y_valid" }, 4, 12, 12, 12 }, /* which also test */
        { { "data", "target" }, 2, 9, 0, 3 },
        { { "images", "labels" }, 2, 9, 0, 3 },
        { { "x", "y" }, 2, 9, 0, 3 },
    };
    const struct mase_dataset_opts whole = { .original_splits = true };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct mase_dataset *d = open_data(arrays(cases[k].name, cases[k].count), &whole);
        const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN),
                                     valid = mase_dataset_split(d, MASE_SPLIT_VALIDATION),
                                     test = mase_dataset_split(d, MASE_SPLIT_TEST);
        assert_int_equal(train.count, cases[k].train);
        assert_int_equal(valid.count, cases[k].validation ? cases[k].validation : train.count);
        assert_int_equal(test.count, cases[k].test);
        const struct mase_table_view t = mase_dataset_table(d);
        if (cases[k].count == 6) { /* each from its own array */
            assert_true(t.data[train.row[3] * t.stride] == 6);
            assert_true(t.data[valid.row[3] * t.stride] == 106);
            assert_true(t.data[test.row[3] * t.stride] == 206);
        }
        mase_dataset_close(d);
    }
}

static void named_arrays(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_dataset_opts o = choose(&a, "kinds", "points");
    const char *const names[] = { "points", "kinds" };
    struct mase_dataset *d = open_data(arrays(names, 2), &o);
    assert_int_equal(mase_dataset_info(d)->rows, ROWS);
    assert_string_equal(mase_dataset_info(d)->columns.features[0], "points");
    mase_dataset_close(d);
    o = choose(&a, "kinds", NULL); /* features under a usual name */
    d = open_data(arrays((const char *const[]){ "x_train", "kinds_train" }, 2), &o);
    mase_dataset_close(d);
    refuse(arrays(names, 2), NULL, MASE_EVALUE, "there is no array 'X' in the file; it has points");
    refuse(arrays((const char *const[]){ "points", "y" }, 2), &o, MASE_EVALUE,
           "there is no array 'X' in the file");
    refuse(arrays((const char *const[]){ "X_train", "z" }, 2), NULL, MASE_EVALUE,
           "there is no array 'y_train' in the file");
    mase_arena_release(&a);
}

/* ---- missing values ---- */

static void dropped(void **state)
{
    (void)state;
    static const char text[] =
        "a,b,label\n1,1,x\n2,,y\n3,3,x\n4,nan,y\n5,5,\n6,6,y\n7,NA,x\n8,8,y\n"
        "9,9,x\n10,10,y\n11,?,x\n12,12,y\n13,13,x\n14,14,y\n15,15,x\n16,16,y\n";
    const struct mase_dataset_opts drop = { .original_splits = true, .drop_missing = true };
    struct mase_dataset *d = open_data(table(text), &drop);
    assert_int_equal(mase_dataset_info(d)->rows, 11);
    assert_int_equal(mase_dataset_info(d)->dropped, 5);
    const struct mase_table_view t = mase_dataset_table(d);
    for (int64_t i = 0; i < 11; i++) {
        const int a = (int)t.data[2 * i];
        assert_true(t.data[2 * i + 1] == (float)a);
        assert_int_equal(mase_dataset_labels(d)[i], a % 2 ? 0 : 1);
    }
    mase_dataset_close(d);
    refuse(table(text), NULL, MASE_EVALUE, "--drop-nan");
    refuse(table("a,label\n1,x\n,y\n"), &drop, MASE_EVALUE, "without a missing value");
    refuse(table("a,label\ninf,x\n"), &drop, MASE_EVALUE, "a is inf");
}

/* Of arrays: those of the parts stay in their parts; labels may be missing, too. */
static void dropped_of_arrays(void **state)
{
    (void)state;
    float x[2 * ROWS * 2], y[2 * ROWS];
    for (int i = 0; i < 2 * ROWS; i++) {
        x[2 * i] = x[2 * i + 1] = (float)i;
        y[i] = (float)(i % 2);
    }
    x[2 * 5] = NAN;          /* trains */
    x[2 * (ROWS + 1)] = NAN; /* tests */
    y[ROWS + 2] = NAN;       /* tests */
    const struct mase_shape samples = { 2, { ROWS, 2 } }, labels = { 1, { ROWS } };
    const struct mase_named_tensor items[] = {
        { "x_train", { MASE_F32, samples, x } },
        { "y_train", { MASE_F32, labels, y } },
        { "x_test", { MASE_F32, samples, x + (ptrdiff_t)2 * ROWS } },
        { "y_test", { MASE_F32, labels, y + ROWS } },
    };
    struct mase_err err;
    assert_int_equal(mase_npz_write(items, 4, in_scratch("x.npz"), &err), MASE_OK);
    char spec[600];
    snprintf(spec, sizeof spec, "%s", in_scratch("x.npz"));
    const struct mase_dataset_opts drop = { .original_splits = true, .drop_missing = true };
    struct mase_dataset *d = open_data(spec, &drop);
    assert_int_equal(mase_dataset_info(d)->dropped, 3);
    const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN),
                                 test = mase_dataset_split(d, MASE_SPLIT_TEST);
    assert_int_equal(train.count, ROWS - 1);
    assert_int_equal(test.count, ROWS - 2);
    const float *t = mase_dataset_table(d).data;
    assert_true(t[2 * train.row[5]] == 6);
    assert_true(t[2 * test.row[0]] == ROWS && t[2 * test.row[1]] == ROWS + 3);
    mase_dataset_close(d);
    refuse(spec, NULL, MASE_EVALUE, "row 2: y_test is nan");
    y[ROWS + 2] = 0;
    assert_int_equal(mase_npz_write(items, 4, in_scratch("x.npz"), &err), MASE_OK);
    refuse(spec, NULL, MASE_EVALUE,
           "row 5: feature x0 is nan; features must be finite; --drop-nan");
    x[2 * 5] = INFINITY;
    assert_int_equal(mase_npz_write(items, 4, in_scratch("x.npz"), &err), MASE_OK);
    refuse(spec, &drop, MASE_EVALUE, "row 5: feature x0 is inf; features must be finite");
}

/* ---- splits ---- */

/* n rows: `i` numbers them, `kind` is a in a tenth of them, `batch` is i / 7, `part` names parts.
 */
static const char *numbered(int n)
{
    struct mase_str text = { 0 };
    mase_str_add(&text, "i,kind,batch,part\n");
    for (int i = 0; i < n; i++)
        mase_str_printf(&text, "%d,%s,b%d,%s\n", i, i % 10 ? "b" : "a", i / 7,
                        i % 5 == 1   ? "Test"
                        : i % 5 == 2 ? "valid"
                                     : "train");
    const char *spec = table(mase_str_text(&text));
    mase_str_release(&text);
    return spec;
}

static struct mase_dataset_opts split_opts(struct mase_arena *a, const char *shares, const char *by)
{
    struct mase_dataset_opts o = { 0 };
    struct mase_err err;
    assert_int_equal(mase_data_columns_parse(&o.columns, a, "kind", "i", &err), MASE_OK);
    if (shares)
        assert_int_equal(mase_data_split_parse(&o.split, shares, &err), MASE_OK);
    o.split.by = by;
    return o;
}

/* Which part row i of the file is in: each is in one. */
static void parts_of(int *part, const struct mase_dataset *d)
{
    const int64_t n = mase_dataset_info(d)->rows;
    const struct mase_table_view t = mase_dataset_table(d);
    for (int64_t i = 0; i < n; i++)
        part[i] = -1;
    for (int s = MASE_SPLIT_TRAIN; s <= MASE_SPLIT_TEST; s++) {
        const struct mase_split_rows rows = mase_dataset_split(d, (enum mase_split)s);
        for (int64_t k = 0; k < rows.count; k++) {
            const int i = (int)t.data[rows.row[k] * t.stride];
            assert_int_equal(part[i], -1);
            part[i] = s;
        }
    }
    for (int64_t i = 0; i < n; i++)
        assert_int_not_equal(part[i], -1);
}

/* Each class has its share of each part; the seed draws others, the same seed the same. */
static void by_class(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_dataset_opts o = split_opts(&a, "0.7,0.2,0.1", NULL);
    int part[300], again[300];
    struct mase_dataset *d = open_data(numbered(300), &o);
    int64_t count[2];
    static const int expected[3][2] = { { 21, 189 }, { 6, 54 }, { 3, 27 } };
    for (int s = 0; s < 3; s++) {
        mase_dataset_balance(d, (enum mase_split)s, count);
        assert_int_equal(count[0], expected[s][0]);
        assert_int_equal(count[1], expected[s][1]);
    }
    parts_of(part, d);
    mase_dataset_close(d);
    d = open_data(numbered(300), &o);
    parts_of(again, d);
    assert_memory_equal(part, again, sizeof part);
    mase_dataset_close(d);
    o.split.seed = 1;
    d = open_data(numbered(300), &o);
    parts_of(again, d);
    int moved = 0;
    for (int i = 0; i < 300; i++)
        moved += part[i] != again[i];
    assert_true(moved > 60);
    mase_dataset_close(d);
    mase_arena_release(&a);
}

/* What rounding leaves is made up for: ten classes of nine rows are 90. */
static void shares_of_small_classes(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    const struct mase_dataset_opts o = split_opts(&a, "0.8,0.1,0.1", NULL);
    struct mase_str text = { 0 };
    mase_str_add(&text, "i,kind\n");
    for (int i = 0; i < 90; i++)
        mase_str_printf(&text, "%d,%d\n", i, i % 10);
    struct mase_dataset *d = open_data(table(mase_str_text(&text)), &o);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 72);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_VALIDATION).count, 9);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 9);
    int64_t count[10];
    mase_dataset_balance(d, MASE_SPLIT_TRAIN, count);
    for (int k = 0; k < 10; k++)
        assert_true(count[k] >= 1);
    mase_dataset_close(d);
    mase_str_release(&text);
    mase_arena_release(&a);
}

/* Statistics are of the rows that train, whichever these are. */
static void scaled_by_train(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_dataset_opts o = split_opts(&a, "0.5,0.25,0.25", NULL);
    o.scale = MASE_SCALE_STANDARD;
    struct mase_dataset *d = open_data(numbered(100), &o);
    const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN);
    const struct mase_table_view t = mase_dataset_table(d);
    double sum = 0, squares = 0;
    for (int64_t k = 0; k < train.count; k++) {
        const double x = (double)t.data[train.row[k]];
        sum += x;
        squares += x * x;
    }
    assert_true(fabs(sum) < 1e-4 && fabs(squares / (double)train.count - 1) < 1e-5);
    mase_dataset_close(d);
    mase_arena_release(&a);
}

static void by_column(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_dataset_opts o = split_opts(&a, NULL, "batch");
    int part[210], count[3] = { 0 };
    struct mase_dataset *d = open_data(numbered(210), &o);
    parts_of(part, d);
    for (int i = 0; i < 210; i++) {
        assert_int_equal(part[i], part[i - i % 7]); /* a batch stays together */
        count[part[i]]++;
    }
    assert_true(count[0] == 168 && count[1] == 21 && count[2] == 21);
    assert_true(mase_dataset_info(d)->split.share[0] == 0.8);
    mase_dataset_close(d);

    o = split_opts(&a, NULL, "part");
    d = open_data(numbered(210), &o);
    parts_of(part, d);
    for (int i = 0; i < 210; i++)
        assert_int_equal(part[i], i % 5 == 1   ? MASE_SPLIT_TEST
                                  : i % 5 == 2 ? MASE_SPLIT_VALIDATION
                                               : MASE_SPLIT_TRAIN);
    mase_dataset_close(d);

    o = split_opts(&a, NULL, "b"); /* of HDF5, a number */
    o.columns.features = NULL;
    o.columns.feature_count = 0;
    d = open_data(DATA "own_table.h5", &o);
    assert_int_equal(mase_dataset_table(d).stride, 1); /* b is no feature then */
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 5);
    mase_dataset_close(d);
    mase_arena_release(&a);
}

static void refused_splits(void **state)
{
    (void)state;
    static const char *const bad[] = { "0.8",       "0.8,0.1",     "0.8,0.3,-0.1",
                                       "0.8,x,0.1", "1,0,0",       "0.8,0.1,0.1,0",
                                       "",          "0.8,0.2,",    "0.8;0.1;0.1",
                                       "80,10,10",  "nan,0.5,0.5", "0.4,0.4,0.3" };
    struct mase_arena a = { 0 };
    struct mase_err err;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct mase_data_split s;
        assert_int_equal(mase_data_split_parse(&s, bad[i], &err), MASE_EVALUE);
        assert_non_null(strstr(err.msg, "shares above 0 that sum to 1"));
    }
    struct mase_dataset_opts o = split_opts(&a, "0.9,0.1", NULL);
    refuse(numbered(100), &o, MASE_EVALUE, "three shares are needed");
    o = split_opts(&a, "0.98,0.01,0.01", NULL);
    refuse(numbered(20), &o, MASE_EVALUE, "the split leaves none of 20 rows to validate");
    o = split_opts(&a, "0.8,0.1,0.1", "part");
    refuse(numbered(100), &o, MASE_EVALUE, "contradict column 'part', whose values name the parts");
    o = split_opts(&a, NULL, "bat");
    refuse(numbered(100), &o, MASE_EVALUE,
           "there is no column 'bat' for the split; is 'batch' meant?");
    o = split_opts(&a, NULL, "batch");
    refuse(numbered(12), &o, MASE_EVALUE,
           "column 'batch' has 2 different values; three are needed");
    const struct mase_dataset_opts three = { .split.share = { 0.8, 0.1, 0.1 }, .sim_rows = 100 },
                                   two = { .split.share = { 0.5, 0.5, 0 }, .sim_rows = 100 };
    refuse("jsc-sim", &three, MASE_EVALUE, "jsc-sim has its own rows to test");
    refuse("toy_tiny", &three, MASE_EVALUE, "cannot be split otherwise");
    refuse(DATA "own_split.npz", &three, MASE_EVALUE, "has its own rows to test");
    struct mase_dataset *d = open_data("jsc-sim", &two);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 40);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 20);
    mase_dataset_close(d);
    o = split_opts(&a, NULL, "X");
    o.columns = (struct mase_data_columns){ 0 };
    refuse(DATA "own.npz", &o, MASE_EVALUE, "--split-by X is for columns of a table");
    refuse(DATA "own.h5", &o, MASE_EVALUE, "--split-by X is for columns of a table");
    mase_arena_release(&a);
}

/* What a checkpoint says of its own data holds for other data where it fits. */
static void inherited(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_dataset_opts o = { .split = { .share = { 0.6, 0.2, 0.2 }, .inherited = true } };
    struct mase_dataset *d = open_data(DATA "own_split.npz", &o); /* has rows to test */
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TEST).count, 10);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 36);
    mase_dataset_close(d);
    d = open_data(DATA "own.npz", &o); /* has not */
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 30);
    mase_dataset_close(d);
    d = open_data("toy_tiny", &o);
    mase_dataset_close(d);
    o = split_opts(&a, "0.5,0.5", NULL); /* of what is not for testing: a table is as usual */
    o.split.inherited = true;
    d = open_data(numbered(100), &o);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 72);
    mase_dataset_close(d);
    o = split_opts(&a, NULL, "patient"); /* no such column */
    o.split.inherited = true;
    d = open_data(numbered(100), &o);
    assert_int_equal(mase_dataset_split(d, MASE_SPLIT_TRAIN).count, 72);
    mase_dataset_close(d);
    o.columns.origin = "best.ckpt"; /* columns of a table, but a file of arrays */
    d = open_data(DATA "own.npz", &o);
    assert_int_equal(mase_dataset_info(d)->rows, 50);
    mase_dataset_close(d);
    refuse(numbered(100),
           &(struct mase_dataset_opts){ .columns = { .features = (const char *const[]){ "z" },
                                                     .feature_count = 1,
                                                     .labels = (const char *const[]){ "kind" },
                                                     .label_count = 1,
                                                     .origin = "best.ckpt" } },
           MASE_EVALUE, "best.ckpt was trained on it; --features says which column stands for it");
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chosen),
        cmocka_unit_test(refused),
        cmocka_unit_test(of_h5),
        cmocka_unit_test(usual_names),
        cmocka_unit_test(named_arrays),
        cmocka_unit_test(dropped),
        cmocka_unit_test(dropped_of_arrays),
        cmocka_unit_test(by_class),
        cmocka_unit_test(shares_of_small_classes),
        cmocka_unit_test(scaled_by_train),
        cmocka_unit_test(by_column),
        cmocka_unit_test(refused_splits),
        cmocka_unit_test(inherited),
    };
    return run_cases(argc, argv, tests, make_scratch, remove_scratch);
}
