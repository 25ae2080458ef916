/*
 * show_tensors.c - ch show for files of tensors: names, types, shapes, metadata. For a checkpoint
 * the model's tensors are listed; the rest of the tree, such as the tensors of optimisers, is
 * summarised.
 */
#include <inttypes.h>
#include <string.h>

#include "file/outline.h"
#include <mase/torch.h>

#include "cli/command/cmd_show.h"

enum {
    SHOWN_LETTERS = 60, /* characters of a value */
    SHOWN_ITEMS = 64,   /* items of a dictionary */
    SHOWN_MOST = 1000,  /* items of the outermost one */
    SHOWN_GROUPS = 4,   /* dictionaries of a list */
    SHOWN_DEPTH = 3,
    SMALL = 12 /* objects of a value that is printed completely */
};

/* ---- tensors ---- */

static void add_tensors(struct mase_show *s, const struct mase_outline *o, int64_t *values,
                        int64_t *bytes)
{
    const char *headers[5 + MASE_SHOW_STATS + 1] = { "Name", "Type", "Shape", "Values", "Bytes" };
    if (mase_cli_flag(s->c, MASE_CLI_stats))
        memcpy(headers + 5, mase_show_stats, sizeof mase_show_stats);
    struct mase_sheet *sheet = mase_show_sheet(s, "tensors", headers);
    struct mase_table *t = &sheet->table;
    for (int i = 0; i < o->count; i++) {
        const struct mase_named_tensor *item = &o->items[i];
        const int64_t count = mase_tensor_count(&item->tensor);
        const int64_t size = mase_tensor_bytes(&item->tensor);
        const int row = mase_table_row(t);
        struct mase_str shape = { 0 };
        mase_shape_print(&shape, &item->tensor.shape);
        mase_table_set(t, row, 0, item->name);
        mase_table_set(t, row, 1, mase_show_type(&item->tensor));
        mase_table_set(t, row, 2, mase_str_text(&shape));
        mase_table_setf(t, row, 3, "%" PRId64, count);
        mase_table_setf(t, row, 4, "%" PRId64, size);
        if (t->columns > 5)
            mase_show_set_stats(t, row, 5, &item->tensor);
        mase_str_release(&shape);
        *values += count;
        *bytes += size;
    }
    sheet->title = mase_show_count(&s->c->arena, o->count, "tensor");
}

/* ---- the tree of a checkpoint ---- */

struct tree {
    const struct mase_obj *state; /* already listed */
    int listed;                   /* number of listed tensors */
    struct mase_table *table;
};

struct content {
    int64_t objects, tensors, values;
};

static bool is_container(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_DICT || o->kind == MASE_OBJ_LIST || o->kind == MASE_OBJ_TUPLE ||
           o->kind == MASE_OBJ_OPAQUE;
}

static bool has_keys(const struct mase_obj *o)
{
    return o->kind == MASE_OBJ_DICT || o->kind == MASE_OBJ_OPAQUE;
}

static void count_content(struct content *c, const struct mase_obj *o)
{
    c->objects++;
    if (o->kind == MASE_OBJ_TENSOR) {
        c->tensors++;
        c->values += mase_tensor_count(o->tensor);
    }
    for (int i = 0; is_container(o) && i < o->count; i++)
        count_content(c, o->items[i]);
}

/* At most so many bytes, not cut within a character. */
static const char *shortened(struct mase_arena *a, const char *text)
{
    size_t n = strcspn(text, "\n");
    if (n <= SHOWN_LETTERS && !text[n])
        return text;
    n = n < SHOWN_LETTERS ? n : SHOWN_LETTERS;
    while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
        n--;
    return mase_arena_printf(a, "%.*s...", (int)n, text);
}

static const char *printed(struct mase_arena *a, const struct mase_obj *o)
{
    struct mase_str text = { 0 };
    if (o->kind == MASE_OBJ_TEXT)
        mase_str_add(&text, o->text);
    else
        mase_obj_print(&text, o);
    const char *copy = mase_arena_strdup(a, shortened(a, mase_str_text(&text)));
    mase_str_release(&text);
    return copy;
}

static void add_row(struct tree *t, const char *path, const struct mase_obj *o, const char *value)
{
    mase_table_add(t->table, (const char *[]){ path, mase_obj_kind_names[o->kind], value });
}

/* A summary: "11 items: lr, betas, ...", "200 items, the first is 0.5". */
static const char *summed_up(struct mase_arena *a, const struct mase_obj *o,
                             const struct content *c)
{
    const char *items = mase_show_count(a, o->count, "item");
    if (c->tensors && o->kind != MASE_OBJ_OPAQUE)
        return mase_arena_printf(a, "%s with %s, %s", items,
                                 mase_show_count(a, c->tensors, "tensor"),
                                 mase_show_count(a, c->values, "value"));
    if (o->kind == MASE_OBJ_OPAQUE)
        return printed(a, o);
    if (o->kind != MASE_OBJ_DICT)
        return mase_arena_printf(a, "%d items, the first is %s", o->count, printed(a, o->items[0]));
    struct mase_str keys = { 0 };
    mase_str_printf(&keys, "%s: ", items);
    for (int i = 0; i < o->count && keys.len <= SHOWN_LETTERS; i++)
        mase_str_printf(&keys, "%s%s", i ? ", " : "", printed(a, o->keys[i]));
    const char *text = mase_arena_strdup(a, shortened(a, mase_str_text(&keys)));
    mase_str_release(&keys);
    return text;
}

static const char *path_to(struct mase_arena *a, const char *above, const struct mase_obj *parent,
                           int i)
{
    const char *dot = above[0] ? "." : "";
    return has_keys(parent)
               ? mase_arena_printf(a, "%s%s%s", above, dot, printed(a, parent->keys[i]))
               : mase_arena_printf(a, "%s%s%d", above, dot, i);
}

/* Dictionaries with names get a row for each item; numbered states, long lists and contents of
 * objects do not. */
static bool should_expand(const struct mase_obj *o, int depth)
{
    if (o->kind == MASE_OBJ_OPAQUE)
        return false;
    if (depth == 0)
        return o->count <= SHOWN_MOST;
    if (depth >= SHOWN_DEPTH || o->count > SHOWN_ITEMS)
        return false;
    return o->kind == MASE_OBJ_DICT ? o->keys[0]->kind == MASE_OBJ_TEXT : is_container(o->items[0]);
}

static void add_object(struct tree *t, const char *path, const struct mase_obj *o, int depth);

/* Skip the listed tensors, and summarise other parts of the state. */
static void add_state(struct tree *t, const char *path, const struct mase_obj *o,
                      const struct content *c, int depth)
{
    struct mase_arena *a = t->table->arena;
    const bool object = o->kind == MASE_OBJ_OPAQUE;
    const char *listed = mase_show_count(a, object ? (int64_t)t->listed : c->tensors, "tensor");
    add_row(t, path, o,
            mase_arena_printf(a, "%s%sthe %s above", object ? o->type : "", object ? ": " : "",
                              listed));
    for (int i = 0; !depth && !object && i < o->count; i++)
        if (o->items[i]->kind != MASE_OBJ_TENSOR)
            add_object(t, path_to(a, path, o, i), o->items[i], depth + 1);
}

static void add_object(struct tree *t, const char *path, const struct mase_obj *o, int depth)
{
    struct mase_arena *a = t->table->arena;
    struct content c = { 0 };
    count_content(&c, o);
    if (o == t->state)
        add_state(t, path, o, &c, depth);
    else if (!is_container(o) || !o->count)
        add_row(t, path, o, printed(a, o));
    else if (should_expand(o, depth))
        for (int i = 0; i < o->count; i++)
            add_object(t, path_to(a, path, o, i), o->items[i],
                       depth + (o->kind == MASE_OBJ_DICT || !depth));
    else
        add_row(t, path, o, c.objects <= SMALL && !c.tensors ? printed(a, o) : summed_up(a, o, &c));
}

static void add_tree(struct mase_show *s, const struct mase_outline *o)
{
    static const char *const headers[] = { "Key", "Kind", "Value", NULL };
    struct mase_sheet *sheet = mase_show_sheet(s, "contents", headers);
    struct tree t = { o->state, o->count, &sheet->table };
    add_object(&t, "", o->tree, 0);
    sheet->title = "all that the file holds";
}

/* ---- the file ---- */

static void add_metadata(struct mase_show *s, const struct mase_value *metadata)
{
    static const char *const headers[] = { "Key", "Value", NULL };
    struct mase_sheet *sheet = mase_show_sheet(s, "metadata", headers);
    for (int i = 0; i < metadata->count; i++)
        mase_table_add(&sheet->table, (const char *[]){ metadata->keys[i], metadata->items[i]->s });
    sheet->title = "metadata";
}

/* Is there more than the listed tensors? */
static bool holds_more(const struct mase_outline *o)
{
    return o->tree &&
           (o->tree != o->state || o->tree->kind != MASE_OBJ_DICT || o->tree->count > o->count);
}

static void report(struct mase_show *s, const struct mase_outline *o)
{
    static const char *const of_torch[] = { "Kind",  "File bytes", "Tensors", "Values",
                                            "Bytes", "State dict", NULL };
    static const char *const of_others[] = { "Kind",   "File bytes", "Tensors",
                                             "Values", "Bytes",      NULL };
    struct mase_sheet *summary = mase_show_sheet(s, "summary", o->tree ? of_torch : of_others);
    struct mase_table *t = &summary->table;
    int64_t values = 0, bytes = 0;
    const int row = mase_table_row(t);
    add_tensors(s, o, &values, &bytes);
    mase_table_set(t, row, 0, mase_file_kinds[o->kind].name);
    mase_table_setf(t, row, 1, "%" PRId64, o->file_bytes);
    mase_table_setf(t, row, 2, "%d", o->count);
    mase_table_setf(t, row, 3, "%" PRId64, values);
    mase_table_setf(t, row, 4, "%" PRId64, bytes);
    if (o->tree)
        mase_table_set(t, row, 5, o->state_key ? o->state_key : "");
    summary->title =
        mase_arena_printf(&s->c->arena, "%s: %s", s->word, mase_file_kinds[o->kind].title);
    if (holds_more(o))
        add_tree(s, o);
    if (o->metadata && o->metadata->count)
        add_metadata(s, o->metadata);
}

enum mase_status mase_show_tensors(struct mase_show *s, struct mase_err *err)
{
    struct mase_outline o;
    if (mase_cli_text(s->c, MASE_CLI_draw))
        return mase_fail(err, MASE_EVALUE, "--draw: '%s' is %s: it has tensors and no graph",
                         s->word, mase_file_kinds[s->kind].title);
    MASE_TRY(mase_outline_open(&o, s->word, mase_cli_flag(s->c, MASE_CLI_stats), err));
    report(s, &o);
    mase_outline_close(&o);
    return MASE_OK;
}
