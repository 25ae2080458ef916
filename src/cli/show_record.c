/*
 * show_record.c - ch show for files without a network: records with keys (run.json, a
 * configuration), curves, tables of samples.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <mase/dataset.h>
#include <mase/events.h>
#include <mase/file.h>

#include "base/limit.h"
#include "cli/command/cmd_show.h"

/* ---- keys and values ---- */

enum { SHOWN_LETTERS = 100 };

static bool holds_tables(const struct mase_value *v)
{
    return v->kind == MASE_LIST && v->count && v->items[0]->kind == MASE_TABLE;
}

struct record {
    struct mase_table *table;
    struct mase_str path;   /* keys down to the current value */
    uint64_t letters, most; /* characters of all paths so far; limit */
};

static void add_row(struct record *r, const struct mase_value *v)
{
    struct mase_str text = { 0 };
    if (v->kind == MASE_STRING)
        mase_str_add(&text, v->s);
    else
        mase_json_print(&text, v, 0);
    if (text.len > SHOWN_LETTERS) {
        mase_str_cut(&text, SHOWN_LETTERS);
        mase_str_add(&text, "...");
    }
    mase_table_add(r->table, (const char *[]){ mase_str_text(&r->path), mase_str_text(&text) });
    mase_str_release(&text);
}

static enum mase_status add_value(struct record *r, const struct mase_value *v,
                                  struct mase_err *err)
{
    const size_t len = r->path.len;
    if (!v->count || (v->kind != MASE_TABLE && !holds_tables(v))) {
        r->letters += len + 1;
        if (r->letters > r->most)
            return mase_fail_at(err, MASE_ELIMIT, v->at,
                                "the keys, written out down to here, take more than %s; "
                                "MASE_MEMORY=4G allows more",
                                mase_size_text(r->most).s);
        add_row(r, v);
        return MASE_OK;
    }
    for (int i = 0; i < v->count; i++) {
        mase_str_add(&r->path, len ? "." : "");
        if (v->kind == MASE_TABLE)
            mase_str_add(&r->path, v->keys[i]);
        else
            mase_str_printf(&r->path, "%d", i);
        MASE_TRY(add_value(r, v->items[i], err));
        mase_str_cut(&r->path, len);
    }
    return MASE_OK;
}

/* Add a row for every value, named by its path of keys. */
static enum mase_status add_record(struct mase_table *t, const struct mase_value *root,
                                   const char *path, struct mase_err *err)
{
    struct mase_file f;
    MASE_TRY(mase_file_open(&f, path, err));
    struct record r = { .table = t, .most = mase_limit_of_text(f.size) };
    mase_file_close(&f);
    const enum mase_status st = add_value(&r, root, err);
    mase_str_release(&r.path);
    return st;
}

enum mase_status mase_show_record(struct mase_show *s, struct mase_err *err)
{
    static const char *const headers[] = { "Key", "Value", NULL };
    struct mase_arena *a = &s->c->arena;
    struct mase_value *root = NULL;
    const char *path = s->kind == MASE_KIND_RUN ? mase_path_join(a, s->word, "run.json") : s->word;
    if (mase_cli_text(s->c, MASE_CLI_draw) && !s->sheets)
        return mase_fail(err, MASE_EVALUE, "--draw: '%s' is %s without a graph", s->word,
                         mase_file_kinds[s->kind].title);
    MASE_TRY(s->kind == MASE_KIND_TOML ? mase_toml_read(&root, a, path, err)
                                       : mase_json_read(&root, a, path, err));
    struct mase_sheet *sheet = mase_show_sheet(s, "record", headers);
    MASE_TRY(add_record(&sheet->table, root, path, err));
    sheet->title = mase_arena_printf(a, "%s: %s", path, mase_file_kinds[s->kind].title);
    return MASE_OK;
}

/* ---- curves ---- */

struct curve {
    const char *tag;
    int64_t points, first_step, last_step;
    double first, last, min, max;
};

struct curves {
    struct mase_arena *arena;
    struct mase_map by_tag;
    struct curve **list;
    int count, cap;
};

static void add_point(const char *tag, int64_t step, double value, void *data)
{
    struct curves *all = data;
    struct curve *c = mase_map_get(&all->by_tag, tag);
    if (!c) {
        c = mase_new(all->arena, struct curve);
        *c = (struct curve){ .tag = mase_arena_strdup(all->arena, tag),
                             .first_step = step,
                             .first = value,
                             .min = INFINITY,
                             .max = -INFINITY };
        mase_map_put(&all->by_tag, c->tag, c);
        all->list =
            mase_arena_grow(all->arena, all->list, all->count, &all->cap, sizeof *all->list);
        all->list[all->count++] = c;
    }
    c->points++;
    c->last_step = step;
    c->last = value;
    c->min = fmin(c->min, value);
    c->max = fmax(c->max, value);
}

static void add_curve(struct mase_table *t, const struct curve *c)
{
    const int row = mase_table_row(t);
    const int64_t whole[] = { c->points, c->first_step, c->last_step };
    const double value[] = { c->first, c->last, c->min, c->max };
    mase_table_set(t, row, 0, c->tag);
    for (int i = 0; i < 3; i++)
        mase_table_setf(t, row, 1 + i, "%" PRId64, whole[i]);
    for (int i = 0; i < 4; i++)
        mase_table_setf(t, row, 4 + i, "%g", value[i]);
}

enum mase_status mase_show_curves(struct mase_show *s, struct mase_err *err)
{
    static const char *const headers[] = { "Tag",  "Points", "First step", "Last step", "First",
                                           "Last", "Min",    "Max",        NULL };
    struct mase_arena *a = &s->c->arena;
    struct curves all = { .arena = a, .by_tag.arena = a };
    MASE_TRY(mase_events_read(s->word, add_point, &all, err));
    struct mase_sheet *sheet = mase_show_sheet(s, "curves", headers);
    for (int i = 0; i < all.count; i++)
        add_curve(&sheet->table, all.list[i]);
    sheet->title = mase_arena_printf(a, "%s: %s of %s", s->word, mase_file_kinds[s->kind].title,
                                     mase_show_count(a, all.count, "curve"));
    return MASE_OK;
}

/* ---- samples ---- */

enum mase_status mase_show_data(struct mase_show *s, struct mase_err *err)
{
    static const char *const headers[] = { "Source", "Samples", "Shape", "Classes", NULL };
    struct mase_arena *a = &s->c->arena;
    struct mase_dataset *d = NULL;
    struct mase_str text = { 0 };
    const struct mase_dataset_opts opts = { .scale = MASE_SCALE_NONE };
    if (mase_dataset_open(&d, mase_arena_printf(a, "h5:%s", s->word), &opts, err))
        return mase_wrap(err, "%s, which is read as a dataset", mase_file_kinds[s->kind].title);
    const struct mase_dataset_info *info = mase_dataset_info(d);
    struct mase_sheet *sheet = mase_show_sheet(s, "dataset", headers);
    const int row = mase_table_row(&sheet->table);
    mase_table_set(&sheet->table, row, 0, info->data.name);
    mase_table_setf(&sheet->table, row, 1, "%" PRId64, info->rows);
    mase_shape_print(&text, &info->data.sample);
    mase_table_set(&sheet->table, row, 2, mase_str_text(&text));
    mase_table_setf(&sheet->table, row, 3, "%d", info->data.classes);
    sheet->title = mase_arena_printf(a, "%s: %s, read as a dataset; ch data info %s says more",
                                     s->word, mase_file_kinds[s->kind].title, info->data.name);
    mase_str_release(&text);
    mase_dataset_close(d);
    return MASE_OK;
}
