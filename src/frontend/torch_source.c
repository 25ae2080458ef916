/*
 * torch_source.c - trace a torch.nn.Module in a user's .py file to a graph.
 *
 * python3 (from 3.8, without torch) runs our script, tracer/, as a child process. The script gets
 * the rows of ops.def and the shapes of the data set, imports the file with stand-ins for torch,
 * builds the model and calls its forward with proxies. It returns the recorded calls as JSON, each
 * module and call with the user's line. source_read.c checks them, adds names and defaults, and
 * builds the graph.
 *
 * The file is code and runs as the user, whose files it can read and write. Time, memory and what
 * it prints are limited, and where the kernel filters system calls it has no network and no other
 * process (base/confine.c); Python's own ways to either are refused by name (the script's audit
 * hook).
 */
#include <stdlib.h>
#include <string.h>

#include <mase/log.h>
#include <mase/value.h>

#include "base/confine.h"
#include "frontend/child.h"
#include "frontend/source.h"
#include "frontend/source_read.h"
#include "frontend/tracer.h"

enum { DEFAULT_SECONDS = 20, DEFAULT_MEMORY_MB = 4096, MAX_ERRORS = 1 << 16 };

/* ---- the request ---- */

static struct mase_value *ops(struct mase_arena *a)
{
    struct mase_value *list = mase_value_list(a);
    for (int i = 0; i < MASE_OP_COUNT; i++) {
        struct mase_value *v = mase_value_table(a);
        mase_value_set(a, v, "call", mase_value_text(a, mase_ops[i].call));
        mase_value_set(a, v, "functions", mase_value_text(a, mase_ops[i].functions));
        mase_value_set(a, v, "methods", mase_value_text(a, mase_ops[i].methods));
        mase_value_set(a, v, "module", mase_value_text(a, mase_ops[i].module));
        mase_value_set(a, v, "ctor", mase_value_text(a, mase_ops[i].ctor));
        mase_value_push(a, list, v);
    }
    return list;
}

/* The fields that the original's models read: features of a row, or image size. */
static struct mase_value *info(struct mase_arena *a, const struct mase_data_info *d)
{
    struct mase_value *v = mase_value_table(a);
    const bool row = d->sample.rank == 1;
    mase_value_set(a, v, "name", mase_value_text(a, d->name));
    mase_value_set(a, v, "num_classes", mase_value_int(a, d->classes));
    mase_value_set(a, v, "num_features",
                   row ? mase_value_int(a, d->sample.dim[0]) : mase_value_none(a));
    mase_value_set(a, v, "image_size",
                   row ? mase_value_none(a) : mase_value_ints(a, d->sample.dim, d->sample.rank));
    mase_value_set(a, v, "in_channels",
                   row ? mase_value_none(a) : mase_value_int(a, d->sample.dim[0]));
    return v;
}

/* The -c argument of python3. The script exceeds the length of an argument, so it is read from
 * standard input: compiled, and as text for another version of Python. */
static const char begin[] =
    "import importlib.util, marshal, sys\n"
    "sizes = sys.stdin.buffer.readline().split()\n"
    "code, script = [sys.stdin.buffer.read(int(n)) for n in sizes]\n"
    "is_ours = code[:4] == importlib.util.MAGIC_NUMBER\n"
    "exec(marshal.loads(code[4:]) if is_ours else compile(script, '<string>', 'exec'))";

/* The seccomp filter that the script installs: a list of [code, jump if true, jump if false,
 * number], where null stands for the process id. */
static struct mase_value *confinement(struct mase_arena *a)
{
    struct mase_value *list = mase_value_list(a);
    struct mase_confine_step step[MASE_CONFINE_STEPS];
    const int n = mase_confine_steps(step);
    for (int i = 0; i < n; i++) {
        struct mase_value *one = mase_value_list(a);
        mase_value_push(a, one, mase_value_int(a, step[i].code));
        mase_value_push(a, one, mase_value_int(a, step[i].yes));
        mase_value_push(a, one, mase_value_int(a, step[i].no));
        mase_value_push(a, one, step[i].own_id ? mase_value_none(a) : mase_value_int(a, step[i].k));
        mase_value_push(a, list, one);
    }
    return list;
}

static void write_request(struct mase_str *out, const char *path, const char *call,
                          const struct mase_data_info *data, bool is_loss, double seconds)
{
    struct mase_arena a = { 0 };
    struct mase_value *v = mase_value_table(&a);
    mase_value_set(&a, v, "file", mase_value_text(&a, path));
    mase_value_set(&a, v, "call", mase_value_text(&a, call));
    mase_value_set(&a, v, "loss", mase_value_bool(&a, is_loss));
    mase_value_set(&a, v, "info", info(&a, data));
    mase_value_set(&a, v, "seconds", mase_value_float(&a, seconds));
    mase_value_set(&a, v, "filter", confinement(&a));
    mase_value_set(&a, v, "ops", ops(&a));
    mase_str_printf(out, "%zu %zu\n", mase_tracer_code_size, mase_tracer_script_size);
    mase_str_addn(out, mase_tracer_code, mase_tracer_code_size);
    mase_str_addn(out, mase_tracer_script, mase_tracer_script_size);
    mase_json_print(out, v, 0);
    mase_str_add(out, "\n");
    mase_arena_release(&a);
}

/* ---- the child ---- */

/* Is the file a user's, not part of Python or of an installed package? */
static bool is_users(const char *path)
{
    return path[0] != '<' && !strstr(path, "/lib/python") && !strstr(path, "-packages/");
}

/* The innermost place in the user's file in Python's traceback of a crash or timeout: File
 * "net.py", line 12 in forward */
static struct mase_loc place_of(struct mase_arena *a, const char *dump, const char *path)
{
    static const char before[] = "  File \"", between[] = "\", line ";
    struct mase_loc at = { .path = path, .off = -1 };
    for (const char *p = dump; (p = strstr(p, before)); p++) {
        const char *name = p + sizeof before - 1, *end = strstr(name, between);
        if (!end)
            break;
        const char *file = mase_arena_strndup(a, name, (size_t)(end - name));
        const long line = strtol(end + sizeof between - 1, NULL, 10);
        if (is_users(file) && line > 0 && line < INT32_MAX)
            return (struct mase_loc){ .path = file, .line = (int)line, .col = 1, .off = -1 };
    }
    return at;
}

/* Did Python's watchdog report a timeout? */
static bool is_late(const char *dump)
{
    return mase_starts_with(dump + strspn(dump, "\n"), "Timeout (");
}

static enum mase_status fail_late(const char *path, const char *dump, double seconds,
                                  struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const enum mase_status st = mase_fail_at(
        err, MASE_ELIMIT, place_of(&a, dump, path),
        "still running after %g s, and python3 was stopped; --trace-seconds gives it more",
        seconds);
    mase_arena_release(&a);
    return st;
}

static enum mase_status fail_crashed(const char *path, const char *dump, int code,
                                     struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const enum mase_status st = mase_fail_at(err, MASE_EVALUE, place_of(&a, dump, path),
                                             "python3 ended with status %d", code);
    mase_arena_release(&a);
    return st;
}

static enum mase_status ask(struct mase_str *answer, const char *path,
                            const struct mase_str *request, double seconds, double memory_mb,
                            struct mase_question *asked, struct mase_err *err)
{
    const char *const argv[] = { "python3", "-I", "-B", "-c", begin, NULL };
    const struct mase_child child = { .program = "python3",
                                      .argv = argv,
                                      .input = mase_str_text(request),
                                      .input_size = request->len,
                                      .seconds = seconds,
                                      .memory = (int64_t)(memory_mb * (1 << 20)),
                                      .max_output = MASE_TEXT_MAX,
                                      .max_errors = MAX_ERRORS,
                                      .ask = mase_question_reply,
                                      .data = asked };
    enum mase_child_end end;
    size_t dropped;
    int code = 0;
    MASE_TRY(mase_child_run(&end, &code, answer, &dropped, &child, err));
    if (dropped)
        mase_warn("%s printed %.1f MB more, which are left out", path, (double)dropped / 1e6);
    switch (end) {
    case MASE_CHILD_NOT_FOUND:
        return mase_fail_in(
            err, MASE_EUNSUPPORTED, path,
            "reading a .py model needs python3 (3.8 or later), and there is none in "
            "PATH; a .mg file, a list of layers or a model of the zoo needs none");
    case MASE_CHILD_TIMEOUT:
        return fail_late(path, mase_str_text(answer), seconds, err);
    case MASE_CHILD_OUTPUT_LIMIT:
        return mase_fail_in(err, MASE_ELIMIT, path, "its graph has more than %d MiB of text",
                            MASE_TEXT_MAX >> 20);
    case MASE_CHILD_DONE:
        break;
    }
    if (code && is_late(mase_str_text(answer)))
        return fail_late(path, mase_str_text(answer), seconds, err);
    if (code)
        return fail_crashed(path, mase_str_text(answer), code, err);
    return MASE_OK;
}

enum mase_status mase_source_trace(struct mase_graph **g, const char *path, const char *call,
                                   const struct mase_data_info *data,
                                   const struct mase_model_opts *opts, struct mase_err *err)
{
    const double seconds = opts && opts->seconds > 0 ? opts->seconds : DEFAULT_SECONDS;
    const double memory = opts && opts->memory_mb > 0 ? opts->memory_mb : DEFAULT_MEMORY_MB;
    struct mase_str request = { 0 }, answer = { 0 };
    const struct mase_tensor *target = opts ? opts->target : NULL;
    struct mase_question asked = { .r.path = path, .data = data, .target = target };

    mase_info("Executing %s with python3 to trace its %s", path, target ? "loss" : "model");
    write_request(&request, path, call, data, target != NULL, seconds);
    enum mase_status st = ask(&answer, path, &request, seconds, memory, &asked, err);
    if (!st) {
        const char *text = mase_str_text(&answer), *late = strstr(text, "\n{");
        const size_t skip = text[0] != '{' && late ? (size_t)(late + 1 - text) : 0;
        st = mase_source_read(g, path, text + skip, answer.len - skip, err);
    }
    mase_str_release(&request);
    mase_str_release(&answer);
    mase_question_release(&asked);
    return st;
}
