/*
 * word.c - what a word names: a model of the zoo, source, a graph, a folder, a file.
 *
 * What is there goes before names: "jsc-tiny" is the folder of that name, if it holds a network,
 * and "jsc_tiny" is the zoo's all the same.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/log.h>
#include <mase/saved.h>
#include <mase/work.h>

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- folders ---- */

static void warn_of_model(const char *text)
{
    const struct mase_model *m;
    if (!mase_zoo_find(&m, text, NULL))
        mase_warn("'%s' is a folder with a network, which is used, and not the model of this name",
                  text);
}

static enum mase_status find_in_folder(struct mase_word *w, struct mase_arena *a,
                                       struct mase_err *err)
{
    const char *network = mase_network_in(a, w->text);
    const char *weights = network ? NULL : mase_weights_in(a, w->text);
    if (network)
        warn_of_model(w->text);
    if (network || weights) {
        w->kind = weights                ? MASE_WORD_WEIGHTS
                  : mase_is_dir(network) ? MASE_WORD_SAVED
                                         : MASE_WORD_CHECKPOINT;
        w->path = network ? network : weights;
        return MASE_OK;
    }
    if (mase_zoo_find(&w->model, w->text, NULL))
        return mase_network_find(&network, a, w->text, err); /* which says that there is none */
    w->kind = MASE_WORD_ZOO;
    return MASE_OK;
}

/* ---- files ---- */

/* A file of PyTorch: a checkpoint if it contains its graph, else weights. */
static enum mase_status find_trained(struct mase_word *w, struct mase_err *err)
{
    struct mase_graph *g = NULL;
    MASE_TRY(mase_checkpoint_graph(&g, w->text, err));
    w->kind = g ? MASE_WORD_CHECKPOINT : MASE_WORD_WEIGHTS;
    mase_graph_free(g);
    return MASE_OK;
}

static enum mase_status find_file(struct mase_word *w, struct mase_arena *a, struct mase_err *err)
{
    static const enum mase_word_kind kinds[MASE_KIND_COUNT] = {
        [MASE_KIND_TORCH_OLD] = MASE_WORD_WEIGHTS, [MASE_KIND_SCRIPT] = MASE_WORD_WEIGHTS,
        [MASE_KIND_EXPORT] = MASE_WORD_WEIGHTS,    [MASE_KIND_SAFETENSORS] = MASE_WORD_WEIGHTS,
        [MASE_KIND_NPZ] = MASE_WORD_WEIGHTS,       [MASE_KIND_MG] = MASE_WORD_GRAPH,
        [MASE_KIND_PYTHON] = MASE_WORD_SOURCE,     [MASE_KIND_ONNX] = MASE_WORD_ONNX,
    };
    enum mase_file_kind kind = MASE_KIND_UNKNOWN;
    const char *name = base_of(w->text);
    if (mase_streq(name, MASE_SAVED_GRAPH)) {
        w->kind = MASE_WORD_SAVED;
        w->path = name == w->text ? "." : mase_arena_strndup(a, w->text, (size_t)(name - w->text));
        return MASE_OK;
    }
    MASE_TRY(mase_file_kind_find(&kind, w->text, err));
    if (kind == MASE_KIND_TORCH)
        return find_trained(w, err);
    w->kind = mase_ends_with(w->text, ".mg")           ? MASE_WORD_GRAPH
              : mase_ends_with(w->text, ".onnx")       ? MASE_WORD_ONNX
              : mase_model_is_file(w->text)            ? MASE_WORD_SOURCE
              : mase_ends_with(w->text, ".index.json") ? MASE_WORD_WEIGHTS
                                                       : kinds[kind];
    if (!w->kind)
        w->kind = MASE_WORD_OTHER;
    return MASE_OK;
}

/* ---- names ---- */

/* The reader of a missing file reports it. */
static enum mase_status find_name(struct mase_word *w, struct mase_err *err)
{
    if (mase_model_is_file(w->text)) {
        w->kind = mase_ends_with(w->text, ".mg")     ? MASE_WORD_GRAPH
                  : mase_ends_with(w->text, ".onnx") ? MASE_WORD_ONNX
                                                     : MASE_WORD_SOURCE;
        return MASE_OK;
    }
    if (mase_zoo_find(&w->model, w->text, err))
        return mase_wrap(err, "'%s' is no file or folder", w->text);
    w->kind = MASE_WORD_ZOO;
    return MASE_OK;
}

enum mase_status mase_word_find(struct mase_word *w, struct mase_arena *a, const char *text,
                                struct mase_err *err)
{
    *w = (struct mase_word){ .text = text, .path = text };
    return mase_is_dir(text)    ? find_in_folder(w, a, err)
           : mase_is_file(text) ? find_file(w, a, err)
                                : find_name(w, err);
}
