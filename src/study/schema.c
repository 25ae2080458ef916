/*
 * schema.c - the tables of Optuna's relational storage, version 12.
 *
 * Words in braces are spelt by the driver: SQLite and PostgreSQL have other types.
 */
#include "study/store.h"

#include <string.h>

#include "study/sql.h"

#define REVISION        "v3.2.0.a" /* alembic's name of this schema */
#define REVISION_OLDER  "v3.0.0.d" /* Optuna 3.0 and 3.1: the same tables, one index less */
#define LIBRARY_VERSION "5.0.0"

#define ATTRIBUTES(of, id)                                                        \
    "CREATE TABLE " of "_attributes (" of "_attribute_id {key}, " id " INTEGER, " \
    "\"key\" VARCHAR(512), value_json TEXT, PRIMARY KEY (" of "_attribute_id), "  \
    "UNIQUE (" id ", \"key\"), FOREIGN KEY(" id ") REFERENCES "

static const char *const tables[] = {
    "CREATE TABLE studies (study_id {key}, study_name VARCHAR(512) NOT NULL, "
    "PRIMARY KEY (study_id))",
    "CREATE UNIQUE INDEX ix_studies_study_name ON studies (study_name)",
    "CREATE TABLE version_info (version_info_id INTEGER NOT NULL, schema_version INTEGER, "
    "library_version VARCHAR(256), PRIMARY KEY (version_info_id), CHECK (version_info_id=1))",
    "CREATE TABLE study_directions (study_direction_id {key}, direction {direction} NOT NULL, "
    "study_id INTEGER NOT NULL, objective INTEGER NOT NULL, PRIMARY KEY (study_direction_id), "
    "UNIQUE (study_id, objective), FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    ATTRIBUTES("study_user", "study_id") "studies (study_id))",
    ATTRIBUTES("study_system", "study_id") "studies (study_id))",
    "CREATE TABLE trials (trial_id {key}, number INTEGER, study_id INTEGER, "
    "state {state} NOT NULL, datetime_start {time}, datetime_complete {time}, "
    "PRIMARY KEY (trial_id), FOREIGN KEY(study_id) REFERENCES studies (study_id))",
    ATTRIBUTES("trial_user", "trial_id") "trials (trial_id))",
    ATTRIBUTES("trial_system", "trial_id") "trials (trial_id))",
    "CREATE TABLE trial_params (param_id {key}, trial_id INTEGER, param_name VARCHAR(512), "
    "param_value {real}, distribution_json TEXT, PRIMARY KEY (param_id), "
    "UNIQUE (trial_id, param_name), FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_values (trial_value_id {key}, trial_id INTEGER NOT NULL, "
    "objective INTEGER NOT NULL, value {real}, value_type {value_type} NOT NULL, "
    "PRIMARY KEY (trial_value_id), UNIQUE (trial_id, objective), "
    "FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_intermediate_values (trial_intermediate_value_id {key}, "
    "trial_id INTEGER NOT NULL, step INTEGER NOT NULL, intermediate_value {real}, "
    "intermediate_value_type {reading_type} NOT NULL, PRIMARY KEY (trial_intermediate_value_id), "
    "UNIQUE (trial_id, step), FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE trial_heartbeats (trial_heartbeat_id {key}, trial_id INTEGER NOT NULL, "
    "heartbeat {time} NOT NULL, PRIMARY KEY (trial_heartbeat_id), "
    "UNIQUE (trial_id), FOREIGN KEY(trial_id) REFERENCES trials (trial_id))",
    "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL, "
    "CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num))",
};
enum { TABLES = sizeof tables / sizeof *tables };

static const char *spell(const struct mase_sql_driver *d, const char *word, size_t n)
{
    const struct {
        const char *word, *spelling;
    } words[] = { { "key", d->key },
                  { "time", d->time },
                  { "real", d->real },
                  { "direction", d->direction },
                  { "state", d->state },
                  { "value_type", d->value_type },
                  { "reading_type", d->reading_type } };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == n && memcmp(words[i].word, word, n) == 0)
            return words[i].spelling;
    mase_bug("no type is called '%.*s'", (int)n, word);
}

static const char *fill_in(struct mase_arena *a, const struct mase_sql_driver *d, const char *text)
{
    struct mase_str out = { 0 };
    for (const char *word; (word = strchr(text, '{')); text = strchr(word, '}') + 1) {
        mase_str_addn(&out, text, (size_t)(word - text));
        mase_str_add(&out, spell(d, word + 1, strcspn(word + 1, "}")));
    }
    mase_str_add(&out, text);
    const char *filled = mase_arena_strdup(a, mase_str_text(&out));
    mase_str_release(&out);
    return filled;
}

static enum mase_status create(struct mase_store *s, struct mase_err *err)
{
    struct mase_sql *c = s->sql;
    if (c->driver->before_tables)
        MASE_TRY(MASE_SQL_PLAIN(c, NULL, err, c->driver->before_tables));
    for (int i = 0; i < TABLES; i++)
        MASE_TRY(MASE_SQL_PLAIN(c, NULL, err, fill_in(&s->arena, c->driver, tables[i])));
    if (!s->older)
        MASE_TRY(
            MASE_SQL_PLAIN(c, NULL, err, "CREATE INDEX ix_trials_study_id ON trials (study_id)"));
    MASE_TRY(MASE_SQL(c, NULL, err, "INSERT INTO version_info VALUES (1, 12, $1)",
                      MASE_SQL_TEXT(s->older ? "3.1.0" : LIBRARY_VERSION)));
    return MASE_SQL(c, NULL, err, "INSERT INTO alembic_version VALUES ($1)",
                    MASE_SQL_TEXT(s->older ? REVISION_OLDER : REVISION));
}

static enum mase_status has_table(struct mase_store *s, const char *name, bool *has,
                                  struct mase_err *err)
{
    struct mase_sql_rows r = { .arena = &s->arena };
    MASE_TRY(MASE_SQL(s->sql, &r, err, s->sql->driver->find_table, MASE_SQL_TEXT(name)));
    *has = r.count > 0;
    return MASE_OK;
}

static enum mase_status check_revision(struct mase_store *s, struct mase_err *err)
{
    struct mase_sql_rows r = { .arena = &s->arena };
    bool has;
    MASE_TRY(has_table(s, "alembic_version", &has, err));
    if (has)
        MASE_TRY(MASE_SQL_PLAIN(s->sql, &r, err, "SELECT version_num FROM alembic_version"));
    const char *revision = r.count == 1 ? mase_sql_text(&r, 0, 0) : NULL;
    if (!revision)
        return mase_fail_in(err, MASE_EUNSUPPORTED, s->sql->where,
                            "its studies have no revision of the schema, as before Optuna 0.9: "
                            "'optuna storage upgrade' brings it up to %s",
                            REVISION);
    s->older = mase_streq(revision, REVISION_OLDER);
    if (s->older || mase_streq(revision, REVISION))
        return MASE_OK;
    return mase_fail_in(err, MASE_EUNSUPPORTED, s->sql->where,
                        "the schema of its studies is '%s', not '%s': 'optuna storage upgrade' "
                        "brings an earlier one up to that",
                        revision, REVISION);
}

static enum mase_status create_all(struct mase_store *s, struct mase_err *err)
{
    bool has;
    enum mase_status st = mase_sql_begin(s->sql, err);
    if (!st && s->sql->driver->lock_schema)
        st = MASE_SQL_PLAIN(s->sql, NULL, err, s->sql->driver->lock_schema);
    if (!st)
        st = has_table(s, "studies", &has, err); /* another process may have been first */
    if (!st && !has)
        st = create(s, err);
    if (!st)
        st = mase_sql_commit(s->sql, err);
    if (st)
        mase_sql_rollback(s->sql);
    return st;
}

enum mase_status mase_schema_open(struct mase_store *s, enum mase_store_access access,
                                  struct mase_err *err)
{
    bool has;
    MASE_TRY(has_table(s, "studies", &has, err));
    if (!has && access != MASE_STORE_CREATE)
        return mase_fail_in(err, MASE_EPARSE, s->sql->where,
                            "it has no studies: there is no table of that name");
    return has ? check_revision(s, err) : create_all(s, err);
}
