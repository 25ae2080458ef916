/*
 * report.c - ch report DIR: write the folder of a run as one self-contained HTML page.
 */
#include "cli/report/report.h"

#include <mase/file.h>

static enum mase_status read_all(struct mase_report *r, struct mase_err *err)
{
    MASE_TRY(mase_report_read_record(r, err));
    MASE_TRY(mase_report_read_test(r, err));
    MASE_TRY(mase_report_read_metrics(r, err));
    MASE_TRY(mase_report_read_bits(r, err));
    MASE_TRY(mase_report_read_sweep(r, err));
    MASE_TRY(mase_report_read_search(r, err));
    MASE_TRY(mase_report_read_networks(r, err));
    MASE_TRY(mase_report_read_costs(r, err));
    return mase_report_measure(r, err);
}

static enum mase_status write_page(const struct mase_report *r, struct mase_err *err)
{
    const char *given = mase_cli_text(r->c, MASE_CLI_output);
    const char *path = given ? given : mase_report_path(r, "report.html");
    struct mase_str page = { 0 };
    mase_report_page(&page, r);
    const enum mase_status st = mase_file_write(path, page.data, page.len, err);
    mase_str_release(&page);
    if (!st)
        mase_sheets_line(&r->c->sheets, "%s", path);
    return st;
}

enum mase_status mase_cli_report(struct mase_cli *c, struct mase_err *err)
{
    struct mase_report r = { .c = c, .arena = &c->arena };
    MASE_TRY(mase_cli_operands(c, 1, err));
    if (!c->operand_count)
        return mase_fail(err, MASE_EVALUE, "no folder given; usage: ch report %s",
                         c->command->operands);
    MASE_TRY(mase_cli_merge(c, err)); /* sets the log level */
    r.dir = c->operands[0];
    enum mase_status st = read_all(&r, err);
    if (!st)
        st = write_page(&r, err);
    mase_cli_samples_close(&r.samples);
    if (r.study)
        mase_study_release(r.study);
    mase_graph_free(r.before);
    mase_graph_free(r.graph);
    return st;
}
