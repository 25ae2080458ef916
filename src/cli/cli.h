/*
 * cli.h - the state of one run of ch, and functions that commands share.
 *
 * main parses the command line into a struct mase_cli and calls the command's handler. Results go
 * to stdout, the log to stderr; a failure travels up to main as a struct mase_err and is printed
 * once.
 */
#ifndef MASE_CLI_CLI_H
#define MASE_CLI_CLI_H

#include <stdio.h>

#include <mase/pass.h>
#include <mase/sheet.h>

#include "cli/options.h"

struct mase_cli;
typedef enum mase_status mase_cli_run_fn(struct mase_cli *c, struct mase_err *err);

struct mase_cli_command {
    const char *name;
    mase_cli_run_fn *run;
    const char *operands; /* for the usage line */
    enum mase_cli_kind kind;
    const char *help;
};
extern const struct mase_cli_command mase_cli_commands[]; /* ends with a NULL name */
extern const char
    *const mase_cli_later[]; /* actions of the original that are missing, ended by NULL */

struct mase_cli {
    struct mase_arena arena; /* owns everything below */
    int argc;
    char **argv;
    const struct mase_cli_command *command; /* NULL: none given */
    const char **operands;                  /* positionals after the command */
    int operand_count;
    struct mase_cli_setting setting[MASE_CLI_COUNT];
    struct mase_value *config;    /* the configuration file with --set applied; NULL: none */
    struct mase_pass_runs passes; /* passes of its section [passes] */
    struct mase_sheets sheets;    /* tables to print, in the format that the user chose */
    struct mase_ranks *ranks;     /* the processes that do this together; NULL: this one alone */
};

/* command.c: find a command; an unknown or missing one fails with the list of commands. */
enum mase_status mase_cli_command_find(const struct mase_cli_command **out, const char *name,
                                       struct mase_err *err) MASE_MUST_CHECK;
bool mase_cli_command_takes(const struct mase_cli_command *cmd, const struct mase_cli_option *o);
bool mase_cli_command_uses(const struct mase_cli_command *cmd, const struct mase_cli_option *o);

/* args.c: parse the command line into c. Options and positionals may come in any order. */
enum mase_status mase_cli_parse(struct mase_cli *c, int argc, char **argv,
                                struct mase_err *err) MASE_MUST_CHECK;
void mase_cli_release(struct mase_cli *c);

/* settings.c: read --config, apply --set, check every key, and set the file values of c->setting;
 * then set the log level, and turn values of 0 or less of positive options into None. */
enum mase_status mase_cli_merge(struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;
/* Set the value that the run found for an option, without marking it as typed. */
void mase_cli_settle(struct mase_cli *c, enum mase_cli_option_id id, struct mase_value *v);
/* Is the option given by the user, or settled by the run? */
bool mase_cli_is_given(const struct mase_cli *c, enum mase_cli_option_id id);
/* Set the option --dataset from an operand. */
enum mase_status mase_cli_name_dataset(struct mase_cli *c, const char *name,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* Apply one --set, "KEY=VALUE", to the configuration. */
enum mase_status mase_cli_set(struct mase_cli *c, const char *text,
                              struct mase_err *err) MASE_MUST_CHECK;
/* Load the plugins of the command line and the configuration. mase_cli_merge calls it. */
enum mase_status mase_cli_load_plugins(const struct mase_cli *c,
                                       struct mase_err *err) MASE_MUST_CHECK;
const struct mase_value *mase_cli_value(const struct mase_cli *c, enum mase_cli_option_id id);
const char *mase_cli_text(const struct mase_cli *c, enum mase_cli_option_id id); /* NULL for None */
bool mase_cli_flag(const struct mase_cli *c, enum mase_cli_option_id id);
/* Options of training that have one value, by name, to be bound to mase_train_rows. */
struct mase_value *mase_cli_training(struct mase_cli *c);

/* config_table.c: the options as a table; colour: print overridden values in grey. */
struct mase_table mase_cli_config_table(struct mase_arena *a, const struct mase_cli *c,
                                        bool colour);

/* value_lists.c: does this text give several values to an option of training, or name several
 * models? It is parsed when the command is known. */
bool mase_cli_is_list(enum mase_cli_option_id id, const char *text);
/* Parse such texts; fail if the command takes no lists. */
enum mase_status mase_cli_read_lists(struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;
/* Parse the list of one option, whose setting has the text. */
enum mase_status mase_cli_read_list(struct mase_cli *c, enum mase_cli_option_id id,
                                    struct mase_err *err) MASE_MUST_CHECK;
/* Is a value of the configuration file a list, for a command that takes lists? Then set it as the
 * option's file value. */
bool mase_cli_is_axis(const struct mase_cli *c, enum mase_cli_option_id id,
                      const struct mase_value *v);
enum mase_status mase_cli_merge_axis(struct mase_cli *c, enum mase_cli_option_id id,
                                     const struct mase_value *v,
                                     struct mase_err *err) MASE_MUST_CHECK;

/* help.c */
void mase_cli_help(struct mase_str *out, const struct mase_cli_command *cmd); /* NULL: help of ch */
/* The help of an option, with its range and default. */
void mase_cli_option_help(struct mase_str *out, const struct mase_cli_option *o);
/* How many columns text for people may have: 80, fewer on a narrower terminal. */
int mase_cli_page_width(void);
void mase_cli_wrap(struct mase_str *out, int indent, int at, const char *text);
mase_cli_run_fn mase_cli_help_command;

/* cmd_passes.c: find a pass; an unknown one fails with the nearest name. */
struct mase_pass;
enum mase_status mase_cli_find_pass(const struct mase_pass **p, const char *name,
                                    struct mase_err *err) MASE_MUST_CHECK;

/* One file per command. */
mase_cli_run_fn mase_cli_train, mase_cli_test, mase_cli_predict, mase_cli_transform, mase_cli_sweep,
    mase_cli_data, mase_cli_passes, mase_cli_ops, mase_cli_formats, mase_cli_completion,
    mase_cli_man, mase_cli_explain, mase_cli_diff, mase_cli_weights_command, mase_cli_trace,
    mase_cli_convert, mase_cli_show, mase_cli_report, mase_cli_calibrate, mase_cli_prune,
    mase_cli_verify, mase_cli_emit, mase_cli_search, mase_cli_study;
/* cmd_transform.c: run the passes of c on its model, and save the result. */
enum mase_status mase_cli_run_passes(struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_cli_info(struct mase_cli *c, const char *what,
                               struct mase_err *err) MASE_MUST_CHECK;

/* join.c: become one of the processes that mpirun started, if it did. Those that do not speak for
 * the job print nothing from here on. */
enum mase_status mase_cli_join(struct mase_cli *c, struct mase_err *err) MASE_MUST_CHECK;
/* Will another process say what is wrong with the command line? It did not come to joining. */
bool mase_cli_is_echo(const struct mase_cli *c);

/* interrupt.c: print this line when the user interrupts the program; text is not copied. */
void mase_cli_on_interrupt(const char *text);

/* output.c: print text to stdout, whatever the format. */
void mase_cli_put(const struct mase_str *text);
void mase_cli_put_json(const struct mase_value *v);
/* A table of each data set, added to a list (command/cmd_info.c). */
void mase_cli_datasets_json(struct mase_arena *a, struct mase_value *out);
/* Does the user want JSON, by --format or --json? */
bool mase_cli_wants_json(const struct mase_cli *c);
/* Print a table. */
void mase_cli_put_table(struct mase_cli *c, const struct mase_table *t);
/* Print a table of names and values; as text one line for each, without a heading. */
void mase_cli_put_pairs(struct mase_cli *c, const struct mase_table *t);
/* Print all results of a command. JSON is one object with the sheets by key, or the list itself for
 * one sheet. */
void mase_cli_put_sheets(struct mase_cli *c, const struct mase_sheet *sheets, int count);
/* Fail if there are more than max operands. */
enum mase_status mase_cli_operands(const struct mase_cli *c, int max,
                                   struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_CLI_H */
