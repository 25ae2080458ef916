/*
 * fuzz_onnx.c - any bytes as an ONNX file; a graph that comes out is one.
 */
#include <stddef.h>
#include <stdint.h>

#include <mase/onnx.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct mase_graph *g;
    struct mase_err err;
    struct mase_str faults = { 0 };
    if (mase_onnx_parse_graph(&g, NULL, data, size, "fuzz.onnx", NULL, &err))
        return 0;
    if (mase_graph_verify(g, &faults))
        mase_bug("%s", mase_str_text(&faults));
    mase_str_release(&faults);
    mase_graph_free(g);
    return 0;
}
