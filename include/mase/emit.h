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
    const char *name;   /* the prefix of functions, made a valid identifier; NULL: the name of the
                           network's program */
    const char *file;   /* name of the source and the header, without .c and .h; NULL: net */
    const char *about;  /* a sentence for the header that describes the samples; NULL: none */
    bool unrolled;      /* write weights into the code and leave out zeros; else write tables */
    bool codes;         /* inputs and outputs are integer codes; else floats */
    const float *x, *y; /* test vectors: (vectors, inputs) and (vectors, outputs) */
    int64_t vectors;
};

/* What a layer costs. */
struct mase_emitted_step {
    const char *from; /* the graph's node */
    const char *kind; /* "sum", "round" ... */
    const char *type; /* C type of the results: "uint8_t" */
    int64_t values;   /* number of results */
    int64_t products; /* multiply-adds for a sample */
    int64_t bytes;    /* of constants */
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

/* Write a graph with weights. A node that cannot be written is refused by its name: in a quantised
 * network one without integers (mase/int_program.h), in a float network one that is neither layer,
 * convolution, pool, batch norm, relu, sum, join nor layout. The steps of the source are run first,
 * on the test vectors or on drawn samples, and compared with the network; MASE_EVALUE: they differ,
 * which is a fault of this library. */
enum mase_status mase_emit_c(struct mase_emitted *e, struct mase_graph *g,
                             const struct mase_input *inputs, int input_count,
                             const struct mase_emit_opts *o, struct mase_err *err) MASE_MUST_CHECK;
void mase_emitted_release(struct mase_emitted *e);

MASE_API_END

#endif /* MASE_EMIT_H */
