/*
 * mase.h - libmase for other programs: networks as graphs, opened, looked at, changed, quantised,
 * measured, trained, run and saved.
 *
 *     struct mase_err err = { 0 };
 *     struct mase_net *net = NULL;
 *     struct mase_session *s = mase_session_new(NULL);
 *     if (mase_net_open(s, &net, "jsc-tiny", NULL, &err) ||
 *         mase_net_pass(net, "quantize", config, NULL, NULL, &err))
 *         mase_err_print(stderr, &err);
 *     mase_net_free(net);
 *     mase_session_free(s);
 *
 * This header is the stable part of the library: objects are opaque, and what it declares keeps its
 * meaning as long as MASE_ABI does. The headers in mase/ show the library from inside, for passes
 * and plugins; they may change with every version.
 *
 * Failing. Whatever can fail returns a status: MASE_OK is 0, anything else is a failure whose place
 * and sentence stand in err (mase/err.h), which may be NULL. The library never exits, prints, or
 * touches signals. Out of memory is a status (MASE_ENOMEM), and so is a fault of our own
 * (MASE_EBUG). A call that fails leaves nothing half-done: no memory, no open file, no unfinished
 * file; a network or data that it was to make is NULL, and one that it was to change is as it was
 * before. The one exception are edits (mase_net_add and below): without memory in the middle of
 * one, the network refuses all further calls but mase_net_free. NULL where something is needed, and
 * whatever else of an argument can be seen to be wrong, is MASE_EVALUE.
 *
 * Options. Where a call takes a text of options, these are the words of configuration files, as
 * TOML
 * ("max_epochs = 3") or, if the text begins with a brace, as JSON ("{\"max_epochs\": 3}"). A word
 * or a value that is not allowed is an error with its line and column. NULL: the defaults. Structs
 * that a caller fills begin with their own size, so that they can grow; what is left zero is the
 * default.
 *
 * Texts. Results that have parts come as JSON in a struct mase_text, which the caller releases.
 *
 * Threads. Objects of different sessions have nothing in common; nor have different objects of one
 * session, if its hooks can be called by several threads at once. One object is for one thread at a
 * time; any number may read an open mase_rows. Networks compute with threads of their own, which
 * end before the process forks: parent and child compute on, if no other thread was in a call. A
 * callback may look at the network that the call changes, which is still as it was, but not change
 * it: MASE_EVALUE.
 *
 * The examples in this header are compiled by the tests, as bodies of functions that have s, net,
 * node, rows, runner, text, err, config, the number formats of its layers, and search, a section
 * [search], of which mine.db has a study.
 */
#ifndef MASE_H
#define MASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mase/api.h>
#include <mase/err.h>
#include <mase/log.h>

MASE_API_BEGIN

/* Of this header; the number in libmase.so.N. It is raised when something here changes its meaning.
 */
#define MASE_ABI 0

struct mase_session; /* the host: its hooks and passes */
struct mase_net;     /* a network: graph, weights, metadata */
struct mase_node;    /* a node of it */
struct mase_rows;    /* samples with what they should become, in splits */
struct mase_runner;  /* a network made ready to compute */
struct mase_trials;  /* a study: what a search tried, and what that came to */

/* "0.2.0", and the MASE_ABI, of the library that runs.
 *
 *     if (mase_abi() != MASE_ABI)
 *         return mase_fail(err, MASE_EUNSUPPORTED, "libmase %s is another one", mase_version());
 */
MASE_API const char *mase_version(void);
MASE_API int mase_abi(void);

/* "file:line:col: sentence" of an error, cut to size bytes with its final 0; returns how long the
 * whole is. mase_err_print (mase/err.h) writes the same with the line that is meant.
 *
 *     char sentence[2048];
 *     mase_err_text(err, sentence, sizeof sentence);
 */
MASE_API size_t mase_err_text(const struct mase_err *err, char *buffer, size_t size);

/* ---- texts ---- */

/* A result in words: data is 0-terminated, NULL before there is one. */
struct mase_text {
    char *data;
    size_t len;
};

/* Give it back; an empty one may be, too.
 *
 *     struct mase_text out = { 0 };
 *     MASE_TRY(mase_net_print(net, &out, "graph", err));
 *     puts(out.data);
 *     mase_text_release(&out);
 */
MASE_API void mase_text_release(struct mase_text *t);

/* ---- sessions ---- */

/* What the program around the library wants to be asked and told. All of it may be left out. The
 * functions are called by the thread that called the library, and may call it again. */
struct mase_hooks {
    size_t size;
    void *user; /* given to each of them */
    /* All memory of the session, by realloc's contract; size 0: free p, and return NULL. NULL when
     * there is none. Several threads may call it at once. */
    void *(*alloc)(void *user, void *p, size_t size);
    /* What a person might want to know, a line without its end. Without it nothing is said. */
    void (*log)(void *user, enum mase_log_level level, const char *message);
    enum mase_log_level log_level; /* the least that log is called for; MASE_DEBUG is 0 */
    /* Long work shows that it is alive: total is 0 when it is not known. */
    void (*progress)(void *user, const char *title, int64_t done, int64_t total);
};

/* A session; NULL: there is no memory for one, or hooks->size is none that was ever valid. hooks
 * may be NULL and are copied. Everything opened in a session is freed before it.
 *
 *     struct mase_hooks hooks = { sizeof hooks, NULL, NULL, NULL, MASE_INFO, NULL };
 *     struct mase_session *other = mase_session_new(&hooks);
 *     mase_session_free(other);
 */
MASE_API struct mase_session *mase_session_new(const struct mase_hooks *hooks);
MASE_API void mase_session_free(struct mase_session *s);

/* Run fn(data, err) as the library runs its own calls: without memory, or by a fault of ours, it
 * ends at once and what it had allocated and opened is given back. For the functions of the headers
 * in mase/, which otherwise end the program then.
 *
 *     MASE_TRY(mase_session_call(s, my_function, NULL, err));
 */
typedef enum mase_status mase_call_fn(void *data, struct mase_err *err);
MASE_API enum mase_status mase_session_call(struct mase_session *s, mase_call_fn *fn, void *data,
                                            struct mase_err *err) MASE_MUST_CHECK;

/* What there is, as JSON: "passes", "formats", "ops", "models", "datasets", "tasks", "training"
 * (the options of mase_net_train), "engines", "targets" (of ch emit), "samplers" (of searches),
 * with names, help and, where they have some, options: key, type, default, what is allowed.
 *
 *     MASE_TRY(mase_session_list(s, text, "formats", err));
 */
MASE_API enum mase_status mase_session_list(struct mase_session *s, struct mase_text *out,
                                            const char *what, struct mase_err *err) MASE_MUST_CHECK;

/* A pass of one's own, which then has a name as those that are built in. An analysis looks at net,
 * a transform may edit it with the calls below; neither may keep it. args is what the pass was
 * given, as JSON. info may be given a JSON value (mase_text_set), which becomes the pass's result.
 * A failure is that of the pass. The strings are copied; user must outlive the session.
 * MASE_EVALUE: the name is taken. */
struct mase_own_pass {
    size_t size;
    const char *name, *help;
    bool transform; /* else an analysis */
    void *user;
    enum mase_status (*run)(void *user, struct mase_net *net, const char *args,
                            struct mase_text *info, struct mase_err *err);
};
/*
 *     struct mase_own_pass pass = { sizeof pass, "count", "counts", false, NULL, my_pass };
 *     MASE_TRY(mase_session_add_pass(s, &pass, err));
 */
MASE_API enum mase_status mase_session_add_pass(struct mase_session *s,
                                                const struct mase_own_pass *pass,
                                                struct mase_err *err) MASE_MUST_CHECK;
/* Set a text from outside the library: for callbacks.
 *
 *     MASE_TRY(mase_text_set(s, text, "{\"nodes\": 6}", err));
 */
MASE_API enum mase_status mase_text_set(struct mase_session *s, struct mase_text *t,
                                        const char *value, struct mase_err *err) MASE_MUST_CHECK;

/* ---- data ---- */

/* Samples by name ("jsc", "mnist") or from a file ("csv:FILE:LABEL", "table.npz", "jets.h5"), as
 * ch has them. options: task, scaling, label, features, split, split_by, split_seed,
 * require_real_data, data_dir, ... as on the command line. trained: the network that they are for,
 * whose training data decide how features are scaled and which columns are read; NULL: none.
 *
 *     struct mase_rows *jets = NULL;
 *     MASE_TRY(mase_rows_open(s, &jets, "jsc", NULL, NULL, err));
 *     mase_rows_free(jets);
 */
MASE_API enum mase_status mase_rows_open(struct mase_session *s, struct mase_rows **rows,
                                         const char *name, const char *options,
                                         const struct mase_net *trained,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* Samples in memory, copied: x is (count, shape[0], ..., shape[rank - 1]). Of classes, labels is
 * (count) and counts from 0; of numbers to predict, targets is (count, target_count). options as
 * above, those of splitting and scaling above all; by default a fifth tests, and a fifth of the
 * rest validates. */
struct mase_arrays {
    size_t size;
    const char *name; /* in messages and reports; NULL: "arrays" */
    const float *x;
    int64_t count;
    const int64_t *shape;
    int rank;
    const int32_t *labels; /* or */
    const float *targets;
    int64_t target_count;
    int classes;                    /* 0: one more than the largest label */
    const char *const *class_names; /* (classes) or NULL */
    /* Rows that train stand first, then those that validate, then those that test: so many each.
     * All of them may train, for passes that look at samples. 0, 0: they are divided as options
     * say. */
    int64_t train, validation;
};
/*
 *     float x[20 * 2] = { 0 };
 *     int32_t labels[20] = { 0, 1 };
 *     const int64_t shape[] = { 2 };
 *     struct mase_arrays arrays = { .size = sizeof arrays, .x = x, .count = 20, .shape = shape,
 *                                   .rank = 1, .labels = labels };
 *     struct mase_rows *mine = NULL;
 *     MASE_TRY(mase_rows_from(s, &mine, &arrays, NULL, err));
 *     mase_rows_free(mine);
 */
MASE_API enum mase_status mase_rows_from(struct mase_session *s, struct mase_rows **rows,
                                         const struct mase_arrays *arrays, const char *options,
                                         struct mase_err *err) MASE_MUST_CHECK;
MASE_API void mase_rows_free(struct mase_rows *rows); /* may be NULL */

/* What they are, as JSON: name, source, simulated, notice, rows, sample (shape), classes,
 * class_names, feature_names, splits {train, validation, test}, scaling, task.
 *
 *     MASE_TRY(mase_rows_info(rows, text, err));
 */
MASE_API enum mase_status mase_rows_info(const struct mase_rows *rows, struct mase_text *out,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* How many a split has: "train", "validation", "test"; -1: there is no split of this name.
 *
 *     const int64_t n = mase_rows_count(rows, "test");
 *     printf("%lld\n", (long long)n);
 */
MASE_API int64_t mase_rows_count(const struct mase_rows *rows, const char *split);
/* n samples of a split from first on: x is (n, values of a sample), labels (n); of numbers to
 * predict, targets (n, their number). Each may be NULL. MASE_EVALUE: there are not so many, or none
 * of that.
 *
 *     float x[8 * 16];
 *     int32_t labels[8];
 *     MASE_TRY(mase_rows_read(rows, "train", 0, 8, x, labels, NULL, err));
 */
MASE_API enum mase_status mase_rows_read(const struct mase_rows *rows, const char *split,
                                         int64_t first, int64_t n, float *x, int32_t *labels,
                                         float *targets, struct mase_err *err) MASE_MUST_CHECK;
/* The table behind all splits, without copying, if there is one: features of row r begin at
 * x + r * stride, its label is labels[r]; a split is count numbers of rows. NULL where there is
 * none: pictures are bytes until they are read. Borrowed from rows. */
struct mase_table_rows {
    size_t size;
    const float *x;
    int64_t rows, stride;
    const int32_t *labels;
    const float *targets;
    const uint32_t *split;
    int64_t count;
};
/*
 *     struct mase_table_rows t = { .size = sizeof t };
 *     MASE_TRY(mase_rows_table(rows, &t, "test", err));
 *     printf("%g\n", t.x[t.split[0] * t.stride]);
 */
MASE_API enum mase_status mase_rows_table(const struct mase_rows *rows,
                                          struct mase_table_rows *table, const char *split,
                                          struct mase_err *err) MASE_MUST_CHECK;

/* ---- networks ---- */

/* Where a network and its weights come from; all may be left out. */
struct mase_open {
    size_t size;
    const char *dataset;  /* whose samples it takes, by name; NULL: what it says or usually takes */
    const int64_t *shape; /* or the shape of a sample, without its batch; NULL: none is said */
    int rank;
    const char *weights; /* a file or folder; NULL: the network's own, else drawn from seed */
    const char *key;     /* of the state dict in a file that has several; NULL: the usual one */
    const char *task;    /* decides how many outputs a network of the zoo has; NULL: classes */
    uint64_t seed;       /* of initial weights */
    double seconds;      /* that capturing a .py file may take; 0: 20 */
    bool lenient;        /* of weights, take what fits, and draw the rest */
    bool no_weights;     /* leave parameters without values: to look at graphs alone */
};
/* The network that spec names, as on the command line: a model of the zoo ("jsc-tiny"), a class of
 * PyTorch ("net.py:Net(width=3)", which python3 runs in a confined process, or
 * "torchvision.models:resnet18"), net.onnx, net.mg, a folder that was saved or that a run left, a
 * checkpoint of ours. options may be NULL.
 *
 *     struct mase_net *tiny = NULL;
 *     MASE_TRY(mase_net_open(s, &tiny, "jsc-tiny", NULL, err));
 *     mase_net_free(tiny);
 */
MASE_API enum mase_status mase_net_open(struct mase_session *s, struct mase_net **net,
                                        const char *spec, const struct mase_open *options,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* A network from its text, as "mg" of mase_net_print has it; without statements behind its first
 * line, an empty one to be built with mase_net_add. Parameters have no values before
 * mase_net_start. name is used in messages.
 *
 *     struct mase_net *mine = NULL;
 *     MASE_TRY(mase_net_parse(s, &mine, "mase-graph 1\n", "mine", err));
 *     MASE_TRY(mase_net_add(mine, NULL, NULL, "%x = placeholder[target=x]", err));
 *     MASE_TRY(mase_net_add(mine, NULL, NULL, "module fc = Linear(16, 5)", err));
 *     MASE_TRY(mase_net_add(mine, NULL, NULL, "%fc = call_module[target=fc](args = (%x,))", err));
 *     MASE_TRY(mase_net_add(mine, NULL, NULL, "return %fc", err));
 *     MASE_TRY(mase_net_set_sample(mine, 1, (const int64_t[]){ 16 }, err));
 *     MASE_TRY(mase_net_start(mine, 0, err));
 *     mase_net_free(mine);
 */
MASE_API enum mase_status mase_net_parse(struct mase_session *s, struct mase_net **net,
                                         const char *text, const char *name,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* A second one like it, with weights of its own.
 *
 *     struct mase_net *copy = NULL;
 *     MASE_TRY(mase_net_clone(net, &copy, err));
 *     mase_net_free(copy);
 */
MASE_API enum mase_status mase_net_clone(const struct mase_net *net, struct mase_net **copy,
                                         struct mase_err *err) MASE_MUST_CHECK;
MASE_API void mase_net_free(struct mase_net *net); /* may be NULL */

/* What passes that compare two networks, as summarize_quantization, take for the one before;
 * without it, that is the network before its newest transform. It is copied.
 *
 *     MASE_TRY(mase_net_set_original(net, net, err));
 */
MASE_API enum mase_status mase_net_set_original(struct mase_net *net,
                                                const struct mase_net *original,
                                                struct mase_err *err) MASE_MUST_CHECK;

/* Give parameters that have no values their initial ones, as PyTorch does, from the seed.
 *
 *     MASE_TRY(mase_net_start(net, 42, err));
 */
MASE_API enum mase_status mase_net_start(struct mase_net *net, uint64_t seed,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* What a sample of the first input is like, without its batch. sample returns the rank and fills
 * dim (8), which may be NULL; -1: it is not known.
 *
 *     int64_t dim[8];
 *     if (mase_net_sample(net, dim) < 0)
 *         MASE_TRY(mase_net_set_sample(net, 1, (const int64_t[]){ 16 }, err));
 */
MASE_API int mase_net_sample(const struct mase_net *net, int64_t dim[8]);
MASE_API enum mase_status mase_net_set_sample(struct mase_net *net, int rank, const int64_t *dim,
                                              struct mase_err *err) MASE_MUST_CHECK;
/* Counts every change of nodes, layers, formats or metadata: who keeps pointers to nodes, or what
 * it has read of them, compares.
 *
 *     printf("%llu\n", (unsigned long long)mase_net_edits(net));
 */
MASE_API uint64_t mase_net_edits(const struct mase_net *net);

/* ---- files ---- */

/* As a folder: graph, weights, metadata, checksums. All files or none.
 *
 *     MASE_TRY(mase_net_save(net, "saved", err));
 */
MASE_API enum mase_status mase_net_save(struct mase_net *net, const char *dir,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* As the file that the name of path says: .onnx; .mg, .py (its graph); .safetensors, .pt, .pth,
 * .ckpt, .npz (its weights); .svg, .dot (a drawing); .c (with its header beside it). options of
 * ONNX: dialect
 * ("qdq", "qonnx"); of C: name, unrolled, codes.
 *
 *     MASE_TRY(mase_net_write(net, "net.onnx", NULL, err));
 */
MASE_API enum mase_status mase_net_write(struct mase_net *net, const char *path,
                                         const char *options, struct mase_err *err) MASE_MUST_CHECK;
/* Weights from a file of any kind that is read. options: key, lenient, seed, map (a table from old
 * names to new). No weight has changed when it fails.
 *
 *     MASE_TRY(mase_net_load(net, "best.ckpt", NULL, err));
 */
MASE_API enum mase_status mase_net_load(struct mase_net *net, const char *path, const char *options,
                                        struct mase_err *err) MASE_MUST_CHECK;

/* ---- walking ---- */

/* The network in words: "graph" as torch.fx prints it; "mg", which reads back; "py"; "program",
 * what it computes; "integers", in exact ones; "svg" and "dot", drawn; "json": every node with op,
 * target, args, kwargs, users, what it calls, formats, and its metadata.
 *
 *     MASE_TRY(mase_net_print(net, text, "graph", err));
 */
MASE_API enum mase_status mase_net_print(struct mase_net *net, struct mase_text *out,
                                         const char *what, struct mase_err *err) MASE_MUST_CHECK;

/* Nodes in the order of execution: before the first stands NULL, and behind the last. Pointers to
 * nodes are good until the network changes.
 *
 *     for (const struct mase_node *n = NULL; (n = mase_net_next(net, n));)
 *         puts(mase_node_name(n));
 */
MASE_API const struct mase_node *mase_net_next(const struct mase_net *net,
                                               const struct mase_node *after);
/* By name; NULL: there is none.
 *
 *     if (!mase_net_find(net, "seq_blocks_2"))
 *         return mase_fail(err, MASE_EVALUE, "no node is called so");
 */
MASE_API const struct mase_node *mase_net_find(const struct mase_net *net, const char *name);

/* As torch.fx has them: its unique name; "placeholder", "get_attr", "call_function", "call_method",
 * "call_module" or "output"; the target, "seq_blocks.2". And as MASE has them: "linear",
 * "module_related_func". Borrowed from the network or constant.
 *
 *     printf("%s: %s[%s], a %s\n", mase_node_name(node), mase_node_op(node), mase_node_path(node),
 *            mase_node_mase_op(node));
 */
MASE_API const char *mase_node_name(const struct mase_node *n);
MASE_API const char *mase_node_op(const struct mase_node *n);
MASE_API const char *mase_node_path(const struct mase_node *n);
MASE_API const char *mase_node_mase_op(const struct mase_node *n);
MASE_API const char *mase_node_mase_type(const struct mase_node *n);
/* What comes in and who uses what comes out: number i of them, each once; NULL behind the last.
 *
 *     for (int i = 0; mase_node_input(node, i); i++)
 *         puts(mase_node_name(mase_node_input(node, i)));
 *     for (int i = 0; mase_node_user(node, i); i++)
 *         puts(mase_node_name(mase_node_user(node, i)));
 */
MASE_API const struct mase_node *mase_node_input(const struct mase_node *n, int i);
MASE_API const struct mase_node *mase_node_user(const struct mase_node *n, int i);
/* All that "json" says of one node.
 *
 *     MASE_TRY(mase_node_json(net, text, node, err));
 */
MASE_API enum mase_status mase_node_json(struct mase_net *net, struct mase_text *out,
                                         const struct mase_node *n,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* A parameter or buffer, in the order of the state dict. data is the network's own memory: what is
 * written there is what it computes with from the next call on. The pointer is good until the
 * network is freed; after a pass that changes weights they may lie elsewhere: ask again. */
struct mase_weight_info {
    size_t size;
    const char *name;  /* "seq_blocks.2.weight" */
    const char *dtype; /* "float32", "int64", ... as NumPy says */
    int rank;
    int64_t dim[8];
    void *data;    /* row-major; NULL: it has no values */
    bool buffer;   /* saved, not trained */
    bool trained;  /* changed by training */
    bool constant; /* of the code: in no state dict */
};
/* Number i of them; MASE_EVALUE behind the last.
 *
 *     struct mase_weight_info w = { .size = sizeof w };
 *     for (int i = 0; i < mase_net_weights(net); i++) {
 *         MASE_TRY(mase_net_weight(net, i, &w, err));
 *         puts(w.name);
 *     }
 */
MASE_API enum mase_status mase_net_weight(struct mase_net *net, int i, struct mase_weight_info *w,
                                          struct mase_err *err) MASE_MUST_CHECK;
MASE_API int mase_net_weights(const struct mase_net *net); /* how many there are */
/* Values of all parameters, those that are not trained, too.
 *
 *     printf("%lld parameters\n", (long long)mase_net_params(net));
 */
MASE_API int64_t mase_net_params(const struct mase_net *net);

/* ---- editing ---- */

/* Add one statement of the text form: a layer, "module fc = Linear(16, 5)"; an attribute,
 * "attr scale = f32[16]"; a node, "%sum = call_function[target=operator.add](args = (%x, %y))",
 * which goes before `before`, or NULL: in front of the output; the output, "return %fc". What it
 * mentions must be there; a name that is taken is an error. added may be NULL.
 *
 *     const struct mase_node *last = mase_net_find(net, "output");
 *     MASE_TRY(mase_net_add(net, &node, last, "%twice = call_function[target=operator.mul]"
 *                                             "(args = (%x, 2))", err));
 */
MASE_API enum mase_status mase_net_add(struct mase_net *net, const struct mase_node **added,
                                       const struct mase_node *before, const char *statement,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Other arguments, in the words of the text form: "(%x, 2)" and "{dim: 1}"; NULL: as they are.
 *
 *     MASE_TRY(mase_net_set_args(net, node, "(%x, 3)", NULL, err));
 */
MASE_API enum mase_status mase_net_set_args(struct mase_net *net, const struct mase_node *n,
                                            const char *args, const char *kwargs,
                                            struct mase_err *err) MASE_MUST_CHECK;
/* Whoever used `from` uses `to` from now on, but `to` itself.
 *
 *     MASE_TRY(mase_net_replace(net, node, mase_node_input(node, 0), err));
 */
MASE_API enum mase_status mase_net_replace(struct mase_net *net, const struct mase_node *from,
                                           const struct mase_node *to,
                                           struct mase_err *err) MASE_MUST_CHECK;
/* Remove a node without users, and its layer if nobody else calls it. MASE_EVALUE: it has users.
 *
 *     MASE_TRY(mase_net_erase(net, node, err));
 */
MASE_API enum mase_status mase_net_erase(struct mase_net *net, const struct mase_node *n,
                                         struct mase_err *err) MASE_MUST_CHECK;
/* Is every invariant kept? MASE_EVALUE: no, and the sentence says which are not.
 *
 *     MASE_TRY(mase_net_check(net, err));
 */
MASE_API enum mase_status mase_net_check(const struct mase_net *net,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* ---- passes ---- */

/* Run one pass. args: its section of a configuration, as options. rows: the samples for passes that
 * run the network; NULL: there are none. info (may be NULL) becomes JSON: "results", what the pass
 * found by its name; "text", what it shows people; "tables", the same as data; "files", what it
 * wrote. Paths in args decide what is written; nothing else is. Names as the original has them,
 * with "_analysis_pass" and "_transform_pass", are known, too.
 *
 *     MASE_TRY(mase_net_pass(net, "quantize",
 *                            "by = 'type'\n"
 *                            "default.config.name = 'NA'\n"
 *                            "linear.config = { name = 'integer', data_in_width = 8,"
 *                            " data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4,"
 *                            " bias_width = 8, bias_frac_width = 4 }\n",
 *                            NULL, NULL, err));
 */
MASE_API enum mase_status mase_net_pass(struct mase_net *net, const char *pass, const char *args,
                                        const struct mase_rows *rows, struct mase_text *info,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Run all passes of a [passes] table in their order; if one fails, the network is as it was before
 * the first. config: the table, or a whole configuration, of which only [passes] counts.
 *
 *     MASE_TRY(mase_net_passes(net, "[passes.report_graph]\n", rows, text, err));
 */
MASE_API enum mase_status mase_net_passes(struct mase_net *net, const char *config,
                                          const struct mase_rows *rows, struct mase_text *info,
                                          struct mase_err *err) MASE_MUST_CHECK;

/* ---- quantising ---- */

/* What becomes of one node: its number formats in the words of [passes.quantize.NAME.config]. */
struct mase_decision_text {
    const char *node;
    const char *config; /* NULL: float */
};
/* Carry out count decisions, all or none. Formats may be "auto" where rows say what values come.
 *
 *     const struct mase_decision_text decisions[] = {
 *         { "seq_blocks_2", "name = 'integer'\ndata_in_width = 8\ndata_in_frac_width = 4\n"
 *                           "weight_width = 4\nweight_frac_width = 3\n"
 *                           "bias_width = 8\nbias_frac_width = 4\n" },
 *     };
 *     MASE_TRY(mase_net_quantize(net, decisions, 1, NULL, err));
 */
MASE_API enum mase_status mase_net_quantize(struct mase_net *net,
                                            const struct mase_decision_text *decisions, int count,
                                            const struct mase_rows *rows,
                                            struct mase_err *err) MASE_MUST_CHECK;
/* What the pass quantize would do with these args, and why, as JSON: for every node reason, by,
 * key, formats. Nothing changes.
 *
 *     MASE_TRY(mase_net_explain(net, text, "by = 'type'\ndefault.config.name = 'NA'\n", err));
 */
MASE_API enum mase_status mase_net_explain(struct mase_net *net, struct mase_text *out,
                                           const char *args, struct mase_err *err) MASE_MUST_CHECK;
/* Numbers as a format has them, one tensor of this shape: y may be x. format as a configuration has
 * it without operands, "name = 'integer'\nwidth = 8\nfrac_width = 4"; role: "data" (the first
 * dimension is the batch), "weight" or "bias".
 *
 *     float y[3] = { 0.3f, -1.26f, 100 };
 *     MASE_TRY(mase_session_round(s, y, y, 1, (const int64_t[]){ 3 },
 *                                 "{\"name\": \"integer\", \"width\": 8, \"frac_width\": 4}",
 *                                 "weight", err));
 */
MASE_API enum mase_status mase_session_round(struct mase_session *s, float *y, const float *x,
                                             int rank, const int64_t *dim, const char *format,
                                             const char *role,
                                             struct mase_err *err) MASE_MUST_CHECK;

/* Statistics of parameters and activations, as the pass profile_statistics has it; out becomes
 * JSON, results by node and operand. options: its section. The network's metadata keep the same.
 *
 *     MASE_TRY(mase_net_profile(net, text, rows,
 *                               "by = 'type'\ntarget_weight_nodes = ['linear']\n"
 *                               "target_activation_nodes = ['relu']\nnum_samples = 32\n"
 *                               "[weight_statistics.range_min_max]\ndevice = 'cpu'\n"
 *                               "[activation_statistics.range_min_max]\ndevice = 'cpu'\n",
 *                               err));
 */
MASE_API enum mase_status mase_net_profile(struct mase_net *net, struct mase_text *out,
                                           const struct mase_rows *rows, const char *options,
                                           struct mase_err *err) MASE_MUST_CHECK;

/* ---- computing ---- */

struct mase_run_opts {
    size_t size;
    bool exact;         /* in integers, exactly as deployed; refused where the network has none */
    int threads;        /* 0: as many as pay off */
    int64_t samples;    /* that usually come at once; 0: many */
    uint64_t seed;      /* of what the network draws */
    int64_t batch_size; /* where samples depend on each other, so many are taken at a time; 0: all
                         * that are given */
    const char *engine; /* what computes, "float" or "int"; NULL: int if exact */
};
/* A network made ready to compute. It has a copy of weights and formats: what becomes of net does
 * not change it, nor does it need net any more. options may be NULL.
 *
 *     struct mase_runner *r = NULL;
 *     MASE_TRY(mase_runner_new(net, &r, NULL, err));
 *     mase_runner_free(r);
 */
MASE_API enum mase_status mase_runner_new(const struct mase_net *net, struct mase_runner **runner,
                                          const struct mase_run_opts *options,
                                          struct mase_err *err) MASE_MUST_CHECK;
MASE_API void mase_runner_free(struct mase_runner *runner); /* may be NULL */
/* n samples, (n, values of a sample), to y, (n, values of a result). Samples of several inputs
 * stand behind each other.
 *
 *     float x[16] = { 0 }, y[5];
 *     MASE_TRY(mase_runner_run(runner, y, x, 1, err));
 */
MASE_API enum mase_status mase_runner_run(struct mase_runner *runner, float *y, const float *x,
                                          int64_t n, struct mase_err *err) MASE_MUST_CHECK;
/* The element type of what the network computes, "float32", "float64", "int64", "int32", "uint8" or
 * "bool"; NULL: there is no runner. mase_runner_run gives all of them as floats,
 * mase_runner_run_typed as they are: y has n results of that type.
 *
 *     float x[16] = { 0 };
 *     double y[5]; // as many bytes as the widest type has
 *     printf("%s\n", mase_runner_type(runner));
 *     MASE_TRY(mase_runner_run_typed(runner, y, x, 1, err));
 */
MASE_API const char *mase_runner_type(const struct mase_runner *runner);
MASE_API enum mase_status mase_runner_run_typed(struct mase_runner *runner, void *y, const float *x,
                                                int64_t n, struct mase_err *err) MASE_MUST_CHECK;
/* Shapes of one sample of input number i, and of one result: the rank, and dim (8), which may be
 * NULL; -1: there is none. features: values of one sample, all inputs together.
 *
 *     int64_t dim[8];
 *     for (int i = 0; mase_runner_input(runner, i, NULL) >= 0; i++)
 *         printf("input %d: rank %d\n", i, mase_runner_input(runner, i, dim));
 *     printf("rank %d\n", mase_runner_result(runner, dim));
 *     printf("%lld values\n", (long long)mase_runner_features(runner));
 */
MASE_API int mase_runner_input(const struct mase_runner *runner, int i, int64_t dim[8]);
MASE_API int mase_runner_result(const struct mase_runner *runner, int64_t dim[8]);
MASE_API int64_t mase_runner_features(const struct mase_runner *runner);

/* How good a network is. */
struct mase_scores {
    size_t size;
    int64_t samples;
    double loss;
    double score; /* classification: accuracy; else what the task calls so */
    double seconds;
};
struct mase_test_opts {
    size_t size;
    bool exact; /* in integers */
    int threads;
    const char *split;       /* NULL: "test" */
    int64_t limit;           /* samples at most; 0: all */
    const char *task, *loss; /* NULL: what it was trained for, else classification */
    int64_t batch_size;      /* where samples depend on each other, so many are taken at a time; 0:
                              * 128 */
    const char *engine;      /* as of mase_run_opts */
};
/* Evaluate it. detail (may be NULL) becomes JSON: the metrics of the task, for classes precision,
 * recall, AUC and confusion. options may be NULL.
 *
 *     struct mase_scores scores = { .size = sizeof scores };
 *     MASE_TRY(mase_net_evaluate(net, &scores, rows, NULL, NULL, err));
 *     printf("%.4f\n", scores.score);
 */
MASE_API enum mase_status mase_net_evaluate(struct mase_net *net, struct mase_scores *scores,
                                            const struct mase_rows *rows,
                                            const struct mase_test_opts *options,
                                            struct mase_text *detail,
                                            struct mase_err *err) MASE_MUST_CHECK;

/* The network twice, emulated in float32 as it was trained and in exact integers as it will be
 * deployed. */
struct mase_proof {
    size_t size;
    int64_t samples;
    int64_t outputs, differ; /* numbers that come out, and those that are not the same */
    int64_t decisions;       /* samples whose largest output is another */
};
/* Compare them on a split ("test"; NULL), limit samples at most, 0: all. detail (may be NULL)
 * becomes JSON, a row for every node.
 *
 *     struct mase_proof proof = { .size = sizeof proof };
 *     MASE_TRY(mase_net_pass(net, "quantize", config, NULL, NULL, err));
 *     MASE_TRY(mase_net_prove(net, &proof, rows, NULL, 1000, NULL, err));
 *     printf("%lld of %lld differ\n", (long long)proof.differ, (long long)proof.outputs);
 */
MASE_API enum mase_status mase_net_prove(struct mase_net *net, struct mase_proof *proof,
                                         const struct mase_rows *rows, const char *split,
                                         int64_t limit, struct mase_text *detail,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* ---- training ---- */

/* What an epoch came to; given to on_epoch, and at the end the last one to the caller. */
struct mase_epoch {
    size_t size;
    int64_t epoch, epochs; /* from 0, of so many; -1: there was nothing to do */
    int64_t step;          /* of the optimiser, so far */
    double learning_rate;
    double train_loss, train_score, val_loss, val_score;
    double seconds;
    int64_t samples;  /* trained on */
    bool best;        /* by validation loss, so far */
    double ebops;     /* effective bit operations; NaN: no bits are learned */
    const char *stop; /* NULL, or why this is the last */
};
struct mase_training {
    size_t size;
    int64_t max_epochs;   /* 0: 20 */
    int64_t batch_size;   /* 0: 128 */
    double learning_rate; /* 0: 1e-5, the original's */
    uint64_t seed;
    int threads;                /* 0: as many as pay off */
    const char *checkpoint_dir; /* best.ckpt and last.ckpt; NULL: none are written */
    const char *resume;         /* a checkpoint to go on from; NULL: begin */
    bool keep_last;             /* end with the weights of the last epoch, not of the best */
    const char *options;        /* all others: training_optimizer, lr_schedule, task, ... */
    void *user;
    /* After each epoch; false: stop here. Both may be NULL. */
    bool (*on_epoch)(void *user, const struct mase_epoch *e);
    /* At most ten times a second: batches done of the epoch under way. false: stop here, after a
     * last validation. */
    bool (*on_batch)(void *user, int64_t epoch, int64_t done, int64_t total, double loss);
};
/* Fit the network to rows: the same seed gives the same bits, whatever the threads. If it fails,
 * the network is as it was. last may be NULL.
 *
 *     struct mase_training training = { .size = sizeof training, .max_epochs = 1,
 *                                       .batch_size = 256, .learning_rate = 1e-3,
 *                                       .options = "training_optimizer = 'adamw'" };
 *     struct mase_epoch last = { .size = sizeof last };
 *     MASE_TRY(mase_net_train(net, &last, rows, &training, err));
 */
MASE_API enum mase_status mase_net_train(struct mase_net *net, struct mase_epoch *last,
                                         const struct mase_rows *rows,
                                         const struct mase_training *training,
                                         struct mase_err *err) MASE_MUST_CHECK;

/* ---- searching ---- */

/* A metric of the program's own, which [search.strategy.metrics] names like those of runners. It
 * measures the network of a trial, trained if trials train; point is JSON, sampled_config and,
 * where these vary, sampled_channels, sampled_arguments and sampled_options. The value must depend
 * on nothing else, since what was measured of a network is not measured again. Changes of net are
 * gone afterwards. One metric at a time is measured, perhaps by another thread than called the
 * library. A failure is that of the trial, and the search goes on. */
struct mase_own_metric {
    const char *name;
    void *user;
    enum mase_status (*measure)(void *user, double *value, struct mase_net *net, const char *point,
                                struct mase_err *err);
};
struct mase_searching {
    size_t size;
    int64_t trials;      /* of the study in all, with those that it has; 0: as [search] says */
    double seconds;      /* no trial begins after; 0: as [search] says */
    int workers;         /* trials at a time, which changes no result; 0: as many as pay off */
    uint64_t seed;       /* 0: as the configuration says, else 0 */
    const char *storage; /* where the study is kept: "study.db", "postgresql://..."; NULL: memory.
                          * A study that is there is gone on with. */
    const char *study;   /* its name; NULL: that of the network */
    const char
        *options; /* of training, as for mase_net_train: for runners that train, batch_size */
    const struct mase_own_metric *metrics;
    int metric_count;
    void *user; /* given to each of these, which may be NULL */
    /* The network with these arguments of its constructor, JSON, for [search.search_space.model].
     * It is copied at once and stays the program's. */
    enum mase_status (*open)(void *user, struct mase_net **net, const char *arguments,
                             struct mase_err *err);
    /* After each trial, in the order of their numbers: JSON, as of mase_trials_print. false: stop
     * when the trials under way have ended. */
    bool (*on_trial)(void *user, const char *trial);
    /* Asked before each trial: true: stop. A trial that fails then is not recorded. */
    bool (*stop)(void *user);
};
/* Try out the points of a [search] section, each with a copy of the network, on rows. config is
 * that section, or a whole configuration, of which [search] and the options of training count. The
 * same seed gives the same study, whatever the workers. The rows must outlive the trials, and so
 * must what `open` and the metrics need, if mase_trials_net is called. how may be NULL.
 *
 *     const char *search =
 *         "search_space.name = 'graph/quantize/mixed_precision_ptq'\n"
 *         "search_space.setup.by = 'name'\n"
 *         "search_space.seed.default.config.name = ['NA']\n"
 *         "search_space.seed.seq_blocks_2.config = { name = ['integer'], data_in_width = [4, 8],"
 *         " data_in_frac_width = [3], weight_width = [2, 4], weight_frac_width = [1],"
 *         " bias_width = [8], bias_frac_width = [4] }\n"
 *         "strategy.name = 'optuna'\n"
 *         "strategy.setup = { sampler = 'random', n_trials = 10 }\n"
 *         "strategy.sw_runner.basic_evaluation = {}\n"
 *         "strategy.metrics.accuracy.direction = 'maximize'\n";
 *     struct mase_trials *trials = NULL;
 *     MASE_TRY(mase_net_search(net, &trials, rows, search, NULL, err));
 *     MASE_TRY(mase_trials_print(trials, text, "study", err));
 *     mase_trials_free(trials);
 */
MASE_API enum mase_status mase_net_search(const struct mase_net *net, struct mase_trials **trials,
                                          const struct mase_rows *rows, const char *config,
                                          const struct mase_searching *how,
                                          struct mase_err *err) MASE_MUST_CHECK;
/* The names of the studies of a store, as JSON.
 *
 *     MASE_TRY(mase_session_studies(s, text, "mine.db", err));
 */
MASE_API enum mase_status mase_session_studies(struct mase_session *s, struct mase_text *out,
                                               const char *storage,
                                               struct mase_err *err) MASE_MUST_CHECK;
/* A study of a store, of ours or Optuna's, or of a .json file that was written. name: which; NULL:
 * the only one.
 *
 *     struct mase_trials *trials = NULL;
 *     MASE_TRY(mase_trials_open(s, &trials, "mine.db", NULL, err));
 *     printf("%lld trials\n", (long long)mase_trials_count(trials));
 *     mase_trials_free(trials);
 */
MASE_API enum mase_status mase_trials_open(struct mase_session *s, struct mase_trials **trials,
                                           const char *storage, const char *name,
                                           struct mase_err *err) MASE_MUST_CHECK;
MASE_API void mase_trials_free(struct mase_trials *trials); /* may be NULL */
MASE_API int64_t mase_trials_count(const struct mase_trials *trials);
/* As JSON: "study", all of it: name, objectives, constraints, parameters, trials (number, state,
 * values, violations, params, readings, start and end in microseconds, user: what was measured),
 * hash, and best, the numbers of the trials that no other dominates, the first of those with equal
 * values; "log" and "best", the original's log.json and best.json.
 *
 *     struct mase_trials *trials = NULL;
 *     MASE_TRY(mase_trials_open(s, &trials, "mine.db", NULL, err));
 *     MASE_TRY(mase_trials_print(trials, text, "best", err));
 *     mase_trials_free(trials);
 */
MASE_API enum mase_status mase_trials_print(const struct mase_trials *trials, struct mase_text *out,
                                            const char *what, struct mase_err *err) MASE_MUST_CHECK;
/* Add them to a store, FILE.db or a URL, or write FILE.json.
 *
 *     struct mase_trials *trials = NULL;
 *     MASE_TRY(mase_trials_open(s, &trials, "mine.db", NULL, err));
 *     MASE_TRY(mase_trials_write(trials, "mine.json", err));
 *     mase_trials_free(trials);
 */
MASE_API enum mase_status mase_trials_write(const struct mase_trials *trials, const char *path,
                                            struct mase_err *err) MASE_MUST_CHECK;
/* The network of a trial, of a study that mase_net_search made or went on with: with the formats
 * and arguments of its point and, if trials train, trained once more, to the same weights.
 *
 *     struct mase_trials *trials = NULL;
 *     struct mase_net *first = NULL;
 *     MASE_TRY(mase_net_search(net, &trials, rows, search, NULL, err));
 *     MASE_TRY(mase_trials_net(trials, &first, 0, err));
 *     mase_net_free(first);
 *     mase_trials_free(trials);
 */
MASE_API enum mase_status mase_trials_net(const struct mase_trials *trials, struct mase_net **net,
                                          int64_t number, struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_H */
