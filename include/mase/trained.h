/*
 * trained.h - networks that are trained already: the network in a folder, the data that its weights
 * were trained on, and datasets opened to match.
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
/* The path of the network in a folder: the folder of a saved graph, or the checkpoint of a training
 * run; NULL: none. For a file, its own path. */
const char *mase_network_in(struct mase_arena *a, const char *dir);
/* Find the network in a folder; none is an error. */
enum mase_status mase_network_find(const char **path, struct mase_arena *a, const char *dir,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- checkpoints (follow.c) ---- */

/* The graph that a checkpoint was trained with; an error when the file has none. */
enum mase_status mase_checkpoint_need_graph(struct mase_graph **g, const char *path,
                                            struct mase_err *err) MASE_MUST_CHECK;
/* Give g the number formats that a checkpoint was trained with; an error if they do not fit. A file
 * without a graph changes nothing. */
enum mase_status mase_checkpoint_follow(struct mase_graph *g, const char *path,
                                        struct mase_err *err) MASE_MUST_CHECK;

/* ---- what they were trained on (trained.c) ---- */

/* What a file of weights or a saved folder says of the data it was trained on. */
enum mase_status mase_trained_on(struct mase_checkpoint_info *info, struct mase_arena *a,
                                 const char *path, struct mase_err *err) MASE_MUST_CHECK;
/* Read means and deviations, and names of classes if the file has them, allocated in a. */
enum mase_status mase_trained_read(struct mase_checkpoint_info *info, struct mase_arena *a,
                                   const char *path, struct mase_err *err) MASE_MUST_CHECK;

/* The classes of a dataset and those of a network, matched by their names (classes.c). */
struct mase_classes {
    int32_t *map; /* (classes) the network's for each of the dataset's; NULL: the same order */
    const char *const *names; /* in the network's order */
};
/* Match classes by name, if the checkpoint has the dataset's classes in another order. If the names
 * differ, the orders are taken as equal, with a message. */
void mase_classes_match(struct mase_classes *c, struct mase_arena *a, const struct mase_dataset *d,
                        const struct mase_checkpoint_info *of);

/* ---- data for them (data_choice.c) ---- */

/* The options of data, beside its name. */
enum mase_data_word {
#define DATA(name, kind) MASE_DATA_##name,
#include <mase/run_options.def>
    MASE_DATA_WORD_COUNT
};
/* Rows of run_options.def, ended by an empty one; a row binds to a variable of its type. */
extern const struct mase_opt mase_data_rows[];

struct mase_data_choice {
    struct mase_arena *arena;                             /* for results */
    const char *dataset;                                  /* its name, or a file */
    struct mase_loc at;                                   /* place of the name */
    const struct mase_value *value[MASE_DATA_WORD_COUNT]; /* the values in force; not given: a value
                                                             of kind none, never NULL */
    bool said[MASE_DATA_WORD_COUNT];                      /* the value was given, not a default */
    const struct mase_task *task;                         /* NULL: nothing is trained */
    const char *weights; /* where the network's weights come from, for messages; NULL: the seed */
    bool trains;         /* the weights are trained further, so other data than theirs is allowed */
    bool ranges;         /* keep what mase_dataset_range needs */
};

/* One that says nothing: defaults, whose values are made in the arena. */
void mase_data_choice_init(struct mase_data_choice *c, struct mase_arena *a);
/* The scaling that the option names; USUAL: the option is a file, or not given. And the file. */
enum mase_scale mase_data_choice_scale(const struct mase_data_choice *c);
const char *mase_data_choice_scaling_file(const struct mase_data_choice *c);
/* The options for opening a dataset, except the scaling, for weights with this description (NULL:
 * no weights). */
enum mase_status mase_data_choice_opts(struct mase_dataset_opts *o,
                                       const struct mase_data_choice *c,
                                       const struct mase_checkpoint_info *info,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Open a dataset for weights with this description: scaled, divided and read as their data was,
 * unless an option says otherwise. If nothing is trained, an option that contradicts the weights'
 * data is an error. */
enum mase_status mase_dataset_open_for(struct mase_dataset **d, const struct mase_data_choice *c,
                                       const struct mase_checkpoint_info *info,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Match the inputs of g with the arrays of the data: by names, else in the order in which arrays
 * were read. The log says the match of several inputs. *features, allocated in a: the arrays to
 * open the data with instead, "x,mask"; NULL: the data match as they are. (match.c) */
enum mase_status mase_inputs_match(const char **features, struct mase_arena *a,
                                   struct mase_graph *g, const struct mase_data_info *data,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* The shape of samples by the metadata of a saved graph's first placeholder; false: no metadata.
 * Shapes of further placeholders are stored in the graph. */
bool mase_graph_says_sample(struct mase_shape *sample, struct mase_graph *g);
/* "0.8,0.1,0.1 by column batch", in a; NULL: as usual. */
const char *mase_dataset_split_words(struct mase_arena *a, const struct mase_dataset *d);

MASE_API_END

#endif /* MASE_TRAINED_H */
