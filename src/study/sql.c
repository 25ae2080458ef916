/*
 * sql.c - what all databases have in common.
 */
#include "study/sql.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"

static const struct mase_sql_driver *const drivers[] = {
#define DRIVER(name) &mase_sql_##name,
#include "study/sql_drivers.def"
};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

static const struct mase_sql_driver *find_driver(const char *where, const char **place)
{
    for (int i = 0; i < DRIVERS; i++)
        for (const char *const *prefix = drivers[i]->prefixes; *prefix; prefix++)
            if (mase_starts_with(where, *prefix)) {
                *place = drivers[i]->many_hosts ? where : where + strlen(*prefix);
                return drivers[i];
            }
    *place = where;
    return &mase_sql_sqlite;
}

/* An URL as it is told: its password is nobody's business. */
static char *hide_password(const char *where)
{
    const char *user = strstr(where, "://"), *at = user ? strchr(user, '@') : NULL;
    const char *colon = user ? strchr(user + 3, ':') : NULL;
    struct mase_str text = { 0 };
    if (!at || !colon || colon > at)
        return mase_xstrdup(where);
    mase_str_printf(&text, "%.*s***%s", (int)(colon + 1 - where), where, at);
    char *hidden = mase_xstrdup(mase_str_text(&text));
    mase_str_release(&text);
    return hidden;
}

static void close_handle(void *record)
{
    struct mase_sql *c = record;
    if (c->handle)
        c->driver->close(c);
    c->handle = NULL;
}

enum mase_status mase_sql_open(struct mase_sql **out, const char *where,
                               enum mase_store_access access, struct mase_err *err)
{
    const char *place;
    struct mase_sql *c = mase_xcalloc_with_cleanup(sizeof *c, close_handle);
    c->driver = find_driver(where, &place);
    c->where = hide_password(where);
    c->place = mase_xstrdup(place);
    const enum mase_status st = c->driver->open(c, access, err);
    if (st)
        mase_sql_close(c);
    else
        *out = c;
    return st;
}

enum mase_status mase_sql_reopen(struct mase_sql *c, struct mase_err *err)
{
    close_handle(c);
    c->lost = false;
    return c->driver->open(c, MASE_STORE_WRITE, err);
}

void mase_sql_close(struct mase_sql *c)
{
    if (!c)
        return;
    close_handle(c);
    mase_xfree(c->where);
    mase_xfree(c->place);
    mase_xfree(c);
}

enum mase_status mase_sql_run(struct mase_sql *c, struct mase_sql_rows *rows, const char *text,
                              const struct mase_sql_cell *cell, int cells, struct mase_err *err)
{
    return c->driver->run(c, rows, text, cell, cells, err);
}

enum mase_status mase_sql_run_each(struct mase_sql *c, struct mase_sql_rows *rows,
                                   const struct mase_sql_each *each,
                                   const struct mase_sql_cell *cell, int64_t count,
                                   struct mase_err *err)
{
    return count ? c->driver->run_each(c, rows, each, cell, count, err) : MASE_OK;
}

enum mase_status mase_sql_begin(struct mase_sql *c, struct mase_err *err)
{
    return MASE_SQL_PLAIN(c, NULL, err, c->driver->begin);
}

enum mase_status mase_sql_commit(struct mase_sql *c, struct mase_err *err)
{
    return MASE_SQL_PLAIN(c, NULL, err, "COMMIT");
}

void mase_sql_rollback(struct mase_sql *c)
{
    struct mase_err unwanted;
    if (c->handle && !c->lost)
        (void)!MASE_SQL_PLAIN(c, NULL, &unwanted, "ROLLBACK");
}

bool mase_sql_changed(struct mase_sql *c)
{
    return !c->driver->changed || c->driver->changed(c);
}

struct mase_sql_cell *mase_sql_add_row(struct mase_sql_rows *rows, int columns)
{
    rows->columns = columns;
    while (rows->cells + columns > rows->cap) {
        const int cap = rows->cap ? 2 * rows->cap : 8 * columns;
        struct mase_sql_cell *cell = mase_new_array(rows->arena, struct mase_sql_cell, (size_t)cap);
        if (rows->cells)
            memcpy(cell, rows->cell, (size_t)rows->cells * sizeof *cell);
        rows->cell = cell;
        rows->cap = cap;
    }
    rows->cells += columns;
    rows->count++;
    return rows->cell + rows->cells - columns;
}

static const struct mase_sql_cell *at(const struct mase_sql_rows *r, int64_t i, int column)
{
    return &r->cell[i * r->columns + column];
}

bool mase_sql_is_null(const struct mase_sql_rows *r, int64_t i, int column)
{
    return at(r, i, column)->kind == MASE_SQL_NULL;
}

const char *mase_sql_text(const struct mase_sql_rows *r, int64_t i, int column)
{
    const struct mase_sql_cell *c = at(r, i, column);
    return c->kind == MASE_SQL_TEXT ? c->s : NULL;
}

double mase_sql_real(const struct mase_sql_rows *r, int64_t i, int column)
{
    const struct mase_sql_cell *c = at(r, i, column);
    char *end;
    switch (c->kind) {
    case MASE_SQL_INT:
        return (double)c->i;
    case MASE_SQL_REAL:
        return c->f;
    case MASE_SQL_TEXT: {
        const double x = mase_number_read(c->s, &end);
        return *c->s && !*end ? x : NAN;
    }
    case MASE_SQL_NULL:
        break;
    }
    return NAN;
}

int64_t mase_sql_int(const struct mase_sql_rows *r, int64_t i, int column)
{
    const struct mase_sql_cell *c = at(r, i, column);
    const double x = mase_sql_real(r, i, column);
    if (c->kind == MASE_SQL_INT)
        return c->i;
    return fabs(x) <= 0x1p53 && x == rint(x) ? (int64_t)x : -1;
}
