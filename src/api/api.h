/*
 * api.h (private) - what the objects of mase.h are.
 *
 * Every call of mase.h runs guarded (base/host.h), so that it ends by a status whatever happens. A
 * network is changed on a clone, which takes the network's place when all went well: a call that
 * fails has changed nothing. Blocks of weights go along and are never given back before the network
 * is, since programs may look into them.
 */
#ifndef MASE_API_API_H
#define MASE_API_API_H

#include <mase.h>

#include <mase/pass.h>
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
    struct mase_arena arena; /* of what is not the graph's, until the end */
    struct mase_graph *graph;
    struct mase_graph *before; /* the graph before the newest transform; NULL: none. It borrows
                                * weights of graph */
    bool lent;                 /* graph is the pass manager's: this net ends with the pass */
    struct mase_shape sample;
    bool has_sample;
    struct mase_checkpoint_info trained; /* what its weights were trained on */
    const char *origin;                  /* where they come from, or NULL */
    uint64_t edits;
    bool broken; /* an edit ran out of memory */
};

struct mase_runner {
    struct mase_session *session;
    struct mase_graph *graph;
    struct mase_predictor *predictor;
    int64_t features;
};

/* ---- session.c ---- */

/* Run fn for the session; err may be NULL. */
enum mase_status mase_api_run(struct mase_session *s, mase_guarded_fn *fn, void *data,
                              struct mase_err *err) MASE_MUST_CHECK;
/* The text of options as a table, "NA" resolved; NULL: an empty one. */
enum mase_status mase_api_options(struct mase_value **v, struct mase_arena *a, const char *text,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* s becomes the text; what that was before is released. */
void mase_text_take(struct mase_text *t, struct mase_str *s);
void mase_text_json(struct mase_text *t, const struct mase_value *v);
/* A struct that grew: is its size one that this version can read? */
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

/* ---- net.c ---- */

/* Is it whole? */
enum mase_status mase_net_use(const struct mase_net *net, struct mase_err *err) MASE_MUST_CHECK;
/* g, a clone of the network's graph that was changed, takes its place. keep: the old one stays as
 * what it was before the newest transform. */
void mase_net_become(struct mase_net *net, struct mase_graph *g, bool keep);
/* The values of from's parameters where g has its own of the same names: memory that programs look
 * into stays where it is. */
void mase_net_take_values(struct mase_graph *g, const struct mase_graph *from);
/* Inputs of one sample each, of which shapes are known; an error when the network's are not. */
enum mase_status mase_net_inputs(struct mase_inputs *in, struct mase_arena *a,
                                 const struct mase_net *net, struct mase_err *err) MASE_MUST_CHECK;

/* Copies in a; NULL of NULL. */
const char *const *mase_copy_names(struct mase_arena *a, const char *const *names, int n);
const char *mase_copy_text(struct mase_arena *a, const char *s);
struct mase_scaling mase_copy_scaling(struct mase_arena *a, const struct mase_scaling *s);

/* ---- walk.c ---- */

/* The network in the words that `what` names. */
enum mase_status mase_net_describe(struct mase_str *out, struct mase_net *net, const char *what,
                                   struct mase_err *err) MASE_MUST_CHECK;

/* ---- json.c ---- */

struct mase_value *mase_json_node(struct mase_arena *a, const struct mase_node *n);
struct mase_value *mase_json_graph(struct mase_arena *a, const struct mase_net *net);
/* {"weight": "integer(8, 4)"} and {"name": "integer", ...}; none where there are no formats. */
struct mase_value *mase_json_formats(struct mase_arena *a, const struct mase_quant *q);
struct mase_value *mase_json_config(struct mase_arena *a, const struct mase_quant *q);

/* ---- passes.c ---- */

/* The function of passes that programs bring; what they are is pass->user. */
mase_transform_fn mase_api_run_own;
mase_analyse_fn mase_api_look_own;
extern const struct mase_opt mase_api_own_opts[];
size_t mase_api_own_size(void);
/* Samples of rows as passes read them. */
struct mase_samples mase_api_samples(const struct mase_rows *rows);

#endif /* MASE_API_API_H */
