/*
 * work.h - networks by what people call them: what a word names, where weights come from, what they
 * were trained on, which data they are for.
 *
 *     struct mase_opened w;
 *     struct mase_work_choice choice;
 *     mase_work_choice_init(&choice, &a);
 *     choice.model = "jsc-tiny";
 *     choice.weights = "best.ckpt";
 *     MASE_TRY(mase_work_open(&w, &choice, err));
 *     ...
 *     mase_work_close(&w);
 *
 * Whoever opens data as well does so between the two halves of mase_work_open:
 *
 *     MASE_TRY(mase_work_find(&w, &choice, err));
 *     MASE_TRY(mase_work_open_data(&d, &w, err));
 *     MASE_TRY(mase_work_build(&w, &mase_dataset_info(d)->data, err));
 *     MASE_TRY(mase_work_match_inputs(&d, &w, err));
 */
#ifndef MASE_WORK_H
#define MASE_WORK_H

#include <mase/api.h>
#include <mase/evaluate.h>
#include <mase/pass.h>
#include <mase/trained.h>
#include <mase/weights.h>
#include <mase/zoo.h>

MASE_API_BEGIN

/* ---- words (word.c) ---- */

enum mase_word_kind {
    MASE_WORD_NONE,       /* no word: data alone */
    MASE_WORD_LAYERS,     /* a list of layers, which a configuration has */
    MASE_WORD_ZOO,        /* a model of the zoo */
    MASE_WORD_SOURCE,     /* net.py, net.py:Net(width=3), torchvision.models:resnet18 */
    MASE_WORD_GRAPH,      /* the text of a graph, net.mg */
    MASE_WORD_ONNX,       /* net.onnx */
    MASE_WORD_SAVED,      /* a folder that was saved, its graph_module.mg, or a run that left one */
    MASE_WORD_CHECKPOINT, /* weights that say which network they were trained in, or their run */
    MASE_WORD_WEIGHTS,    /* weights alone, in a file or a folder of Hugging Face's */
    MASE_WORD_OTHER,      /* a file of another kind: its reader says what is wrong with it */
};

struct mase_word {
    enum mase_word_kind kind;
    const char *text; /* as it was given */
    const char *path; /* of a folder of a run, and the like, what it stands for; else the text */
    const struct mase_model *model; /* of the zoo; else NULL */
};

/* The one answer to what a word names. A folder or file that is there goes before a model of the
 * zoo, unless it is a folder without a network. Paths are made in the arena. Nothing is executed.
 */
enum mase_status mase_word_find(struct mase_word *w, struct mase_arena *a, const char *text,
                                struct mase_err *err) MASE_MUST_CHECK;

/* ---- weights (weight_source.c) ---- */

enum mase_weight_source {
    MASE_WEIGHTS_SEED,  /* drawn */
    MASE_WEIGHTS_FILE,  /* tensors by name, of a file */
    MASE_WEIGHTS_SAVED, /* with their graph, of a folder */
    MASE_WEIGHTS_OWN,   /* of the ONNX file that the graph is of */
};

/* ---- networks (open_network.c) ---- */

struct mase_work_choice {
    const char *model; /* the word; NULL: there is no network */
    struct mase_loc model_at;
    const struct mase_value *layers; /* those of the network that is called model; NULL: a word */
    const char *weights; /* a file or a folder; NULL: the network's own, else from the seed */
    struct mase_loc weights_at;
    const char *weights_type; /* "pt", "pl", "mz" ...; NULL: the file tells */
    struct mase_loc type_at;
    struct mase_weights_opts load; /* how they are taken; its seed is that of initial weights */
    const char *task;              /* NULL: what the weights were trained for, else classes */
    struct mase_loc task_at;
    /* Its arena is that of whatever is found; dataset is NULL: what the network says, else what the
     * weights were trained on, else the usual one. task and weights are filled in. */
    struct mase_data_choice data;
    double seconds;     /* that capturing a .py file may take; 0: the default */
    bool no_values;     /* values of parameters are not needed */
    bool only_weights;  /* a word may name weights without a network */
    bool spare_weights; /* the weights are for a network that has none of its own */
};

/* One that says nothing, whose places are nowhere. */
void mase_work_choice_init(struct mase_work_choice *c, struct mase_arena *a);

struct mase_opened {
    struct mase_work_choice choice;
    struct mase_word word;
    /* by mase_work_find */
    enum mase_weight_source source;
    const char *weights;                 /* their file or folder; NULL: the seed */
    struct mase_checkpoint_info trained; /* what they were trained on */
    const struct mase_task *task;        /* what the network is for; NULL: as it is usual */
    /* by mase_work_build */
    struct mase_graph *graph;    /* owned; NULL: weights alone */
    struct mase_tensors tensors; /* those, owned */
    struct mase_shape sample;    /* of the first input, without its batch */
    bool has_sample;             /* else it is not known */
    bool scaling_read;           /* of the file that `scaling` names, into trained */
};

/* What the words of a choice name, and what the weights were trained on. A file is read as far as
 * that takes; no network is made. */
enum mase_status mase_work_find(struct mase_opened *w, const struct mase_work_choice *choice,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The network for these data, with its weights. data is NULL: it says itself what samples are. */
enum mase_status mase_work_build(struct mase_opened *w, const struct mase_data_info *data,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* Its graph, without weights, unless they are those of the file that the graph is of. */
enum mase_status mase_work_graph(struct mase_opened *w, const struct mase_data_info *data,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* And then its weights, as the choice says. */
enum mase_status mase_work_load(struct mase_opened *w, struct mase_err *err) MASE_MUST_CHECK;
/* All of it, for the dataset of the choice. */
enum mase_status mase_work_open(struct mase_opened *w, const struct mase_work_choice *choice,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_work_close(struct mase_opened *w);
/* May the weights of a network take their memory? Where they are many, its shapes are inferred for
 * a sample first (NULL: not known), since a wrong number of features is the likelier fault. */
enum mase_status mase_work_check_size(const struct mase_graph *g, const struct mase_shape *sample,
                                      struct mase_err *err) MASE_MUST_CHECK;

/* ---- data for them (data_for.c) ---- */

/* The dataset of the choice, scaled, divided and read as the weights want it. */
enum mase_status mase_work_open_data(struct mase_dataset **d, struct mase_opened *w,
                                     struct mase_err *err) MASE_MUST_CHECK;
/* What a dataset is, by its name; a file is opened to find out. */
enum mase_status mase_work_data_info(const struct mase_data_info **info, struct mase_opened *w,
                                     const char *name, struct mase_err *err) MASE_MUST_CHECK;
/* What the file that `scaling` names says goes before what the weights say. Opening data does it.
 */
enum mase_status mase_work_read_scaling(struct mase_opened *w,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Which arrays of the data the inputs of the network are. Where these are others than were read,
 * the choice names them, and *d is opened anew. */
enum mase_status mase_work_match_inputs(struct mase_dataset **d, struct mase_opened *w,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The same of data that are not open: *info is what they are when read so. */
enum mase_status mase_work_match_data(const struct mase_data_info **info, struct mase_opened *w,
                                      struct mase_err *err) MASE_MUST_CHECK;

/* An open dataset, borrowed, as passes read samples. batch_size: what the user asked for; 0:
 * nothing.
 */
struct mase_samples mase_work_samples(const struct mase_dataset *d, int64_t batch_size);

/* ---- what is done with them ---- */

/* How good a network is, and how that is found. */
struct mase_measure {
    const struct mase_dataset *data;
    struct mase_split_rows rows; /* of the data */
    const struct mase_objective *objective;
    const int32_t *class_map; /* the network's class for each of the data's; NULL: the same */
    int64_t batch_size;       /* of networks that mix samples, and of losses of one's own */
    int threads;              /* at most; 0: as many as are worth it */
    const struct mase_engine *engine; /* NULL: float */
    uint64_t seed;                    /* of networks that draw numbers */
    struct mase_arena *detail;        /* NULL: loss and score alone */
};
struct mase_measurement {
    struct mase_evaluation e;
    int threads;
    const char *isa;
};
enum mase_status mase_work_measure(struct mase_measurement *out, struct mase_graph *g,
                                   const struct mase_measure *m,
                                   struct mase_err *err) MASE_MUST_CHECK; /* measure_network.c */

/* As a folder, with what the weights were trained on: all files or none. m notes the files, and
 * knows the inputs where metadata are missing. (save_trained.c) */
enum mase_status mase_work_save(struct mase_manager *m, struct mase_graph **g, const char *dir,
                                const struct mase_checkpoint_info *trained,
                                struct mase_err *err) MASE_MUST_CHECK;

MASE_API_END

#endif /* MASE_WORK_H */
