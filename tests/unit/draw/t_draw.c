/*
 * t_draw.c - graphs as pictures: one to the letter, and what the options change.
 */
#include "run_cases.h"
#include "svg_check.h"

#include <mase/draw.h>

#include "base/alloc.h"

#define DATA MASE_SOURCE_DIR "/tests/data/draw/"

struct subject {
    struct mase_graph *graph;
    struct mase_arena arena;
    struct mase_values values;
};

static struct subject subject_open(void)
{
    struct subject s = { 0 };
    struct mase_err err = { 0 };
    const struct mase_input x = { "x", { .shape = { 4, { 1, 2, 8, 8 } } } };
    assert_int_equal(mase_graph_read_mg(&s.graph, DATA "residual.mg", &err), MASE_OK);
    assert_int_equal(mase_infer_shapes(&s.values, &s.arena, s.graph, &x, 1, &err), MASE_OK);
    return s;
}

static void subject_close(struct subject *s)
{
    mase_graph_free(s->graph);
    mase_arena_release(&s->arena);
}

/* The caller frees. */
static char *svg(const struct mase_graph *g, const struct mase_draw *opts)
{
    struct mase_str out = { 0 };
    mase_draw_svg(&out, g, opts);
    check_well_formed(out.data);
    return out.data;
}

static char *dot(const struct mase_graph *g, const struct mase_draw *opts)
{
    struct mase_str out = { 0 };
    mase_draw_dot(&out, g, opts);
    return out.data;
}

/* MASE_BLESS=1 writes the file instead. */
static void check_golden(const char *path, const char *got)
{
    const char *bless = getenv("MASE_BLESS");
    if (bless && bless[0])
        write_text(path, got, strlen(got));
    assert_content(path, got);
}

static void pictures_to_the_letter(void **state)
{
    (void)state;
    struct subject s = subject_open();
    const struct mase_draw opts = { .values = &s.values, .title = "a residual & its \"head\"" };
    char *picture = svg(s.graph, &opts), *text = dot(s.graph, &opts);
    check_golden(DATA "residual.svg", picture);
    check_golden(DATA "residual.dot", text);
    mase_xfree(picture);
    mase_xfree(text);
    subject_close(&s);
}

static void every_node_and_edge_is_there(void **state)
{
    (void)state;
    struct subject s = subject_open();
    char *got = svg(s.graph, NULL), want[128];
    int edges = 0;
    for (const struct mase_node *n = s.graph->first; n; n = n->next) {
        snprintf(want, sizeof want, "id=\"node-%s\"", n->name);
        assert_int_equal(count(got, want), 1);
        for (int i = 0; i < n->input_count; i++, edges++) {
            snprintf(want, sizeof want, "data-from=\"%s\" data-to=\"%s\"", n->inputs[i]->name,
                     n->name);
            assert_int_equal(count(got, want), 1);
        }
    }
    assert_int_equal(count(got, "class=\"edge\""), edges);
    assert_int_equal(count(got, "class=\"node "), s.graph->node_count);
    assert_int_equal(count(got, " quantised\""), 2);
    mase_xfree(got);
    subject_close(&s);
}

/* Without values there are no shapes, unless the metadata knows them. */
static void shapes_come_from_values(void **state)
{
    (void)state;
    struct subject s = subject_open();
    char *with = svg(s.graph, &(struct mase_draw){ .values = &s.values });
    char *without = svg(s.graph, NULL);
    assert_int_equal(count(with, ">[1, 4, 4, 4] \302\267 76 params<"), 1);
    assert_int_equal(count(without, ">76 params<"), 1);
    assert_int_equal(count(without, ">[1, "), 0);
    mase_xfree(with);
    mase_xfree(without);
    subject_close(&s);
}

static void shapes_may_stand_at_edges(void **state)
{
    (void)state;
    struct subject s = subject_open();
    const struct mase_draw opts = { .values = &s.values, .edge_shapes = true };
    char *picture = svg(s.graph, &opts), *text = dot(s.graph, &opts);
    assert_int_equal(count(picture, ">[1, 4, 4, 4]</text></g>"),
                     4); /* once for two users of conv */
    assert_int_equal(count(picture, ">[1, 4, 4, 4]</text>"), 4);
    assert_int_equal(count(text, "[label=\"[1, 4, 4, 4]\"]"), 5);
    mase_xfree(picture);
    mase_xfree(text);
    subject_close(&s);
}

static void hosts_can_have_their_own_style(void **state)
{
    (void)state;
    struct subject s = subject_open();
    struct mase_str style = { 0 };
    char *own = svg(s.graph, NULL);
    char *bare = svg(s.graph, &(struct mase_draw){ .no_style = true, .id_prefix = "b<" });
    mase_draw_style(&style);
    assert_non_null(strstr(own, style.data));
    assert_int_equal(count(bare, "<style"), 0);
    assert_int_equal(count(bare, "id=\"b&#60;node-"), s.graph->node_count);
    /* no rule reaches beyond the picture */
    for (const char *p = style.data; *p; p = strchr(p, '\n') + 1)
        assert_true(*p == '}' || *p == '@' || mase_starts_with(p, ".mase-graph "));
    mase_str_release(&style);
    mase_xfree(own);
    mase_xfree(bare);
    subject_close(&s);
}

static void annotate(struct mase_draw_note *note, const struct mase_node *n, void *data)
{
    if (!mase_streq(n->name, data))
        return;
    note->href = "#a\"b";
    note->css_class = "hot";
    note->line = "<1 % off> & a line that is far too long to be shown in the box as it is";
}

static void callers_annotate_nodes(void **state)
{
    (void)state;
    struct subject s = subject_open();
    char node[] = "bn";
    const struct mase_draw opts = { .note = annotate, .note_data = node };
    char *picture = svg(s.graph, &opts), *text = dot(s.graph, &opts);
    assert_int_equal(count(picture, "<a href=\"#a&#34;b\">"), 1);
    assert_int_equal(count(picture, "class=\"node norm hot\""), 1);
    assert_int_equal(
        count(picture, ">&#60;1 % off&#62; &#38; a line that is far too long to \342\200\246<"), 1);
    assert_int_equal(count(text, "URL=\"#a\\\"b\""), 1);
    mase_xfree(picture);
    mase_xfree(text);
    subject_close(&s);
}

static void hostile_texts_are_escaped(void **state)
{
    (void)state;
    struct subject s = subject_open();
    s.graph->name = "a\"b\\\nc";
    const struct mase_draw opts = { .title = "</title><script>\1\xff" };
    char *picture = svg(s.graph, &opts), *text = dot(s.graph, &opts);
    assert_true(mase_starts_with(text, "digraph \"a\\\"b\\\\\\nc\" {"));
    mase_xfree(picture);
    mase_xfree(text);
    subject_close(&s);
}

static void an_empty_graph_is_a_picture(void **state)
{
    (void)state;
    struct mase_graph *g = mase_graph_new(NULL);
    char *picture = svg(g, NULL), *text = dot(g, NULL);
    assert_int_equal(count(picture, "class=\"node "), 0);
    assert_true(mase_starts_with(text, "digraph \"graph\" {"));
    mase_xfree(picture);
    mase_xfree(text);
    mase_graph_free(g);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pictures_to_the_letter),
        cmocka_unit_test(every_node_and_edge_is_there),
        cmocka_unit_test(shapes_come_from_values),
        cmocka_unit_test(shapes_may_stand_at_edges),
        cmocka_unit_test(hosts_can_have_their_own_style),
        cmocka_unit_test(callers_annotate_nodes),
        cmocka_unit_test(hostile_texts_are_escaped),
        cmocka_unit_test(an_empty_graph_is_a_picture),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
