/*
 * saved.h - a graph as a folder: its text, its weights, its metadata, and the sums of these.
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

/* From the folder, or any file in it. name: for a graph that was saved without one; may be NULL.
 * Files that were not saved together are refused. The caller frees the graph. */
enum mase_status mase_graph_load(struct mase_graph **g, const char *path, const char *name,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* All files or none: they replace an earlier save together. The metadata are saved as they are; a
 * graph that lacks them cannot be loaded. */
enum mase_status mase_graph_save(const struct mase_graph *g, const char *dir,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Another file of a saved folder, `name` in dir, joins its sums, or leaves them when it is gone: if
 * it is there when the graph is loaded, it must be what it was. */
enum mase_status mase_saved_add(const char *dir, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The pass save_mase_graph: adds the metadata that are missing, and notes the files in m->env. */
enum mase_status mase_manager_save(struct mase_manager *m, struct mase_graph **g, const char *dir,
                                   struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_SAVED_H */
