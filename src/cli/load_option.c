/*
 * load_option.c - what --load names: told from the file, so that nobody has to say it; a
 * --load-type that says otherwise is a mistake and not an override.
 */
#include <string.h>

#include <mase/file.h>
#include <mase/file_kind.h>

#include "cli/project.h"

/* How names end, and what is behind them by the names of --load-type. */
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

/* What bytes tell where a name does not. */
static const char *const types[MASE_KIND_COUNT] = {
    [MASE_KIND_TORCH] = "pt",
    [MASE_KIND_TORCH_OLD] = "pt",
    [MASE_KIND_SCRIPT] = "pt",
    [MASE_KIND_EXPORT] = "pt",
    [MASE_KIND_SAFETENSORS] = "safetensors",
    [MASE_KIND_NPZ] = "npz",
};

/* pt and pl are one kind to us: a PyTorch file tells by its keys whether Lightning wrote it. */
static bool is_torch(const char *type)
{
    return mase_streq(type, "pt") || mase_streq(type, "pl");
}

const char *mase_cli_weights_behind(struct mase_arena *a, const char *word)
{
    if (!mase_is_dir(word) || mase_network_in(a, word))
        return word;
    const char *inside = mase_weights_in(a, word);
    return inside ? inside : word;
}

/* A folder of a run becomes what it stands for, so that everyone names and reads the same. */
static enum mase_status settle(struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *load = mase_cli_value(c, MASE_CLI_load_name);
    const struct mase_value *model = mase_cli_value(c, MASE_CLI_model);
    const char *path = NULL;
    if (load->kind != MASE_NONE) {
        path = mase_is_dir(load->s) ? mase_network_in(&c->arena, load->s) : NULL;
        if (!path)
            path = mase_cli_weights_behind(&c->arena, load->s);
    } else if (model->kind == MASE_STRING && mase_cli_is_trained_model(c, model->s)) {
        MASE_TRY(mase_network_find(&path, &c->arena, model->s, err));
        load = model;
    } else if (model->kind == MASE_STRING && mase_ends_with(model->s, ".onnx") &&
               mase_is_file(model->s)) {
        path = model->s;
        load = model;
    }
    if (!path || (load != model && mase_streq(path, load->s)))
        return MASE_OK;
    struct mase_value *v = mase_value_string(&c->arena, mase_path_absolute(&c->arena, path));
    v->at = load->at;
    c->setting[MASE_CLI_load_name].cmdline = v;
    return MASE_OK;
}

static bool has_file(struct mase_arena *a, const char *dir, const char *name)
{
    return mase_is_file(mase_path_join(a, dir, name));
}

/* NULL when the path does not say. */
static const char *infer(struct mase_arena *a, const char *path)
{
    enum mase_file_kind kind = MASE_KIND_UNKNOWN;
    if (mase_is_dir(path))
        return has_file(a, path, "graph_module.mg") ? "mz" : NULL;
    for (int i = 0; i < (int)(sizeof suffixes / sizeof suffixes[0]); i++)
        if (mase_ends_with(path, suffixes[i].suffix))
            return suffixes[i].type;
    if (mase_is_file(path) && mase_file_kind_find(&kind, path, NULL))
        return NULL;
    return types[kind];
}

static bool holds_tensors(const char *type)
{
    return is_torch(type) || mase_streq(type, "safetensors") || mase_streq(type, "npz") ||
           mase_streq(type, "hf");
}

/* A format that is known, but not to this version. */
static enum mase_status refuse(const char *path, struct mase_loc at, struct mase_err *err)
{
    if (mase_ends_with(path, ".onnx"))
        return mase_fail_at(err, MASE_EUNSUPPORTED, at,
                            "'%s' has weights under names of its own: it can be the model, and ch "
                            "convert takes its weights to a .safetensors file",
                            path);
    return mase_fail_at(err, MASE_EUNSUPPORTED, at,
                        "cannot load '%s': pickled graphs (.mz) are not read by this version; use "
                        ".safetensors, .pt, .ckpt or a saved folder",
                        path);
}

static bool agree(const char *type, const char *asked)
{
    const bool folder = mase_streq(asked, "hf") && holds_tensors(type); /* it has files of these */
    return mase_streq(type, asked) || (is_torch(type) && is_torch(asked)) || folder;
}

/* NULL: none are given. */
static const struct mase_value *rename_list(const struct mase_cli *c)
{
    const struct mase_cli_setting *s = &c->setting[MASE_CLI_map];
    return s->cmdline ? s->cmdline : s->file;
}

/* Is the file of weights the model itself? */
static bool is_model(struct mase_cli *c, const char *load)
{
    const struct mase_value *model = mase_cli_value(c, MASE_CLI_model);
    return model->kind == MASE_STRING &&
           mase_streq(mase_path_absolute(&c->arena, model->s), mase_path_absolute(&c->arena, load));
}

enum mase_status mase_cli_load_kind(enum mase_cli_weights *kind, struct mase_cli *c,
                                    struct mase_err *err)
{
    struct mase_arena a = { 0 };
    MASE_TRY(settle(c, err));
    const struct mase_value *load = mase_cli_value(c, MASE_CLI_load_name);
    const struct mase_value *said = mase_cli_value(c, MASE_CLI_load_type);
    *kind = MASE_CLI_INITIALISED;
    if (load->kind == MASE_NONE)
        return MASE_OK;
    const char *type = infer(&a, load->s), *asked = mase_streq(said->s, "auto") ? NULL : said->s;
    mase_arena_release(&a);
    if (!type && mase_is_dir(load->s))
        return mase_fail_at(err, MASE_EVALUE, load->at,
                            "'%s' is a folder without weights: expected model.safetensors, "
                            "pytorch_model.bin or an index of them, graph_module.mg, or what a run "
                            "left",
                            load->s);
    if (!type && !asked)
        return mase_fail_at(err, MASE_EVALUE, load->at,
                            "cannot tell what '%s' is: expected a .safetensors, .npz, .pt, .pth, "
                            ".ckpt, .bin or .pt2 file, an index (.index.json), a folder with "
                            "weights or the folder of a run; --load-type can say",
                            load->s);
    if (type && asked && !agree(type, asked))
        return mase_fail_at(err, MASE_EVALUE, said->at,
                            "load type %s contradicts '%s', which is of type %s", asked, load->s,
                            type);
    type = type ? type : asked;
    if (holds_tensors(type))
        *kind = MASE_CLI_WEIGHTS;
    else if (mase_streq(type, "onnx") && is_model(c, load->s))
        *kind = MASE_CLI_OWN;
    else if (mase_streq(type, "mz") && !mase_ends_with(load->s, ".mz"))
        *kind = MASE_CLI_SAVED;
    else
        return refuse(load->s, load->at, err);
    if (*kind == MASE_CLI_SAVED && rename_list(c))
        return mase_fail(err, MASE_EVALUE, "--map renames the tensors of a file; '%s' is a folder",
                         load->s);
    return MASE_OK;
}

/* ---- --map ---- */

enum mase_status mase_cli_renames(const struct mase_rename **renames, int *count,
                                  struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *list = rename_list(c);
    *count = list ? list->count : 0;
    struct mase_rename *all = mase_new_array(&c->arena, struct mase_rename, (size_t)*count);
    for (int i = 0; i < *count; i++) {
        const char *text = list->items[i]->s, *equals = strchr(text, '=');
        if (!equals || mase_streq(text, "="))
            return mase_fail_at(err, MASE_EVALUE, list->items[i]->at,
                                "--map '%s': expected OLD=NEW, names or their first parts", text);
        all[i].from = mase_arena_strndup(&c->arena, text, (size_t)(equals - text));
        all[i].to = equals + 1;
    }
    *renames = all;
    return MASE_OK;
}

bool mase_cli_has_renames(const struct mase_cli *c)
{
    return rename_list(c) != NULL;
}

enum mase_status mase_cli_load_opts(struct mase_weights_opts *opts, struct mase_cli *c,
                                    struct mase_err *err)
{
    const struct mase_value *seed = mase_cli_value(c, MASE_CLI_seed);
    *opts = (struct mase_weights_opts){
        .key = mase_cli_text(c, MASE_CLI_load_key),
        .lenient = mase_streq(mase_cli_text(c, MASE_CLI_strict), "no"),
        .seed = seed->kind == MASE_INT ? (uint64_t)seed->i : 0, /* a sweep has several */
    };
    return mase_cli_renames(&opts->renames, &opts->rename_count, c, err);
}

enum mase_status mase_cli_load_weights(struct mase_graph *g, struct mase_cli *c, const char *path,
                                       struct mase_err *err)
{
    struct mase_weights_opts opts;
    MASE_TRY(mase_cli_load_opts(&opts, c, err));
    return mase_weights_load_by(g, path, &opts, err);
}
