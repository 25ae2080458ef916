/*
 * onnx_tool.c - the conformance cases of the onnx package: onnx_tool CASE...; and what we check of
 * a model that we write: onnx_tool --check FILE..., a line "FILE ok" or "FILE refused WHY" for
 * each.
 *
 * A case is a folder with model.onnx, test_data_set_N/input_K.pb and output_K.pb, and a file
 * `tolerance` with rtol and atol (1e-3 and 1e-7 where there is none). For each a line:
 *
 *     NAME ok
 *     NAME refused WHY
 *     NAME wrong WHY
 *     NAME crash SIGNAL
 *
 * Each case runs in a process of its own, by the reference; and again by a plan where the graph has
 * one float32 input and one result (--plan).
 */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <mase/onnx.h>
#include <mase/run.h>

#include "onnx/onnx_check.h"
#include "onnx/onnx_file.h"

enum { MOST_INPUTS = 64, EXIT_WRONG = 3, EXIT_REFUSED = 4 };

static void quit(const char *name, const char *word, const char *why, int code)
{
    struct mase_str text = { 0 };
    mase_str_add_printable(&text, why, strlen(why), false);
    printf("%s %s %s\n", name, word, mase_str_text(&text));
    fflush(stdout);
    _exit(code);
}

/* A file that is one TensorProto; false: there is none. */
static bool read_tensor(struct mase_tensor *t, struct mase_arena *a, const char *path,
                        const char *name)
{
    struct mase_onnx_file f = { .file = { .path = path } };
    struct mase_file *file = mase_new(a, struct mase_file);
    struct mase_onnx_tensor *p = mase_new(a, struct mase_onnx_tensor);
    struct mase_err err;
    if (!mase_is_file(path))
        return false;
    if (mase_file_open(file, path, &err) ||
        mase_onnx_parse(p, a, MASE_ONNX_MESSAGE_tensor, file->data, file->size, path, &err) ||
        mase_onnx_tensor_shape(t, &f, p, &err))
        quit(name, "refused", err.msg, EXIT_REFUSED);
    t->data = mase_arena_alloc(a, (size_t)mase_tensor_bytes(t));
    mase_onnx_tensor_copy(t->data, &f, p);
    return true;
}

static bool is_close(double a, double b, double rtol, double atol)
{
    if (isnan(a) || isnan(b))
        return isnan(a) && isnan(b);
    return a == b || fabs(a - b) <= atol + rtol * fabs(b);
}

static void compare(const char *name, int i, const struct mase_arg *got,
                    const struct mase_tensor *want, const double tolerance[2])
{
    struct mase_str text = { 0 };
    if (got->kind != MASE_ARG_TENSOR)
        quit(name, "wrong", "a result is no tensor", EXIT_WRONG);
    const struct mase_tensor *t = got->tensor;
    mase_str_printf(&text, "output %d is %s", i, mase_dtypes[t->dtype].name);
    mase_shape_print(&text, &t->shape);
    mase_str_printf(&text, ", expected %s", mase_dtypes[want->dtype].name);
    mase_shape_print(&text, &want->shape);
    if (t->dtype != want->dtype || !mase_shape_equal(&t->shape, &want->shape))
        quit(name, "wrong", mase_str_text(&text), EXIT_WRONG);
    for (int64_t k = 0; k < mase_tensor_count(t); k++) {
        const double a = mase_tensor_get(t, k), b = mase_tensor_get(want, k);
        if (!is_close(a, b, tolerance[0], tolerance[1])) {
            mase_str_clear(&text);
            mase_str_printf(&text, "output %d element %lld is %.9g, expected %.9g", i, (long long)k,
                            a, b);
            quit(name, "wrong", mase_str_text(&text), EXIT_WRONG);
        }
    }
    mase_str_release(&text);
}

/* The inputs of the model that are not its tensors, in order. */
static int input_names(const char **names, const struct mase_onnx_graph *g)
{
    int count = 0;
    for (int i = 0; i < g->input.count && count < MOST_INPUTS; i++) {
        bool is_tensor = false;
        for (int k = 0; k < g->initializer.count; k++)
            is_tensor |= mase_streq(g->initializer.items[k].name, g->input.items[i].name);
        if (!is_tensor)
            names[count++] = g->input.items[i].name;
    }
    return count;
}

static void run_set(const char *name, const char *dir, int set, const double tolerance[2])
{
    struct mase_arena a = { 0 };
    struct mase_err err;
    struct mase_onnx_file f;
    const char *names[MOST_INPUTS], *model = mase_path_join(&a, dir, "model.onnx");
    struct mase_input in[MOST_INPUTS];
    struct mase_graph *g;
    struct mase_values v;
    if (mase_onnx_file_open(&f, model, &err))
        quit(name, "refused", err.msg, EXIT_REFUSED);
    const int count = input_names(names, f.model->graph);
    for (int i = 0; i < count; i++) {
        const char *path = mase_arena_printf(&a, "%s/test_data_set_%d/input_%d.pb", dir, set, i);
        in[i].name = names[i];
        if (!read_tensor(&in[i].tensor, &a, path, name))
            quit(name, "refused", "an input has no values", EXIT_REFUSED);
    }
    const struct mase_onnx_opts opts = { .inputs = in, .input_count = count };
    if (mase_onnx_read(&g, NULL, model, &opts, &err))
        quit(name, "refused", err.msg, EXIT_REFUSED);
    int k = 0;
    for (const struct mase_node *n = g->first; n; n = n->next)
        if (n->kind == MASE_PLACEHOLDER)
            in[k++].name = n->name;
    if (mase_run_reference(&v, &a, g, in, count, &err))
        quit(name, "refused", err.msg, EXIT_REFUSED);
    const struct mase_arg *out = mase_run_output(&v, g);
    for (int i = 0; i < f.model->graph->output.count; i++) {
        struct mase_tensor want;
        const char *path = mase_arena_printf(&a, "%s/test_data_set_%d/output_%d.pb", dir, set, i);
        if (!read_tensor(&want, &a, path, name))
            quit(name, "wrong", "there is no expected output", EXIT_WRONG);
        compare(name, i, out->kind == MASE_ARG_DICT ? &out->items[i] : out, &want, tolerance);
    }
    mase_graph_free(g);
    mase_onnx_file_close(&f);
    mase_arena_release(&a);
}

static void run_case(const char *dir)
{
    struct mase_arena a = { 0 };
    const char *slash = strrchr(dir, '/'), *name = slash ? slash + 1 : dir;
    double tolerance[2] = { 1e-3, 1e-7 };
    FILE *t = fopen(mase_path_join(&a, dir, "tolerance"), "r");
    if (t && fscanf(t, "%lf %lf", &tolerance[0], &tolerance[1]) != 2)
        quit(name, "wrong", "its tolerance is no pair of numbers", EXIT_WRONG);
    if (t)
        fclose(t);
    for (int set = 0; mase_is_dir(mase_arena_printf(&a, "%s/test_data_set_%d", dir, set)); set++)
        run_set(name, dir, set, tolerance);
    mase_arena_release(&a);
    printf("%s ok\n", name);
}

static void check_file(const char *path)
{
    struct mase_file f;
    struct mase_err err = { 0 };
    int node;
    if (mase_file_open(&f, path, &err))
        quit(path, "wrong", err.msg, EXIT_WRONG);
    if (mase_onnx_check(&node, f.data, f.size, &err))
        printf("%s refused %s\n", path, err.msg);
    else
        printf("%s ok\n", path);
    mase_file_close(&f);
}

int main(int argc, char **argv)
{
    int bad = 0;
    if (argc > 1 && mase_streq(argv[1], "--check")) {
        for (int i = 2; i < argc; i++)
            check_file(argv[i]);
        return 0;
    }
    for (int i = 1; i < argc; i++) {
        int status;
        fflush(stdout);
        const pid_t child = fork();
        if (child == 0) {
            alarm(60);
            run_case(argv[i]);
            return 0;
        }
        if (child < 0 || waitpid(child, &status, 0) < 0)
            return 1;
        if (WIFSIGNALED(status))
            printf("%s crash %d\n", argv[i], WTERMSIG(status));
        bad += WIFSIGNALED(status) || WEXITSTATUS(status) == EXIT_WRONG;
    }
    return bad ? 1 : 0;
}
