/*
 * emit.h - a network as C source that needs nothing else.
 *
 * One C99 file and its header: constants, static memory, loops. There is no allocation, no library
 * and no header but <stdint.h> and <stddef.h>. A quantised network becomes the integers of
 * mase/int_program.h and gives their bits; a network without number formats becomes floats.
 *
 *     struct mase_emitted e = { 0 };
 *     MASE_TRY(mase_emit_c(&e, graph, &input, 1, &(struct mase_emit_opts){ .name = "jets" }, err));
 *     MASE_TRY(mase_file_write("net.c", e.source.data, e.source.len, err));
 *     mase_emitted_release(&e);
 */
#ifndef MASE_EMIT_H
#define MASE_EMIT_H

#include <mase/api.h>
#include <mase/call.h>
#include <mase/str.h>

MASE_API_BEGIN

struct mase_emit_opts {
    const char *name;  /* of the network: what functions are called, made a valid name; NULL: its
                        * program's */
    const char *file;  /* what the source and the header are called, without .c and .h; NULL: net */
    const char *about; /* what the samples are, a sentence for the header; NULL: nothing */
    bool unrolled;     /* weights stand in the code, zeros are left out; else they are tables */
    bool codes;        /* take and give integer codes; else floats */
    const float *x, *y; /* test vectors: (vectors, inputs) and (vectors, outputs) */
    int64_t vectors;
};

/* What a layer costs. */
struct mase_emitted_step {
    const char *from; /* the graph's node */
    const char *kind; /* "sum", "round" ... */
    const char *type; /* of what it gives: "uint8_t" */
    int64_t values;   /* that it gives */
    int64_t products; /* multiply-adds for a sample */
    int64_t bytes;    /* of its constants */
};

struct mase_emitted {
    struct mase_arena arena;
    struct mase_str source, header, test;
    const char *name;        /* of the function */
    int64_t inputs, outputs; /* of one sample */
    bool integers;
    struct mase_emitted_step *step;
    int count, cap;
    int64_t constants; /* bytes */
    int64_t memory;    /* bytes of static memory that is written */
    int64_t code;      /* bytes, estimated: x86-64 at -Os */
    int64_t products;  /* multiply-adds for a sample */
    int64_t roundings; /* values rounded for a sample */
};

/* The graph has weights. Refused, by the name of the node: what has no integers
 * (mase/int_program.h), and in float what is neither layer, convolution, pool, batch norm, relu,
 * sum, join nor layout. What will be written is run first, over the test vectors or drawn samples;
 * MASE_EVALUE: it does not give what the network gives, which is a fault of ours. */
enum mase_status mase_emit_c(struct mase_emitted *e, struct mase_graph *g,
                             const struct mase_input *inputs, int input_count,
                             const struct mase_emit_opts *o, struct mase_err *err) MASE_MUST_CHECK;
void mase_emitted_release(struct mase_emitted *e);

MASE_API_END

#endif /* MASE_EMIT_H */
