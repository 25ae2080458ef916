/*
 * t_args.c - command lines into settings.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "cli/cli.h"
#include "run_cases.h"

/* Parse blank-separated words; the caller releases c. */
static enum mase_status parse(struct mase_cli *c, struct mase_err *err, const char *line)
{
    static char text[512];
    static char *argv[32];
    int argc = 0;
    char *rest = NULL;
    snprintf(text, sizeof text, "ch %s", line);
    for (char *s = strtok_r(text, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
        argv[argc++] = s;
    argv[argc] = NULL;
    *c = (struct mase_cli){ 0 };
    *err = (struct mase_err){ 0 };
    return mase_cli_parse(c, argc, argv, err);
}

/* The line is accepted and gives the option this text, as the table would show it. */
static void gives(const char *line, enum mase_cli_option_id id, const char *expected)
{
    struct mase_cli c;
    struct mase_err err;
    struct mase_str text = { 0 };
    if (parse(&c, &err, line))
        fail_msg("%s: %s", line, err.msg);
    assert_non_null(c.setting[id].cmdline);
    mase_value_str(&text, c.setting[id].cmdline);
    assert_string_equal(mase_str_text(&text), expected);
    mase_str_release(&text);
    mase_cli_release(&c);
}

static void refuses(const char *line, const char *message)
{
    struct mase_cli c;
    struct mase_err err;
    assert_int_not_equal(parse(&c, &err, line), MASE_OK);
    assert_string_equal(err.msg, message);
    mase_cli_release(&c);
}

/* The sentence is that of the table of options (t_opt.c). */
static void refuses_value(const char *line, const char *option_and_value)
{
    struct mase_cli c;
    struct mase_err err;
    assert_int_not_equal(parse(&c, &err, line), MASE_OK);
    assert_int_equal(strncmp(err.msg, option_and_value, strlen(option_and_value)), 0);
    mase_cli_release(&c);
}

static void values(void **state)
{
    (void)state;
    gives("transform --batch-size 4", MASE_CLI_batch_size, "4");
    gives("transform --batch-size=4", MASE_CLI_batch_size, "4");
    gives("--batch-size 4 transform", MASE_CLI_batch_size, "4");
    gives("transform --batch-size 4 --batch-size 5", MASE_CLI_batch_size, "5");
    gives("transform --batch-size 128", MASE_CLI_batch_size, "128");
    gives("transform --cpu=0", MASE_CLI_num_workers, "0");
    gives("transform --num-workers 3", MASE_CLI_num_workers, "3");
    gives("transform --max-steps -1", MASE_CLI_max_steps, "-1");
    gives("transform --learning-rate 1e-2", MASE_CLI_learning_rate, "0.01");
    gives("transform --learning-rate 1", MASE_CLI_learning_rate, "1.0");
    gives("transform --trainer-precision 32", MASE_CLI_trainer_precision, "32");
    gives("transform --debug", MASE_CLI_to_debug, "True");
    gives("transform --target=", MASE_CLI_target, "");
    gives("transform --target=a=b", MASE_CLI_target, "a=b");
    gives("transform --set a=1 --set b=2", MASE_CLI_set, "[a=1, b=2]");
    gives("transform jsc-tiny --debug jsc", MASE_CLI_model, "jsc-tiny");
    gives("--debug transform jsc-tiny jsc", MASE_CLI_dataset, "jsc");
    gives("transform -- --odd-name", MASE_CLI_model, "--odd-name");
    gives("transform -", MASE_CLI_model, "-");
    gives("--info", MASE_CLI_info, "all");
    gives("--info model", MASE_CLI_info, "model");
    gives("--info --json", MASE_CLI_info, "all");
    gives("--info=dataset", MASE_CLI_info, "dataset");
    gives("-V", MASE_CLI_version, "True");
    gives("transform -h", MASE_CLI_help, "True");
}

static void mistakes(void **state)
{
    (void)state;
    refuses("transform --batch-size", "--batch-size needs a value: --batch-size N");
    refuses("transform --batch-size --debug", "--batch-size needs a value: --batch-size N");
    refuses("transform --batch-size=",
            "--batch-size = '' is not a number; allowed: integer 1..16777216");
    refuses("transform --batch-size 4x",
            "--batch-size = '4x' is not a number; allowed: integer 1..16777216");
    refuses_value("transform --batch-size 0", "--batch-size = 0 ");
    refuses("transform --bath-size 1",
            "unknown option '--bath-size', did you mean '--batch-size'?");
    refuses("transform --debug=1", "--debug takes no value, got '1'");
    refuses("predict --debug --json", "--json is no option of ch predict");
    refuses("ops --json --format csv", "--json and --format csv contradict each other");
    refuses("passes --apply", "--apply is no option of ch passes");
    refuses("transform a b c", "surplus argument 'c'; usage: ch transform [MODEL] [DATASET]");
    refuses_value("--info=nothing", "--info = \"nothing\" ");
}

static void nothing_given(void **state)
{
    struct mase_cli c;
    struct mase_err err;
    (void)state;
    assert_int_equal(parse(&c, &err, ""), MASE_OK);
    assert_null(c.command);
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        assert_null(c.setting[i].cmdline);
        assert_non_null(c.setting[i].dflt);
    }
    mase_cli_release(&c);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values),
        cmocka_unit_test(mistakes),
        cmocka_unit_test(nothing_given),
    };
    return run_cases(argc, argv, tests, NULL, NULL);
}
