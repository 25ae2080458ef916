/*
 * emit.h - a network as source of another language: the rows of targets.def.
 *
 * A quantised network becomes the integers of mase/int_program.h and gives their bits; a network
 * without number formats becomes floats, where the target takes them. C is one C99 file and its
 * header: constants, static memory, loops. There is no allocation, no library and no header but
 * <stdint.h> and <stddef.h>.
 *
 *     struct mase_emitted e = { 0 };
 *     const struct mase_emit_opts o = { .name = "jets" };
 *     MASE_TRY(mase_emit(&e, mase_target_find("c"), graph, &input, 1, &o, err));
 *     for (int i = 0; i < e.files; i++)
 *         MASE_TRY(mase_file_write(e.file[i].name, e.file[i].text.data, e.file[i].text.len, err));
 *     mase_emitted_release(&e);
 */
#ifndef MASE_EMIT_H
#define MASE_EMIT_H

#include <mase/api.h>
#include <mase/call.h>
#include <mase/opt.h>
#include <mase/str.h>

MASE_API_BEGIN

/* ---- targets ---- */

struct mase_target_functions;
struct mase_target {
    const char *name;
    const char *ends; /* of its main file: ".c" */
    bool floats;      /* takes networks without number formats, too */
    const char *help;
    const struct mase_opt *rows; /* its options */
    const struct mase_target_functions *functions;
};
extern const struct mase_target mase_targets[]; /* the last has no name */

const struct mase_target *mase_target_find(const char *name);    /* NULL: there is none */
const struct mase_target *mase_target_of_path(const char *path); /* by its ending; the same */

/* The options of C. */
enum mase_target_c_option { MASE_TARGET_C_style, MASE_TARGET_C_codes };
extern const struct mase_opt mase_target_c_rows[];

/* ---- emission ---- */

struct mase_value;
struct mase_emit_opts {
    const char *name;  /* the prefix of functions, made a valid identifier; NULL: the name of the
                          network's program */
    const char *file;  /* name of the files, without their endings; NULL: net */
    const char *about; /* a sentence for readers that describes the samples; NULL: none */
    const struct mase_value *options; /* a table of options of the target; NULL: the defaults */
    const float *x, *y;               /* test vectors: (vectors, inputs) and (vectors, outputs) */
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

struct mase_emitted_file {
    const char *name;
    struct mase_str text;
};
enum { MASE_EMITTED_FILES = 4 };

struct mase_emitted {
    struct mase_arena arena;
    struct mase_emitted_file file[MASE_EMITTED_FILES]; /* the main one first */
    int files;
    const char *makefile;    /* the file whose rules check the test vectors; NULL: there are none */
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
enum mase_status mase_emit(struct mase_emitted *e, const struct mase_target *t,
                           struct mase_graph *g, const struct mase_input *inputs, int input_count,
                           const struct mase_emit_opts *o, struct mase_err *err) MASE_MUST_CHECK;
void mase_emitted_release(struct mase_emitted *e);

MASE_API_END

#endif /* MASE_EMIT_H */
