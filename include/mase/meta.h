/*
 * meta.h - metadata of a node: common, software, hardware.
 *
 * Metadata is typed C, allocated in the graph's arena; mase_meta_value makes a value tree of it to
 * print, save or compare.
 */
#ifndef MASE_META_H
#define MASE_META_H

#include <mase/api.h>
#include <mase/graph.h>
#include <mase/value.h>

MASE_API_BEGIN

enum mase_meta_kind {
    MASE_META_TENSOR, /* data_in_0, data_out_0: shape, torch_dtype, type, precision */
    MASE_META_PARAM,  /* weight, bias: type, precision, shape, from */
    MASE_META_RAW,    /* a plain value: start_dim = 1 */
    MASE_META_OBJECT, /* a result that is no tensor: {type: <class 'int'>, shape: [1], value: 8} */
};

/* One argument or result of a node in the common section. */
struct mase_meta_arg {
    const char *name;
    enum mase_meta_kind kind;
    enum mase_dtype dtype;
    struct mase_shape shape;
    const struct mase_format *format; /* type and precision: float [32], integer [8, 4] */
    struct mase_tensor *value;        /* the tensor itself, when add_value asked for it */
    struct mase_arg raw;              /* raw, object */
};

/* One statistic-bearing entry of the software section. stat is a table, empty at first. */
struct mase_meta_stat {
    const char *name; /* data_in_0, weight, data_out_0 */
    struct mase_value *stat;
};

struct mase_meta_hw {
    bool valid;
    bool is_implicit;
    int device_id;
    int parallelism[2];
    /* the rest is for nodes that are not implicit */
    const char *toolchain;               /* "INTERNAL", "HLS" */
    const char *module;                  /* "fixed_linear" or NULL */
    const char *const *dependence_files; /* NULL-terminated, static */
    struct mase_value *interface;        /* arg -> {storage, transpose} */
    struct mase_value *verilog_param;    /* DATA_IN_0_PRECISION_0 -> 8 */
};

struct mase_meta {
    enum mase_op_type type;
    enum mase_op op;
    struct mase_meta_arg *args, *results;
    int arg_count, result_count;
    bool has_common, has_software;
    struct mase_meta_stat *sw_args, *sw_results;
    int sw_arg_count, sw_result_count;
    bool sw_has_args, sw_has_results; /* the section's keys exist, even if empty */
    struct mase_meta_hw hw;
    /* graph level only */
    struct mase_node **nodes_in, **nodes_out;
    int nodes_in_count, nodes_out_count;
    struct mase_value *verilog_sources;
};

struct mase_meta_arg *mase_meta_arg(const struct mase_meta *m, const char *name);    /* or NULL */
struct mase_meta_arg *mase_meta_result(const struct mase_meta *m, const char *name); /* or NULL */
/* A deep copy in g's arena. Pointers to nodes become pointers to the nodes of these names in g, or
 * NULL. */
struct mase_meta *mase_meta_copy(struct mase_graph *g, const struct mase_meta *m);

/* "float" / [32], "integer" / [8, 4], "integer" / [8, None]. */
struct mase_value *mase_format_type(struct mase_arena *a, const struct mase_format *f);
struct mase_value *mase_format_precision(struct mase_arena *a, const struct mase_format *f);

enum mase_section { MASE_COMMON, MASE_HARDWARE, MASE_SOFTWARE, MASE_SECTION_COUNT };
extern const char *const mase_section_names[];
/* A section as the dictionary that reports print. */
struct mase_value *mase_meta_value(struct mase_arena *a, const struct mase_meta *m,
                                   enum mase_section s);

MASE_API_END

#endif /* MASE_META_H */
