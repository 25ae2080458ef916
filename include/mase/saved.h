/*
 * saved.h - a graph as a folder: its text, its weights, its metadata, and their checksums.
 *
 *     if ((st = mase_graph_load(&g, "transformed_ckpt", NULL, err)))
 *         return st;
 *     ...
 *     st = mase_manager_save(&m, &g, "copy", err);     // with metadata, which m adds
 */
#ifndef MASE_SAVED_H
#define MASE_SAVED_H

#include <mase/api.h>
#include <mase/graph.h>
#include <mase/pass.h>

MASE_API_BEGIN

#define MASE_SAVED_GRAPH   "graph_module.mg"
#define MASE_SAVED_WEIGHTS "state_dict.safetensors" /* unless the graph has none */
#define MASE_SAVED_META    "node_meta_param.toml"
#define MASE_SAVED_SUMS    "SHA256SUMS" /* of those that are there, as sha256sum has it */

/* Load a graph from its folder, or from the path of any file in it. name: for a graph that was
 * saved without a name; may be NULL. Files of different saves are refused. The caller frees the
 * graph. */
enum mase_status mase_graph_load(struct mase_graph **g, const char *path, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Save a graph: all files replace those of an earlier save at once, or none does. Metadata are
 * saved as they are; a graph without metadata cannot be loaded. */
enum mase_status mase_graph_save(const struct mase_graph *g, const char *dir,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Add the checksum of the file dir/name to a saved folder, or remove it if the file does not exist.
 * Loading the graph checks every file that has a checksum and exists. */
enum mase_status mase_saved_add(const char *dir, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Run the pass save_mase_graph: it adds missing metadata, and records the files in m->env. */
enum mase_status mase_manager_save(struct mase_manager *m, struct mase_graph **g, const char *dir,
                                   struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_SAVED_H */
