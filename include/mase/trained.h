/*
 * trained.h - networks that were trained before: where a folder has one, what its weights were
 * trained on, and data that are opened for them.
 *
 *     MASE_TRY(mase_trained_on(&info, &a, "best.ckpt", err));
 *     MASE_TRY(mase_dataset_open_for(&d, &choice, &info, err));    // scaled as they were then
 */
#ifndef MASE_TRAINED_H
#define MASE_TRAINED_H

#include <mase/api.h>
#include <mase/train.h>

MASE_API_BEGIN

/* ---- folders (folder.c) ---- */

bool mase_is_saved(const char *dir);
/* What of a folder is its network: the folder of a saved graph, or the checkpoint of a training
 * run; NULL: it holds none. A file is it itself. */
const char *mase_network_in(struct mase_arena *a, const char *dir);
/* The same, or an error that says so. */
enum mase_status mase_network_find(const char **path, struct mase_arena *a, const char *dir,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* Its graph, without weights. */
enum mase_status mase_network_graph(struct mase_graph **g, const char *dir,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* ---- checkpoints (follow.c) ---- */

/* The graph that a checkpoint was trained with, which it must say. */
enum mase_status mase_checkpoint_need_graph(struct mase_graph **g, const char *path,
                                            struct mase_err *err) MASE_MUST_CHECK;
/* Give g the number formats that a checkpoint was trained with; refused if they do not fit. A file
 * that does not say how it was trained changes nothing. */
enum mase_status mase_checkpoint_follow(struct mase_graph *g, const char *path,
                                        struct mase_err *err) MASE_MUST_CHECK;

/* ---- what they were trained on (trained.c) ---- */

/* What a file of weights or a saved folder says of the data it was trained on. */
enum mase_status mase_trained_on(struct mase_checkpoint_info *info, struct mase_arena *a,
                                 const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* Means and deviations, and names of classes if there are any, from a file; in a. */
enum mase_status mase_trained_read(struct mase_checkpoint_info *info, struct mase_arena *a,
                                   const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* Leave in a saved folder how the data was scaled that its weights were trained on, or nothing if
 * that is not known. Its path is pushed to files. */
enum mase_status mase_trained_keep(const char *dir, struct mase_arena *a,
                                   const struct mase_checkpoint_info *info,
                                   struct mase_value *files, struct mase_err *err) MASE_MUST_CHECK;

/* The classes of a dataset and those of a network, matched by their names (classes.c). */
struct mase_classes {
    int32_t *map; /* (classes) the network's for each of the dataset's; NULL: the same order */
    const char *const *names; /* in the network's order */
};
/* By name, if the checkpoint has the dataset's classes in another order. Classes of other names are
 * taken to be the same ones, with a word. */
void mase_classes_match(struct mase_classes *c, struct mase_arena *a, const struct mase_dataset *d,
                        const struct mase_checkpoint_info *of);

/* ---- data for them (data_choice.c) ---- */

/* What is said of data beside its name. */
enum mase_data_word {
#define DATA(name, kind) MASE_DATA_##name,
#include <mase/run_options.def>
    MASE_DATA_WORD_COUNT
};
/* Of run_options.def, ended by an empty one; a row binds to a field of its type alone. */
extern const struct mase_opt mase_data_rows[];

struct mase_data_choice {
    struct mase_arena *arena;                             /* for what is found */
    const char *dataset;                                  /* its name, or a file */
    struct mase_loc at;                                   /* of that word */
    const struct mase_value *value[MASE_DATA_WORD_COUNT]; /* in force; none, but never NULL */
    bool said[MASE_DATA_WORD_COUNT];                      /* it is no default */
    const struct mase_task *task;                         /* NULL: nothing is trained */
    const char *weights; /* where those of the network come from, for messages; NULL: the seed */
    bool trains;         /* they may go on with other data than they had */
    bool ranges;         /* mase_dataset_range will be asked */
};

/* One that says nothing: defaults, whose values are made in the arena. */
void mase_data_choice_init(struct mase_data_choice *c, struct mase_arena *a);
/* The word that `scaling` is; USUAL: it is none, but a file, or not given. And the file. */
enum mase_scale mase_data_choice_scale(const struct mase_data_choice *c);
const char *mase_data_choice_scaling_file(const struct mase_data_choice *c);
/* The options of opening a dataset but for the scaling, for weights that were trained so (NULL:
 * there are none). */
enum mase_status mase_data_choice_opts(struct mase_dataset_opts *o,
                                       const struct mase_data_choice *c,
                                       const struct mase_checkpoint_info *info,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* The dataset for weights that were trained so: scaled, divided and read as theirs was where
 * nothing else is said; refused where what is said contradicts that and nothing is trained. */
enum mase_status mase_dataset_open_for(struct mase_dataset **d, const struct mase_data_choice *c,
                                       const struct mase_checkpoint_info *info,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Which arrays of the data the inputs of g are: by their names, else in the order in which they
 * were read. Says so where there are several. features (in a): those to be read instead, "x,mask";
 * NULL: the data are as the network takes them. (match.c) */
enum mase_status mase_inputs_match(const char **features, struct mase_arena *a,
                                   struct mase_graph *g, const struct mase_data_info *data,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* What samples are like by the metadata of the placeholders, as a saved graph has them; false: it
 * does not say. Those of further inputs become the graph's. */
bool mase_graph_says_sample(struct mase_shape *sample, struct mase_graph *g);
/* "0.8,0.1,0.1 by column batch", in a; NULL: as usual. */
const char *mase_dataset_split_words(struct mase_arena *a, const struct mase_dataset *d);

MASE_API_END

#endif /* MASE_TRAINED_H */
