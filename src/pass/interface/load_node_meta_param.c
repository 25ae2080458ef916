/*
 * load_node_meta_param.c - the metadata of every node from a TOML file.
 */
#include "pass/support.h"

struct load_opts {
    const char *load_path;
};

static enum mase_status run(const struct mase_graph *g, const void *options,
                            struct mase_pass_env *env, struct mase_err *err)
{
    const struct load_opts *o = options;
    struct mase_value *table;
    MASE_TRY(mase_toml_read(&table, env->scratch, o->load_path, err));
    mase_value_resolve_na(table);
    return mase_meta_read(mase_side_tables(g), table, err);
}

static const struct mase_opt opts[] = {
    { .key = "load_path",
      .type = MASE_OPT_TYPE_PATH,
      .offset = offsetof(struct load_opts, load_path),
      .required = true,
      .help = "the TOML file that save_node_meta_param wrote" },
    { 0 },
};

const struct mase_pass mase_pass_load_node_meta_param = {
    .name = "load_node_meta_param",
    .help = "read the metadata of every node from a TOML file",
    .gives = MASE_PROP_META | MASE_PROP_COMMON,
    .opts = opts,
    .opts_size = sizeof(struct load_opts),
    .analyse = run,
};
