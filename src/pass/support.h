/*
 * support.h - what several passes share: side tables, output files, a node's type, formats.
 */
#ifndef MASE_PASS_SUPPORT_H
#define MASE_PASS_SUPPORT_H

#include <mase/compare.h>
#include <mase/file.h>
#include <mase/meta.h>
#include <mase/pass.h>

/* Metadata is the graph's side table: an analysis may write it, and nothing else, of a graph that
 * is const to it. The one place where const is set aside; the manager checks the rest. */
struct mase_graph *mase_side_tables(const struct mase_graph *g);

/* mase_quantised_params (compare.h) before anything is rounded. */
int mase_quantised_list(struct mase_quantised **out, struct mase_arena *arena,
                        const struct mase_graph *g);
/* How many values of x its format cuts; each is shown to fn (may be NULL). */
typedef void mase_outside_fn(void *data, int64_t index);
int64_t mase_quantised_saturated(const struct mase_quantised *p, mase_outside_fn *fn, void *data);

/* What rounding takes from weights and biases (lost.c): how many saturate and how many become zero
 * that were not, in all and of the parameters that lose much by it. NULL: g has no weights, or
 * nothing rounds them. */
struct mase_value *mase_lost_weights(struct mase_arena *a, const struct mase_graph *g);
/* That in a sentence, empty where nothing is lost; true: it is much. */
bool mase_lost_tell(struct mase_str *out, const struct mase_value *lost);
/* That sentence to the log: of what is much a warning, unless the weights were trained so. */
void mase_lost_log(const struct mase_graph *g, bool trained);

/* Bits per value of the layers that multiply (calculate_avg_bits.c), by the metadata of g. False:
 * there is no such layer. */
struct mase_average_bits {
    double data, weight, all;
};
bool mase_average_bits(struct mase_average_bits *bits, const struct mase_graph *g);

/* Where a pass writes: path (relative to the output folder) if given, else dflt in the output
 * folder; NULL when there is neither. In the scratch arena. */
const char *mase_pass_path(struct mase_pass_env *env, const char *path, const char *dflt);
/* Files that are written and wait to be closed together. A zeroed one is empty. */
struct mase_pass_files {
    struct mase_writer file[16];
    int count;
};
enum mase_status mase_pass_files_close(struct mase_pass_files *late,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Write a whole file and note it; in a list of passes it takes its name behind the last of them. */
enum mase_status mase_pass_write(struct mase_pass_env *env, const char *path,
                                 const struct mase_str *text, struct mase_err *err) MASE_MUST_CHECK;
/* Print the text and a newline for the user. */
void mase_pass_print(struct mase_pass_env *env, const struct mase_str *text);
/* Print a heading, which may be NULL, and a table, for the user as he asked for it. own: what the
 * pass's own option says about its format, one of mase_pass_formats; NULL: nothing. json: the value
 * to print as JSON, in mase_pass_arena; NULL: the rows of the table. */
void mase_pass_show(struct mase_pass_env *env, const char *heading, const struct mase_sheet *sheet,
                    const char *own, struct mase_value *json);
/* Where such a value lives: as long as anybody may print or record it. */
struct mase_arena *mase_pass_arena(const struct mase_pass_env *env);
/* The styles of tables, and json. */
extern const char *const mase_pass_formats[];
/* Note a result a program may want: info[pass] = value, made in env->info_arena. */
void mase_pass_note(struct mase_pass_env *env, const char *pass, struct mase_value *value);

/* A pass by name; at is where it is named. */
/* manager.c: the options of run->pass from its section (NULL: defaults), in a. key: of its name. */
enum mase_status mase_pass_bind(struct mase_pass_run *run, struct mase_arena *a,
                                const struct mase_value *args, struct mase_loc key,
                                struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_pass_need(const struct mase_pass **p, const char *name, struct mase_loc at,
                                struct mase_err *err) MASE_MUST_CHECK;
/* Every section of every node, without the tensors themselves: what a file holds. */
struct mase_value *mase_meta_table(struct mase_arena *a, const struct mase_graph *g);

/* Give the operands' records the formats in force at the node: its own or its module's, float when
 * it has none or is bypassed. */
void mase_meta_set_formats(struct mase_node *n);
/* The record's format by the node's quantisation; what mase_meta_set_formats writes. */
const struct mase_format *mase_meta_format_of(const struct mase_node *n,
                                              const struct mase_meta_arg *arg, bool is_result);

/* nodes_in, nodes_out, args and results of the whole graph, and is_implicit of the nodes between
 * the graph's boundary and them. */
void mase_meta_boundary(struct mase_graph *g);

/* Fill node metadata from a table as mase_meta_table makes it; every node must be there. */
enum mase_status mase_meta_read(struct mase_graph *g, const struct mase_value *table,
                                struct mase_err *err) MASE_MUST_CHECK;

/* ---- who uses a module (sharing.c) ---- */

int mase_module_calls(const struct mase_graph *g, const struct mase_module *m);
/* Does anything but the module's own calls read its parameters? */
bool mase_module_is_shared(const struct mase_graph *g, const struct mase_module *m);

/* ---- hardware ---- */

/* What an operation becomes in hardware: a module of ours, or high-level synthesis. All static. */
struct mase_hw_module {
    enum mase_op op;
    const char *toolchain, *module;
    const char *const *files; /* NULL-terminated */
};
const struct mase_hw_module *mase_hw_module_of(enum mase_op op);

/* ---- the arguments of a call ---- */

/* One argument that a call is given. */
struct mase_named_arg {
    const char *name;           /* of the parameter; shape_0, shape_1 for *shape */
    char role;                  /* x y w b t, 0: a plain value */
    const struct mase_arg *arg; /* as written: may hold nodes */
};
/* The arguments of a call matched with its signature: positional, then keyword ones. The object of
 * a method is left out; a list of tensors (torch.cat) gives one entry each. Returns their number.
 */
int mase_named_args(struct mase_arena *a, const struct mase_node *n, struct mase_named_arg **out);

#endif /* MASE_PASS_SUPPORT_H */
