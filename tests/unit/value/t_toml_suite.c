/*
 * t_toml_suite.c - the cases of toml-test, where they are installed.
 *
 * Debian carries them in golang-github-burntsushi-toml-dev; MASE_TOML_TEST names another place. A
 * valid case is NAME.toml with NAME.json, in which every value is {"type": ..., "value": "text"}.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>
#include <mase/value.h>

#include "run_cases.h"

#define DEBIAN "/usr/share/gocode/src/github.com/BurntSushi/toml/internal/toml-test/tests"

/* Cases that are valid only in a later TOML than 1.0: we must refuse them. */
static const char *const later[] = {
    "valid/string/escape-esc.toml", /* 1.1: \e */
    NULL,
};

/* ---- comparing with the tagged JSON ---- */

/* RFC 3339 leaves choices; make one of them: T, Z, no zeros at the end of a fraction. */
static void normal_date(struct mase_str *out, const char *s)
{
    bool fraction = false;
    for (; *s; s++) {
        bool digit = *s >= '0' && *s <= '9';
        if (fraction && !digit) {
            while (out->data[out->len - 1] == '0')
                out->len--;
            fraction = false;
        }
        fraction |= *s == '.';
        char c = *s == 't' || *s == ' ' ? 'T' : *s == 'z' ? 'Z' : *s;
        mase_str_addc(out, c);
    }
    while (fraction && out->data[out->len - 1] == '0')
        out->len--;
    mase_str_addn(out, "", 0);
}

static bool same_date(const char *a, const char *b)
{
    struct mase_str x = { 0 }, y = { 0 };
    normal_date(&x, a);
    normal_date(&y, b);
    bool same = x.len == y.len && memcmp(x.data, y.data, x.len) == 0;
    mase_str_release(&x);
    mase_str_release(&y);
    return same;
}

static bool same_leaf(const struct mase_value *v, const char *type, const struct mase_value *want)
{
    switch (v->kind) {
    case MASE_STRING:
        return mase_streq(type, "string") && mase_value_equal(v, want);
    case MASE_INT:
        return mase_streq(type, "integer") && v->i == strtoll(want->s, NULL, 10);
    case MASE_BOOL:
        return mase_streq(type, "bool") && mase_streq(want->s, v->b ? "true" : "false");
    case MASE_FLOAT: {
        double f = strtod(want->s, NULL);
        return mase_streq(type, "float") && (v->f == f || (isnan(v->f) && isnan(f)));
    }
    case MASE_DATE: {
        bool date = strchr(v->s, '-') && v->s[4] == '-', time = strchr(v->s, ':') != NULL;
        bool offset = date && time && strpbrk(v->s + 11, "Zz+-");
        const char *kind = offset  ? "datetime"
                           : !time ? "date-local"
                           : date  ? "datetime-local"
                                   : "time-local";
        return mase_streq(type, kind) && same_date(v->s, want->s);
    }
    default:
        return false;
    }
}

static bool is_leaf(const struct mase_value *want)
{
    const struct mase_value *type = mase_value_get(want, "type");
    return want->kind == MASE_TABLE && want->count == 2 && type && type->kind == MASE_STRING &&
           mase_value_get(want, "value");
}

static bool same(const struct mase_value *v, const struct mase_value *want)
{
    if (is_leaf(want))
        return same_leaf(v, mase_value_get(want, "type")->s, mase_value_get(want, "value"));
    if (v->kind != want->kind || v->count != want->count)
        return false;
    for (int i = 0; i < v->count; i++) { /* objects are without order */
        const struct mase_value *w =
            v->kind == MASE_TABLE ? mase_value_get(want, v->keys[i]) : want->items[i];
        if (!w || !same(v->items[i], w))
            return false;
    }
    return true;
}

/* ---- walking the suite ---- */

struct tally {
    int valid, invalid, later, failed;
};

static bool is_later(const char *path)
{
    for (int i = 0; later[i]; i++)
        if (mase_ends_with(path, later[i]))
            return true;
    return false;
}

static void run_valid(struct tally *n, struct mase_arena *a, const char *path)
{
    struct mase_err err = { 0 };
    struct mase_value *v, *want;
    const char *json = mase_arena_printf(a, "%.*s.json", (int)strlen(path) - 5, path);
    n->valid++;
    if (mase_toml_read(&v, a, path, &err) || mase_json_read(&want, a, json, &err)) {
        print_error("%s: %d:%d: %s\n", path, err.loc.line, err.loc.col, err.msg);
        n->failed++;
    } else if (!same(v, want)) {
        print_error("%s: read otherwise than its JSON says\n", path);
        n->failed++;
    }
}

static void run_invalid(struct tally *n, struct mase_arena *a, const char *path)
{
    struct mase_err err = { 0 };
    struct mase_value *v;
    bool refused = mase_toml_read(&v, a, path, &err) != MASE_OK;
    n->invalid++;
    if (refused && err.loc.line > 0 && err.loc.col > 0)
        return;
    print_error("%s: %s\n", path, refused ? "refused without a place" : "accepted");
    n->failed++;
}

static void run_file(struct tally *n, const char *path)
{
    struct mase_arena a = { 0 };
    if (is_later(path)) {
        run_invalid(n, &a, path);
        n->invalid--;
        n->later++;
    } else if (strstr(path, "/invalid/")) {
        run_invalid(n, &a, path);
    } else {
        run_valid(n, &a, path);
    }
    mase_arena_release(&a);
}

static void walk(struct tally *n, const char *dir)
{
    DIR *d = opendir(dir);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        struct mase_arena a = { 0 };
        const char *path = mase_path_join(&a, dir, e->d_name);
        if (e->d_name[0] != '.' && mase_is_dir(path))
            walk(n, path);
        else if (mase_ends_with(path, ".toml"))
            run_file(n, path);
        mase_arena_release(&a);
    }
    closedir(d);
}

static void toml_test_passes(void **state)
{
    (void)state;
    const char *dir = getenv("MASE_TOML_TEST");
    dir = dir ? dir : DEBIAN;
    if (!mase_is_dir(dir)) {
        print_message("skipped: no toml-test at %s (golang-github-burntsushi-toml-dev has it)\n",
                      dir);
        skip();
    }
    struct tally n = { 0 };
    walk(&n, dir);
    print_message("%d valid, %d invalid, %d of a later TOML; %d failed\n", n.valid, n.invalid,
                  n.later, n.failed);
    assert_true(n.valid > 0 && n.invalid > 0);
    assert_int_equal(n.failed, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(toml_test_passes) };
    return run_cases(argc, argv, tests, NULL, NULL);
}
