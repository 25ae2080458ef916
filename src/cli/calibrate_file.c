/*
 * calibrate_file.c - calibrated.toml: write a configuration with which train, test and transform
 * run the calibrated network. Comments give the figures of each format.
 */
#include "cli/command/cmd_calibrate.h"

#include <mase/pass.h>

#include "ir/graph/graph_parts.h"
#include "ir/text/arg.h"

/* ---- options ---- */

static void add_options(struct mase_arena *a, struct mase_value *top,
                        const struct mase_cli_calibrated *f)
{
    const struct mase_cli *c = f->c;
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        if (!(mase_cli_options[i].flags & MASE_CLI_KEY) ||
            !mase_cli_is_given(c, (enum mase_cli_option_id)i))
            continue;
        if (i == MASE_CLI_load_name || i == MASE_CLI_load_type || i == MASE_CLI_map ||
            i == MASE_CLI_load_key || i == MASE_CLI_strict || i == MASE_CLI_model)
            continue;
        mase_value_set(a, top, mase_cli_options[i].key,
                       mase_value_copy(a, mase_cli_value(c, (enum mase_cli_option_id)i)));
    }
    mase_value_set(a, top, "load_name", mase_value_string(a, f->network));
}

/* Add the model: its name, its layers, or the folder of the network. */
static void add_model(struct mase_arena *a, struct mase_value *top,
                      const struct mase_cli_calibrated *f)
{
    const struct mase_value *layers = mase_value_get(f->c->config, "model");
    if (f->own_model)
        mase_value_set(a, top, "model", mase_value_string(a, f->network));
    else if (layers && layers->kind == MASE_TABLE && !f->c->setting[MASE_CLI_model].cmdline)
        mase_value_set(a, top, "model", mase_value_copy(a, layers));
    else
        mase_value_set(a, top, "model", mase_value_copy(a, mase_cli_value(f->c, MASE_CLI_model)));
}

static void add_sections(struct mase_arena *a, struct mase_value *top, const struct mase_cli *c)
{
    for (int i = 0; i < c->config->count; i++)
        if (c->config->items[i]->kind == MASE_TABLE && !mase_streq(c->config->keys[i], "passes") &&
            !mase_streq(c->config->keys[i], "model"))
            mase_value_set(a, top, c->config->keys[i], mase_value_copy(a, c->config->items[i]));
}

/* ---- passes ---- */

/* Print a table inside [passes.NAME] as a section. */
static void print_section(struct mase_str *out, struct mase_arena *a, const char *const *path,
                          struct mase_value *inner)
{
    struct mase_value *top = mase_value_table(a), *at = top;
    struct mase_str text = { 0 };
    for (int i = 0; path[i]; i++)
        at = mase_value_set(a, at, path[i], path[i + 1] ? mase_value_table(a) : inner);
    mase_toml_print(&text, top);
    mase_str_add(out, mase_str_text(&text));
    mase_str_release(&text);
}

static double figure(const struct mase_value *v, const char *key)
{
    return mase_value_number(mase_value_get(v, key));
}

static void print_figures(struct mase_str *out, const struct mase_value *v)
{
    mase_str_printf(out,
                    "# %s, %s: values %.6g .. %.6g, range %.6g .. %.6g, mse %.4g, sqnr %.4g dB, "
                    "%.2g %% outside\n",
                    mase_value_get(v, "operand")->s, mase_value_get(v, "method")->s,
                    figure(v, "min"), figure(v, "max"), figure(v, "low"), figure(v, "high"),
                    figure(v, "mse"), figure(v, "sqnr_db"), 100 * figure(v, "saturated"));
}

/* Print the figures of all runs of the pass. */
static void print_node_figures(struct mase_str *out, const struct mase_value *results,
                               const char *node)
{
    for (int i = 0; i < results->count; i++) {
        const struct mase_value *list = mase_value_get(results->items[i], "operands");
        for (int k = 0; mase_starts_with(results->keys[i], "calibrate") && list && k < list->count;
             k++)
            if (mase_streq(mase_value_get(list->items[k], "node")->s, node))
                print_figures(out, list->items[k]);
    }
}

/* An operand in float needs "none", since a missing format is an error. */
static void name_floats(struct mase_arena *a, struct mase_value *config, const struct mase_node *n)
{
    static const enum mase_operand of[] = { MASE_WEIGHT, MASE_BIAS };
    const struct mase_module *m = mase_node_module(n);
    for (size_t k = 0; m && k < sizeof of / sizeof *of; k++)
        if (!mase_node_quant(n)->operand[of[k]] && mase_module_param(m, mase_operand_names[of[k]]))
            mase_value_set(a, config, mase_arena_printf(a, "%s_name", mase_operand_names[of[k]]),
                           mase_value_none(a));
}

struct mase_value *mase_cli_formats_by_name(struct mase_arena *a, const struct mase_graph *g)
{
    struct mase_value *v = mase_value_table(a), *none = mase_value_table(a);
    mase_value_set(a, v, "by", mase_value_string(a, "name"));
    mase_value_set(a, none, "name", mase_value_none(a));
    mase_value_set(a, mase_value_set(a, v, "default", mase_value_table(a)), "config", none);
    for (const struct mase_node *n = g->first; n; n = n->next) {
        const struct mase_quant *q = mase_node_quant(n);
        const struct mase_arg dict = q ? mase_quant_config(a, q) : mase_arg_none();
        if (!q)
            continue;
        struct mase_value *config = mase_arg_to_value(a, &dict);
        name_floats(a, config, n);
        mase_value_set(a, mase_value_set(a, v, n->name, mase_value_table(a)), "config", config);
    }
    return v;
}

static void print_quantize(struct mase_str *out, struct mase_arena *a,
                           const struct mase_cli_calibrated *f)
{
    struct mase_value *v = mase_cli_formats_by_name(a, f->graph);
    const char *path[] = { "passes", "quantize", NULL, NULL };
    struct mase_value *head = mase_value_table(a);
    for (int i = 0; i < v->count; i++) {
        path[2] = v->keys[i];
        if (i < 2)
            mase_value_set(a, head, v->keys[i], v->items[i]);
        if (i == 1) {
            mase_str_addc(out, '\n');
            print_section(out, a, (const char *const[]){ "passes", "quantize", NULL }, head);
        } else if (i > 1) {
            mase_str_addc(out, '\n');
            print_node_figures(out, f->results, v->keys[i]);
            print_section(out, a, path, v->items[i]);
        }
    }
}

static void print_passes(struct mase_str *out, struct mase_arena *a,
                         const struct mase_cli_calibrated *f)
{
    const struct mase_value *passes = mase_value_get(f->c->config, "passes");
    for (int i = 0; i < passes->count; i++) {
        const struct mase_pass *p = mase_pass_find(passes->keys[i]);
        const char *const path[] = { "passes", passes->keys[i], NULL };
        if (mase_streq(p->name, "quantize")) {
            print_quantize(out, a, f);
        } else if (p->transform) {
            mase_str_printf(out, "\n# The network in load_name has been through %s.\n", p->name);
        } else {
            mase_str_addc(out, '\n');
            print_section(out, a, path, mase_value_copy(a, passes->items[i]));
        }
    }
}

void mase_cli_calibrated_print(struct mase_str *out, const struct mase_cli_calibrated *f)
{
    struct mase_arena a = { 0 };
    struct mase_value *top = mase_value_table(&a);
    struct mase_str text = { 0 };
    add_options(&a, top, f);
    add_model(&a, top, f);
    add_sections(&a, top, f->c);
    mase_toml_print(&text, top);
    mase_str_printf(out, "# Written by ch calibrate from %s.\n",
                    mase_cli_text(f->c, MASE_CLI_config));
    mase_str_add(out, mase_str_text(&text));
    print_passes(out, &a, f);
    mase_str_release(&text);
    mase_arena_release(&a);
}
