/*
 * quantize_parts.h - shared by the files of the pass quantize: select the rule of a node, bind its
 * configuration.
 */
#ifndef MASE_PASS_TRANSFORM_QUANTIZE_PARTS_H
#define MASE_PASS_TRANSFORM_QUANTIZE_PARTS_H

#include <mase/pass.h>

enum mase_by { MASE_BY_TYPE, MASE_BY_NAME, MASE_BY_REGEX };

/* One section of the pass's table: [passes.quantize.KEY]. */
struct mase_rule {
    const char *key;
    struct mase_loc at; /* place of the key */
    const struct mase_value *section;
    struct pcre2_real_code_8 *code; /* regex_name only */
    int uses;                       /* number of nodes that the rule applies to */
};

struct mase_rules {
    enum mase_by by;
    bool reach_all; /* patterns and the default apply to all operations, not only the usual ones */
    struct mase_rule *rules; /* in the order of the file; the first match wins */
    int count;
    struct mase_rule fallback; /* [passes.quantize.default]; section NULL: none */
};

/* Compile the sections: keys of by = "type" must be quantisable operations, those of "regex_name"
 * regular expressions, and every section a well-formed configuration. */
struct mase_rules_opts {
    const char *by, *reach;
    const struct mase_value *sections, *fallback;
};
enum mase_status mase_rules_init(struct mase_rules *r, struct mase_arena *a,
                                 const struct mase_rules_opts *o,
                                 struct mase_err *err) MASE_MUST_CHECK;
void mase_rules_release(struct mase_rules *r);
/* Warn of keys that name no node of g (by = "name") or match no quantisable node (by =
 * "regex_name"), unless they leave their nodes alone. A key that names a node that cannot be
 * quantised is an error. */
enum mase_status mase_rules_check_nodes(const struct mase_rules *r, const struct mase_graph *g,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The rule of a quantisable node: a matching one or the default; an error without either. NULL: the
 * node's operation is quantised only if named, and no rule names it. */
enum mase_status mase_rules_pick(struct mase_rules *r, struct mase_rule **rule,
                                 const struct mase_node *n, struct mase_err *err) MASE_MUST_CHECK;

/* Check a configuration, config = { name, known keys }, without a graph. */
enum mase_status mase_quant_check(const struct mase_rule *rule,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Does the rule leave its nodes alone (name = "none")? */
bool mase_quant_is_none(const struct mase_rule *rule);
/* The formats that a rule gives to a node: for the operands that it has, with all parameters given.
 * If some are "auto", *pending is the configuration and formats are provisional; else NULL. */
enum mase_status mase_quant_bind(struct mase_quant *q, const struct mase_value **pending,
                                 struct mase_arena *a, const struct mase_rule *rule,
                                 const struct mase_node *n, struct mase_err *err) MASE_MUST_CHECK;
/* Is one of the parameters "auto"? */
bool mase_quant_has_auto(const struct mase_value *config);

#endif /* MASE_PASS_TRANSFORM_QUANTIZE_PARTS_H */
