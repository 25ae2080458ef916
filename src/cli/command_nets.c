/*
 * command_nets.c - open the networks that a command inspects.
 */
#include <mase/pass.h>

#include "cli/command_nets.h"
#include "cli/project.h"

/* ---- opening ---- */

static uint64_t seed(const struct mase_cli *c)
{
    return (uint64_t)mase_cli_value(c, MASE_CLI_seed)->i;
}

/* Does the command compare two networks? Then the configuration gives one of them, and --load is
 * for the one without weights. */
static bool compares(const struct mase_cli *c)
{
    return c->operand_count > 1 &&
           (mase_streq(c->command->name, "diff") || mase_streq(c->command->name, "weights"));
}

/* The choices of the options; the configuration's data applies to its own model only. */
static enum mase_status choose(struct mase_work_choice *o, struct mase_cli *c, const char *word,
                               struct mase_err *err)
{
    const struct mase_cli_setting *dataset = &c->setting[MASE_CLI_dataset];
    MASE_TRY(mase_cli_choose(o, c, err));
    const bool own = o->model && mase_streq(word, o->model);
    if (!own && !dataset->cmdline && !dataset->settled)
        o->data.dataset = NULL;
    if (!own)
        o->layers = NULL;
    o->model = word;
    o->model_at = MASE_NOWHERE;
    o->only_weights = true;
    o->spare_weights = compares(c);
    return MASE_OK;
}

static void tell_weights(const struct mase_opened *n, const struct mase_cli *c)
{
    if (n->graph && (n->choice.weights || n->source == MASE_WEIGHTS_SEED))
        mase_cli_log_weights(c, n->graph, n->weights);
    else if (n->graph)
        mase_cli_warn_of_weights(n->graph);
}

enum mase_status mase_cli_net_open(struct mase_opened *n, struct mase_cli *c, const char *word,
                                   struct mase_err *err)
{
    struct mase_work_choice o;
    MASE_TRY(choose(&o, c, word, err));
    MASE_TRY(mase_work_open(n, &o, err));
    tell_weights(n, c);
    return MASE_OK;
}

enum mase_status mase_cli_net_outline(struct mase_opened *n, struct mase_cli *c, const char *word,
                                      struct mase_err *err)
{
    struct mase_work_choice o;
    MASE_TRY(choose(&o, c, word, err));
    o.no_values = true;
    return mase_work_open(n, &o, err);
}

/* ---- derived networks ---- */

enum mase_status mase_cli_net_adopt(struct mase_opened *n, const struct mase_opened *other,
                                    struct mase_err *err)
{
    if (n->graph || !other->graph)
        return MASE_OK;
    n->graph = mase_graph_clone(other->graph);
    mase_graph_own_weights(n->graph);
    n->sample = other->sample;
    n->has_sample = other->has_sample;
    MASE_TRY(mase_weights_take(n->graph, &n->tensors, n->word.text, err));
    mase_cli_warn_of_weights(n->graph);
    return MASE_OK;
}

enum mase_status mase_cli_quantize_run(const struct mase_pass_run **run, const struct mase_cli *c,
                                       struct mase_err *err)
{
    *run = mase_pass_runs_find(&c->passes, "quantize", NULL);
    if (*run)
        return MASE_OK;
    if (!c->config)
        return mase_fail(err, MASE_EVALUE, "expected configuration via --config, got None");
    return mase_fail(err, MASE_EVALUE, "%s has no section [passes.quantize]",
                     mase_cli_text(c, MASE_CLI_config));
}

/* Set inputs of one sample, since quantize needs metadata, and metadata needs shapes. */
static enum mase_status set_inputs(struct mase_manager *m, struct mase_cli *c,
                                   const struct mase_opened *n, struct mase_err *err)
{
    struct mase_cli_inputs in;
    struct mase_input *inputs =
        mase_new_array(&c->arena, struct mase_input, (size_t)n->graph->node_count);
    MASE_TRY(mase_cli_inputs_make(&in, c, n, 1, err));
    for (const struct mase_node *x = n->graph->first; x; x = x->next)
        if (x->kind == MASE_PLACEHOLDER) {
            inputs[m->env.input_count] =
                (struct mase_input){ x->name, in.tensor[m->env.input_count] };
            m->env.input_count++;
        }
    m->env.inputs = inputs;
    return MASE_OK;
}

enum mase_status mase_cli_net_save(struct mase_cli *c, const struct mase_opened *n, const char *dir,
                                   const struct mase_checkpoint_info *trained, struct mase_err *err)
{
    struct mase_manager m = { .env = { .seed = seed(c) } };
    MASE_TRY(set_inputs(&m, c, n, err));
    struct mase_graph *g = n->graph;
    const enum mase_status st = mase_work_save(&m, &g, dir, trained, err);
    mase_manager_release(&m);
    return st;
}

struct mase_graph *mase_cli_net_clone(const struct mase_opened *n)
{
    struct mase_arena a = { 0 };
    if (n->has_sample)
        mase_graph_inputs(&a, n->graph, &n->sample, 1);
    mase_arena_release(&a);
    return mase_graph_clone(n->graph);
}

enum mase_status mase_cli_net_quantise(struct mase_opened *out, struct mase_cli *c,
                                       const struct mase_opened *n, struct mase_err *err)
{
    struct mase_manager m = { .env = { .seed = seed(c) } };
    const struct mase_pass_run *run;
    *out = (struct mase_opened){ .word.text = mase_cli_text(c, MASE_CLI_config),
                                 .sample = n->sample,
                                 .has_sample = n->has_sample };
    MASE_TRY(mase_cli_quantize_run(&run, c, err));
    MASE_TRY(set_inputs(&m, c, n, err));
    out->graph = mase_cli_net_clone(n);
    const enum mase_status st = mase_cli_run_quantize(&m, &out->graph, c, err);
    mase_manager_release(&m);
    if (st)
        mase_work_close(out);
    return st;
}

enum mase_status mase_cli_subject(const char **word, const struct mase_cli *c, struct mase_err *err)
{
    *word = c->operand_count ? c->operands[0] : mase_cli_text(c, MASE_CLI_model);
    if (*word)
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE, "no network given; usage: ch %s %s", c->command->name,
                     c->command->operands);
}
