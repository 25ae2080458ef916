/*
 * fuzz_source.c - any bytes as the answer of the script that traces a model: a status, or a graph
 * that verifies, is written as .mg and read back equal, copied equal, and written as a class or
 * refused. The same bytes as a question of it, twice: a line of JSON.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <mase/log.h>

#include "frontend/source_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const struct mase_str *why)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", mase_str_text(why));
    abort();
}

static void check_text(const struct mase_graph *g)
{
    struct mase_graph *back;
    struct mase_str text = { 0 }, why = { 0 };
    struct mase_err err;
    mase_graph_print_mg(&text, g);
    must(!mase_graph_parse_mg(&back, text.data, text.len, NULL, &err), &text);
    must(mase_graph_equal(g, back, &why), &why);
    mase_graph_free(back);
    mase_str_release(&text);
    mase_str_release(&why);
}

static void check_question(const char *text, size_t size)
{
    const struct mase_data_info info = { .sample = { .rank = 3, .dim = { 3, 8, 8 } } };
    struct mase_question q = { .r.path = "net.py", .data = &info };
    struct mase_str reply = { 0 };
    for (int i = 0; i < 2; i++) {
        struct mase_arena a = { 0 };
        struct mase_value *v;
        struct mase_err err;
        mase_str_clear(&reply);
        mase_question_reply(&reply, text, size, &q);
        must(!mase_json_parse(&v, &a, reply.data, reply.len, "reply", &err), &reply);
        mase_arena_release(&a);
    }
    mase_str_release(&reply);
    mase_question_release(&q);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_graph *g;
    struct mase_str text = { 0 }, why = { 0 };
    struct mase_err err;

    mase_log_set_level(MASE_CRITICAL);
    check_question((const char *)data, size);
    if (mase_source_read(&g, "net.py", (const char *)data, size, &err))
        return 0;
    must(!mase_graph_verify(g, &why), &why);
    check_text(g);
    struct mase_graph *copy = mase_graph_clone(g);
    must(mase_graph_equal(g, copy, &why), &why);
    mase_graph_free(copy);
    (void)!mase_graph_print_py(&text, g, &err);
    mase_str_release(&text);
    mase_str_release(&why);
    mase_graph_free(g);
    return 0;
}
