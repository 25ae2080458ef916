/*
 * weight_source.c - what a file or a folder of weights is: told from it, so that nobody has to say
 * it; a type that says otherwise is a mistake and does not override it.
 */
#include <unistd.h>

#include <mase/file.h>
#include <mase/file_kind.h>
#include <mase/saved.h>

#include "work/work_parts.h"

/* Suffixes, with their load_type. */
static const struct {
    const char *suffix, *type;
} suffixes[] = {
    { ".safetensors", "safetensors" },
    { ".mg", "mz" },
    { ".mz", "mz" },
    { ".pt", "pt" },
    { ".pth", "pt" },
    { ".ckpt", "pl" },
    { ".npz", "npz" },
    { ".bin", "pt" }, /* Hugging Face's */
    { ".pth.tar", "pt" },
    { ".pt2", "pt" },
    { ".index.json", "hf" },
    { ".onnx", "onnx" },
};

/* load_type by the contents of a file, if its name does not tell. */
static const char *const types[MASE_KIND_COUNT] = {
    [MASE_KIND_TORCH] = "pt",
    [MASE_KIND_TORCH_OLD] = "pt",
    [MASE_KIND_SCRIPT] = "pt",
    [MASE_KIND_EXPORT] = "pt",
    [MASE_KIND_SAFETENSORS] = "safetensors",
    [MASE_KIND_NPZ] = "npz",
};

/* pt and pl are one kind here: the keys of a PyTorch file tell whether Lightning wrote it. */
static bool is_torch(const char *type)
{
    return mase_streq(type, "pt") || mase_streq(type, "pl");
}

static bool holds_tensors(const char *type)
{
    return is_torch(type) || mase_streq(type, "safetensors") || mase_streq(type, "npz") ||
           mase_streq(type, "hf");
}

/* NULL when the path does not say. */
static const char *type_of(const char *path)
{
    enum mase_file_kind kind = MASE_KIND_UNKNOWN;
    if (mase_is_dir(path))
        return mase_is_saved(path) ? "mz" : NULL;
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (mase_ends_with(path, suffixes[i].suffix))
            return suffixes[i].type;
    if (mase_is_file(path) && mase_file_kind_find(&kind, path, NULL))
        return NULL;
    return types[kind];
}

/* A folder of other files may be asked for by the type of these. */
static bool agree(const char *type, const char *asked)
{
    const bool folder = mase_streq(asked, "hf") && holds_tensors(type);
    return mase_streq(type, asked) || (is_torch(type) && is_torch(asked)) || folder;
}

static enum mase_status fail_untold(const struct mase_opened *w, struct mase_err *err)
{
    const struct mase_work_choice *c = &w->choice;
    if (mase_is_dir(w->weights))
        return mase_fail_at(err, MASE_EVALUE, c->weights_at,
                            "'%s' is a folder without weights: expected model.safetensors, "
                            "pytorch_model.bin or an index of them, graph_module.mg, or what a run "
                            "left",
                            w->weights);
    return mase_fail_at(err, MASE_EVALUE, c->weights_at,
                        "cannot tell what '%s' is: expected a .safetensors, .npz, .pt, .pth, "
                        ".ckpt, .bin or .pt2 file, an index (.index.json), a folder with weights "
                        "or the folder of a run; --load-type can say",
                        w->weights);
}

/* A format that is known, but not to this version. */
static enum mase_status fail_unread(const struct mase_opened *w, struct mase_err *err)
{
    const struct mase_work_choice *c = &w->choice;
    if (mase_ends_with(w->weights, ".onnx"))
        return mase_fail_at(err, MASE_EUNSUPPORTED, c->weights_at,
                            "'%s' has weights under names of its own: it can be the model, and ch "
                            "convert takes its weights to a .safetensors file",
                            w->weights);
    return mase_fail_at(err, MASE_EUNSUPPORTED, c->weights_at,
                        "cannot load '%s': pickled graphs (.mz) are not read by this version; use "
                        ".safetensors, .pt, .ckpt or a saved folder",
                        w->weights);
}

/* Is the file of weights the network itself? */
static bool is_model(const struct mase_opened *w)
{
    struct mase_arena *a = w->choice.data.arena;
    return w->choice.model &&
           mase_streq(mase_path_absolute(a, w->choice.model), mase_path_absolute(a, w->weights));
}

/* Check load_type against the file w->weights. */
static enum mase_status take_type(struct mase_opened *w, const char *type, struct mase_err *err)
{
    if (holds_tensors(type))
        w->source = MASE_WEIGHTS_FILE;
    else if (mase_streq(type, "onnx") && is_model(w))
        w->source = MASE_WEIGHTS_OWN;
    else if (mase_streq(type, "mz") && !mase_ends_with(w->weights, ".mz"))
        w->source = MASE_WEIGHTS_SAVED;
    else
        return fail_unread(w, err);
    if (w->source == MASE_WEIGHTS_SAVED && w->choice.load.rename_count)
        return mase_fail(err, MASE_EVALUE, "--map renames the tensors of a file; '%s' is a folder",
                         w->weights);
    return MASE_OK;
}

/* A folder of a run, or of Hugging Face's, is what it stands for. */
static const char *path_behind(struct mase_arena *a, const char *path)
{
    const char *inside = mase_is_dir(path) ? mase_network_in(a, path) : NULL;
    if (!inside && mase_is_dir(path))
        inside = mase_weights_in(a, path);
    return inside ? inside : path;
}

/* Can it be read only once? Then its reader tells the kind by the contents. */
static bool is_stream(const char *path)
{
    return access(path, F_OK) == 0 && !mase_is_file(path) && !mase_is_dir(path);
}

static enum mase_status find_named(struct mase_opened *w, struct mase_err *err)
{
    const struct mase_work_choice *c = &w->choice;
    w->weights = path_behind(c->data.arena, c->weights);
    const char *type = type_of(w->weights), *asked = c->weights_type;
    if (!type && !asked && is_stream(w->weights)) {
        w->source = MASE_WEIGHTS_FILE;
        return MASE_OK;
    }
    if (!type && (!asked || mase_is_dir(w->weights)))
        return fail_untold(w, err);
    if (type && asked && !agree(type, asked))
        return mase_fail_at(err, MASE_EVALUE, c->type_at,
                            "load type %s contradicts '%s', which is of type %s", asked, w->weights,
                            type);
    return take_type(w, type ? type : asked, err);
}

/* The weights that the word of the network comes with. */
static void find_own(struct mase_opened *w)
{
    static const enum mase_weight_source sources[] = {
        [MASE_WORD_SAVED] = MASE_WEIGHTS_SAVED,  [MASE_WORD_CHECKPOINT] = MASE_WEIGHTS_FILE,
        [MASE_WORD_WEIGHTS] = MASE_WEIGHTS_FILE, [MASE_WORD_ONNX] = MASE_WEIGHTS_OWN,
        [MASE_WORD_OTHER] = MASE_WEIGHTS_SEED,
    };
    w->source = sources[w->word.kind];
    w->weights = w->source == MASE_WEIGHTS_SEED ? NULL : w->word.path;
}

enum mase_status mase_work_find_weights(struct mase_opened *w, struct mase_err *err)
{
    if (w->choice.weights)
        return find_named(w, err);
    find_own(w);
    return MASE_OK;
}
