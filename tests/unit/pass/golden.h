/*
 * golden.h - comparing with what the original system printed and computed.
 *
 * tests/data/passes/MODEL/golden.json holds its texts and tables, golden.safetensors its numbers.
 * Where we differ on purpose, differences.txt has a row that says why, and ours.json what we print
 * instead: a listed text must differ from the golden one and be ours to the letter, so neither list
 * can rot.
 */
#ifndef MASE_TESTS_PASS_GOLDEN_H
#define MASE_TESTS_PASS_GOLDEN_H

#include "fixture.h"

static const char *const golden_models[] = {
    "jsc-tiny",    "jsc-toy",       "jsc-s",         "jsc-test", "toy",     "toy_tiny",
    "toy_convnet", "toy_custom_fn", "toy_testmodel", "res_mlp",  "conv_bn", "matmul_net",
    NULL,
};

struct golden {
    struct fixture *f;
    const char *model;
    struct mase_value *root, *ours;
    char *differences; /* rows "model case file why" */
    FILE *bless;       /* MASE_BLESS=FILE: append what we print as "KEY<tab>JSON", for ours.json */
};

static inline void golden_open(struct golden *t, struct fixture *f, const char *model)
{
    *t = (struct golden){ .f = f, .model = model };
    MUST(f, mase_json_read(&t->root, &f->arena, data_path(f, "passes", model, "golden.json"),
                           &f->err));
    MUST(f, mase_json_read(&t->ours, &f->arena, DATA "/passes/ours.json", &f->err));
    t->differences = mase_arena_strdup(&f->arena, file_text(f, DATA "/passes/differences.txt"));
    const char *bless = getenv("MASE_BLESS");
    t->bless = bless ? fopen(bless, "a") : NULL;
}

/* Is there a row for this model, case and file? A case of * stands for all. */
static inline bool is_listed(const struct golden *t, const char *kase, const char *file)
{
    bool found = false;
    char *copy = strdup(t->differences), *rest = NULL;
    for (char *line = strtok_r(copy, "\n", &rest); line && !found;
         line = strtok_r(NULL, "\n", &rest)) {
        char model[64], c[64], name[64];
        if (line[0] == '#' || sscanf(line, "%63s %63s %63s", model, c, name) != 3)
            continue;
        found = !strcmp(model, t->model) && !strcmp(c, kase) && !strcmp(name, file);
    }
    free(copy);
    return found;
}

/* The first line in which two texts differ, for the message. */
static inline void show_difference(const struct golden *t, const char *kase, const char *file,
                                   const char *want, const char *got)
{
    int line = 1;
    const char *w = want, *g = got;
    for (; *w && *w == *g; w++, g++)
        line += *w == '\n';
    while (w > want && w[-1] != '\n')
        w--, g--;
    fail_msg("%s %s %s differs in line %d\n  golden: %.*s\n  ours:   %.*s", t->model, kase, file,
             line, (int)strcspn(w, "\n"), w, (int)strcspn(g, "\n"), g);
}

static inline void compare_text(struct golden *t, const char *kase, const char *file,
                                const char *want, const char *got)
{
    if (!is_listed(t, kase, file)) {
        if (strcmp(want, got))
            show_difference(t, kase, file, want, got);
        return;
    }
    const char *key = mase_arena_printf(&t->f->arena, "%s/%s/%s", t->model, kase, file);
    if (!strcmp(want, got))
        fail_msg("%s is listed as a difference, but is not one", key);
    if (t->bless) {
        struct mase_str line = { 0 };
        mase_json_print(&line, mase_value_string(&t->f->arena, got), 0);
        fprintf(t->bless, "%s\t%s\n", key, mase_str_text(&line));
        mase_str_release(&line);
        return;
    }
    const struct mase_value *ours = mase_value_get(t->ours, key);
    if (!ours)
        fail_msg("%s is listed, but ours.json does not have it", key);
    if (strcmp(ours->s, got))
        show_difference(t, kase, file, ours->s, got);
}

/* A golden text of the model's reports, NULL when the original has none (it failed there). */
static inline const char *golden_text(const struct golden *t, const char *file)
{
    const struct mase_value *v = mase_value_get(mase_value_get(t->root, "files"), file);
    return v ? v->s : NULL;
}

/* Plain JSON: atoms become strings, tuples lists. */
static inline struct mase_value *plain(struct fixture *f, const struct mase_value *v)
{
    struct mase_str text = { 0 };
    struct mase_value *out = NULL;
    mase_json_print(&text, v, 0);
    MUST(f, mase_json_parse(&out, &f->arena, mase_str_text(&text), text.len, "ours", &f->err));
    mase_str_release(&text);
    return out;
}

/* Every value of want is in got. Records of arguments and results must be the same ones; a record
 * may say more than the golden one, which leaves out what quantisation does not change. */
static inline void assert_within(struct fixture *f, const char *where,
                                 const struct mase_value *want, const struct mase_value *got)
{
    bool tables = want->kind == MASE_TABLE && got->kind == MASE_TABLE;
    if (!tables) {
        if (!mase_value_equal(want, got)) {
            struct mase_str w = { 0 }, g = { 0 };
            mase_json_print(&w, want, 0);
            mase_json_print(&g, got, 0);
            fail_msg("%s: golden %s, ours %s", where, mase_str_text(&w), mase_str_text(&g));
        }
        return;
    }
    if ((strstr(where, ".args") || strstr(where, ".results")) && want->count > got->count)
        fail_msg("%s: golden has %d entries, ours %d", where, want->count, got->count);
    for (int i = 0; i < want->count; i++) {
        const char *inner = mase_arena_printf(&f->arena, "%s.%s", where, want->keys[i]);
        const struct mase_value *v = mase_value_get(got, want->keys[i]);
        if (!v && want->items[i]->kind == MASE_NONE)
            continue; /* a number has no precision; the golden file says none */
        if (!v)
            fail_msg("%s is missing", inner);
        bool entries = mase_streq(want->keys[i], "args") || mase_streq(want->keys[i], "results");
        if (entries && v->count != want->items[i]->count)
            fail_msg("%s: golden has %d entries, ours %d", inner, want->items[i]->count, v->count);
        assert_within(f, inner, want->items[i], v);
    }
}

/* One section of every node: {node: section}. */
static inline struct mase_value *section(struct fixture *f, enum mase_section s)
{
    struct mase_value *all = mase_value_table(&f->arena);
    for (const struct mase_node *n = f->g->first; n; n = n->next)
        mase_value_set(&f->arena, all, n->name, mase_meta_value(&f->arena, n->meta, s));
    return plain(f, all);
}

static inline void golden_close(struct golden *t)
{
    if (t->bless)
        fclose(t->bless);
}

#endif /* MASE_TESTS_PASS_GOLDEN_H */
