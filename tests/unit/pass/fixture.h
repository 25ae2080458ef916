/*
 * fixture.h - what the tests of this layer share: a network of tests/data, a manager around it, and
 * what the passes print.
 */
#ifndef MASE_TESTS_PASS_FIXTURE_H
#define MASE_TESTS_PASS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/meta.h>
#include <mase/npy.h>
#include <mase/pass.h>
#include <mase/run.h>
#include <mase/safetensors.h>
#include <mase/zoo.h>

#include "zoo_extra.h"

#define DATA MASE_SOURCE_DIR "/tests/data"

enum { BATCH = 8 }; /* rows of the dummy input */

struct fixture {
    struct mase_arena arena;
    struct mase_graph *g;
    struct mase_manager m;
    struct mase_tensor x;    /* all rows */
    struct mase_input dummy; /* the first BATCH of them, shape only */
    char *text;              /* what was printed, after printed() */
    size_t size, shown;      /* shown: how much of it printed() has given out */
    struct mase_err err;
};

#define MUST(f, call)                                                              \
    do {                                                                           \
        if (call)                                                                  \
            fail_msg("%s:%d: %s", (f)->err.path, (f)->err.loc.line, (f)->err.msg); \
    } while (0)

static inline const char *data_path(struct fixture *f, const char *kind, const char *model,
                                    const char *file)
{
    return mase_arena_printf(&f->arena, DATA "/%s/%s/%s", kind, model, file);
}

static inline void set_up_manager(struct fixture *f)
{
    f->m.verify = true;
    f->m.env = (struct mase_pass_env){
        .out = open_memstream(&f->text, &f->size),
        .inputs = &f->dummy,
        .input_count = 1,
        .info = mase_value_table(&f->arena),
        .info_arena = &f->arena,
        .files = mase_value_list(&f->arena),
    };
    f->m.timings = mase_value_list(&f->arena);
    assert_non_null(f->m.env.out);
}

/* Around a graph made by hand, which takes one input x of this shape; without weights. */
static inline void setup_graph(struct fixture *f, struct mase_graph *g, struct mase_shape shape)
{
    *f = (struct fixture){ .g = g };
    f->x = mase_tensor(&f->arena, MASE_F32, &shape, false);
    f->dummy = (struct mase_input){ .name = "x", .tensor = f->x };
    set_up_manager(f);
}

static inline void build(struct fixture *f, const char *model)
{
    struct mase_data_info jsc = { .sample = { 1, { 16 } }, .classes = 5 };
    struct mase_data_info toy = { .sample = { 3, { 1, 4, 4 } }, .classes = 10 };
    const struct extra_model *extra = extra_model(model);
    const struct mase_model *m;
    if (extra) {
        f->g = extra->build(&extra->data);
        return;
    }
    if (mase_streq(model, "toy_tiny"))
        toy.classes = 2;
    MUST(f, mase_zoo_find(&m, model, &f->err));
    MUST(f, m->build(&f->g, mase_starts_with(model, "jsc") ? &jsc : &toy, &f->err));
}

/* Around a golden network with its weights. */
static inline void setup(struct fixture *f, const char *model)
{
    *f = (struct fixture){ 0 };
    build(f, model);
    mase_graph_alloc(f->g);
    mase_graph_init_weights(f->g, 0); /* constants are in no file of weights */
    MUST(f, mase_weights_load(f->g, data_path(f, "models", model, "model.safetensors"), &f->err));
    MUST(f, mase_npy_read(&f->x, &f->arena, data_path(f, "models", model, "x.npy"), &f->err));
    f->dummy = (struct mase_input){ .name = "x", .tensor = f->x };
    f->dummy.tensor.shape.dim[0] = BATCH;
    f->dummy.tensor.data = NULL;
    set_up_manager(f);
}

static inline void teardown(struct fixture *f)
{
    mase_manager_release(&f->m);
    mase_graph_free(f->g);
    fclose(f->m.env.out);
    free(f->text);
    mase_arena_release(&f->arena);
}

/* What was printed since the last call. */
static inline const char *printed(struct fixture *f)
{
    fflush(f->m.env.out);
    const char *copy = mase_arena_strndup(&f->arena, f->text + f->shown, f->size - f->shown);
    f->shown = f->size;
    return copy;
}

static inline struct mase_value *toml(struct fixture *f, const char *text)
{
    struct mase_value *v = NULL;
    MUST(f, mase_toml_parse(&v, &f->arena, text, strlen(text), "test.toml", &f->err));
    return v;
}

static inline enum mase_status run(struct fixture *f, const char *pass, const char *args)
{
    return mase_manager_run(&f->m, &f->g, pass, args ? toml(f, args) : NULL, &f->err);
}

/* The pass must succeed. */
#define RUN(f, pass, args) MUST(f, run(f, pass, args))

/* The pass must fail at this place of its section with a message that holds text. */
#define FAILS(f, pass, args, row, column, text)                   \
    do {                                                          \
        assert_int_not_equal(run(f, pass, args), MASE_OK);        \
        assert_non_null(strstr((f)->err.msg, "pass " pass ": ")); \
        if (!strstr((f)->err.msg, text))                          \
            fail_msg("'%s' is not in: %s", text, (f)->err.msg);   \
        assert_int_equal((f)->err.loc.line, row);                 \
        assert_int_equal((f)->err.loc.col, column);               \
    } while (0)

/* A file as text, in the fixture's arena. */
static inline const char *file_text(struct fixture *f, const char *path)
{
    struct mase_file file;
    MUST(f, mase_file_open(&file, path, &f->err));
    const char *text = mase_arena_strndup(&f->arena, (const char *)file.data, file.size);
    mase_file_close(&file);
    return text;
}

/* A new folder under the test's temporary one. */
static inline const char *temp_dir(struct fixture *f)
{
    const char *base = getenv("TMPDIR");
    char *dir = mase_arena_printf(&f->arena, "%s/mase-pass-XXXXXX", base ? base : "/tmp");
    assert_non_null(mkdtemp(dir));
    return dir;
}

/* What the log says while it is caught. */
struct caught {
    FILE *stream;
    char *text;
    size_t size;
    enum mase_log_level level;
};

static inline void catch_log(struct caught *c, enum mase_log_level level)
{
    c->stream = open_memstream(&c->text, &c->size);
    c->level = mase_log_get_level();
    mase_log_set_stream(c->stream);
    mase_log_set_level(level);
}

/* Ends the catching; the text is the caller's to free. */
static inline char *caught_log(struct caught *c)
{
    fclose(c->stream);
    mase_log_set_stream(NULL);
    mase_log_set_level(c->level);
    return c->text;
}

#endif /* MASE_TESTS_PASS_FIXTURE_H */
