/*
 * save_node_meta_param.c - the metadata of every node as a TOML file.
 */
#include "pass/support.h"

struct save_opts {
    const char *save_path;
};

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct save_opts *o = options;
    const char *path =
        mase_pass_path(env, o->save_path, "saved_node_meta_param/node_meta_param.toml");
    if (!path)
        return mase_fail(err, MASE_EVALUE, "save_path is not given, and there is no output folder");
    struct mase_str text = { 0 };
    mase_toml_print(&text, mase_meta_table(env->scratch, g));
    enum mase_status st = mase_pass_write(env, path, &text, err);
    mase_str_release(&text);
    return st;
}

static const struct mase_opt opts[] = {
    MASE_OPT_PATH(struct save_opts, save_path, "save_path", NULL, "the TOML file to write"),
    { 0 },
};

const struct mase_pass mase_pass_save_node_meta_param = {
    .name = "save_node_meta_param",
    .help = "write the metadata of every node to a TOML file",
    .needs = MASE_PROP_META | MASE_PROP_COMMON | MASE_PROP_SOFTWARE,
    .opts = opts,
    .opts_size = sizeof(struct save_opts),
    .analyse = run,
};
