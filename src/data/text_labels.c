/*
 * text_labels.c - number the classes of text labels in arrays.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <mase/str.h>

#include "data/csv.h"
#include "data/dataset_parts.h"
#include "data/raw.h"

enum { CLASSES_MAX = 65536 };

void mase_text_labels_add(struct mase_text_labels *t, struct mase_arena *a, const char *const *text,
                          int64_t n)
{
    const char **all = mase_new_array(a, const char *, (size_t)(t->count + n));
    if (t->count)
        memcpy(all, t->text, (size_t)t->count * sizeof *all);
    memcpy(all + t->count, text, (size_t)n * sizeof *all);
    t->text = all;
    t->count += n;
}

enum mase_status mase_text_labels_check(const struct mase_text_labels *t, const struct mase_raw *r,
                                        bool these, const char *array, const char *path,
                                        struct mase_err *err)
{
    if (!t->text || t->count == r->rows)
        return MASE_OK;
    return mase_fail_in(err, MASE_EVALUE, path, "some labels are texts, and those of '%s' are%s",
                        array, these ? "; the others are numbers" : " numbers");
}

/* Words that NumPy writes for missing values. */
static bool is_missing(const char *text)
{
    return mase_is_missing_word(text, strlen(text));
}

/* Sort classes as those of tables: by name, or in the order that a checkpoint gives. */
static const char **sort_classes(struct mase_arena *a, const struct mase_text_labels *t, int *count)
{
    const char **sorted = mase_new_array(a, const char *, (size_t)t->count + 1);
    int64_t n = 0, there = 0;
    for (int64_t i = 0; i < t->count; i++)
        if (!is_missing(t->text[i]))
            sorted[there++] = t->text[i];
    qsort(sorted, (size_t)there, sizeof *sorted, mase_compare_names);
    for (int64_t i = 0; i < there; i++)
        if (!n || !mase_streq(sorted[i], sorted[n - 1]))
            sorted[n++] = sorted[i];
    *count = n <= CLASSES_MAX ? (int)n : -1;
    for (int64_t i = 0; i < n; i++)
        sorted[i] = mase_arena_strdup(a, sorted[i]);
    return sorted;
}

static int position_of(const char *const *names, int count, bool sorted, const char *text)
{
    if (sorted) {
        const char *const *at =
            bsearch(&text, names, (size_t)count, sizeof *names, mase_compare_names);
        return at ? (int)(at - names) : count;
    }
    int k = 0;
    while (k < count && !mase_streq(names[k], text))
        k++;
    return k;
}

enum mase_status mase_text_labels_number(const struct mase_text_labels *t, struct mase_raw *r,
                                         struct mase_arena *a, const struct mase_columns *c,
                                         const char *path, struct mase_err *err)
{
    int count = c->class_count;
    const char *const *names = c->classes ? c->classes : sort_classes(a, t, &count);
    if (count < 0)
        return mase_fail_in(err, MASE_ELIMIT, path, "more than %d different labels", CLASSES_MAX);
    for (int64_t i = 0; i < r->rows; i++) {
        const bool missing = is_missing(t->text[i]);
        const int k = missing ? -1 : position_of(names, count, !c->classes, t->text[i]);
        if (missing && !r->drop)
            return mase_fail_in(
                err, MASE_EVALUE, path,
                "row %" PRId64 ": the label is missing; --drop-nan leaves such rows out", i);
        if (k == count)
            return mase_fail_in(err, MASE_EVALUE, path,
                                "row %" PRId64 ": label '%.40s' is none of the %d that are known",
                                i, t->text[i], count);
        r->label[i] = k;
    }
    r->class_names = names;
    r->classes = count;
    return MASE_OK;
}
