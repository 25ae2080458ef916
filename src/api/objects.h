/*
 * objects.h (private) - what the objects of mase.h are.
 *
 * Every call of mase.h runs guarded (base/host.h), so that it ends by a status whatever happens. A
 * network is changed on a clone, which takes the network's place when all went well: a call that
 * fails has changed nothing. Blocks of weights go along and are never given back before the network
 * is, since programs may look into them.
 */
#ifndef MASE_API_OBJECTS_H
#define MASE_API_OBJECTS_H

#include <mase.h>

#include <mase/pass.h>
#include <mase/study.h>
#include <mase/trained.h>

#include "base/host.h"

struct mase_session {
    struct mase_host host;
    struct mase_arena arena;         /* passes of its own */
    const struct mase_pass **passes; /* up to NULL: what host.passes is */
    int pass_count;
};

struct mase_rows {
    struct mase_session *session;
    struct mase_dataset *dataset;
};

struct mase_net {
    struct mase_session *session;
    struct mase_arena arena; /* of trained and origin */
    struct mase_graph *graph;
    struct mase_graph *before; /* the graph before the newest transform; NULL: none. It borrows
                                * weights of graph */
    /* Of a network that ends with the pass which it is lent to; NULL: it is not lent. */
    struct mase_graph *lent;   /* the pass manager's, which frees it */
    struct mase_guard *lender; /* the call that runs the pass: what becomes of graph is its */
    struct mase_shape sample;
    bool has_sample;
    struct mase_checkpoint_info trained; /* what its weights were trained on */
    const char *origin;                  /* where they come from, or NULL */
    uint64_t edits;
    bool broken; /* an edit ran out of memory */
    bool busy;   /* a call that changes it is running */
};

struct mase_trials {
    struct mase_session *session;
    struct mase_study study;
    struct mase_searched *of; /* owned; NULL: they are from a store */
    struct mase_arena arena;  /* of that */
};

struct mase_runner {
    struct mase_session *session;
    struct mase_graph *graph;
    struct mase_predictor *predictor;
    struct mase_arena arena; /* of inputs */
    struct mase_inputs inputs;
    bool busy; /* a run is in progress */
};

/* ---- session.c ---- */

/* Run fn for the session; err may be NULL. */
enum mase_status mase_api_run(struct mase_session *s, mase_guarded_fn *fn, void *data,
                              struct mase_err *err) MASE_MUST_CHECK;
/* The text of options as a table, "NA" resolved; NULL: an empty one. */
enum mase_status mase_api_options(struct mase_value **v, struct mase_arena *a, const char *text,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* s becomes the text; what that was before is released. It is the program's from here on, whatever
 * becomes of the call. */
void mase_text_take(struct mase_text *t, struct mase_str *s);
void mase_text_json(struct mase_text *t, const struct mase_value *v);
/* As mase_api_run, for a call that changes the network: refused within another call, whose
 * callback may only read it. */
enum mase_status mase_api_change(struct mase_net *net, mase_guarded_fn *fn, void *data,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* The status that a callback returned, with err, which may be empty or have the status of another
 * error. */
enum mase_status mase_api_agree(enum mase_status st, struct mase_err *err) MASE_MUST_CHECK;
/* A required argument is missing: a status, not a crash. */
enum mase_status mase_api_missing(const char *what, struct mase_err *err) MASE_MUST_CHECK;
#define MASE_API_NEED(argument, err)                 \
    do {                                             \
        if (!(argument))                             \
            return mase_api_missing(#argument, err); \
    } while (0)
/* A text that may be NULL must not be empty; a number must be 0, the default, or at most `most`. */
enum mase_status mase_api_text(const char *text, const char *what,
                               struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_api_number(int64_t number, int64_t most, const char *what,
                                 struct mase_err *err) MASE_MUST_CHECK;
/* As mase_api_number, for an option of training, within the range of its row. */
enum mase_status mase_api_train_number(int64_t number, enum mase_train_option option,
                                       struct mase_err *err) MASE_MUST_CHECK;
#define MASE_API_VALUES (INT64_MAX / 64) /* no memory has more */
/* The shape that a program gives: up to most dimensions, none below 1, their product countable. */
enum mase_status mase_api_shape(struct mase_shape *s, int rank, const int64_t *dim, int most,
                                struct mase_err *err) MASE_MUST_CHECK;
/* The rank, and dim if it is not NULL: for the program. */
int mase_api_dims(const struct mase_shape *s, int64_t dim[8]);
/* A struct that grew: is its size one that this version can read? Fields are whole. */
enum mase_status mase_api_size(size_t size, size_t least, const char *what,
                               struct mase_err *err) MASE_MUST_CHECK;
/* The caller's struct as this version has it: what an older one lacks is zero. */
#define MASE_API_COPY(to, from) \
    memcpy(&(to), (from), (from)->size < sizeof(to) ? (from)->size : sizeof(to))
/* A result into the caller's struct, as far as that has it; its size stays. */
#define MASE_API_GIVE(to, from)                                                     \
    do {                                                                            \
        const size_t size_ = (to)->size < sizeof(from) ? (to)->size : sizeof(from); \
        (from).size = (to)->size;                                                   \
        memcpy((to), &(from), size_);                                               \
    } while (0)

/* ---- rows.c ---- */

/* The split of this name, or an error. */
enum mase_status mase_api_split(enum mase_split *split, const char *name,
                                struct mase_err *err) MASE_MUST_CHECK;

/* ---- api_net.c ---- */

/* One without a graph; and a second one like it, with weights of its own. */
struct mase_net *mase_net_new(struct mase_session *s);
struct mase_net *mase_net_copy(const struct mase_net *from);

/* Is the pointer valid, and no earlier edit failed half-way? */
enum mase_status mase_net_use(const struct mase_net *net, struct mase_err *err) MASE_MUST_CHECK;
/* Is it also given an output? A network under construction may have none. */
enum mase_status mase_net_need_output(const struct mase_net *net,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Does it also have an input, and values for every parameter? */
enum mase_status mase_net_need_values(const struct mase_net *net,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* g, a clone of the network's graph that was changed, takes its place. keep: the old one stays as
 * what it was before the newest transform. */
void mase_net_become(struct mase_net *net, struct mase_graph *g, bool keep);
/* g, a clone of the network's graph, takes its place, and then the values of from's parameters
 * where it has those of the same names: memory that programs look into stays where it is. a, in
 * which trained and origin lie, becomes the network's, and is empty then. */
void mase_net_become_trained(struct mase_net *net, struct mase_graph *g,
                             const struct mase_graph *from, struct mase_arena *a,
                             const struct mase_checkpoint_info *trained, const char *origin);
/* Values of the parameters as they were: kept once more, those of now. They go back to where they
 * lay. */
struct mase_kept {
    struct mase_arena *arena; /* borrowed, for the copies */
    struct mase_kept_value *item;
    int count, cap;
};
void mase_keep_values(struct mase_kept *k, const struct mase_graph *g);
void mase_put_back(const struct mase_kept *k);
/* Inputs of one sample each, of which shapes are known; an error when the network's are not. */
enum mase_status mase_net_inputs(struct mase_inputs *in, struct mase_arena *a,
                                 const struct mase_net *net, struct mase_err *err) MASE_MUST_CHECK;

/* Copy what weights were trained on, with everything in a. */
struct mase_checkpoint_info mase_copy_trained(struct mase_arena *a,
                                              const struct mase_checkpoint_info *from);

/* ---- compute.c ---- */

/* Check that samples are what the network takes, and arrays its inputs; the error describes both.
 * Sets the shapes of further inputs of g, the network's graph or a clone. */
enum mase_status mase_net_fits(const struct mase_net *net, struct mase_graph *g,
                               const struct mase_rows *rows, struct mase_err *err) MASE_MUST_CHECK;

/* ---- api_search.c ---- */

/* What a search was made of: a network of its own, the rest as the program gave it. */
struct mase_searched {
    struct mase_net *net;
    const struct mase_rows *rows; /* borrowed */
    const char *config;
    struct mase_searching how;
};
/* The network of a trial, trained if trials train. */
enum mase_status mase_searched_net(struct mase_net **net, const struct mase_trials *trials,
                                   const struct mase_trial *t,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- look.c ---- */

/* The network in the words that `what` names. */
enum mase_status mase_net_describe(struct mase_str *out, struct mase_net *net, const char *what,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- json.c ---- */

struct mase_value *mase_json_node(struct mase_arena *a, const struct mase_node *n);
struct mase_value *mase_json_graph(struct mase_arena *a, const struct mase_net *net);
/* {"weight": "integer(8, 4)"} and {"name": "integer", ...}; none where there are no formats. */
struct mase_value *mase_json_formats(struct mase_arena *a, const struct mase_quant *q);
struct mase_value *mase_json_config(struct mase_arena *a, const struct mase_quant *q);

/* ---- api_passes.c ---- */

/* A graph of the library's as a network, for as long as a function of the program runs, and what
 * the function leaves outside of the graph: nobody's but ours, if the call should end before. */
struct mase_loan {
    struct mase_net net;
    struct mase_text info;
};
struct mase_loan *mase_lend(struct mase_graph *g, const struct mase_shape *sample); /* or NULL */
void mase_loan_end(struct mase_loan *l);

/* The function of passes that programs bring; what they are is pass->user. */
mase_transform_fn mase_api_run_own;
mase_analyse_fn mase_api_look_own;
extern const struct mase_opt mase_api_own_opts[];
size_t mase_api_own_size(void);
/* Samples of rows as passes read them. */
struct mase_samples mase_api_samples(const struct mase_rows *rows);

#endif /* MASE_API_OBJECTS_H */
