/*
 * fuzz_mg.c - any bytes as .mg: a status, or a graph that verifies, prints and reads back equal.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <mase/graph.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds, const struct mase_str *why)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", mase_str_text(why));
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_graph *g, *back;
    struct mase_str text = { 0 }, why = { 0 };
    struct mase_err err;

    if (mase_graph_parse_mg(&g, (const char *)data, size, NULL, &err))
        return 0;
    must(!mase_graph_verify(g, &why), &why);
    mase_graph_print_mg(&text, g);
    must(!mase_graph_parse_mg(&back, text.data, text.len, NULL, &err), &text);
    must(mase_graph_equal(g, back, &why), &why);
    mase_str_release(&text);
    mase_str_release(&why);
    mase_graph_free(back);
    mase_graph_free(g);
    return 0;
}
