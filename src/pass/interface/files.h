/*
 * files.h - the files of a saved graph's folder.
 */
#ifndef MASE_PASS_INTERFACE_FILES_H
#define MASE_PASS_INTERFACE_FILES_H

#define MASE_SAVED_GRAPH   "graph_module.mg"
#define MASE_SAVED_WEIGHTS "state_dict.safetensors"
#define MASE_SAVED_META    "node_meta_param.toml"

#endif /* MASE_PASS_INTERFACE_FILES_H */
