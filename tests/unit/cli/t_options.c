/*
 * t_options.c - the option and command tables: complete, consistent, in the order of the
 * configuration table.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include <mase/emit.h>

#include "cli/cli.h"
#include "run_cases.h"

static void rows_are_complete(void **state)
{
    (void)state;
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        const struct mase_cli_option *o = &mase_cli_options[i];
        assert_int_equal(mase_cli_option_by_name(o->key), i);
        const char *help = o->help ? o->help : o->opt->help;
        assert_true(help && help[0]);
        assert_true(!o->opt->key || strcmp(o->opt->key, o->key) == 0); /* a shared row */
        assert_true(!o->metavar == (o->opt->type == MASE_OPT_TYPE_BOOL));
        if (o->opt->type != MASE_OPT_TYPE_PATH) /* which may be a word instead */
            assert_true((o->opt->choices != NULL) == (o->opt->type == MASE_OPT_TYPE_CHOICE));
        assert_true((o->path != 0) == (o->opt->type == MASE_OPT_TYPE_PATH));
        assert_true(!(o->flags & MASE_CLI_ROW) || (o->flags & MASE_CLI_KEY));
        assert_true(o->spellings || o->group == MASE_CLI_GROUP_MAIN);
    }
}

static void every_spelling_is_found_once(void **state)
{
    (void)state;
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        struct mase_arena a = { 0 };
        const char *spelt = mase_cli_options[i].spellings;
        char *rest = NULL, *text = mase_arena_strdup(&a, spelt ? spelt : "");
        for (char *s = strtok_r(text, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
            assert_int_equal(mase_cli_option_by_spelling(s), i);
        mase_arena_release(&a);
    }
    assert_int_equal(mase_cli_option_by_spelling("--cp"), -1);
    assert_int_equal(mase_cli_option_by_spelling("--cpu --num-workers"), -1);
    assert_int_equal(mase_cli_option_by_spelling(""), -1);
}

/* A default that its own row would refuse could not be given explicitly. */
static void defaults_are_allowed(void **state)
{
    (void)state;
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        struct mase_arena a = { 0 };
        struct mase_err err = { 0 };
        struct mase_value *out, *dflt = mase_cli_option_default(&a, (enum mase_cli_option_id)i);
        if (dflt->kind != MASE_LIST && !mase_cli_options[i].path)
            assert_int_equal(mase_cli_option_check(&out, &a, (enum mase_cli_option_id)i,
                                                   mase_cli_options[i].key, dflt, &err),
                             MASE_OK);
        mase_arena_release(&a);
    }
}

static void rows_stand_in_the_order_of_the_table(void **state)
{
    static const char *const order[] = { "task",
                                         "load_name",
                                         "load_type",
                                         "batch_size",
                                         "to_debug",
                                         "log_level",
                                         "report_to",
                                         "seed",
                                         "quant_config",
                                         "training_optimizer",
                                         "trainer_precision",
                                         "learning_rate",
                                         "weight_decay",
                                         "max_epochs",
                                         "max_steps",
                                         "accumulate_grad_batches",
                                         "log_every_n_steps",
                                         "num_workers",
                                         "num_devices",
                                         "num_nodes",
                                         "accelerator",
                                         "strategy",
                                         "is_to_auto_requeue",
                                         "github_ci",
                                         "disable_dataset_cache",
                                         "target",
                                         "num_targets",
                                         "is_pretrained",
                                         "max_token_len",
                                         "project_dir",
                                         "project",
                                         "model",
                                         "dataset" };
    int n = 0;
    (void)state;
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        if (mase_cli_options[i].flags & MASE_CLI_ROW)
            assert_string_equal(mase_cli_options[i].key, order[n++]);
    assert_int_equal(n, sizeof order / sizeof order[0]);
}

static void commands_are_found(void **state)
{
    const struct mase_cli_command *found;
    struct mase_err err = { 0 };
    (void)state;
    for (const struct mase_cli_command *c = mase_cli_commands; c->name; c++) {
        assert_int_equal(mase_cli_command_find(&found, c->name, &err), MASE_OK);
        assert_ptr_equal(found, c);
        assert_true(c->run && c->operands && c->help);
    }
    for (const char *const *l = mase_cli_later; *l; l++) {
        assert_int_equal(mase_cli_command_find(&found, *l, &err), MASE_EUNSUPPORTED);
        assert_non_null(strstr(err.msg, "is not part of this version; available: train, test, "));
    }
}

/* ch emit passes on what a target's rows say: none may be missing on the command line. */
static void options_of_targets_are_those_of_emit(void **state)
{
    (void)state;
    for (const struct mase_target *t = mase_targets; t->name; t++)
        for (const struct mase_opt *row = t->rows; row->key; row++) {
            int found = 0;
            for (int i = 0; i < MASE_CLI_COUNT; i++)
                found += mase_cli_options[i].opt == row &&
                         mase_streq(mase_cli_options[i].key, row->key) &&
                         mase_cli_options[i].taken_by == 1 << MASE_CLI_COMMAND_emit;
            assert_int_equal(found, 1);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_complete),
        cmocka_unit_test(every_spelling_is_found_once),
        cmocka_unit_test(defaults_are_allowed),
        cmocka_unit_test(rows_stand_in_the_order_of_the_table),
        cmocka_unit_test(commands_are_found),
        cmocka_unit_test(options_of_targets_are_those_of_emit),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
