/*
 * select.c - select the section of the pass quantize that applies to a node.
 *
 * By type the key is an operation, by name a node, by regex_name a pattern that must match the
 * whole name. Patterns come from configuration files, so matching has a limit: a pattern that
 * backtracks without end is an error at its place, not a program that hangs.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include <mase/log.h>

#include "base/alloc.h"
#include "pass/transform/quantize_parts.h"

enum { MATCH_LIMIT = 100000, DEPTH_LIMIT = 1000, HEAP_LIMIT_KIB = 4096 };

/* ---- keys ---- */

static enum mase_status compile(struct mase_rule *rule, struct mase_err *err)
{
    int code;
    PCRE2_SIZE offset;
    pcre2_general_context *memory =
        pcre2_general_context_create(mase_pcre2_alloc, mase_pcre2_free, NULL);
    pcre2_compile_context *context = pcre2_compile_context_create(memory);
    rule->code =
        pcre2_compile((PCRE2_SPTR)rule->key, PCRE2_ZERO_TERMINATED,
                      PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_UTF, &code, &offset, context);
    pcre2_compile_context_free(context);
    pcre2_general_context_free(memory);
    if (rule->code)
        return MASE_OK;
    PCRE2_UCHAR why[256] = { 0 };
    pcre2_get_error_message(code, why, sizeof why);
    return mase_fail_at(err, MASE_EVALUE, rule->at,
                        "'%s' is no regular expression: %s at character %zu of the pattern",
                        rule->key, (const char *)why, (size_t)offset + 1);
}

static enum mase_status check_type(const struct mase_rule *rule, struct mase_err *err)
{
    enum mase_op op = mase_op_find(rule->key);
    if (op != MASE_OP_unknown && (mase_ops[op].quantisable || mase_quant_is_none(rule)))
        return MASE_OK;
    const char *names[MASE_OP_COUNT];
    for (int i = 0; i < MASE_OP_COUNT; i++)
        names[i] = mase_ops[i].quantisable ? mase_ops[i].name : NULL;
    return mase_fail_unknown(err, rule->at,
                             &(struct mase_unknown){ rule->key, names, MASE_OP_COUNT,
                                                     .tail = "allowed: ", .lists = true },
                             "'%s' is no operation that can be quantised", rule->key);
}

static enum mase_status check_key(struct mase_rule *rule, enum mase_by by, struct mase_err *err)
{
    switch (by) {
    case MASE_BY_TYPE:
        return check_type(rule, err);
    case MASE_BY_REGEX:
        return compile(rule, err);
    default: /* names are checked later, with the graph */
        return MASE_OK;
    }
}

static enum mase_by parse_by(const char *by)
{
    return mase_streq(by, "type")   ? MASE_BY_TYPE
           : mase_streq(by, "name") ? MASE_BY_NAME
                                    : MASE_BY_REGEX;
}

enum mase_status mase_rules_init(struct mase_rules *r, struct mase_arena *a,
                                 const struct mase_rules_opts *o, struct mase_err *err)
{
    const struct mase_value *sections = o->sections;
    *r = (struct mase_rules){ .by = parse_by(o->by),
                              .reach_all = mase_streq(o->reach, "all"),
                              .fallback = { .key = "default" } };
    if (o->fallback) {
        r->fallback.at = o->fallback->at;
        r->fallback.section = o->fallback;
        MASE_TRY(mase_quant_check(&r->fallback, err));
    }
    r->rules = mase_new_array(a, struct mase_rule, (size_t)sections->count);
    for (int i = 0; i < sections->count; i++) {
        struct mase_rule *rule = &r->rules[r->count++];
        *rule = (struct mase_rule){ .key = sections->keys[i],
                                    .at = sections->key_at[i],
                                    .section = sections->items[i] };
        MASE_TRY(mase_quant_check(rule, err));
        MASE_TRY(check_key(rule, r->by, err));
    }
    return MASE_OK;
}

void mase_rules_release(struct mase_rules *r)
{
    for (int i = 0; i < r->count; i++)
        pcre2_code_free(r->rules[i].code);
}

/* Can a section apply to the node, by name or pattern? */
static bool can_reach(const struct mase_rules *r, const struct mase_node *n)
{
    const struct mase_op_info *op = &mase_ops[n->op];
    return op->quantisable && (r->by == MASE_BY_NAME || op->usual || r->reach_all);
}

/* Warn of a section that names no node: the original's files serve several networks. */
static enum mase_status warn_of_no_node(const struct mase_err *why)
{
    char text[sizeof why->path + sizeof why->msg];
    mase_err_text(why, text, sizeof text);
    mase_warn("%s", text);
    return MASE_OK;
}

/* what: the start of the message, with the key inserted. */
static enum mase_status not_a_node(const char *what, const struct mase_rules *r,
                                   const struct mase_rule *rule, const struct mase_graph *g,
                                   struct mase_err *err)
{
    struct mase_arena a = { 0 };
    const char **names = mase_new_array(&a, const char *, (size_t)g->node_count);
    int n = 0;
    for (const struct mase_node *node = g->first; node; node = node->next)
        if (can_reach(r, node))
            names[n++] = node->name;
    const struct mase_unknown unknown = { .word = rule->key,
                                          .names = names,
                                          .count = n,
                                          .tail = n ? "those that can be quantised: "
                                                    : "those that can be quantised: none",
                                          .lists = true,
                                          .list_bytes = 300 };
    mase_fail_unknown(err, rule->at, &unknown, "%s", what);
    mase_arena_release(&a);
    return MASE_EVALUE;
}

static enum mase_status check_name(const struct mase_rules *r, const struct mase_rule *rule,
                                   const struct mase_graph *g, struct mase_err *err)
{
    const struct mase_node *n = mase_graph_find(g, rule->key);
    if (n && (mase_ops[n->op].quantisable || mase_quant_is_none(rule)))
        return MASE_OK;
    struct mase_err unnamed = { 0 };
    struct mase_str what = { 0 };
    if (n)
        mase_str_printf(&what, "'%s' is a %s, which cannot be quantised", rule->key,
                        mase_ops[n->op].name);
    else
        mase_str_printf(&what, "quantize: no node is called '%s'", rule->key);
    const enum mase_status st = not_a_node(mase_str_text(&what), r, rule, g, n ? err : &unnamed);
    mase_str_release(&what);
    return n ? st : warn_of_no_node(&unnamed);
}

/* ---- matching ---- */

static enum mase_status match(bool *hit, const struct mase_rule *rule, const char *name,
                              struct mase_err *err)
{
    pcre2_general_context *memory =
        pcre2_general_context_create(mase_pcre2_alloc, mase_pcre2_free, NULL);
    pcre2_match_context *limits = pcre2_match_context_create(memory);
    pcre2_match_data *data = pcre2_match_data_create(1, memory);
    pcre2_set_match_limit(limits, MATCH_LIMIT);
    pcre2_set_depth_limit(limits, DEPTH_LIMIT);
    pcre2_set_heap_limit(limits, HEAP_LIMIT_KIB);
    int rc = pcre2_match(rule->code, (PCRE2_SPTR)name, strlen(name), 0, 0, data, limits);
    pcre2_match_data_free(data);
    pcre2_match_context_free(limits);
    pcre2_general_context_free(memory);
    *hit = rc >= 0;
    if (rc >= 0 || rc == PCRE2_ERROR_NOMATCH)
        return MASE_OK;
    PCRE2_UCHAR why[256] = { 0 };
    pcre2_get_error_message(rc, why, sizeof why);
    return mase_fail_at(err, MASE_ELIMIT, rule->at, "matching '%s' against '%s': %s", rule->key,
                        name, (const char *)why);
}

/* Warn of a pattern that matches no quantisable node, even if an earlier one would take precedence.
 */
static enum mase_status check_pattern(const struct mase_rules *r, const struct mase_rule *rule,
                                      const struct mase_graph *g, struct mase_err *err)
{
    bool hit = mase_quant_is_none(rule);
    const struct mase_node *out_of_reach = NULL;
    for (const struct mase_node *n = g->first; n && !hit; n = n->next) {
        bool matches = false;
        if (mase_ops[n->op].quantisable)
            MASE_TRY(match(&matches, rule, n->name, err));
        hit = matches && can_reach(r, n);
        out_of_reach = matches && !hit ? n : out_of_reach;
    }
    if (hit)
        return MASE_OK;
    if (out_of_reach)
        return mase_fail_at(err, MASE_EVALUE, rule->at,
                            "'%s' matches '%s', but patterns reach no %s without reach = \"all\"",
                            rule->key, out_of_reach->name, mase_ops[out_of_reach->op].name);
    struct mase_err unmatched = { 0 };
    struct mase_str what = { 0 };
    mase_str_printf(&what, "quantize: '%s' matches no node that can be quantised", rule->key);
    not_a_node(mase_str_text(&what), r, rule, g, &unmatched);
    mase_str_release(&what);
    return warn_of_no_node(&unmatched);
}

enum mase_status mase_rules_check_nodes(const struct mase_rules *r, const struct mase_graph *g,
                                        struct mase_err *err)
{
    for (int i = 0; i < r->count; i++) {
        if (r->by == MASE_BY_NAME)
            MASE_TRY(check_name(r, &r->rules[i], g, err));
        if (r->by == MASE_BY_REGEX)
            MASE_TRY(check_pattern(r, &r->rules[i], g, err));
    }
    return MASE_OK;
}

/* ---- select ---- */

static enum mase_status applies(bool *hit, enum mase_by by, const struct mase_rule *rule,
                                const struct mase_node *n, struct mase_err *err)
{
    if (by == MASE_BY_REGEX)
        return match(hit, rule, n->name, err);
    *hit = mase_streq(rule->key, by == MASE_BY_TYPE ? mase_ops[n->op].name : n->name);
    return MASE_OK;
}

enum mase_status mase_rules_pick(struct mase_rules *r, struct mase_rule **rule,
                                 const struct mase_node *n, struct mase_err *err)
{
    const bool reached = mase_ops[n->op].usual || r->reach_all;
    bool hit = false;
    *rule = NULL;
    for (int i = 0; i < r->count && !hit && (reached || r->by != MASE_BY_REGEX); i++) {
        MASE_TRY(applies(&hit, r->by, &r->rules[i], n, err));
        if (hit)
            *rule = &r->rules[i];
    }
    if (!*rule && !reached)
        return MASE_OK;
    if (!*rule && !r->fallback.section)
        return mase_fail(err, MASE_EVALUE,
                         "node '%s' (%s) has no section of its own, and there is no default",
                         n->name, mase_ops[n->op].name);
    if (!*rule)
        *rule = &r->fallback;
    (*rule)->uses++;
    return MASE_OK;
}
