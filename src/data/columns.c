/*
 * columns.c - choose the columns of a table, or arrays of a file, that are features and labels.
 */
#include <inttypes.h>
#include <string.h>

#include <mase/log.h>
#include <mase/str.h>

#include "base/number.h"
#include "data/raw.h"

/* ---- lists of names ---- */

/* Split "A,B", trimming blanks. */
static enum mase_status split_list(const char *const **out, int *count, struct mase_arena *a,
                                   const char *option, const char *text, struct mase_err *err)
{
    const char **names = NULL;
    int n = 0, cap = 0;
    for (const char *p = text;; p++) {
        p += strspn(p, " ");
        const size_t size = strcspn(p, ",");
        size_t used = size;
        while (used && p[used - 1] == ' ')
            used--;
        if (!used)
            return mase_fail(err, MASE_EVALUE,
                             "%s '%s' has an empty name; expected names of columns with commas "
                             "between, as a,b,c",
                             option, text);
        names = mase_arena_grow(a, names, n, &cap, sizeof *names);
        names[n++] = mase_arena_strndup(a, p, used);
        p += size;
        if (!*p)
            break;
    }
    *out = names;
    *count = n;
    return MASE_OK;
}

/* Split at semicolons, which separate inputs, and commas. */
static enum mase_status split_inputs(struct mase_data_columns *c, struct mase_arena *a,
                                     const char *text, struct mase_err *err)
{
    const char **all = mase_new_array(a, const char *, strlen(text) + 1);
    for (const char *p = text;; p++) {
        const size_t size = strcspn(p, ";");
        const char *const *names;
        int n;
        MASE_TRY(split_list(&names, &n, a, "--features", mase_arena_strndup(a, p, size), err));
        if (c->input_count == 1 + MASE_MORE_INPUTS || (c->except && p[size]))
            return mase_fail(err, MASE_EVALUE,
                             "--features '%s': semicolons divide the columns that are named among "
                             "at most %d inputs",
                             text, 1 + MASE_MORE_INPUTS);
        c->inputs[c->input_count++] = n;
        memcpy(all + c->feature_count, names, (size_t)n * sizeof *names);
        c->feature_count += n;
        p += size;
        if (!*p)
            break;
    }
    c->features = all;
    return MASE_OK;
}

enum mase_status mase_data_columns_parse(struct mase_data_columns *c, struct mase_arena *a,
                                         const char *labels, const char *features,
                                         struct mase_err *err)
{
    *c = (struct mase_data_columns){ .except = features && features[0] == '!' };
    if (labels)
        MASE_TRY(split_list(&c->labels, &c->label_count, a, "--label", labels, err));
    return features ? split_inputs(c, a, features + c->except, err) : MASE_OK;
}

static bool equal_lists(const char *const *a, int n, const char *const *b, int m)
{
    for (int i = 0; i < n && n == m; i++)
        if (!mase_streq(a[i], b[i]))
            return false;
    return n == m;
}

bool mase_data_columns_equal(const struct mase_data_columns *a, const struct mase_data_columns *b)
{
    return equal_lists(a->labels, a->label_count, b->labels, b->label_count) &&
           equal_lists(a->features, a->feature_count, b->features, b->feature_count);
}

enum mase_status mase_columns_from_opts(struct mase_columns *c, struct mase_arena *a,
                                        const struct mase_dataset_opts *opts, const char *label,
                                        struct mase_err *err)
{
    *c = (struct mase_columns){ .chosen = opts->columns,
                                .group = opts->split.by,
                                .group_inherited = opts->split.inherited,
                                .target = opts->target };
    struct mase_data_columns *chosen = &c->chosen, named = { 0 };
    if (label && opts->target == MASE_TARGET_NUMBERS)
        MASE_TRY(split_list(&named.labels, &named.label_count, a, "the label", label, err));
    else if (label)
        named.labels = mase_arena_memdup(a, &label, sizeof label), named.label_count = 1;
    if (label && chosen->label_count && !chosen->usual_label &&
        !equal_lists(named.labels, named.label_count, chosen->labels, chosen->label_count))
        return mase_fail(err, MASE_EVALUE,
                         "the column '%s' that the dataset's name has behind its colon contradicts "
                         "--label %s",
                         label, chosen->labels[0]);
    if (label) {
        chosen->labels = named.labels;
        chosen->label_count = named.label_count;
        chosen->usual_label = false;
    }
    if (chosen->label_count > 1 && opts->target != MASE_TARGET_NUMBERS)
        return mase_fail(err, MASE_EVALUE,
                         "--label names %d columns, '%s' and others; classes are in one, numbers "
                         "(--task reg, --task multilabel) may be in several",
                         chosen->label_count, chosen->labels[0]);
    return MASE_OK;
}

/* ---- columns ---- */

/* "zlogz" also names "j_zlogz". */
static bool same_column(const char *wanted, const char *name)
{
    return mase_streq(wanted, name) ||
           (mase_starts_with(wanted, "j_") && mase_streq(wanted + 2, name));
}

static int find_column(const struct mase_header *h, const char *wanted)
{
    for (int i = 0; i < h->count; i++)
        if (same_column(wanted, h->names[i]))
            return i;
    return -1;
}

static enum mase_status fail_column(const struct mase_header *h, const char *wanted,
                                    const char *what, const char *tail, struct mase_err *err)
{
    const struct mase_unknown u = { .word = wanted,
                                    .names = h->names,
                                    .count = h->count,
                                    .before = "; is '",
                                    .after = tail ? "' meant?;" : "' meant?",
                                    .tail = tail };
    return mase_fail_unknown(err, h->at, &u, "there is no column '%s' for the %s", wanted, what);
}

static const char *const usual_labels[] = { "label", "class", "target" };

static int find_usual(const struct mase_header *h)
{
    int column = -1;
    for (int i = 0; i < 3 && column < 0; i++)
        column = find_column(h, usual_labels[i]);
    for (int i = 0; i < 3 && column < 0; i++) /* Target, LABEL */
        for (int k = 0; k < h->count && column < 0; k++)
            column = mase_strcaseeq(usual_labels[i], h->names[k]) ? k : -1;
    return column;
}

enum mase_status mase_find_labels(struct mase_label_columns *l, struct mase_arena *a,
                                  const struct mase_header *h, const struct mase_columns *c,
                                  struct mase_err *err)
{
    const struct mase_data_columns *chosen = &c->chosen;
    const int wanted = chosen->label_count ? chosen->label_count : 1;
    if (c->target == MASE_TARGET_MAP)
        return mase_fail_at(err, MASE_EVALUE, h->at,
                            "a table has no classes by position; task segmentation takes arrays X "
                            "and y of an .npz or .h5 file");
    *l = (struct mase_label_columns){ .column = mase_new_array(a, int, (size_t)wanted) };
    for (int i = 0; i < wanted; i++) {
        const char *name = chosen->label_count ? chosen->labels[i] : usual_labels[0];
        int column = chosen->label_count ? find_column(h, name) : -1;
        if (column < 0 && (!chosen->label_count || chosen->usual_label))
            column = find_usual(h);
        const bool named = chosen->label_count && !chosen->usual_label;
        if (column < 0 && !named && c->target == MASE_TARGET_NONE)
            return MASE_OK;
        if (column < 0)
            return fail_column(
                h, name, "labels",
                h->at.line ? "the first line names the columns" : "--label says another", err);
        for (int k = 0; k < l->count; k++)
            if (l->column[k] == column)
                return mase_fail_at(err, MASE_EVALUE, h->at, "the labels name column '%s' twice",
                                    h->names[column]);
        l->column[l->count++] = column;
    }
    return MASE_OK;
}

static bool is_label(const struct mase_label_columns *l, int column)
{
    for (int i = 0; i < l->count; i++)
        if (l->column[i] == column)
            return true;
    return false;
}

enum mase_status mase_find_group(int *column, struct mase_raw *r, const struct mase_header *h,
                                 const struct mase_columns *c, struct mase_err *err)
{
    *column = c->group ? find_column(h, c->group) : -1;
    r->grouped = *column >= 0;
    return !c->group || r->grouped || c->group_inherited
               ? MASE_OK
               : fail_column(h, c->group, "split", "--split-by says another", err);
}

/* The columns of an entry of the list: one name, or FIRST-LAST. */
static enum mase_status find_range(int *first, int *last, struct mase_arena *a,
                                   const struct mase_header *h, const char *name,
                                   const struct mase_data_columns *c, struct mase_err *err)
{
    const char *dots = strstr(name, "..");
    const char *tail =
        c->origin    ? mase_arena_printf(a,
                                         "%s was trained on it; --features says which column stands "
                                            "for it",
                                         c->origin)
        : h->at.line ? "the first line names the columns"
                     : NULL;
    *first = *last = find_column(h, name);
    if (*first >= 0)
        return MASE_OK;
    if (!dots)
        return fail_column(h, name, "features", tail, err);
    const char *const ends[] = { mase_arena_strndup(a, name, (size_t)(dots - name)), dots + 2 };
    *first = find_column(h, ends[0]);
    *last = find_column(h, ends[1]);
    if (*first < 0 || *last < 0)
        return fail_column(h, ends[*first >= 0], "features", tail, err);
    if (*first > *last)
        return mase_fail_at(err, MASE_EVALUE, h->at,
                            "features %s: column '%s' stands behind '%s' in the file", name,
                            ends[0], ends[1]);
    return MASE_OK;
}

/* Record that an input begins with column `column`, whose name is number i. */
static void begin_input(struct mase_raw *r, const struct mase_data_columns *c, int i, int column)
{
    int first = 0;
    for (int k = 0; k < c->input_count; first += c->inputs[k++]) {
        if (k && first == i) /* k ends with the next input */
            r->more[r->more_count++] = (struct mase_shape){ 1, { column } };
    }
}

/* Count how often each column is named; order[0..*count - 1] are the named columns. */
static enum mase_status take_list(int *order, int *count, struct mase_raw *r, struct mase_arena *a,
                                  const struct mase_header *h, const struct mase_data_columns *c,
                                  const struct mase_label_columns *l, int group,
                                  struct mase_err *err)
{
    bool *seen = mase_new_array(a, bool, (size_t)h->count);
    *count = 0;
    for (int i = 0; i < c->feature_count; i++) {
        int first, last;
        begin_input(r, c, i, *count);
        MASE_TRY(find_range(&first, &last, a, h, c->features[i], c, err));
        if (first == last && is_label(l, first) && !c->except)
            return mase_fail_at(err, MASE_EVALUE, h->at,
                                "column '%s' is the label's and cannot be a feature, too",
                                h->names[first]);
        for (int k = first; k <= last; k++) {
            if (is_label(l, k) || (k == group && first != last))
                continue;
            if (seen[k])
                return mase_fail_at(err, MASE_EVALUE, h->at, "the features name column '%s' twice",
                                    h->names[k]);
            seen[k] = true;
            order[(*count)++] = k;
        }
    }
    return MASE_OK;
}

/* All columns but those of labels and groups, and those of the list. */
static void take_others(int *order, int *count, struct mase_arena *a, const struct mase_header *h,
                        const struct mase_label_columns *l, int group)
{
    bool *out = mase_new_array(a, bool, (size_t)h->count);
    for (int i = 0; i < *count; i++)
        out[order[i]] = true;
    *count = 0;
    for (int k = 0; k < h->count; k++)
        if (!is_label(l, k) && k != group && !out[k] && h->names[k][0])
            order[(*count)++] = k;
}

enum mase_status mase_find_features(int **columns, struct mase_raw *r, struct mase_arena *a,
                                    const struct mase_header *h, const struct mase_columns *wanted,
                                    const struct mase_label_columns *l, int group,
                                    struct mase_err *err)
{
    const struct mase_data_columns *c = &wanted->chosen;
    int *order = mase_new_array(a, int, (size_t)h->count), count = 0;
    MASE_TRY(take_list(order, &count, r, a, h, c, l, group, err));
    if (c->except || !c->feature_count)
        take_others(order, &count, a, h, l, group);
    if (count < 1)
        return mase_fail_at(err, MASE_EVALUE, h->at, "there is no column beside the label's");
    const char **names = mase_new_array(a, const char *, (size_t)h->count);
    const bool listed =
        !c->except && count == c->feature_count; /* names may be given in another form */
    for (int i = 0; i < count; i++)
        names[i] = listed && same_column(c->features[i], h->names[order[i]]) ? c->features[i]
                                                                             : h->names[order[i]];
    r->targets = wanted->target == MASE_TARGET_NUMBERS ? l->count : 0;
    if (r->targets)
        r->target_shape = (struct mase_shape){ 1, { r->targets } };
    for (int i = 0; i < r->targets; i++) {
        order[count + i] = l->column[i];
        names[count + i] = h->names[l->column[i]];
    }
    *columns = order;
    r->features = count + r->targets;
    r->feature_names = names;
    r->named = true;
    r->label_name = l->count && !r->targets ? h->names[l->column[0]] : NULL;
    return MASE_OK;
}

/* ---- arrays ---- */

static const struct stem {
    const char *x, *y;
} stems[] = {
    { "X", "y" },
    { "x", "y" },
    { "X", "Y" },
    { "data", "target" },
    { "data", "targets" },
    { "data", "labels" },
    { "data", "label" },
    { "images", "labels" },
    { "features", "labels" },
    { "features", "label" },
    { "features", "targets" },
    { "features", "target" },
    { "inputs", "targets" },
    { "inputs", "labels" },
    { "arr_0", "arr_1" }, /* np.savez(file, x, y) */
};
enum { STEMS = sizeof stems / sizeof stems[0], PARTS = 3, WORDS = 3, FORMS = 3 };

static const char *const part_words[PARTS][WORDS] = { { "train", "training" },
                                                      { "val", "valid", "validation" },
                                                      { "test", "testing" } };

/* Names with one stem for each part, from part `first` on, as prefix or suffix: x_train, train_x,
 * train/x of HDF5's groups. */
static void find_parts(struct mase_array_names *n, struct mase_arena *a, const struct stem *s,
                       int form, int first, bool labelled, mase_has_fn *has, void *file)
{
    const bool before = form > 0;
    const char *between = form == 2 ? "/" : "_";
    for (int p = first; p < PARTS; p++)
        for (int w = 0; w < WORDS && part_words[p][w] && !n->x[p]; w++) {
            const char *word = part_words[p][w];
            const char *x =
                mase_arena_printf(a, "%s%s%s", before ? word : s->x, between, before ? s->x : word);
            const char *y =
                mase_arena_printf(a, "%s%s%s", before ? word : s->y, between, before ? s->y : word);
            if (has(file, x) && (!first || !labelled || has(file, y))) {
                n->x[p] = x;
                n->y[p] = labelled ? y : NULL;
            }
        }
}

/* Are there training samples, or undivided ones, with labels? */
static bool is_whole(const struct mase_array_names *n, bool labelled, mase_has_fn *has, void *file)
{
    return n->x[0] && (!labelled || has(file, n->y[0]));
}

/* Find X and y, and X_test and y_test if both exist. */
static bool find_plain(struct mase_array_names *n, struct mase_arena *a, const struct stem *s,
                       bool labelled, mase_has_fn *has, void *file)
{
    if (!has(file, s->x))
        return false;
    n->x[0] = s->x;
    n->y[0] = labelled ? s->y : NULL;
    for (int form = 0; form < FORMS && !n->x[1] && !n->x[2]; form++) {
        n->before = form > 0;
        find_parts(n, a, s, form, 1, labelled, has, file);
    }
    return is_whole(n, labelled, has, file);
}

static struct mase_array_names find_arrays(struct mase_arena *a, const struct mase_columns *wanted,
                                           mase_has_fn *has, void *file)
{
    const struct mase_data_columns *c = &wanted->chosen;
    const bool labelled = wanted->target != MASE_TARGET_NONE;
    struct stem s = stems[0];
    for (int i = 0; i < STEMS; i++)
        for (int form = 0; form <= FORMS; form++) {
            struct mase_array_names n;
            s = (struct stem){ c->feature_count ? c->features[0] : stems[i].x,
                               c->label_count ? c->labels[0] : stems[i].y };
            n = (struct mase_array_names){ .stem = s.x,
                                           .before = form == 1 || form == 2,
                                           .chosen = c->feature_count > 0 };
            if (form < FORMS)
                find_parts(&n, a, &s, form, 0, labelled, has, file);
            if (form < FORMS ? is_whole(&n, labelled, has, file)
                             : find_plain(&n, a, &s, labelled, has, file))
                return n;
        }
    /* Names for the error message: the labels of X_train, or both X and y. */
    s = (struct stem){ c->feature_count ? c->features[0] : "X",
                       c->label_count ? c->labels[0] : "y" };
    struct mase_array_names n = { .stem = s.x, .chosen = c->feature_count > 0 };
    find_parts(&n, a, &s, 0, 0, labelled, has, file);
    if (!n.x[0]) {
        n.x[0] = s.x;
        n.y[0] = labelled ? s.y : NULL;
    }
    return n;
}

struct mase_array_names mase_find_arrays(struct mase_arena *a, const struct mase_columns *wanted,
                                         mase_has_fn *has, void *file)
{
    struct mase_columns usual = *wanted;
    const struct mase_array_names n = find_arrays(a, wanted, has, file);
    if (has(file, n.x[0]) || !wanted->chosen.origin)
        return n;
    usual.chosen =
        (struct mase_data_columns){ 0 }; /* columns of a checkpoint do not apply to arrays */
    return find_arrays(a, &usual, has, file);
}

bool mase_guess_arrays(struct mase_array_names *n, const struct mase_columns *wanted,
                       const char *const *all, int count)
{
    static const char *const labels[] = { "y",      "Y",       "label", "labels",
                                          "target", "targets", "class", "classes" };
    const struct mase_data_columns *c = &wanted->chosen;
    const bool labelled = wanted->target != MASE_TARGET_NONE;
    const char *x = NULL, *y = NULL;
    for (size_t k = 0; k < sizeof labels / sizeof labels[0] && !y; k++)
        for (int i = 0; i < count && !y; i++)
            if (mase_streq(all[i], c->label_count ? c->labels[0] : labels[k]))
                y = all[i];
    for (int i = 0; i < count && !x; i++)
        if (all[i] != y && (!c->feature_count || mase_streq(all[i], c->features[0])))
            x = all[i];
    if (!x || (labelled && !y))
        return false;
    *n = (struct mase_array_names){ { x },
                                    { labelled ? y : NULL },
                                    .stem = x,
                                    .guessed = !c->feature_count,
                                    .chosen = c->feature_count > 0 };
    return true;
}

/* The stem of an array's name, "X" of "X_test", up to `size`; NULL: no stem. */
static const char *without_part(const char *name, size_t *size)
{
    static const char *const words[] = { "train", "training", "val", "valid", "validation",
                                         "test",  "testing",  "dev", "eval",  "holdout" };
    const size_t length = strlen(name);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        const size_t n = strlen(words[i]);
        if (length < n + 2)
            continue;
        *size = length - n - 1;
        if (strchr("_/", name[n]) && mase_strncaseeq(name, words[i], n))
            return name + n + 1;
        if (name[*size] == '_' && mase_strcaseeq(name + *size + 1, words[i]))
            return name;
    }
    return NULL;
}

static bool is_stem(const char *name, size_t size, const char *stem)
{
    return strlen(stem) == size && mase_strncaseeq(name, stem, size);
}

static bool is_usual(const struct mase_array_names *n, const char *name)
{
    size_t size = strlen(name);
    const char *stem = without_part(name, &size);
    if (!stem)
        return false;
    for (int i = 0; i < STEMS; i++)
        if (is_stem(stem, size, stems[i].x) || is_stem(stem, size, stems[i].y))
            return true;
    return is_stem(stem, size, n->stem);
}

void mase_log_arrays(const struct mase_array_names *n, const char *const *all, int count,
                     const char *path)
{
    struct mase_str unread = { 0 };
    for (int i = 0; i < count; i++) {
        bool read = !is_usual(n, all[i]);
        for (int p = 0; p < PARTS && !read; p++)
            read = mase_streq(n->x[p], all[i]) || mase_streq(n->y[p], all[i]);
        if (!read)
            mase_str_printf(&unread, "%s%s", unread.len ? ", " : "", all[i]);
    }
    if (unread.len)
        mase_warn("%s: %s %s not read: samples are those of %s%s%s%s%s", path,
                  mase_str_text(&unread), strchr(unread.data, ',') ? "are" : "is", n->x[0],
                  n->x[1] ? ", " : "", n->x[1] ? n->x[1] : "", n->x[2] ? ", " : "",
                  n->x[2] ? n->x[2] : "");
    else if (mase_streq(n->x[0], n->stem) && (n->x[1] || n->x[2]))
        mase_info("%s: %s is trained on%s%s%s%s", path, n->x[0], n->x[1] ? ", validated by " : "",
                  n->x[1] ? n->x[1] : "", n->x[2] ? ", tested by " : "", n->x[2] ? n->x[2] : "");
    mase_str_release(&unread);
}

enum mase_status mase_fail_split_by_column(const char *path, const char *column,
                                           struct mase_err *err)
{
    return mase_fail_in(err, MASE_EVALUE, path,
                        "--split-by %s is for columns of a table; this file has arrays", column);
}

void mase_raw_name_features(struct mase_raw *r, struct mase_arena *a)
{
    const char **names = mase_new_array(a, const char *, (size_t)r->features);
    const int64_t inputs = r->features - r->targets;
    for (int64_t i = 0; i < inputs; i++)
        names[i] = mase_arena_printf(a, "x%" PRId64, i);
    for (int64_t i = 0; i < r->targets; i++)
        names[inputs + i] = r->targets == 1 ? "y" : mase_arena_printf(a, "y%" PRId64, i);
    r->feature_names = names;
}

struct mase_shape mase_sample_shape(const struct mase_shape *all)
{
    struct mase_shape s = { .rank = all->rank - 1 };
    memcpy(s.dim, all->dim + 1, (size_t)s.rank * sizeof s.dim[0]);
    return s;
}

/* Shapes that labels may have, for the error message. */
static const char *const label_shapes[] = {
    [MASE_TARGET_CLASS] = "[N], or one-hot [N, classes]",
    [MASE_TARGET_NUMBERS] = "[N] or [N, numbers]",
    [MASE_TARGET_MAP] = "[N, positions ...]",
    [MASE_TARGET_NONE] = "nothing",
};

/* One label for each sample, or several numbers. */
static bool fits_target(struct mase_shape *target, enum mase_target_kind kind,
                        const struct mase_shape *y, int64_t rows)
{
    *target = (struct mase_shape){ 0 };
    if (kind == MASE_TARGET_NONE || !y)
        return kind == MASE_TARGET_NONE;
    if (y->rank < 1 || y->dim[0] != rows)
        return false;
    const int64_t each = mase_shape_count(y) / rows;
    if (kind == MASE_TARGET_CLASS) /* one label, or a column for each class */
        return each == 1 || y->rank == 2;
    *target = y->rank > 1 ? mase_sample_shape(y) : (struct mase_shape){ 1, { 1 } };
    return each > 0 && (kind != MASE_TARGET_MAP || y->rank > 1);
}

enum mase_status mase_raw_set_shapes(struct mase_raw *r, struct mase_shape *sample,
                                     const struct mase_shape *x, const struct mase_shape *y,
                                     const char *const names[2], const char *path,
                                     struct mase_err *err)
{
    struct mase_shape shape, target = { 0 };
    bool fit = x->rank >= 2 - r->any_rank && mase_shape_count(x) > 0 &&
               fits_target(&target, r->target, y, x->dim[0]);
    if (fit)
        shape = mase_sample_shape(x);
    const int64_t columns =
        fit && r->target == MASE_TARGET_CLASS ? mase_shape_count(y) / y->dim[0] : 1;
    if (fit && r->features)
        fit = mase_shape_equal(&shape, sample) && mase_shape_equal(&target, &r->target_shape) &&
              (columns > 1 ? r->classes == columns : !r->classes);
    if (!fit) {
        struct mase_str text = { 0 };
        mase_shape_print(&text, x);
        if (y) {
            mase_str_add(&text, " and ");
            mase_shape_print(&text, y);
        }
        const enum mase_status st = mase_fail_in(
            err, MASE_EVALUE, path, "%s and %s have shapes %s, expected [N, ...] and %s", names[0],
            y ? names[1] : "no labels", mase_str_text(&text), label_shapes[r->target]);
        mase_str_release(&text);
        return st;
    }
    *sample = shape;
    r->classes = columns > 1 ? (int)columns : 0;
    r->target_shape = target;
    r->targets = target.rank ? mase_shape_count(&target) : 0;
    r->features = mase_shape_count(&shape) + r->targets;
    return MASE_OK;
}

void mase_warn_channels_last(const struct mase_shape *sample, const char *path)
{
    const int64_t *n = sample->dim;
    if (sample->rank == 3 && (n[2] == 1 || n[2] == 3 || n[2] == 4) && n[0] > 4 && n[1] > 4)
        mase_warn("%s: a sample is [%lld, %lld, %lld], a picture with its channels behind it? "
                  "Networks of PyTorch take them first: np.transpose(X, (0, 3, 1, 2))",
                  path, (long long)n[0], (long long)n[1], (long long)n[2]);
}
