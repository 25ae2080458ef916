/*
 * load_option.c - options for loading weights: --map, --load-key, --strict.
 */
#include <string.h>

#include "cli/project.h"

/* The list of --map; NULL: none. */
static const struct mase_value *rename_list(const struct mase_cli *c)
{
    const struct mase_cli_setting *s = &c->setting[MASE_CLI_map];
    return s->cmdline ? s->cmdline : s->file;
}

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
        .seed = seed->kind == MASE_INT ? (uint64_t)seed->i : 0, /* a sweep has a list of seeds */
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
