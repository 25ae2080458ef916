/*
 * quantize_parts.h - the parts of the quantise pass: which rule a node falls under, what the rule
 * says.
 */
#ifndef MASE_PASS_TRANSFORM_QUANTIZE_PARTS_H
#define MASE_PASS_TRANSFORM_QUANTIZE_PARTS_H

#include <mase/pass.h>

enum mase_by { MASE_BY_TYPE, MASE_BY_NAME, MASE_BY_REGEX };

/* One section of the pass's table: [passes.quantize.KEY]. */
struct mase_rule {
    const char *key;
    struct mase_loc at; /* of the key */
    const struct mase_value *section;
    struct pcre2_real_code_8 *code; /* regex_name only */
    int uses;                       /* nodes that fell under it */
};

struct mase_rules {
    enum mase_by by;
    bool reach_all; /* patterns and the default reach all operations, not only the usual ones */
    struct mase_rule *rules; /* in the order of the file: of several that match, the first wins */
    int count;
    struct mase_rule fallback; /* [passes.quantize.default]; section NULL when there is none */
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
/* Warn of keys that name no node of g (by = "name") or match none that can be quantised (by =
 * "regex_name"), unless they say to leave their nodes alone. A node that is there and cannot be
 * quantised is an error. */
enum mase_status mase_rules_check_nodes(const struct mase_rules *r, const struct mase_graph *g,
                                        struct mase_err *err) MASE_MUST_CHECK;
/* The rule of a node that can be quantised: its own or the default; an error when it has neither.
 * NULL: it would have to be named, and is not. */
enum mase_status mase_rules_pick(struct mase_rules *r, struct mase_rule **rule,
                                 const struct mase_node *n, struct mase_err *err) MASE_MUST_CHECK;

/* Is this a configuration: config = { name, known keys }? Needs no graph. */
enum mase_status mase_quant_check(const struct mase_rule *rule,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* Does the rule leave its nodes alone (name none)? */
bool mase_quant_is_none(const struct mase_rule *rule);
/* The formats a rule gives to one node: the operands it really has, all of them said. Where some
 * parameter is "auto", *pending is the configuration, and formats are provisional; else NULL. */
enum mase_status mase_quant_bind(struct mase_quant *q, const struct mase_value **pending,
                                 struct mase_arena *a, const struct mase_rule *rule,
                                 const struct mase_node *n, struct mase_err *err) MASE_MUST_CHECK;
/* Is any of its parameters "auto"? */
bool mase_quant_has_auto(const struct mase_value *config);

#endif /* MASE_PASS_TRANSFORM_QUANTIZE_PARTS_H */
