/*
 * sql.h - a connection to a database: statements with parameters go in, rows come out.
 *
 * A driver is a row of sql_drivers.def. Statements are written in what SQLite and PostgreSQL have
 * in common; parameters are $1, $2, ... in the order in which they first appear.
 */
#ifndef MASE_STUDY_SQL_H
#define MASE_STUDY_SQL_H

#include <mase/study.h>

enum mase_sql_kind { MASE_SQL_NULL, MASE_SQL_INT, MASE_SQL_REAL, MASE_SQL_TEXT };

/* A parameter, or a column of a row. */
struct mase_sql_cell {
    enum mase_sql_kind kind;
    union {
        int64_t i;
        double f;
        const char *s;
    };
};

#define MASE_SQL_INT(x)  ((struct mase_sql_cell){ MASE_SQL_INT, { .i = (x) } })
#define MASE_SQL_REAL(x) ((struct mase_sql_cell){ MASE_SQL_REAL, { .f = (x) } })
#define MASE_SQL_TEXT(x) ((struct mase_sql_cell){ MASE_SQL_TEXT, { .s = (x) } })
#define MASE_SQL_NIL     ((struct mase_sql_cell){ MASE_SQL_NULL, { .i = 0 } })

/* Rows one behind the other; those of a further statement are added. */
struct mase_sql_rows {
    struct mase_arena *arena; /* of the rows */
    int64_t count;
    int columns;
    struct mase_sql_cell *cell; /* (count, columns) */
    int cells, cap;
};

struct mase_sql;

/* A statement for each of many rows: head, (columns) values, tail. */
struct mase_sql_each {
    const char *head; /* "INSERT INTO t (a, b) VALUES" */
    int columns;
    const char *tail; /* "ON CONFLICT ..." */
};

struct mase_sql_driver {
    const char *name, *prefixes[5]; /* how the place of such a database begins */
    bool many_hosts;                /* processes share it, and may lose the connection */
    /* How the tables of Optuna's schema are spelt. */
    const char *key, *time, *real, *direction, *state, *value_type, *reading_type;
    const char *before_tables; /* a statement that makes the types above, or NULL */
    const char *find_table;    /* a row if there is a table $1 */
    const char *lock_schema;   /* be alone in making tables; NULL: a transaction is alone */
    const char *begin;         /* begins a transaction that writes */
    const char *begin_read;    /* one that reads: all of it at one moment */
    const char *now;           /* a row of the time, as heartbeats have it */
    const char *lock_study;    /* be alone with study $1; NULL: a transaction is alone */
    const char *find_stale;    /* numbers of trials of study $1 that wait, or have had no heartbeat
                                  for $2 seconds, $3 at most; NULL: a run has no others beside it */
    enum mase_status (*open)(struct mase_sql *c, enum mase_store_access access,
                             struct mase_err *err);
    void (*close)(struct mase_sql *c);
    enum mase_status (*run)(struct mase_sql *c, struct mase_sql_rows *rows, const char *text,
                            const struct mase_sql_cell *cell, int cells, struct mase_err *err);
    enum mase_status (*run_each)(struct mase_sql *c, struct mase_sql_rows *rows,
                                 const struct mase_sql_each *each, const struct mase_sql_cell *cell,
                                 int64_t count, struct mase_err *err);
    /* Has another connection changed the database since the last call? NULL: nobody knows. */
    bool (*changed)(struct mase_sql *c);
};

struct mase_sql {
    const struct mase_sql_driver *driver;
    char *where; /* as it is told to users */
    char *place; /* as the driver takes it */
    bool lost;   /* the database went away: open it again */
    void *handle;
    void *cache; /* the driver's own */
    int64_t version;
};

enum mase_status mase_sql_open(struct mase_sql **out, const char *where,
                               enum mase_store_access access, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_sql_reopen(struct mase_sql *c, struct mase_err *err) MASE_MUST_CHECK;
void mase_sql_close(struct mase_sql *c);

/* rows NULL: they are dropped. text must be a literal: drivers keep what they made of it. */
enum mase_status mase_sql_run(struct mase_sql *c, struct mase_sql_rows *rows, const char *text,
                              const struct mase_sql_cell *cell, int cells,
                              struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_sql_run_each(struct mase_sql *c, struct mase_sql_rows *rows,
                                   const struct mase_sql_each *each,
                                   const struct mase_sql_cell *cell, int64_t count,
                                   struct mase_err *err) MASE_MUST_CHECK;
/* MASE_SQL(c, rows, err, "SELECT ... $1", MASE_SQL_INT(id)) */
#define MASE_SQL(c, rows, err, text, ...)                                            \
    mase_sql_run((c), (rows), (text), (const struct mase_sql_cell[]){ __VA_ARGS__ }, \
                 sizeof((const struct mase_sql_cell[]){ __VA_ARGS__ }) /             \
                     sizeof(struct mase_sql_cell),                                   \
                 (err))
#define MASE_SQL_PLAIN(c, rows, err, text) mase_sql_run((c), (rows), (text), NULL, 0, (err))

enum mase_status mase_sql_begin(struct mase_sql *c, struct mase_err *err) MASE_MUST_CHECK;
enum mase_status mase_sql_commit(struct mase_sql *c, struct mase_err *err) MASE_MUST_CHECK;
void mase_sql_rollback(struct mase_sql *c);

bool mase_sql_changed(struct mase_sql *c);

/* For drivers: room for a row of so many columns. */
struct mase_sql_cell *mase_sql_add_row(struct mase_sql_rows *rows, int columns);

/* Of the i-th row; a text that is a number is one. */
const char *mase_sql_text(const struct mase_sql_rows *r, int64_t i, int column); /* NULL: none */
int64_t mase_sql_int(const struct mase_sql_rows *r, int64_t i, int column);
double mase_sql_real(const struct mase_sql_rows *r, int64_t i, int column); /* NaN: none */
bool mase_sql_is_null(const struct mase_sql_rows *r, int64_t i, int column);

#define DRIVER(name) extern const struct mase_sql_driver mase_sql_##name;
#include "study/sql_drivers.def"

#endif /* MASE_STUDY_SQL_H */
