/*
 * sql_postgres.c - PostgreSQL, for studies that many machines work on.
 *
 * libpq is loaded when such a study is opened; a build without its headers says so then. Parameters
 * and results go as text: the server finds their types. A connection that was lost is marked, so
 * that the run waits and opens it again.
 */
#include "study/sql.h"

#ifdef MASE_PQ_LIBRARY
#include <dlfcn.h>
#include <libpq-fe.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

/* Everything of the library that is used. */
/* clang-format off */
#define API(X)                                                                                 \
    X(PQconnectdbParams) X(PQfinish) X(PQstatus) X(PQerrorMessage) X(PQexecParams)             \
    X(PQresultStatus) X(PQresultErrorField) X(PQclear) X(PQntuples) X(PQnfields) X(PQftype)    \
    X(PQgetvalue) X(PQgetisnull) X(PQsetNoticeReceiver)
/* clang-format on */

struct api {
#define POINTER(name) __typeof__(&name) name;
    API(POINTER)
};

/* Parameters of one statement, at most: the protocol has 65 535. */
enum { PARAMETERS_MOST = 30000 };

/* Types of columns, by their numbers in the server's catalogue. */
enum { TYPE_INT8 = 20, TYPE_INT2 = 21, TYPE_INT4 = 23, TYPE_FLOAT4 = 700, TYPE_FLOAT8 = 701 };

static enum mase_status load(struct api *api, struct mase_err *err)
{
    void *library = dlopen(MASE_PQ_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return mase_fail(err, MASE_EUNSUPPORTED, "studies in PostgreSQL need libpq: %s", dlerror());
#define FIND(name)                                                                            \
    {                                                                                         \
        void *address = dlsym(library, #name);                                                \
        memcpy(&api->name, &address, sizeof address); /* POSIX's way */                       \
        if (!address)                                                                         \
            return mase_fail(err, MASE_EUNSUPPORTED, "%s has no %s", MASE_PQ_LIBRARY, #name); \
    }
    API(FIND)
    return MASE_OK;
}

/* The first line of a message, without the word before it. */
static enum mase_status fail(struct mase_sql *c, const char *message, struct mase_err *err)
{
    const struct api *api = c->cache;
    const char *colon = strstr(message, "ERROR:  ");
    const char *text = colon ? colon + 8 : message;
    if (api->PQstatus(c->handle) != CONNECTION_OK)
        c->lost = true;
    return mase_fail_in(err, MASE_EIO, c->where, "%.*s", (int)strcspn(text, "\n"), text);
}

static void close_connection(struct mase_sql *c)
{
    struct api *api = c->cache;
    api->PQfinish(c->handle);
    mase_xfree(api);
    c->cache = NULL;
}

static void drop_notice(void *data, const PGresult *result)
{
    (void)data, (void)result;
}

/* "postgresql://...", however SQLAlchemy calls its driver. */
static char *plain_url(const char *place)
{
    const char *rest = strstr(place, "://");
    struct mase_str url = { 0 };
    mase_str_printf(&url, "postgresql%s", rest);
    char *text = mase_xstrdup(mase_str_text(&url));
    mase_str_release(&url);
    return text;
}

static enum mase_status open_connection(struct mase_sql *c, enum mase_store_access access,
                                        struct mase_err *err)
{
    static const char *const keys[] = { "application_name",
                                        "connect_timeout",
                                        "keepalives_idle",
                                        "tcp_user_timeout",
                                        "client_encoding",
                                        "dbname",
                                        NULL };
    char *url = plain_url(c->place);
    const char *const values[] = { "mase", "10", "15", "30000", "UTF8", url, NULL };
    struct api *api = mase_xcalloc(sizeof *api);
    (void)access;
    enum mase_status st = load(api, err);
    if (st) {
        mase_xfree(url);
        mase_xfree(api);
        return st;
    }
    c->cache = api;
    c->handle = api->PQconnectdbParams(keys, values, 1);
    mase_xfree(url);
    if (api->PQstatus(c->handle) != CONNECTION_OK)
        return fail(c, api->PQerrorMessage(c->handle), err);
    api->PQsetNoticeReceiver(c->handle, drop_notice, NULL);
    return MASE_SQL_PLAIN(c, NULL, err, "SET datestyle TO ISO");
}

/* ---- statements ---- */

static const char *text_of(struct mase_arena *a, const struct mase_sql_cell *cell)
{
    char number[MASE_NUMBER_BYTES];
    switch (cell->kind) {
    case MASE_SQL_INT:
        return mase_arena_printf(a, "%lld", (long long)cell->i);
    case MASE_SQL_REAL:
        return mase_arena_strdup(a, mase_number_shortest(number, cell->f, 15, false));
    case MASE_SQL_TEXT:
        return cell->s;
    case MASE_SQL_NULL:
        break;
    }
    return NULL;
}

static struct mase_sql_cell read_cell(const struct api *api, const PGresult *r, int row, int column,
                                      struct mase_arena *a)
{
    const char *text = api->PQgetvalue(r, row, column);
    const unsigned type = api->PQftype(r, column);
    char *end;
    if (api->PQgetisnull(r, row, column))
        return MASE_SQL_NIL;
    if (type == TYPE_FLOAT4 || type == TYPE_FLOAT8)
        return MASE_SQL_REAL(mase_number_read(text, &end));
    if (type == TYPE_INT2 || type == TYPE_INT4 || type == TYPE_INT8)
        return MASE_SQL_INT((int64_t)mase_number_read(text, &end)); /* an id below 2^53 */
    return MASE_SQL_TEXT(mase_arena_strdup(a, text));
}

static void take_rows(const struct api *api, const PGresult *r, struct mase_sql_rows *rows)
{
    const int count = api->PQntuples(r), columns = api->PQnfields(r);
    for (int i = 0; rows && i < count; i++) {
        struct mase_sql_cell *cell = mase_sql_add_row(rows, columns);
        for (int k = 0; k < columns; k++)
            cell[k] = read_cell(api, r, i, k, rows->arena);
    }
}

static enum mase_status run(struct mase_sql *c, struct mase_sql_rows *rows, const char *text,
                            const struct mase_sql_cell *cell, int cells, struct mase_err *err)
{
    const struct api *api = c->cache;
    struct mase_arena a = { 0 };
    const char **values = mase_new_array(&a, const char *, (size_t)cells);
    for (int i = 0; i < cells; i++)
        values[i] = text_of(&a, &cell[i]);
    PGresult *r = api->PQexecParams(c->handle, text, cells, NULL, values, NULL, NULL, 0);
    const ExecStatusType state = api->PQresultStatus(r);
    enum mase_status st = MASE_OK;
    if (state == PGRES_TUPLES_OK)
        take_rows(api, r, rows);
    else if (state != PGRES_COMMAND_OK)
        st = fail(c, api->PQerrorMessage(c->handle), err);
    api->PQclear(r);
    mase_arena_release(&a);
    return st;
}

static enum mase_status run_many(struct mase_sql *c, struct mase_sql_rows *rows,
                                 const struct mase_sql_each *each, const struct mase_sql_cell *cell,
                                 int64_t count, struct mase_err *err)
{
    struct mase_str text = { 0 };
    int parameter = 0;
    mase_str_add(&text, each->head);
    for (int64_t i = 0; i < count; i++) {
        mase_str_add(&text, i ? ", (" : " (");
        for (int k = 0; k < each->columns; k++)
            mase_str_printf(&text, k ? ", $%d" : "$%d", ++parameter);
        mase_str_addc(&text, ')');
    }
    mase_str_printf(&text, " %s", each->tail);
    const enum mase_status st = run(c, rows, mase_str_text(&text), cell, parameter, err);
    mase_str_release(&text);
    return st;
}

static enum mase_status run_each(struct mase_sql *c, struct mase_sql_rows *rows,
                                 const struct mase_sql_each *each, const struct mase_sql_cell *cell,
                                 int64_t count, struct mase_err *err)
{
    const int64_t most = PARAMETERS_MOST / each->columns;
    for (int64_t i = 0; i < count; i += most)
        MASE_TRY(run_many(c, rows, each, cell + i * each->columns,
                          count - i < most ? count - i : most, err));
    return MASE_OK;
}

#else

static enum mase_status open_connection(struct mase_sql *c, enum mase_store_access access,
                                        struct mase_err *err)
{
    (void)access;
    return mase_fail_in(err, MASE_EUNSUPPORTED, c->where,
                        "studies in PostgreSQL need libpq: install libpq-dev and build again");
}

static void close_connection(struct mase_sql *c)
{
    (void)c;
}

static enum mase_status run(struct mase_sql *c, struct mase_sql_rows *rows, const char *text,
                            const struct mase_sql_cell *cell, int cells, struct mase_err *err)
{
    (void)rows, (void)text, (void)cell, (void)cells;
    return open_connection(c, MASE_STORE_READ, err);
}

static enum mase_status run_each(struct mase_sql *c, struct mase_sql_rows *rows,
                                 const struct mase_sql_each *each, const struct mase_sql_cell *cell,
                                 int64_t count, struct mase_err *err)
{
    (void)rows, (void)each, (void)cell, (void)count;
    return open_connection(c, MASE_STORE_READ, err);
}
#endif

#define SECONDS_AGO(time) time " - CAST($2 AS double precision) * INTERVAL '1 second'"

const struct mase_sql_driver mase_sql_postgres = {
    .name = "PostgreSQL",
    .prefixes = { "postgresql://", "postgres://", "postgresql+psycopg2://",
                  "postgresql+psycopg://" },
    .many_hosts = true,
    .key = "SERIAL NOT NULL",
    .time = "TIMESTAMP WITHOUT TIME ZONE",
    .real = "FLOAT(53)",
    .direction = "studydirection",
    .state = "trialstate",
    .value_type = "trialvaluetype",
    .reading_type = "trialintermediatevaluetype",
    .before_tables =
        "DO $$ BEGIN "
        "CREATE TYPE studydirection AS ENUM ('NOT_SET', 'MINIMIZE', 'MAXIMIZE'); "
        "CREATE TYPE trialstate AS ENUM ('RUNNING', 'COMPLETE', 'PRUNED', 'FAIL', 'WAITING'); "
        "CREATE TYPE trialvaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG'); "
        "CREATE TYPE trialintermediatevaluetype AS ENUM ('FINITE', 'INF_POS', 'INF_NEG', 'NAN'); "
        "END $$",
    .find_table = "SELECT 1 WHERE to_regclass($1) IS NOT NULL",
    .lock_schema = "SELECT pg_advisory_xact_lock(1835102053)", /* "mase" */
    .begin = "BEGIN",
    .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    .now = "SELECT LOCALTIMESTAMP",
    .lock_study = "SELECT study_id FROM studies WHERE study_id = $1 FOR UPDATE",
    .find_stale =
        "SELECT t.number FROM trials t LEFT JOIN trial_heartbeats h ON h.trial_id = t.trial_id "
        "WHERE t.study_id = $1 AND (t.state = 'WAITING' OR t.state = 'RUNNING' AND "
        "(h.heartbeat < " SECONDS_AGO(
            "LOCALTIMESTAMP") " OR h.heartbeat IS NULL AND "
                              "t.datetime_start < " SECONDS_AGO(
                                  "(now() AT TIME ZONE 'UTC')") ")) "
                                                                "ORDER BY t.trial_id LIMIT $3 FOR "
                                                                "UPDATE OF t SKIP LOCKED",
    .open = open_connection,
    .close = close_connection,
    .run = run,
    .run_each = run_each,
};
