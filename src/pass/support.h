/*
 * support.h - functions that several passes share: metadata, output files, number formats.
 */
#ifndef MASE_PASS_SUPPORT_H
#define MASE_PASS_SUPPORT_H

#include <mase/compare.h>
#include <mase/file.h>
#include <mase/meta.h>
#include <mase/pass.h>

/* Drop const: an analysis may write metadata, and nothing else, of a graph that is const to it. The
 * manager checks the rest. */
struct mase_graph *mase_side_tables(const struct mase_graph *g);

/* As mase_quantised_params (compare.h), but without rounding. */
int mase_quantised_list(struct mase_quantised **out, struct mase_arena *arena,
                        const struct mase_graph *g);
/* Count the values of x that saturate, and call fn (may be NULL) for each. */
typedef void mase_outside_fn(void *data, int64_t index);
int64_t mase_quantised_saturated(const struct mase_quantised *p, mase_outside_fn *fn, void *data);

/* How many weights and biases saturate, and how many become zero, in all and in parameters that
 * lose much (rounding_loss.c). NULL: g has no weights, or no formats round them. */
struct mase_value *mase_rounding_loss(struct mase_arena *a, const struct mase_graph *g);
/* That as a sentence, empty if nothing is lost; returns true if much is lost. */
bool mase_rounding_loss_describe(struct mase_str *out, const struct mase_value *lost);
/* Log the sentence: as a warning if much is lost, unless the weights were trained quantised. */
void mase_rounding_loss_log(const struct mase_graph *g, bool trained);

/* Bits per value of the layers that multiply (calculate_avg_bits.c), by the metadata of g. False:
 * there is no such layer. */
struct mase_average_bits {
    double data, weight, all;
};
bool mase_average_bits(struct mase_average_bits *bits, const struct mase_graph *g);

/* The path of an output file: path (relative to the output folder) if given, else dflt in the
 * output folder; NULL without either. In the scratch arena. */
const char *mase_pass_path(struct mase_pass_env *env, const char *path, const char *dflt);
/* Written files that are to be closed together. A zeroed struct is empty. */
struct mase_pass_files {
    struct mase_writer file[16];
    int count;
};
enum mase_status mase_pass_files_close(struct mase_pass_files *late,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Write a file and record it; within a list of passes it gets its final name after the last pass.
 */
enum mase_status mase_pass_write(struct mase_pass_env *env, const char *path,
                                 const struct mase_str *text, struct mase_err *err) MASE_MUST_CHECK;
/* Print the text and a newline for the user. */
void mase_pass_print(struct mase_pass_env *env, const struct mase_str *text);
/* Print a heading (may be NULL) and a table in the format that the user chose. own: the format by
 * the pass's own option, one of mase_pass_formats; NULL: none. json: the value to print as JSON, in
 * mase_pass_arena; NULL: the rows of the table. */
void mase_pass_show(struct mase_pass_env *env, const char *heading, const struct mase_sheet *sheet,
                    const char *own, struct mase_value *json);
/* The arena of such values, which lives as long as they may be printed or recorded. */
struct mase_arena *mase_pass_arena(const struct mase_pass_env *env);
/* The styles of tables, and json. */
extern const char *const mase_pass_formats[];
/* Record a result for programs: info[pass] = value, allocated in env->info_arena. */
void mase_pass_note(struct mase_pass_env *env, const char *pass, struct mase_value *value);

/* A pass by name; at is where it is named. */
/* manager.c: bind the options of run->pass from its section (NULL: defaults), in a. key: place of
 * its name. */
enum mase_status mase_pass_bind(struct mase_pass_run *run, struct mase_arena *a,
                                const struct mase_value *args, struct mase_loc key,
                                struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_pass_need(const struct mase_pass **p, const char *name, struct mase_loc at,
                                struct mase_err *err) MASE_MUST_CHECK;
/* All metadata of every node, without tensors, as files have it. */
struct mase_value *mase_meta_table(struct mase_arena *a, const struct mase_graph *g);

/* Set the formats in the operands' records: the node's own or its module's; float without formats
 * or if bypassed. */
void mase_meta_set_formats(struct mase_node *n);
/* The format of the record by the node's quantisation, as mase_meta_set_formats writes it. */
const struct mase_format *mase_meta_format_of(const struct mase_node *n,
                                              const struct mase_meta_arg *arg, bool is_result);

/* Set nodes_in, nodes_out, args and results of the graph, and is_implicit of the nodes outside of
 * that boundary. */
void mase_meta_boundary(struct mase_graph *g);

/* Read metadata of nodes from a table as mase_meta_table makes it; every node must be in it. */
enum mase_status mase_meta_read(struct mase_graph *g, const struct mase_value *table,
                                struct mase_err *err) MASE_MUST_CHECK;

/* The one table that a section named after a node or an operation holds: [passes.PASS.KEY.config].
 */
enum mase_status mase_section_config(const struct mase_value **config, const char *key,
                                     struct mase_loc at, const struct mase_value *section,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* ---- users of a module (sharing.c) ---- */

int mase_module_calls(const struct mase_graph *g, const struct mase_module *m);
/* Do others than the module's own calls read its parameters? */
bool mase_module_is_shared(const struct mase_graph *g, const struct mase_module *m);

/* ---- hardware ---- */

/* The hardware form of an operation: an RTL module, or high-level synthesis. All static. */
struct mase_hw_module {
    enum mase_op op;
    const char *toolchain, *module;
    const char *const *files; /* NULL-terminated */
};
const struct mase_hw_module *mase_hw_module_of(enum mase_op op);

/* ---- the arguments of a call ---- */

/* An argument of a call. */
struct mase_named_arg {
    const char *name;           /* name of the parameter; shape_0, shape_1 for *shape */
    char role;                  /* x y w b t, 0: a plain value */
    const struct mase_arg *arg; /* as written: may hold nodes */
};
/* Match the arguments of a call with its signature: positional, then keyword arguments. The object
 * of a method is left out; a list of tensors (torch.cat) has one entry for each. Returns their
 * number. */
int mase_named_args(struct mase_arena *a, const struct mase_node *n, struct mase_named_arg **out);

#endif /* MASE_PASS_SUPPORT_H */
