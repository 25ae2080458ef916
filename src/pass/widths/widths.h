/*
 * widths.h - the widths of layers: which can change, which must stay equal, and networks of others.
 *
 * The width of a layer is the number of its outputs: of features, channels, hidden units, columns
 * of an embedding. It is found once for a network what each width decides: the inputs of readers,
 * batch norms between, the lengths that forward gives to view. Then any number of networks with
 * other widths are made of copies:
 *
 *     struct mase_widths *w;
 *     MASE_TRY(mase_widths_find(&w, g, inputs, count, err));
 *     struct mase_graph *wide = mase_graph_clone(g);
 *     const struct mase_redefinition twice = { "fc1", MASE_REDEFINE_WIDTH, .out = 2 };
 *     st = mase_widths_redefine(wide, w, &twice, 1, seed, err);
 *
 * Values that are added have as many channels, so their layers are a group. A width stays where it
 * reaches the network's outputs, or a call that is not known to follow: it is never guessed.
 */
#ifndef MASE_PASS_WIDTHS_WIDTHS_H
#define MASE_PASS_WIDTHS_WIDTHS_H

#include <mase/call.h>
#include <mase/graph.h>

struct mase_widths;

/* Inputs need shapes only. The result is constant: threads may share it. */
enum mase_status mase_widths_find(struct mase_widths **out, const struct mase_graph *g,
                                  const struct mase_input *inputs, int count,
                                  struct mase_err *err) MASE_MUST_CHECK;
void mase_widths_free(struct mase_widths *w);

/* A layer with a width of its own. */
struct mase_width {
    const char *node; /* its first call */
    int64_t channels;
    int group;         /* widths of one group are in proportion: one multiplier is that of all */
    const char *fixed; /* why it cannot be chosen: "it gives the network's outputs"; NULL: it can */
    bool follows;      /* it is fixed because others decide it together, and changes with them */
};
int mase_widths_count(const struct mase_widths *w);
const struct mase_width *mase_widths_at(const struct mase_widths *w, int i); /* in graph order */

enum mase_redefine {
    MASE_REDEFINE_NOT,
    /* One layer literally, as lab 4 of the original has it: what it gives is multiplied by out,
     * what it takes by in. Layers with weights take what they took unless they are redefined, too:
     * a network in which two neighbours disagree is refused. */
    MASE_REDEFINE_OUTPUT_ONLY,
    MASE_REDEFINE_BOTH,
    MASE_REDEFINE_INPUT_ONLY,
    MASE_REDEFINE_WIDTH, /* what it gives is multiplied by out; readers and its group follow */
    MASE_REDEFINE_COUNT
};
extern const char *const mase_redefine_names[]; /* "NA", "output_only", ..., "width" */

struct mase_redefinition {
    const char *node;
    enum mase_redefine how;
    double in, out; /* multipliers of the widths that were found; read as `how` needs them */
    bool fallback;  /* nothing names the layer: it yields to others of its group, and stays where
                       its width is fixed (only MASE_REDEFINE_WIDTH) */
    struct mase_loc at; /* where it is written, for messages */
};

/* Redefine layers of g: the network of w or a copy of it, also one that was redefined before. All
 * that follows is redefined, too, and layers that change get new weights, drawn from the seed as
 * mase_graph_init_weights does; number formats stay. On failure g is as it was. Metadata of g is
 * not valid afterwards. */
enum mase_status mase_widths_redefine(struct mase_graph *g, const struct mase_widths *w,
                                      const struct mase_redefinition *list, int count,
                                      uint64_t seed, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_PASS_WIDTHS_WIDTHS_H */
