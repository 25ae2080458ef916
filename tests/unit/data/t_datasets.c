/*
 * t_datasets.c - the table of datasets and looking into it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/data.h>

#include "run_cases.h"

static void rows_are_complete(void **state)
{
    (void)state;
    for (const struct mase_data_info *d = mase_datasets; d->name; d++) {
        const struct mase_data_info *found = NULL;
        struct mase_err err;
        assert_int_equal(mase_data_find(&found, d->name, &err), MASE_OK);
        assert_ptr_equal(found, d); /* no name comes twice */
        assert_true(d->sample.rank >= 1 && mase_shape_count(&d->sample) > 0);
        assert_true(d->classes >= 2 && d->help && d->help[0]);
    }
}

static void check(const char *name, const char *shape, int classes)
{
    const struct mase_data_info *d = NULL;
    struct mase_err err;
    struct mase_str s = { 0 };
    assert_int_equal(mase_data_find(&d, name, &err), MASE_OK);
    mase_shape_print(&s, &d->sample);
    assert_string_equal(mase_str_text(&s), shape);
    assert_int_equal(d->classes, classes);
    mase_str_release(&s);
}

static void shapes(void **state)
{
    (void)state;
    check("jsc", "[16]", 5);
    check("toy_tiny", "[1, 2, 2]", 2);
    check("toy-tiny", "[1, 2, 2]", 2);
    check("fashion_mnist", "[1, 28, 28]", 10);
    check("cifar100", "[3, 32, 32]", 100);
    check("imagenet", "[3, 224, 224]", 1000);
}

static void refuse(const char *name, const char *message)
{
    const struct mase_data_info *d = NULL;
    struct mase_err err;
    assert_int_equal(mase_data_find(&d, name, &err), MASE_EVALUE);
    assert_null(d);
    if (!strstr(err.msg, message))
        fail_msg("'%s' is not in '%s'", message, err.msg);
}

static void unknown_names(void **state)
{
    (void)state;
    refuse("cifer10", "there is no dataset 'cifer10'; is 'cifar10' meant? known are jsc, ");
    refuse("", "there is no dataset ''; known are jsc, jsc-sim, ");
    refuse("jsc-", "is 'jsc' meant?");
    refuse("data.parquet",
           "; or a file whose name ends in one of .npz .csv .tsv .arff .csv.gz .tsv.gz .h5 .hdf5");
}

static void files_are_known_by_their_names(void **state)
{
    (void)state;
    static const struct {
        const char *name, *prefix; /* NULL: no file of a table */
    } cases[] = {
        { "csv:x", "csv" },        { "x.csv", "csv" },
        { "a/b.CSV:kind", "csv" }, { "x.tsv", "csv" },
        { "x.arff:class", "csv" }, { "c:/x.npz", "npz" },
        { "x.h5", "h5" },          { "x.hdf5:label", "h5" },
        { "h5:x.csv", "h5" },      { "jsc:jets.h5", NULL },
        { "jsc", NULL },           { ".csv", NULL },
        { "net.py:Net", NULL },    { "x.csv.gz", "csv" },
        { "csv", NULL },           { "torchvision.models", NULL },
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const struct mase_data_kind *k = mase_data_kind_of(cases[i].name);
        if (!k != !cases[i].prefix || (k && strcmp(k->prefix, cases[i].prefix) != 0))
            fail_msg("%s is taken for %s", cases[i].name, k ? k->prefix : "no file");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(shapes),
        cmocka_unit_test(unknown_names),
        cmocka_unit_test(files_are_known_by_their_names),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
