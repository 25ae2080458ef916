/*
 * plugin.h - passes of your own in a shared object, found by name like those that are built in.
 *
 * A plugin defines one symbol, mase_plugin, and is compiled against these headers:
 *
 *     static const struct mase_pass count_nodes = { .name = "count_nodes", ... };
 *     MASE_PLUGIN("count", &count_nodes);
 *
 *     cc -std=c17 -shared -fPIC count.c -o libcount.so
 *     ch transform --config c.toml --plugin ./libcount.so
 *
 * A plugin calls libmase's functions, which ch exports, and links no library. It must be compiled
 * for the MASE_PLUGIN_API of the program; otherwise it is refused before anything else in it is
 * read. A plugin is the user's own code, trusted as the program itself.
 */
#ifndef MASE_PLUGIN_H
#define MASE_PLUGIN_H

#include <mase/api.h>
#include <mase/pass.h>

MASE_API_BEGIN

/* Incremented when a struct or function that plugins use changes its meaning. */
#define MASE_PLUGIN_API 2

struct mase_plugin {
    int api;          /* MASE_PLUGIN_API: always first */
    size_t pass_size; /* sizeof(struct mase_pass), which must agree, too */
    const char *name;
    const struct mase_pass *const *passes; /* NULL-terminated */
};

/* Define the plugin: its name, and the addresses of its passes. */
#define MASE_PLUGIN(title, ...)                                                                \
    MASE_API extern const struct mase_plugin mase_plugin;                                      \
    static const struct mase_pass *const mase_plugin_passes[] = { __VA_ARGS__, NULL };         \
    const struct mase_plugin mase_plugin = { MASE_PLUGIN_API, sizeof(struct mase_pass), title, \
                                             mase_plugin_passes }

/* Load a plugin and add its passes to those that mase_pass_find finds. A file that is not a plugin,
 * a plugin for another API, and a pass that is incomplete or whose name is taken are errors. A
 * plugin stays loaded until the process ends; loading it again does nothing. */
enum mase_status mase_plugin_load(const char *path, struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_PLUGIN_H */
