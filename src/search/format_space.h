/*
 * format_space.h - the number formats of a search: which nodes vary, in what, and what a point
 * gives them.
 *
 *     [search.search_space.seed.seq_blocks_2.config]
 *     name = ["integer"]
 *     data_in_width = [4, 8]
 *
 * The section that a node falls under, by its name, its operation or a pattern, gives it a
 * dimension for each key, seq_blocks_2/config/data_in_width. Nodes have their own, whatever they
 * fall under: two linear layers under one section may differ.
 *
 * What is "auto" is found once for each choice of its operand, on the network in float, so that it
 * does not depend on the choices of other nodes.
 */
#ifndef MASE_SEARCH_FORMAT_SPACE_H
#define MASE_SEARCH_FORMAT_SPACE_H

#include <mase/calibrate.h>
#include <mase/graph.h>
#include <mase/study.h>

#include "search/variants.h"

/* "weight_width" is the parameter "width" of the operand weight. False: the key names no operand.
 */
bool mase_operand_key(enum mase_operand *o, const char **parameter, const char *key);
bool mase_format_has_parameter(enum mase_quant_kind kind, const char *parameter);

/* A node whose formats vary. */
struct mase_format_site {
    const char *node;
    const struct mase_value *config; /* KEY: a list of choices */
    int first;                       /* dimension; there is one for each key */
    int64_t combinations;
    /* What calibration found, by operand and the digits of the keys that decide it; NULL: nothing
     * is "auto". */
    const struct mase_format **found[MASE_OPERAND_COUNT];
};

struct mase_format_space {
    struct mase_format_site *site;
    int sites, cap;
};

/* Add the sites of g under the sections of `seed` (NULL: none), and their dimensions to space.
 * Nodes of one name in several networks are one site. Every choice is checked with the first choice
 * of the others. */
enum mase_status mase_format_space_read(struct mase_format_space *f, struct mase_space *space,
                                        struct mase_arena *a, const struct mase_graph *g,
                                        const char *by, const struct mase_value *seed,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* Find what is "auto" on these samples, whose shape is `sample` (format_auto.c). Of several
 * networks it would be different in each: that is refused. */
enum mase_status mase_format_space_calibrate(struct mase_format_space *f, struct mase_arena *a,
                                             const struct mase_variants *networks,
                                             const struct mase_calibrate_opts *o,
                                             const struct mase_samples *samples,
                                             const struct mase_shape *sample,
                                             struct mase_err *err) MASE_MUST_CHECK;

/* What a combination of a site's choices comes to. */
struct mase_format_choice {
    const struct mase_value *config; /* KEY: value */
    const struct mase_quant *quant;  /* NULL: float */
};
/* Those that a thread has used, by site and combination. */
struct mase_format_choices {
    const struct mase_format_space *space;
    struct mase_format_choice **made; // (sites)(combinations)
    struct mase_arena arena;
};
void mase_format_choices_init(struct mase_format_choices *c, const struct mase_format_space *f);
void mase_format_choices_release(struct mase_format_choices *c);
/* The choice of a site at a point, for node n of a graph; borrowed from c. */
enum mase_status mase_format_choose(const struct mase_format_choice **out,
                                    struct mase_format_choices *c, int site, struct mase_node *n,
                                    const double *x, struct mase_err *err) MASE_MUST_CHECK;
/* The configuration of the quantise pass at a point, as the original stores it: by name. */
struct mase_value *mase_format_config(struct mase_arena *a, const struct mase_format_space *f,
                                      const double *x);

/* ---- between format_space.c and format_auto.c ---- */

/* One choice for each key of a site: number digit[i] of key i. */
struct mase_value *mase_format_site_combine(struct mase_arena *a, const struct mase_format_site *s,
                                            const int *digit);
/* The quantise pass's decision for node n in this configuration; quant and pending are set where it
 * has a format. */
enum mase_status mase_format_site_bind(struct mase_decision *d, struct mase_arena *a,
                                       struct mase_value *config, struct mase_node *n,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Does a key decide what is found for an operand: is it the operand's, or the name of all? */
bool mase_format_decides(const char *key, enum mase_operand o);
/* Which of an operand's choices these digits are, and how many there are. */
int64_t mase_format_site_index(const struct mase_format_site *s, enum mase_operand o,
                               const int *digit);
int64_t mase_format_site_indices(const struct mase_format_site *s, enum mase_operand o);

#endif /* MASE_SEARCH_FORMAT_SPACE_H */
