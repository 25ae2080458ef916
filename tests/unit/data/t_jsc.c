/*
 * t_jsc.c - jets from files: the same rows, splits, scaling and labels as NumPy and scikit-learn
 * make of the same file; the cache; what is refused.
 *
 * Without an argument in JSC_GOLDEN the files in tests/data/data are used;
 * tests/interop/jsc_split.py makes new ones and runs this program on them.
 */
#include "run_cases.h"
#include "scratch.h"

#include <fcntl.h>
#include <math.h>
#include <signal.h>

#include <mase/log.h>
#include <mase/npy.h>

#include "data/dataset_parts.h"
#include "data/numpy.h"

enum { F = MASE_JSC_FEATURES };

static const char *golden(const char *name)
{
    static char path[512];
    const char *folder = getenv("JSC_GOLDEN");
    snprintf(path, sizeof path, "%s/%s", folder ? folder : DATA, name);
    return path;
}

static struct mase_tensor load(struct mase_arena *a, const char *name, const char *part)
{
    struct mase_tensor t;
    struct mase_err err;
    char file[64];
    snprintf(file, sizeof file, "%s_%s.npy", name, part);
    if (mase_npy_read(&t, a, golden(file), &err))
        fail_msg("%s: %s", file, err.msg);
    return t;
}

static struct mase_dataset_opts cached(void)
{
    return (struct mase_dataset_opts){ .cache_dir = scratch, .original_splits = true };
}

/* ---- against NumPy and scikit-learn ---- */

static void same_permutation(void **state)
{
    (void)state;
    struct mase_arena a = { 0 };
    struct mase_numpy r;
    uint32_t p[1000];
    const struct mase_tensor order = load(&a, "numpy", "permutation");
    mase_numpy_seed(&r, 42);
    mase_numpy_permutation(&r, p, 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(p[i], mase_tensor_get(&order, i));
    const struct mase_tensor doubles = load(&a, "numpy", "rand");
    mase_numpy_seed(&r, 3);
    for (int i = 0; i < 1500; i++)
        assert_true(mase_numpy_double(&r) == mase_tensor_get(&doubles, i));
    mase_arena_release(&a);
}

static double distance(double a, double b)
{
    return fabs(a - b) / fmax(1, fabs(b));
}

static void check_against(const struct mase_dataset *d, const char *name)
{
    struct mase_arena a = { 0 };
    const struct mase_dataset_info *info = mase_dataset_info(d);
    const struct mase_scaling s = info->scaling;
    const struct mase_tensor table = load(&a, name, "table"), label = load(&a, name, "label"),
                             scaling = load(&a, name, "scaling"), counts = load(&a, name, "counts");
    const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN),
                                 test = mase_dataset_split(d, MASE_SPLIT_TEST);
    assert_int_equal(info->rows, table.shape.dim[0]);
    assert_int_equal(train.count, mase_tensor_get(&counts, 0));
    assert_int_equal(train.count + test.count, info->rows);
    assert_int_equal(info->duplicates, mase_tensor_get(&counts, 1));
    assert_true(info->duplicates > 0);
    for (int64_t i = 0; i < info->rows; i++) {
        const uint32_t row = i < train.count ? train.row[i] : test.row[i - train.count];
        assert_int_equal(mase_dataset_labels(d)[row], mase_tensor_get(&label, i));
        for (int f = 0; f < F; f++) {
            /* Later versions of scikit-learn round the mean to a float first. */
            const double rounding =
                getenv("JSC_GOLDEN") ? 1e-6 + 1e-7 * fabs(s.mean[f] / s.std[f]) : 0;
            if (distance((double)mase_dataset_table(d).data[row * F + f],
                         mase_tensor_get(&table, i * F + f)) > rounding)
                fail_msg("%s: row %d, feature %d", name, (int)i, f);
        }
    }
    for (int f = 0; f < F; f++) {
        assert_true(distance(info->scaling.mean[f], mase_tensor_get(&scaling, f)) < 1e-12);
        assert_true(distance(info->scaling.std[f], mase_tensor_get(&scaling, F + f)) < 1e-12);
    }
    mase_arena_release(&a);
}

static void check_file(const char *name)
{
    char spec[600];
    const struct mase_dataset_opts opts = cached();
    snprintf(spec, sizeof spec, "jsc:%s.h5", golden(name));
    empty_folder(scratch);
    for (int pass = 0; pass < 2; pass++) { /* from the file, then from the cache */
        struct mase_dataset *d = open_data(spec, &opts);
        assert_false(mase_dataset_info(d)->simulated);
        assert_null(mase_dataset_info(d)->notice);
        check_against(d, name);
        mase_dataset_close(d);
    }
}

static void as_sklearn(void **state)
{
    (void)state;
    check_file("jsc_single");
    check_file("jsc_mixed"); /* columns of several types in another order */
}

/* ---- splits ---- */

static void held_out(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = { .cache_dir = scratch },
                                   other = { .cache_dir = scratch, .split.seed = 1 };
    struct mase_dataset *d = open_data("jsc:" DATA "jsc_single.h5", &opts);
    struct mase_dataset *e = open_data("jsc:" DATA "jsc_single.h5", &other);
    const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN),
                                 held = mase_dataset_split(d, MASE_SPLIT_VALIDATION),
                                 test = mase_dataset_split(d, MASE_SPLIT_TEST);
    const int64_t rows = mase_dataset_info(d)->rows;
    int *seen = calloc((size_t)rows, sizeof *seen);
    for (int64_t i = 0; i < train.count; i++)
        seen[train.row[i]]++;
    for (int64_t i = 0; i < held.count; i++)
        seen[held.row[i]]++;
    for (int64_t i = 0; i < test.count; i++)
        seen[test.row[i]]++;
    for (int64_t i = 0; i < rows; i++)
        assert_int_equal(seen[i], 1);
    free(seen);
    assert_int_equal(held.count, (train.count + held.count) / 10);
    assert_int_equal(test.count, (rows + 4) / 5);
    assert_memory_not_equal(held.row, mase_dataset_split(e, MASE_SPLIT_VALIDATION).row,
                            (size_t)held.count * sizeof *held.row);
    mase_dataset_close(d);
    mase_dataset_close(e);
}

/* The file's own numbers, also from the cache; the published scaling is that of the rows that train
 * or validate. */
static void unscaled(void **state)
{
    (void)state;
    struct mase_dataset_opts opts = cached();
    opts.ranges = true;
    opts.original_splits = false;
    for (int again = 0; again < 2; again++) {
        opts.scale = MASE_SCALE_USUAL;
        struct mase_dataset *scaled = open_data("jsc:" DATA "jsc_mixed.h5", &opts);
        opts.scale = MASE_SCALE_NONE;
        struct mase_dataset *raw = open_data("jsc:" DATA "jsc_mixed.h5", &opts);
        const struct mase_dataset_info *info = mase_dataset_info(scaled);
        const struct mase_scaling s = info->scaling;
        const int64_t training = info->rows - mase_dataset_split(scaled, MASE_SPLIT_TEST).count;
        assert_int_equal(info->scale, MASE_SCALE_STANDARD);
        assert_int_equal(info->scale_rows, training);
        assert_true(training > mase_dataset_split(scaled, MASE_SPLIT_TRAIN).count);
        assert_int_equal(mase_dataset_info(raw)->scale, MASE_SCALE_NONE);
        assert_int_equal(mase_dataset_info(raw)->scaling.n, 0);
        double sum = 0;
        for (int64_t i = 0; i < mase_dataset_info(raw)->rows * F; i++) {
            const double x = (double)mase_dataset_table(raw).data[i];
            const float y = (float)((x - s.mean[i % F]) / s.std[i % F]);
            assert_true(fabs((double)(mase_dataset_table(scaled).data[i] - y)) < 1e-4);
            sum += i % F == 0 && i < training * F ? x : 0;
        }
        assert_true(distance(sum / (double)training, s.mean[0]) < 1e-6);
        for (int64_t f = 0; f < F; f++) {
            const struct mase_feature_range a = mase_dataset_range(scaled, MASE_SPLIT_TRAIN, f),
                                            b = mase_dataset_range(raw, MASE_SPLIT_TRAIN, f);
            assert_memory_equal(&a, &b, sizeof a);
        }
        mase_dataset_close(scaled);
        mase_dataset_close(raw);
    }
}

/* Another scaling of jsc is found from the rows that train. */
static void rescaled(void **state)
{
    (void)state;
    struct mase_dataset_opts opts = cached();
    opts.scale = MASE_SCALE_MINMAX;
    for (int again = 0; again < 2; again++) {
        struct mase_dataset *d = open_data("jsc:" DATA "jsc_single.h5", &opts);
        const struct mase_split_rows train = mase_dataset_split(d, MASE_SPLIT_TRAIN);
        assert_int_equal(mase_dataset_info(d)->scale_rows, train.count);
        float low = 9, high = -9;
        for (int64_t i = 0; i < train.count; i++) {
            const float x = mase_dataset_table(d).data[train.row[i] * F];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        assert_true(low == 0 && high == 1);
        mase_dataset_close(d);
    }
    const double mean[F] = { 0 };
    double two[F];
    for (int f = 0; f < F; f++)
        two[f] = 2;
    const struct mase_scaling given = { F, mean, two }, small = { 3, mean, two };
    opts.scale = MASE_SCALE_GIVEN;
    opts.scaling = &given;
    struct mase_dataset *half = open_data("jsc:" DATA "jsc_single.h5", &opts);
    opts.scale = MASE_SCALE_NONE;
    struct mase_dataset *raw = open_data("jsc:" DATA "jsc_single.h5", &opts);
    for (int64_t i = 0; i < mase_dataset_info(raw)->rows * F; i++)
        assert_true(mase_dataset_table(half).data[i] == mase_dataset_table(raw).data[i] / 2);
    mase_dataset_close(half);
    mase_dataset_close(raw);
    opts.scale = MASE_SCALE_GIVEN;
    opts.scaling = &small;
    refuse("jsc:" DATA "jsc_single.h5", &opts, MASE_EVALUE,
           "a scaling of 3 features does not fit samples of 16");
}

/* ---- text ---- */

/* The rows of a dataset as OpenML has them: names without j_, a letter at the end. */
static void put_openml(const char *name, const struct mase_dataset *raw, bool arff,
                       const char *last)
{
    struct mase_str s = { 0 };
    mase_str_add(&s, arff ? "% jets\n@RELATION jets\n\n" : "");
    for (int f = 0; f < F; f++)
        mase_str_printf(&s, arff ? "@attribute '%s' numeric\n" : "\"%s\",",
                        mase_jsc_features[f] + 2);
    mase_str_add(&s, arff ? "@attribute class {g, q, t, w, z}\n@DATA\n" : "class\r\n");
    for (int64_t i = 0; i < mase_dataset_info(raw)->rows; i++) {
        for (int f = 0; f < F; f++)
            mase_str_printf(&s, "%.9g,", (double)mase_dataset_table(raw).data[i * F + f]);
        mase_str_printf(&s, "%s\n", mase_jsc_classes[mase_dataset_labels(raw)[i]]);
    }
    mase_str_add(&s, last);
    put(name, s.data, s.len);
    mase_str_release(&s);
}

static void from_text(void **state)
{
    (void)state;
    const struct mase_dataset_opts sim = { .sim_rows = 300, .scale = MASE_SCALE_NONE };
    const struct mase_dataset_opts opts = cached();
    struct mase_dataset *raw = open_data("jsc-sim", &sim);
    put_openml("jsc.csv", raw, false, "");
    put_openml("jsc.arff", raw, true, "% the end\n");
    char spec[600];
    snprintf(spec, sizeof spec, "jsc:%s", in_scratch("jsc.csv"));
    struct mase_dataset *csv = open_data(spec, &opts);
    snprintf(spec, sizeof spec, "jsc:%s", in_scratch("jsc.arff"));
    struct mase_dataset *arff = open_data(spec, &opts);
    assert_int_equal(mase_dataset_info(csv)->rows, 300);
    assert_memory_equal(mase_dataset_table(csv).data, mase_dataset_table(arff).data, 300 * F * 4);
    assert_memory_equal(mase_dataset_labels(csv), mase_dataset_labels(arff), 300 * 4);
    int64_t count[5], count_raw[5] = { 0 }, total[5] = { 0 };
    for (int64_t i = 0; i < 300; i++)
        count_raw[mase_dataset_labels(raw)[i]]++;
    mase_dataset_balance(csv, MASE_SPLIT_TRAIN, count);
    for (int c = 0; c < 5; c++)
        total[c] += count[c];
    mase_dataset_balance(csv, MASE_SPLIT_TEST, count);
    for (int c = 0; c < 5; c++)
        assert_int_equal(total[c] + count[c], count_raw[c]);
    mase_dataset_close(csv);
    mase_dataset_close(arff);

    put_openml("bad.csv", raw, false, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,b\n");
    snprintf(spec, sizeof spec, "jsc:%s", in_scratch("bad.csv"));
    refuse(spec, &opts, MASE_EVALUE, "label 'b' is none of g q w z t");
    put_openml("bad.csv", raw, false, "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,?,g\n");
    refuse(spec, &opts, MASE_EVALUE, "j_multiplicity");
    put_openml("bad.arff", raw, true, "1,2,3\n");
    snprintf(spec, sizeof spec, "jsc:%s", in_scratch("bad.arff"));
    refuse(spec, &opts, MASE_EPARSE, "17");
    mase_dataset_close(raw);
}

/* ---- where it is found ---- */

static FILE *logged;
static char *log_text;
static size_t log_size;

static void start_log(void)
{
    logged = open_memstream(&log_text, &log_size);
    mase_log_set_level(MASE_INFO);
    mase_log_set_stream(logged);
}

static void expect_logged(const char *text)
{
    fclose(logged);
    mase_log_set_stream(NULL);
    if (text ? !strstr(log_text, text) : log_size > 0)
        fail_msg("'%s' expected in the log, which is '%s'", text ? text : "nothing", log_text);
    free(log_text);
}

static void stand_in(void **state)
{
    (void)state;
    empty_folder(scratch);
    struct mase_dataset_opts opts = { .cache_dir = scratch, .sim_rows = 100 };
    start_log();
    struct mase_dataset *d = open_data("jsc", &opts);
    expect_logged("simulated stand-in, not the CERN file");
    assert_string_equal(mase_dataset_info(d)->data.name, "jsc");
    assert_string_equal(mase_dataset_info(d)->notice, "simulated stand-in, not the CERN file");
    assert_true(mase_dataset_info(d)->simulated);
    mase_dataset_close(d);
    opts.require_real = true;
    refuse("jsc", &opts, MASE_EVALUE, "a simulated stand-in is not wanted");
    opts.data_dir = "/nowhere";
    refuse("jsc", &opts, MASE_EIO, "there is no such folder or file of data");
}

static void copy(const char *from, const char *name)
{
    struct mase_file f;
    struct mase_err err;
    assert_int_equal(mase_file_open(&f, from, &err), MASE_OK);
    put(name, f.data, f.size);
    mase_file_close(&f);
}

static void found_in_folder(void **state)
{
    (void)state;
    empty_folder(scratch);
    copy(DATA "jsc_single.h5", "jsc.h5");
    struct mase_dataset_opts opts = { .cache_dir = scratch,
                                      .data_dir = scratch,
                                      .require_real = true };
    struct mase_dataset *d = open_data("jsc", &opts);
    assert_string_equal(mase_dataset_info(d)->source, in_scratch("jsc.h5"));
    mase_dataset_close(d);
    opts.data_dir = DATA "jsc_mixed.h5"; /* a file itself */
    d = open_data("jsc", &opts);
    assert_string_equal(mase_dataset_info(d)->source, DATA "jsc_mixed.h5");
    mase_dataset_close(d);
    opts.data_dir = NULL;
    setenv("MASE_DATA", scratch, 1);
    d = open_data("jsc", &opts);
    assert_string_equal(mase_dataset_info(d)->source, in_scratch("jsc.h5"));
    mase_dataset_close(d);
    unsetenv("MASE_DATA");
    refuse("jsc", &opts, MASE_EVALUE, "is not found in MASE_DATA (not set)");
}

static void imported(void **state)
{
    (void)state;
    empty_folder(scratch);
    const struct mase_dataset_opts opts = { .cache_dir = scratch,
                                            .original_splits = true,
                                            .require_real = true };
    struct mase_err err;
    copy(DATA "jsc_single.h5", "source.h5");
    assert_int_equal(mase_dataset_import("jsc", in_scratch("source.h5"), &opts, &err), MASE_OK);
    struct mase_dataset *d = open_data("jsc", &opts);
    assert_string_equal(mase_dataset_info(d)->source, in_scratch("source.h5"));
    check_against(d, "jsc_single");
    mase_dataset_close(d);

    assert_int_equal(truncate(in_scratch("jsc.table"), 9000), 0);
    start_log();
    d = open_data("jsc", &opts);
    expect_logged("is made again from");
    check_against(d, "jsc_single");
    mase_dataset_close(d);

    unlink(in_scratch("source.h5"));
    start_log();
    d = open_data("jsc", &opts); /* the table has been repaired */
    expect_logged(NULL);
    mase_dataset_close(d);
    assert_int_equal(truncate(in_scratch("jsc.table"), 100), 0);
    refuse("jsc", &opts, MASE_EPARSE, "import it again: shorter than its header");
    assert_int_equal(mase_dataset_import("mnist", DATA "own.h5", &opts, &err), MASE_EUNSUPPORTED);
    assert_int_equal(mase_dataset_import("jsc", DATA "bad_nan.h5", &opts, &err), MASE_EVALUE);
}

/* ---- a damaged cache ---- */

static const char *cached_file(void)
{
    static char name[300];
    DIR *dir = opendir(scratch);
    name[0] = 0;
    for (struct dirent *e; dir && (e = readdir(dir));)
        if (strstr(e->d_name, ".table"))
            snprintf(name, sizeof name, "%s", e->d_name);
    closedir(dir);
    assert_true(name[0]);
    return in_scratch(name);
}

static void check_rebuilt(const char *why)
{
    struct mase_dataset_opts opts = cached();
    opts.ranges = true; /* what was before scaling is looked at, too */
    start_log();
    struct mase_dataset *d = open_data("jsc:" DATA "jsc_single.h5", &opts);
    expect_logged(why);
    check_against(d, "jsc_single");
    mase_dataset_close(d);
}

static void damaged_cache(void **state)
{
    (void)state;
    static const struct {
        long at; /* from the end when negative */
        const char *why;
    } rows[] = {
        { 0, "not a table of ours" },
        { 9, "its header is damaged" },
        { 20, "its header is damaged" },
        { 4000, "its header is damaged" },
        { 4096, "its numbers are damaged" },
        { 4096 + 604 * 16 * 4 + 1, "its numbers are damaged" }, /* a label */
        { -1, "its numbers before scaling are damaged" },
    };
    empty_folder(scratch);
    check_rebuilt(NULL);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        FILE *f = fopen(cached_file(), "r+b");
        assert_non_null(f);
        fseek(f, rows[i].at, rows[i].at < 0 ? SEEK_END : SEEK_SET);
        const int byte = fgetc(f);
        fseek(f, -1, SEEK_CUR);
        fputc(byte ^ 0x40, f);
        fclose(f);
        check_rebuilt(rows[i].why);
        check_rebuilt(NULL); /* whole again */
    }
    static const long sizes[] = { 0, 100, 4095, 4096, 20000 };
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        assert_int_equal(truncate(cached_file(), sizes[i]), 0);
        check_rebuilt("is made again");
    }
}

static void no_cache(void **state)
{
    (void)state;
    struct mase_dataset_opts opts = cached();
    opts.cache_dir = "/dev/null/cache";
    start_log();
    struct mase_dataset *d = open_data("jsc:" DATA "jsc_single.h5", &opts);
    expect_logged("the table could not be kept in the cache");
    check_against(d, "jsc_single");
    mase_dataset_close(d);
}

/* ---- refusals ---- */

static void bad_files(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = cached();
    static const struct {
        const char *file;
        enum mase_status status;
        const char *message;
    } rows[] = {
        { "absent.h5", MASE_EIO, "file not found" },
        { "jsc_sim_check.json", MASE_EPARSE, "not an HDF5 file" },
        { "bad_name.h5", MASE_EVALUE, "there is no dataset 't_allpar_new'" },
        { "bad_column.h5", MASE_EVALUE, "'j_mass_mmdt'" },
        { "bad_nan.h5", MASE_EVALUE, "row 17: feature j_c2_b1_mmdt is nan" },
        { "bad_inf.h5", MASE_EVALUE, "row 17: feature j_zlogz is inf" },
        { "bad_label.h5", MASE_EVALUE, "row 17" },
        { "bad_empty.h5", MASE_EVALUE, "0 rows" },
        { "bad_claim.h5", MASE_EPARSE, "claims 206158430208 bytes, but only 0 are stored" },
        { "own.h5", MASE_EVALUE, "there is no dataset 't_allpar_new'" },
    };
    empty_folder(scratch);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char spec[300];
        snprintf(spec, sizeof spec, "jsc:" DATA "%s", rows[i].file);
        refuse(spec, &opts, rows[i].status, rows[i].message);
    }
    char spec[600];
    snprintf(spec, sizeof spec, "jsc:%s", put("empty.h5", "", 0));
    refuse(spec, &opts, MASE_EPARSE, "the file is empty");
    snprintf(spec, sizeof spec, "jsc:%s", put("empty.csv", "", 0));
    refuse(spec, &opts, MASE_EPARSE, "the file is empty");
}

/* Every length of the file is refused in a sentence, and HDF5 itself prints nothing. */
static void truncated(void **state)
{
    (void)state;
    const struct mase_dataset_opts opts = cached();
    struct mase_file f;
    struct mase_err err;
    char spec[600];
    assert_int_equal(mase_file_open(&f, DATA "jsc_single.h5", &err), MASE_OK);
    fflush(stderr);
    const int saved = dup(2);
    FILE *captured = tmpfile();
    dup2(fileno(captured), 2);
    for (size_t n = 1; n < f.size; n += n < 2500 ? 17 : 1999) {
        snprintf(spec, sizeof spec, "jsc:%s", put("cut.h5", f.data, n));
        refuse(spec, &opts, MASE_EPARSE, n < 8 ? "not an HDF5 file" : "damaged or truncated HDF5");
    }
    dup2(saved, 2);
    close(saved);
    assert_int_equal(lseek(fileno(captured), 0, SEEK_END), 0);
    fclose(captured);
    mase_file_close(&f);
}

/* ---- damaged files ---- */

static void open_changed(const unsigned char *bytes, size_t size)
{
    const struct mase_dataset_opts opts = { .cache_dir = scratch };
    struct mase_dataset *d = NULL;
    struct mase_err err = { 0 };
    char spec[600];
    snprintf(spec, sizeof spec, "jsc:%s", put("x.h5", bytes, size));
    if (mase_dataset_open(&d, spec, &opts, &err) == MASE_OK)
        mase_dataset_close(d);
    else
        assert_true(err.msg[0] && err.loc.path);
}

/* Metadata changed bit by bit: a sentence or a table, never a crash, whatever libhdf5 does. */
static void damaged_metadata(void **state)
{
    (void)state;
#ifdef HAVE_ASAN
    skip(); /* it reports libhdf5's own faults */
#endif
    struct mase_file f;
    struct mase_err err = { 0 };
    assert_int_equal(mase_file_open(&f, DATA "jsc_single.h5", &err), MASE_OK);
    unsigned char *bytes = malloc(f.size);
    memcpy(bytes, f.data, f.size);
    for (size_t i = 0; i < 2800; i += 37) {
        bytes[i] ^= (unsigned char)(1 << i % 8);
        open_changed(bytes, f.size);
        bytes[i] = f.data[i];
    }
    bytes[2488] ^= 2; /* libhdf5 1.10.8 divides by zero here */
    bytes[4285] ^= 32;
    open_changed(bytes, f.size);
    free(bytes);
    mase_file_close(&f);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(same_permutation), cmocka_unit_test(as_sklearn),
        cmocka_unit_test(held_out),         cmocka_unit_test(unscaled),
        cmocka_unit_test(rescaled),         cmocka_unit_test(from_text),
        cmocka_unit_test(stand_in),         cmocka_unit_test(found_in_folder),
        cmocka_unit_test(imported),         cmocka_unit_test(damaged_cache),
        cmocka_unit_test(no_cache),         cmocka_unit_test(bad_files),
        cmocka_unit_test(truncated),        cmocka_unit_test(damaged_metadata),
    };
    return run_cases(argc, argv, tests, make_scratch, remove_scratch);
}
