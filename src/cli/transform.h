/*
 * transform.h - one run of ch transform, shared by its files.
 */
#ifndef MASE_CLI_TRANSFORM_H
#define MASE_CLI_TRANSFORM_H

#include <mase/pass.h>
#include <mase/zoo.h>

#include "cli/cli.h"

enum mase_cli_weights {
    MASE_CLI_INITIALISED,
    MASE_CLI_WEIGHTS, /* from a .safetensors, .pt, .pth or .ckpt file */
    MASE_CLI_SAVED,   /* with their graph, from a folder */
};

struct mase_cli_job {
    struct mase_cli *c;
    const struct mase_model *model;
    const struct mase_data_info *data;
    enum mase_cli_weights weights;
    const char *project_dir;   /* .../mase_output/jsc-tiny */
    const char *transform_dir; /* its software/transform */
    uint64_t started;          /* mase_clock */
    struct mase_graph *graph;  /* owned */
    struct mase_manager manager;
};

/* load.c: what --load is, told from its name and held against --load-type. */
enum mase_status mase_cli_load_kind(enum mase_cli_weights *kind, const struct mase_cli *c,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* record.c: run.json in the project's folder. */
enum mase_status mase_cli_record(const struct mase_cli_job *j,
                                 struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_TRANSFORM_H */
