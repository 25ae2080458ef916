/*
 * sql_sqlite.c - SQLite, in one file.
 *
 * The library is loaded when a database is opened. A database is in WAL mode while it is open for
 * writing, so that others read while we write, and a commit costs no flush: a process may be killed
 * at any moment, a machine that loses its power may lose the last commits, and neither leaves a
 * damaged file. The last to close it leaves the one file.
 */
#include <dlfcn.h>
#include <sqlite3.h>
#include <string.h>

#include <mase/file.h>

#include "base/alloc.h"
#include "study/sql.h"

/* Everything of the library that is used. */
/* clang-format off */
#define API(X)                                                                                 \
    X(sqlite3_open_v2) X(sqlite3_close_v2) X(sqlite3_errmsg) X(sqlite3_db_config)                 \
    X(sqlite3_busy_timeout) X(sqlite3_limit) X(sqlite3_prepare_v3) X(sqlite3_step)             \
    X(sqlite3_reset) X(sqlite3_finalize) X(sqlite3_bind_int64) X(sqlite3_bind_double)          \
    X(sqlite3_bind_text) X(sqlite3_bind_null) X(sqlite3_column_count) X(sqlite3_column_type)   \
    X(sqlite3_column_int64) X(sqlite3_column_double) X(sqlite3_column_text)
/* clang-format on */

struct api {
    bool loaded;
#define POINTER(name) __typeof__(&name) name;
    API(POINTER)
};

enum { CACHED = 32, BUSY_MILLISECONDS = 20000 };

/* Statements by the address of their text. */
struct cache {
    struct api api;
    sqlite3 *db;
    int count;
    struct {
        const char *text;
        sqlite3_stmt *statement;
    } entry[CACHED];
};

static enum mase_status load(struct api *api, struct mase_err *err)
{
    void *library = dlopen(MASE_SQLITE_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return mase_fail(err, MASE_EUNSUPPORTED, "studies need SQLite: %s", dlerror());
#define FIND(name)                                                                                \
    {                                                                                             \
        void *address = dlsym(library, #name);                                                    \
        memcpy(&api->name, &address, sizeof address); /* POSIX's way */                           \
        if (!address)                                                                             \
            return mase_fail(err, MASE_EUNSUPPORTED, "%s has no %s", MASE_SQLITE_LIBRARY, #name); \
    }
    API(FIND)
    return MASE_OK;
}

/* "PATH: what is wrong", and out of memory as everywhere. */
static enum mase_status fail(const struct mase_sql *c, int code, struct mase_err *err)
{
    const struct cache *k = c->cache;
    const char *why = k->api.sqlite3_errmsg(k->db);
    if ((code & 0xff) == SQLITE_NOMEM)
        mase_out_of_memory(0);
    const enum mase_status st = (code & 0xff) == SQLITE_NOTADB || (code & 0xff) == SQLITE_CORRUPT ||
                                        (code & 0xff) == SQLITE_ERROR
                                    ? MASE_EPARSE
                                    : MASE_EIO;
    return mase_fail_in(err, st, c->place, "%s", why);
}

static void close_database(struct mase_sql *c)
{
    struct cache *k = c->cache;
    struct mase_err unwanted;
    for (int i = 0; i < k->count; i++)
        k->api.sqlite3_finalize(k->entry[i].statement);
    k->count = 0;
    k->api.sqlite3_busy_timeout(k->db, 0); /* where others read, the last of them does it */
    if (c->handle)
        (void)!c->driver->run(c, NULL, "PRAGMA journal_mode=DELETE", NULL, 0, &unwanted);
    for (int i = 0; i < k->count; i++)
        k->api.sqlite3_finalize(k->entry[i].statement);
    k->api.sqlite3_close_v2(k->db);
    mase_xfree(k);
    c->cache = NULL;
}

/* A database is a file of somebody else: it may define no function, trigger or view that runs. */
static void confine(const struct cache *k)
{
    k->api.sqlite3_db_config(k->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    k->api.sqlite3_db_config(k->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    k->api.sqlite3_db_config(k->db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    k->api.sqlite3_db_config(k->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    k->api.sqlite3_limit(k->db, SQLITE_LIMIT_LENGTH, MASE_TEXT_MAX);
    k->api.sqlite3_busy_timeout(k->db, BUSY_MILLISECONDS);
}

static enum mase_status set_up(struct mase_sql *c, enum mase_store_access access,
                               struct mase_err *err)
{
    static const char *const writing[] = { "PRAGMA journal_mode=WAL", "PRAGMA synchronous=NORMAL" };
    /* The header is read here: what is no database says so. */
    MASE_TRY(MASE_SQL_PLAIN(c, NULL, err, "PRAGMA schema_version"));
    for (int i = 0; i < 2 && access != MASE_STORE_READ; i++)
        MASE_TRY(MASE_SQL_PLAIN(c, NULL, err, writing[i]));
    return MASE_OK;
}

static enum mase_status open_database(struct mase_sql *c, enum mase_store_access access,
                                      struct mase_err *err)
{
    static const int flags[] = { [MASE_STORE_READ] = SQLITE_OPEN_READONLY,
                                 [MASE_STORE_WRITE] = SQLITE_OPEN_READWRITE,
                                 [MASE_STORE_CREATE] = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE };
    const bool in_memory = mase_streq(c->place, ":memory:");
    if (access != MASE_STORE_CREATE && !in_memory && !mase_is_file(c->place))
        return mase_fail_in(err, MASE_EIO, c->place, "there is no such file");
    if (access != MASE_STORE_READ && !in_memory)
        MASE_TRY(mase_check_links(c->place, err));
    struct cache *k = mase_xcalloc(sizeof *k);
    const enum mase_status st = load(&k->api, err);
    if (st) {
        mase_xfree(k);
        return st;
    }
    c->cache = k;
    const int code =
        k->api.sqlite3_open_v2(c->place, &k->db, flags[access] | SQLITE_OPEN_FULLMUTEX, NULL);
    c->handle = k->db;
    if (code)
        return fail(c, code, err);
    confine(k);
    return set_up(c, access, err);
}

/* ---- statements ---- */

static enum mase_status prepare(struct mase_sql *c, sqlite3_stmt **out, const char *text,
                                struct mase_err *err)
{
    struct cache *k = c->cache;
    const int code =
        k->api.sqlite3_prepare_v3(k->db, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return code ? fail(c, code, err) : MASE_OK;
}

/* The statement of a text that lives on; the last to come, if there are too many, goes again. */
static enum mase_status find(struct mase_sql *c, sqlite3_stmt **out, const char *text,
                             struct mase_err *err)
{
    struct cache *k = c->cache;
    for (int i = 0; i < k->count; i++)
        if (k->entry[i].text == text) {
            *out = k->entry[i].statement;
            return MASE_OK;
        }
    MASE_TRY(prepare(c, out, text, err));
    if (k->count == CACHED)
        k->api.sqlite3_finalize(k->entry[--k->count].statement);
    k->entry[k->count].text = text;
    k->entry[k->count++].statement = *out;
    return MASE_OK;
}

static void bind(const struct api *api, sqlite3_stmt *s, const struct mase_sql_cell *cell,
                 int cells)
{
    for (int i = 0; i < cells; i++)
        switch (cell[i].kind) {
        case MASE_SQL_NULL:
            api->sqlite3_bind_null(s, i + 1);
            break;
        case MASE_SQL_INT:
            api->sqlite3_bind_int64(s, i + 1, cell[i].i);
            break;
        case MASE_SQL_REAL:
            api->sqlite3_bind_double(s, i + 1, cell[i].f);
            break;
        case MASE_SQL_TEXT:
            api->sqlite3_bind_text(s, i + 1, cell[i].s, -1, SQLITE_STATIC);
            break;
        }
}

static struct mase_sql_cell read_cell(const struct api *api, sqlite3_stmt *s, int column,
                                      struct mase_arena *a)
{
    switch (api->sqlite3_column_type(s, column)) {
    case SQLITE_INTEGER:
        return MASE_SQL_INT(api->sqlite3_column_int64(s, column));
    case SQLITE_FLOAT:
        return MASE_SQL_REAL(api->sqlite3_column_double(s, column));
    case SQLITE_TEXT:
        return MASE_SQL_TEXT(
            mase_arena_strdup(a, (const char *)api->sqlite3_column_text(s, column)));
    default: /* also bytes, which no column of ours has */
        return MASE_SQL_NIL;
    }
}

/* Run to the end, and leave the statement ready for the next time. */
static enum mase_status step(struct mase_sql *c, sqlite3_stmt *s, struct mase_sql_rows *rows,
                             struct mase_err *err)
{
    const struct api *api = &((struct cache *)c->cache)->api;
    int code;
    while ((code = api->sqlite3_step(s)) == SQLITE_ROW) {
        const int columns = api->sqlite3_column_count(s);
        struct mase_sql_cell *cell = rows ? mase_sql_add_row(rows, columns) : NULL;
        for (int i = 0; rows && i < columns; i++)
            cell[i] = read_cell(api, s, i, rows->arena);
    }
    const enum mase_status st = code == SQLITE_DONE ? MASE_OK : fail(c, code, err);
    api->sqlite3_reset(s);
    return st;
}

static enum mase_status run(struct mase_sql *c, struct mase_sql_rows *rows, const char *text,
                            const struct mase_sql_cell *cell, int cells, struct mase_err *err)
{
    sqlite3_stmt *s;
    MASE_TRY(find(c, &s, text, err));
    bind(&((struct cache *)c->cache)->api, s, cell, cells);
    return step(c, s, rows, err);
}

static enum mase_status run_each(struct mase_sql *c, struct mase_sql_rows *rows,
                                 const struct mase_sql_each *each, const struct mase_sql_cell *cell,
                                 int64_t count, struct mase_err *err)
{
    const struct api *api = &((struct cache *)c->cache)->api;
    struct mase_str text = { 0 };
    sqlite3_stmt *s;
    mase_str_printf(&text, "%s (", each->head);
    for (int i = 1; i <= each->columns; i++)
        mase_str_printf(&text, i > 1 ? ", $%d" : "$%d", i);
    mase_str_printf(&text, ") %s", each->tail);
    enum mase_status st = prepare(c, &s, mase_str_text(&text), err);
    mase_str_release(&text);
    if (st)
        return st;
    for (int64_t i = 0; i < count && !st; i++) {
        bind(api, s, cell + i * each->columns, each->columns);
        st = step(c, s, rows, err);
    }
    api->sqlite3_finalize(s);
    return st;
}

static bool changed(struct mase_sql *c)
{
    struct mase_arena a = { 0 };
    struct mase_sql_rows rows = { .arena = &a };
    struct mase_err unwanted;
    const int64_t before = c->version;
    if (!MASE_SQL_PLAIN(c, &rows, &unwanted, "PRAGMA data_version") && rows.count)
        c->version = mase_sql_int(&rows, 0, 0);
    mase_arena_release(&a);
    return c->version != before;
}

const struct mase_sql_driver mase_sql_sqlite = {
    .name = "SQLite",
    .prefixes = { "sqlite:///" },
    .key = "INTEGER NOT NULL",
    .time = "DATETIME",
    .real = "FLOAT",
    .direction = "VARCHAR(8)",
    .state = "VARCHAR(8)",
    .value_type = "VARCHAR(7)",
    .reading_type = "VARCHAR(7)",
    .find_table = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = $1",
    .begin = "BEGIN IMMEDIATE",
    .begin_read = "BEGIN",
    .open = open_database,
    .close = close_database,
    .run = run,
    .run_each = run_each,
    .changed = changed,
};
