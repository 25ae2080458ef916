/*
 * report.c - ch report: the folder of a run, the file of a study, several of these, or a folder of
 * projects, as one page of HTML that needs nothing else.
 */
#include "cli/report/report.h"

#include <string.h>

#include <mase/file.h>

/* ---- reading ---- */

/* A study that no folder of a run is around. */
static bool is_study(const char *path)
{
    return mase_is_file(path) && mase_ends_with(path, ".db");
}

static enum mase_status read_study(struct mase_report *r, struct mase_err *err)
{
    MASE_TRY(mase_report_open_study(r, r->dir, NULL, err));
    r->action = "search";
    r->model = r->study->name;
    return MASE_OK;
}

enum mase_status mase_report_read_brief(struct mase_report *r, struct mase_err *err)
{
    if (is_study(r->dir))
        return read_study(r, err);
    MASE_TRY(mase_report_read_record(r, err));
    MASE_TRY(mase_report_read_test(r, err));
    MASE_TRY(mase_report_read_metrics(r, err));
    return mase_report_read_search(r, err);
}

static enum mase_status read_all(struct mase_report *r, struct mase_err *err)
{
    MASE_TRY(mase_report_read_brief(r, err));
    if (!r->run)
        return MASE_OK;
    MASE_TRY(mase_report_read_bits(r, err));
    MASE_TRY(mase_report_read_sweep(r, err));
    MASE_TRY(mase_report_read_networks(r, err));
    MASE_TRY(mase_report_read_costs(r, err));
    return mase_report_measure(r, err);
}

/* ---- one page of one run ---- */

/* STUDY.html beside STUDY.db; report.html in the folder of a run. */
static const char *default_path(const struct mase_report *r)
{
    if (r->run)
        return mase_report_path(r, "report.html");
    return mase_arena_printf(r->arena, "%.*shtml", (int)(strlen(r->dir) - strlen("db")), r->dir);
}

static enum mase_status report_run(struct mase_cli *c, const char *dir, struct mase_err *err)
{
    struct mase_report r = { .c = c, .arena = &c->arena, .dir = dir };
    const char *given = mase_cli_text(c, MASE_CLI_output);
    enum mase_status st = read_all(&r, err);
    if (!st)
        st = mase_report_write(c, given ? given : default_path(&r), mase_report_title(&r),
                               mase_report_put_run, &r, err);
    mase_cli_samples_close(&r.samples);
    if (r.study)
        mase_study_release(r.study);
    mase_graph_free(r.before);
    mase_graph_free(r.graph);
    return st;
}

enum mase_status mase_cli_report(struct mase_cli *c, struct mase_err *err)
{
    if (!c->operand_count)
        return mase_fail(err, MASE_EVALUE, "no folder given; usage: ch report %s",
                         c->command->operands);
    MASE_TRY(mase_cli_merge(c, err)); /* the log level */
    if (c->operand_count > 1)
        return mase_report_compare(c, err);
    return mase_report_is_index(&c->arena, c->operands[0])
               ? mase_report_index(c, c->operands[0], err)
               : report_run(c, c->operands[0], err);
}
