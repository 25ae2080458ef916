/*
 * t_word.c - what a word names, and where the weights for it come from.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <mase/file.h>
#include <mase/log.h>
#include <mase/saved.h>
#include <mase/work.h>

#include "run_cases.h"

static char folder[] = "/tmp/t_word_XXXXXX";

static void write_text(const char *path, const char *text)
{
    assert_int_equal(mase_file_write(path, text, strlen(text), NULL), MASE_OK);
}

/* A graph and its weights, which stand in files of several kinds. */
static void write_network(void)
{
    struct mase_graph *g = NULL;
    const struct mase_data_info *data;
    assert_int_equal(mase_data_find(&data, "toy_tiny", NULL), MASE_OK);
    assert_int_equal(mase_model_open(&g, "toy", data, NULL, NULL), MASE_OK);
    mase_graph_init_weights(g, 1);
    struct mase_str text = { 0 };
    mase_graph_print_mg(&text, g);
    write_text("net.mg", mase_str_text(&text));
    write_text("unnamed", mase_str_text(&text));
    mkdir("saved", 0777);
    write_text("saved/graph_module.mg", mase_str_text(&text));
    mkdir("lfc", 0777);
    write_text("lfc/graph_module.mg", mase_str_text(&text));
    mase_str_release(&text);
    mkdir("hub", 0777);
    assert_int_equal(mase_weights_save(g, "hub/model.safetensors", NULL), MASE_OK);
    assert_int_equal(mase_weights_save(g, "w.pt", NULL), MASE_OK);
    assert_int_equal(mase_weights_save(g, "w.npz", NULL), MASE_OK);
    mase_graph_free(g);
}

static int set_up(void **state)
{
    (void)state;
    if (!mkdtemp(folder) || chdir(folder))
        return -1;
    write_network();
    write_text("net.py", "");
    write_text("net.onnx", "");
    write_text("notes.txt", "nothing\n");
    mkdir("empty", 0777);
    mkdir("jsc-tiny", 0777);
    mase_log_set_level(MASE_CRITICAL); /* a name that is also a folder is warned of */
    return 0;
}

static int tear_down(void **state)
{
    char command[64];
    (void)state;
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command); /* NOLINT(cert-env33-c): our own folder */
}

static void words_name_one_thing(void **state)
{
    static const struct {
        const char *word;
        enum mase_word_kind kind;
        const char *path; /* NULL: the word */
    } cases[] = {
        { "toy", MASE_WORD_ZOO, NULL },
        { "jsc_tiny", MASE_WORD_ZOO, NULL },
        { "jsc-tiny", MASE_WORD_ZOO, NULL }, /* the folder of this name holds no network */
        { "lfc", MASE_WORD_SAVED, NULL },    /* and this one does */
        { "net.py", MASE_WORD_SOURCE, NULL },
        { "net.py:Net(width=3)", MASE_WORD_SOURCE, NULL },
        { "none.py:Net", MASE_WORD_SOURCE, NULL },
        { "torchvision.models:resnet18", MASE_WORD_SOURCE, NULL },
        { "net.mg", MASE_WORD_GRAPH, NULL },
        { "none.mg", MASE_WORD_GRAPH, NULL },
        { "unnamed", MASE_WORD_GRAPH, NULL },
        { "net.onnx", MASE_WORD_ONNX, NULL },
        { "none.onnx", MASE_WORD_ONNX, NULL },
        { "saved", MASE_WORD_SAVED, NULL },
        { "saved/graph_module.mg", MASE_WORD_SAVED, "saved/" },
        { "hub", MASE_WORD_WEIGHTS, "hub/model.safetensors" },
        { "w.pt", MASE_WORD_WEIGHTS, NULL },
        { "w.npz", MASE_WORD_WEIGHTS, NULL },
        { "notes.txt", MASE_WORD_OTHER, NULL },
    };
    struct mase_arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_word w;
        assert_int_equal(mase_word_find(&w, &a, cases[i].word, NULL), MASE_OK);
        assert_int_equal(w.kind, cases[i].kind);
        assert_string_equal(w.text, cases[i].word);
        assert_string_equal(w.path, cases[i].path ? cases[i].path : cases[i].word);
        assert_true((w.model != NULL) == (w.kind == MASE_WORD_ZOO));
    }
    mase_arena_release(&a);
}

static void what_is_nothing_is_refused(void **state)
{
    static const struct {
        const char *word, *why;
    } cases[] = { { "none", "'none' is no file or folder: there is no model 'none'" },
                  { "none.pt", "'none.pt' is no file or folder" },
                  { "empty", "'empty' has no graph_module.mg" } };
    struct mase_arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_err err = { 0 };
        struct mase_word w;
        assert_int_equal(mase_word_find(&w, &a, cases[i].word, &err), MASE_EVALUE);
        assert_non_null(strstr(err.msg, cases[i].why));
    }
    mase_arena_release(&a);
}

static void weights_are_told_from_their_file(void **state)
{
    static const struct {
        const char *model, *weights, *type;
        enum mase_weight_source source;
        const char *why; /* of a refusal; NULL: there is none */
    } cases[] = {
        { "toy", NULL, NULL, MASE_WEIGHTS_SEED, NULL },
        { "toy", "w.pt", NULL, MASE_WEIGHTS_FILE, NULL },
        { "toy", "w.pt", "pl", MASE_WEIGHTS_FILE, NULL },
        { "toy", "hub", "hf", MASE_WEIGHTS_FILE, NULL },
        { "toy", "/dev/null", NULL, MASE_WEIGHTS_FILE, NULL }, /* a stream */
        { "toy", "saved", NULL, MASE_WEIGHTS_SAVED, NULL },
        { "saved", NULL, NULL, MASE_WEIGHTS_SAVED, NULL },
        { "saved", "w.npz", NULL, MASE_WEIGHTS_FILE, NULL },
        { "net.onnx", NULL, NULL, MASE_WEIGHTS_OWN, NULL },
        { "net.onnx", "./net.onnx", NULL, MASE_WEIGHTS_OWN, NULL },
        { "toy", "net.onnx", NULL, 0, "under names of its own" },
        { "toy", "w.npz", "pt", 0, "load type pt contradicts 'w.npz'" },
        { "toy", "notes.txt", NULL, 0, "cannot tell what 'notes.txt' is" },
        { "toy", "empty", NULL, 0, "'empty' is a folder without weights" },
    };
    struct mase_arena a = { 0 };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct mase_work_choice choice;
        mase_work_choice_init(&choice, &a);
        choice.model = cases[i].model;
        choice.weights = cases[i].weights;
        choice.weights_type = cases[i].type;
        struct mase_err err = { 0 };
        struct mase_opened w;
        const enum mase_status st = mase_work_find(&w, &choice, &err);
        assert_true((st != MASE_OK) == (cases[i].why != NULL));
        if (cases[i].why)
            assert_non_null(strstr(err.msg, cases[i].why));
        else
            assert_int_equal(w.source, cases[i].source);
        mase_work_close(&w);
    }
    mase_arena_release(&a);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_name_one_thing),
        cmocka_unit_test(what_is_nothing_is_refused),
        cmocka_unit_test(weights_are_told_from_their_file),
    };
    return run_cases(argc, argv, tests, set_up, tear_down);
}
