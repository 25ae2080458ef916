/*
 * args.c - the command line, word by word.
 *
 * --option value, --option=value, -h; options and positionals in any order; "--" ends the options.
 * An option name has one meaning in all commands, so words are parsed before the command is known;
 * afterwards each option is checked against the command.
 */
#include <string.h>

#include "cli/cli.h"

/* A walk over argv. */
struct words {
    int argc, at;
    char **argv;
    bool only_operands; /* "--" was seen */
};

static const char *peek(const struct words *w)
{
    return w->at < w->argc ? w->argv[w->at] : NULL;
}

static enum mase_status fail_unknown(const char *word, struct mase_err *err)
{
    const char *names[2 * MASE_CLI_COUNT];
    struct mase_arena a = { 0 };
    int n = 0;
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        char *spelt = mase_arena_strdup(
            &a, mase_cli_options[i].spellings ? mase_cli_options[i].spellings : "");
        char *rest = NULL;
        for (char *s = strtok_r(spelt, " ", &rest); s; s = strtok_r(NULL, " ", &rest))
            if (n < 2 * MASE_CLI_COUNT)
                names[n++] = s;
    }
    /* a single letter resembles every other */
    const int comparable = strlen(word) > 2 ? n : 0;
    mase_fail_unknown(
        err, MASE_NOWHERE,
        &(struct mase_unknown){ word, names, comparable, .otherwise = "; see ch --help" },
        "unknown option '%s'", word);
    mase_arena_release(&a);
    return MASE_EVALUE;
}

/* Read the value of an option: after '=', or the next word. --info may have none. */
static enum mase_status take_value(const char **text, struct words *w, int id, const char *spelt,
                                   const char *attached, struct mase_err *err)
{
    const char *next = peek(w);
    if (attached) {
        *text = attached;
    } else if (next && !mase_starts_with(next, "--") && (id != MASE_CLI_info || next[0] != '-')) {
        *text = next;
        w->at++;
    } else if (id == MASE_CLI_info) {
        *text = mase_cli_options[id].opt->text;
    } else {
        return mase_fail(err, MASE_EVALUE, "%s needs a value: %s %s", spelt, spelt,
                         mase_cli_options[id].metavar);
    }
    return MASE_OK;
}

static enum mase_status set_option(struct mase_cli *c, struct words *w, int id, const char *spelt,
                                   const char *attached, struct mase_err *err)
{
    const struct mase_cli_option *o = &mase_cli_options[id];
    struct mase_cli_setting *s = &c->setting[id];
    const char *text = NULL;
    struct mase_value *v = NULL;

    if (o->opt->type == MASE_OPT_TYPE_BOOL) {
        if (attached)
            return mase_fail(err, MASE_EVALUE, "%s takes no value, got '%s'", spelt, attached);
        s->cmdline = mase_value_bool(&c->arena, true);
        return MASE_OK;
    }
    MASE_TRY(take_value(&text, w, id, spelt, attached, err));
    if (mase_cli_is_list((enum mase_cli_option_id)id, text)) {
        s->list = text;
        s->spelt = spelt;
        return MASE_OK;
    }
    s->list = NULL;
    MASE_TRY(mase_cli_option_read(&v, &c->arena, (enum mase_cli_option_id)id, spelt, text, err));
    if (o->flags & MASE_CLI_MANY) {
        s->cmdline = s->cmdline ? s->cmdline : mase_value_list(&c->arena);
        mase_value_push(&c->arena, s->cmdline, v);
    } else if ((id == MASE_CLI_input_shape || id == MASE_CLI_input) && s->cmdline) {
        s->cmdline = mase_value_string(/* of the next input */
                                       &c->arena,
                                       mase_arena_printf(&c->arena, "%s;%s", s->cmdline->s, v->s));
    } else {
        s->cmdline = v;
    }
    return MASE_OK;
}

static enum mase_status read_option(struct mase_cli *c, struct words *w, const char *word,
                                    struct mase_err *err)
{
    const char *eq = mase_starts_with(word, "--") ? strchr(word, '=') : NULL;
    const char *spelt = eq ? mase_arena_strndup(&c->arena, word, (size_t)(eq - word)) : word;
    int id = mase_cli_option_by_spelling(spelt);
    if (id < 0)
        return fail_unknown(spelt, err);
    return set_option(c, w, id, spelt, eq ? eq + 1 : NULL, err);
}

static enum mase_status read_words(struct mase_cli *c, struct words *w, struct mase_err *err)
{
    while (peek(w)) {
        const char *word = w->argv[w->at++];
        if (!w->only_operands && mase_streq(word, "--"))
            w->only_operands = true;
        else if (!w->only_operands && word[0] == '-' && word[1])
            MASE_TRY(read_option(c, w, word, err));
        else
            c->operands[c->operand_count++] = word;
    }
    return MASE_OK;
}

/* The operands of an action are the model and the dataset, after a target if the command's row
 * begins with one. */
static enum mase_status take_operands(struct mase_cli *c, struct mase_err *err)
{
    static const enum mase_cli_option_id positional[] = { MASE_CLI_model, MASE_CLI_dataset };
    const int word = mase_starts_with(c->command->operands, "TARGET ");
    MASE_TRY(mase_cli_operands(c, 2 + word, err));
    for (int i = 0; i + word < c->operand_count; i++) {
        struct mase_cli_setting *s = &c->setting[positional[i]];
        s->spelt = mase_cli_options[positional[i]].metavar;
        s->list = c->operands[i + word];
        if (c->command->kind == MASE_CLI_GRID && mase_cli_is_list(positional[i], s->list))
            MASE_TRY(mase_cli_read_list(c, positional[i], err));
        else
            MASE_TRY(mase_cli_option_read(&s->cmdline, &c->arena, positional[i], s->spelt, s->list,
                                          err));
    }
    return MASE_OK;
}

static enum mase_status check_taken(const struct mase_cli *c, struct mase_err *err)
{
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        const struct mase_cli_option *o = &mase_cli_options[i];
        if (!c->setting[i].cmdline || mase_cli_command_takes(c->command, o))
            continue;
        struct mase_str usage = { 0 };
        mase_cli_option_usage(&usage, o);
        enum mase_status st = mase_fail(err, MASE_EVALUE, "%s is no option of ch %s",
                                        mase_str_text(&usage), c->command->name);
        mase_str_release(&usage);
        return st;
    }
    return MASE_OK;
}

/* --json is short for --format json. */
static enum mase_status choose_format(struct mase_cli *c, struct mase_err *err)
{
    const struct mase_value *given = c->setting[MASE_CLI_format].cmdline;
    const bool json = c->setting[MASE_CLI_json].cmdline != NULL;
    if (json && given && !mase_streq(given->s, "json"))
        return mase_fail(err, MASE_EVALUE, "--json and --format %s contradict each other",
                         given->s);
    c->sheets = (struct mase_sheets){
        .arena = &c->arena,
        .out = stdout,
        .format = json ? MASE_SHEET_JSON : mase_sheet_format(given ? given->s : "text"),
    };
    return MASE_OK;
}

enum mase_status mase_cli_parse(struct mase_cli *c, int argc, char **argv, struct mase_err *err)
{
    struct words w = { .argc = argc, .at = 1, .argv = argv };

    c->argc = argc;
    c->argv = argv;
    c->operands = mase_new_array(&c->arena, const char *, (size_t)argc + 1);
    for (int i = 0; i < MASE_CLI_COUNT; i++)
        c->setting[i].dflt = mase_cli_option_default(&c->arena, (enum mase_cli_option_id)i);
    MASE_TRY(read_words(c, &w, err));
    MASE_TRY(choose_format(c, err));
    if (c->operand_count == 0)
        return MASE_OK;
    MASE_TRY(mase_cli_command_find(&c->command, c->operands[0], err));
    c->operands++;
    c->operand_count--;
    MASE_TRY(mase_cli_read_lists(c, err));
    MASE_TRY(check_taken(c, err));
    return c->command->kind >= MASE_CLI_ACTION ? take_operands(c, err) : MASE_OK;
}

void mase_cli_release(struct mase_cli *c)
{
    mase_arena_release(&c->arena);
    *c = (struct mase_cli){ 0 };
}
