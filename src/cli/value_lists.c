/*
 * value_lists.c - lists of values for an option of training, --batch-size 64,128,256, or lists of
 * models: on the command line or in a configuration file. Options are parsed before the command is
 * known, so the text is kept until then.
 */
#include <string.h>

#include <mase/file.h>

#include "cli/cli.h"

static bool trains(enum mase_cli_option_id id)
{
    for (int i = 0; i < MASE_TRAIN_OPTION_COUNT; i++)
        if (mase_cli_train_ids[i] == id)
            return true;
    return false;
}

/* Options that a sweep may vary; not the task, since results are compared. */
static bool may_vary(enum mase_cli_option_id id)
{
    const enum mase_opt_type type = mase_cli_options[id].opt->type;
    const bool scalar =
        type == MASE_OPT_TYPE_INT || type == MASE_OPT_TYPE_FLOAT || type == MASE_OPT_TYPE_CHOICE;
    return id == MASE_CLI_model || (scalar && trains(id) && id != MASE_CLI_task);
}

bool mase_cli_is_list(enum mase_cli_option_id id, const char *text)
{
    return strchr(text, ',') && may_vary(id) && !mase_is_file(text);
}

/* The list of a file's key, an axis of the sweep. */
enum mase_status mase_cli_merge_axis(struct mase_cli *c, enum mase_cli_option_id id,
                                     const struct mase_value *v, struct mase_err *err)
{
    const char *key = mase_cli_options[id].key;
    struct mase_value *list = mase_value_list(&c->arena);
    if (!v->count)
        return mase_fail_at(err, MASE_EVALUE, v->at, "%s: a list of nothing to try", key);
    list->at = v->at;
    for (int i = 0; i < v->count; i++) {
        struct mase_value *item;
        MASE_TRY(mase_cli_option_check(&item, &c->arena, id, key, v->items[i], err));
        mase_value_push(&c->arena, list, item);
    }
    c->setting[id].file = list;
    return MASE_OK;
}

bool mase_cli_is_axis(const struct mase_cli *c, enum mase_cli_option_id id,
                      const struct mase_value *v)
{
    return v->kind == MASE_LIST && may_vary(id) && c->command && c->command->kind == MASE_CLI_GRID;
}

enum mase_status mase_cli_read_list(struct mase_cli *c, enum mase_cli_option_id id,
                                    struct mase_err *err)
{
    struct mase_cli_setting *s = &c->setting[id];
    struct mase_value *list = mase_value_list(&c->arena);
    list->at = MASE_NOWHERE;
    for (const char *p = s->list;; p++) {
        const size_t n = strcspn(p, ",");
        struct mase_value *item;
        MASE_TRY(mase_cli_option_read(&item, &c->arena, id, s->spelt,
                                      mase_arena_strndup(&c->arena, p, n), err));
        mase_value_push(&c->arena, list, item);
        p += n;
        if (!*p)
            break;
    }
    s->cmdline = list;
    return MASE_OK;
}

enum mase_status mase_cli_read_lists(struct mase_cli *c, struct mase_err *err)
{
    for (int i = 0; i < MASE_CLI_COUNT; i++) {
        const enum mase_cli_option_id id = (enum mase_cli_option_id)i;
        const struct mase_cli_setting *s = &c->setting[i];
        if (!s->list)
            continue;
        if (c->command->kind == MASE_CLI_GRID)
            MASE_TRY(mase_cli_read_list(c, id, err));
        else /* no single value has a comma, so this fails with the option's own message */
            MASE_TRY(mase_cli_option_read(&c->setting[i].cmdline, &c->arena, id, s->spelt, s->list,
                                          err));
    }
    return MASE_OK;
}
