/*
 * options.h - the options of ch and their values. A row of options.def has the spellings, type,
 * default and help of an option; parsing, configuration files, the configuration table, help,
 * completion and the manual page all read it. An option has up to three values, and the last of
 * these wins:
 *
 *     default < configuration file < command line
 *
 * What the command line says is remembered, even if it equals the default. Words may stand for
 * something: a folder of a run for its checkpoint. What the run finds is a value of its own, which
 * is in force from then on and recorded (mase_cli_settle).
 */
#ifndef MASE_CLI_OPTIONS_H
#define MASE_CLI_OPTIONS_H

#include <mase/opt.h>
#include <mase/trained.h>
#include <mase/value.h>

enum mase_cli_option_id {
#define OPTION(name, ...) MASE_CLI_##name,
#include "cli/options.def"
    MASE_CLI_COUNT
};

enum mase_cli_command_id {
#define COMMAND(name, ...) MASE_CLI_COMMAND_##name,
#include "cli/commands.def"
    MASE_CLI_COMMAND_COUNT
};

/* Kinds of commands, for the options that they take. */
enum mase_cli_kind {
    MASE_CLI_NOTHING,
    MASE_CLI_LISTING,
    MASE_CLI_INSPECT, /* inspects networks that its operands name */
    MASE_CLI_REPORT,  /* shows a finished run */
    MASE_CLI_ACTION,
    MASE_CLI_GRID /* an action; options of training may be lists: 64,128,256 */
};

enum mase_cli_group {
    MASE_CLI_GROUP_MAIN,
    MASE_CLI_GROUP_GENERAL,
    MASE_CLI_GROUP_PROJECT,
    MASE_CLI_GROUP_TRAINER,
    MASE_CLI_GROUP_DATA,
    MASE_CLI_GROUP_RUNTIME,
    MASE_CLI_GROUP_HARDWARE,
    MASE_CLI_GROUP_LANGUAGE,
    MASE_CLI_GROUP_PRUNE,
    MASE_CLI_GROUP_CALIBRATE,
    MASE_CLI_GROUP_SEARCH,
    MASE_CLI_GROUP_PREDICT,
    MASE_CLI_GROUP_INSPECT,
    MASE_CLI_GROUP_REPORT,
    MASE_CLI_GROUP_LISTING,
    MASE_CLI_GROUP_OUTPUT,
    MASE_CLI_GROUP_INFORMATION,
    MASE_CLI_GROUP_COUNT
};
extern const char *const mase_cli_group_titles[MASE_CLI_GROUP_COUNT];

enum {
    MASE_CLI_ROW = 1u << 0,  /* in the configuration table */
    MASE_CLI_KEY = 1u << 1,  /* in configuration files */
    MASE_CLI_MANY = 1u << 2, /* repeatable: its value is a list */
    MASE_CLI_SET = 1u << 3,  /* in the configuration table if it was set */
};

enum mase_cli_path {
    MASE_CLI_FILE = 1,
    MASE_CLI_TOML, /* path of a .toml file; kept as typed, for messages */
    MASE_CLI_DIR,  /* need not exist */
    MASE_CLI_FILE_OR_DIR
};

struct mase_cli_option {
    const char *key;            /* name in configuration files */
    const struct mase_opt *opt; /* type, default, range; shared with the library, or the option's
                                   own, without a key. A text of NULL means None */
    const char *help;           /* NULL: that of opt */
    const char *spellings;      /* separated by blanks; NULL: positional */
    const char *metavar;        /* NULL: a flag */
    enum mase_cli_path path;    /* kind of path; 0: no path */
    bool positive;              /* a value of 0 or less means None */
    enum mase_cli_group group;
    unsigned taken_by, used_by; /* bit sets of commands */
    unsigned flags;
};
extern const struct mase_cli_option mase_cli_options[MASE_CLI_COUNT];
/* Options of ch for the rows of run_options.def. */
extern const enum mase_cli_option_id mase_cli_train_ids[MASE_TRAIN_OPTION_COUNT];
extern const enum mase_cli_option_id mase_cli_data_ids[MASE_DATA_WORD_COUNT];

/* Values of an option by source; NULL if there is none. In the arena of the run. */
struct mase_cli_setting {
    struct mase_value *dflt, *file, *cmdline;
    struct mase_value *settled; /* the value that the run found */
    const char *list, *spelt;   /* text of a list, and the spelling of the option that gave it */
};
const struct mase_value *mase_cli_effective(const struct mase_cli_setting *s);

/* Find an option by spelling ("--cpu") or name ("num_workers"); -1 if there is none. */
int mase_cli_option_by_spelling(const char *word);
int mase_cli_option_by_name(const char *name);
/* "--cpu, --num-workers N" */
void mase_cli_option_usage(struct mase_str *out, const struct mase_cli_option *o);

/* The default as a value: none if there is none. */
struct mase_value *mase_cli_option_default(struct mase_arena *a, enum mase_cli_option_id id);
/* Check v against the option and normalise it: numbers in range, paths existing and absolute.
 * called: the name of the option in messages, its key or spelling. */
enum mase_status mase_cli_option_check(struct mase_value **out, struct mase_arena *a,
                                       enum mase_cli_option_id id, const char *called,
                                       const struct mase_value *v,
                                       struct mase_err *err) MASE_MUST_CHECK;
/* As mase_cli_option_check, from a text of the command line. */
enum mase_status mase_cli_option_read(struct mase_value **out, struct mase_arena *a,
                                      enum mase_cli_option_id id, const char *called,
                                      const char *text, struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_CLI_OPTIONS_H */
