/*
 * section_heading.c - the command, the time, the data, and the main results.
 */
#include <math.h>
#include <string.h>

#include "cli/report/html.h"
#include "cli/report/report.h"
#include "search/attributes.h"
#include "study/study_statistics.h"

static const struct {
    const char *action, *kind;
} kinds[] = {
    { "train", "Training" }, { "transform", "Transformation" },
    { "test", "Test" },      { "sweep", "Sweep" },
    { "search", "Search" },
};

const char *mase_report_title(const struct mase_report *r)
{
    return r->data.name ? mase_arena_printf(r->arena, "%s on %s", r->model, r->data.name)
                        : r->model;
}

/* ---- the first lines ---- */

const char *mase_report_time(struct mase_arena *a, const char *iso)
{
    if (strlen(iso) != 20 || iso[10] != 'T' || iso[19] != 'Z')
        return iso;
    return mase_arena_printf(a, "%.10s %.5s UTC", iso, iso + 11);
}

static void put_seconds(struct mase_str *out, double s)
{
    if (s < 120)
        mase_str_printf(out, "%.3g s", s);
    else if (s < 7200)
        mase_str_printf(out, "%.0f min", s / 60);
    else
        mase_str_printf(out, "%.1f h", s / 3600);
}

static void put_when(struct mase_str *out, const struct mase_report *r)
{
    const char *finished = mase_report_text(r, "finished"), *isa = mase_report_text(r, "isa");
    const double seconds = mase_report_number(r, "seconds"), seed = mase_report_number(r, "seed");
    const double threads = mase_report_number(r, "threads");
    mase_str_add(out, "<p class=\"when\">");
    if (finished) {
        mase_str_add(out, "<span>");
        mase_markup_add(out, mase_report_time(r->arena, finished));
        mase_str_add(out, "</span> ");
    }
    if (seconds >= 0) {
        mase_str_add(out, "<span>took ");
        put_seconds(out, seconds);
        mase_str_add(out, "</span> ");
    }
    if (seed >= 0)
        mase_str_printf(out, "<span>seed %.0f</span> ", seed);
    if (isa && threads >= 1) {
        mase_str_add(out, "<span>");
        mase_markup_add(out, isa);
        mase_str_printf(out, ", %.0f %s</span> ", threads, threads == 1 ? "thread" : "threads");
    }
    mase_str_add(out, "<span>ch ");
    mase_markup_add(out, mase_report_text(r, "version"));
    mase_str_add(out, "</span></p>\n");
}

/* The formats that the numbers of the page were computed in, unless float. */
static void put_formats(struct mase_str *out, const struct mase_report *r)
{
    const char *formats = mase_report_text(r, "model.quantised");
    if (!formats)
        return;
    mase_str_add(out, "<p class=\"when\"><span>quantised, ");
    mase_markup_add(out, formats);
    mase_str_add(out, "</span></p>\n");
}

static void put_data(struct mase_str *out, const struct mase_report *r)
{
    static const char *const splits[] = { "train", "validation", "test" };
    const char *source = mase_report_text(r, "dataset.source");
    bool any = false;
    mase_str_add(out, "<p class=\"when\"><span>data ");
    mase_markup_add(out, r->data.name);
    if (source) {
        mase_str_add(out, " (");
        mase_markup_add(out, source);
        mase_str_addc(out, ')');
    }
    mase_str_add(out, "</span> ");
    for (int i = 0; i < 3; i++) {
        const double n =
            mase_report_number(r, mase_arena_printf(r->arena, "dataset.splits.%s", splits[i]));
        if (!(n > 0))
            continue;
        mase_str_add(out, any ? ", " : "<span>rows: ");
        mase_html_count(out, (int64_t)n);
        mase_str_printf(out, " %s", splits[i]);
        any = true;
    }
    mase_str_add(out, any ? "</span></p>\n" : "</p>\n");
}

/* ---- tiles ---- */

static void tile_open(struct mase_str *out, const char *label)
{
    mase_str_add(out, "<div><dt>");
    mase_markup_add(out, label);
    mase_str_add(out, "</dt><dd>");
}

static void tile_close(struct mase_str *out, const char *detail)
{
    mase_str_add(out, "</dd>");
    if (detail)
        mase_html_element(out, "dd", "detail", detail);
    mase_str_add(out, "</div>\n");
}

static void tile_cost(struct mase_str *out, const struct mase_report *r, const char *label,
                      const char *key, const char *detail)
{
    const double is = mase_report_cost(r->costs, NULL, key);
    const double was = mase_report_cost(r->costs_before, NULL, key);
    if (isnan(is))
        return;
    tile_open(out, label);
    mase_html_short(out, is);
    if (was > is && is > 0) {
        struct mase_str text = { 0 };
        mase_html_short(&text, was);
        mase_str_printf(&text, " before: %.3g times less", was / is);
        tile_close(out, mase_str_text(&text));
        mase_str_release(&text);
        return;
    }
    tile_close(out, detail);
}

void mase_report_score(struct mase_str *out, const struct mase_task *task, double score)
{
    if (task->score_is_share)
        mase_html_percent(out, score);
    else
        mase_str_printf(out, "%.4f", score);
}

static void tile_score(struct mase_str *out, const struct mase_task *task, const char *label,
                       double score, const char *detail)
{
    if (isnan(score))
        return;
    tile_open(out, label);
    mase_report_score(out, task, score);
    tile_close(out, detail);
}

static void training_tiles(struct mase_str *out, const struct mase_report *r)
{
    const double loss = mase_report_number(r, "results.best_val_loss");
    const double epoch = mase_report_number(r, "results.best_epoch");
    const double epochs = mase_report_number(r, "results.epochs");
    const struct mase_task *task = mase_report_task(r);
    tile_score(
        out, task, mase_arena_printf(r->arena, "Validation %s", task->score_title),
        mase_report_number(r, mase_arena_printf(r->arena, "results.val_%s_epoch", task->score)),
        epochs > 0 ? mase_arena_printf(r->arena, "after %.0f epochs", epochs) : NULL);
    if (isnan(loss))
        return;
    tile_open(out, "Best validation loss");
    mase_str_printf(out, "%.4f", loss);
    tile_close(out, epoch >= 0 ? mase_arena_printf(r->arena, "epoch %.0f", epoch + 1) : NULL);
}

static void test_tile(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_report_test *t = r->tested;
    if (!t)
        return;
    const struct mase_task *task = t->e.task;
    struct mase_str detail = { 0 };
    if (t->before.samples) {
        mase_report_score(&detail, task, t->before.score);
        mase_str_add(&detail, " before");
    } else if (!isnan(t->e.accuracy_error)) {
        mase_str_printf(&detail, "± %.2f %%", 100 * t->e.accuracy_error);
    }
    if (r->study && !detail.len)
        mase_str_add(&detail, "before the search");
    else if (r->study)
        mase_str_add(&detail, ", before the search");
    const char *label = mase_streq(t->split, "all")
                            ? mase_arena_printf(r->arena, "%s, all rows", task->score_title)
                            : mase_arena_printf(r->arena, "Test %s", task->score_title);
    tile_score(out, task, mase_cli_capital(r->arena, label), t->e.score,
               detail.len ? mase_str_text(&detail) : NULL);
    mase_str_release(&detail);
}

static void sweep_tiles(struct mase_str *out, const struct mase_report *r)
{
    const double loss = mase_report_number(r, "results.best_val_loss");
    const struct mase_value *best = mase_report_value(r, "results.best");
    struct mase_str text = { 0 };
    tile_open(out, "Configurations");
    mase_html_count(out, r->sweep->count);
    tile_close(out, NULL);
    if (isnan(loss))
        return;
    for (int i = 0; best && best->kind == MASE_TABLE && i < best->count; i++) {
        mase_str_printf(&text, "%s%s ", i ? ", " : "", best->keys[i]);
        mase_value_str(&text, best->items[i]);
    }
    tile_open(out, "Best validation loss");
    mase_str_printf(out, "%.4f", loss);
    tile_close(out, text.len ? mase_str_text(&text) : NULL);
    mase_str_release(&text);
}

static void search_tiles(struct mase_str *out, const struct mase_report *r)
{
    const struct mase_study *s = r->study;
    double *best = mase_new_array(r->arena, double, (size_t)s->trials);
    tile_open(out, "Trials");
    mase_html_count(out, s->trials);
    tile_close(out, NULL);
    for (int k = 0; k < s->objectives && s->trials; k++) {
        mase_study_best_so_far(best, s, k);
        if (isnan(best[s->trials - 1]))
            continue;
        tile_open(out, mase_arena_printf(r->arena, "Best %s", mase_search_label(r->arena, s, k)));
        mase_str_printf(out, "%.4g", best[s->trials - 1]);
        tile_close(out, s->objective[k].direction == MASE_MAXIMIZE ? "the more, the better"
                                                                   : "the less, the better");
    }
}

static void put_tiles(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(out, "<dl class=\"tiles\">\n");
    if (mase_streq(r->action, "train"))
        training_tiles(out, r);
    if (r->sweep)
        sweep_tiles(out, r);
    if (r->study)
        search_tiles(out, r);
    test_tile(out, r);
    tile_cost(out, r, "Parameters", "params", NULL);
    tile_cost(out, r, "MACs", "macs", "for one sample");
    if (mase_report_has_quantised(r)) {
        tile_cost(out, r, "Parameter bits", "param_bits", NULL);
        tile_cost(out, r, "BitOPs", "bitops", "for one sample");
    }
    mase_str_add(out, "</dl>\n");
}

/* ---- the heading ---- */

static void put_notes(struct mase_str *out, const struct mase_report *r)
{
    if (!r->note_count)
        return;
    mase_str_add(out,
                 "<div class=\"notes\" role=\"note\"><p>This page does not show all:</p>\n<ul>\n");
    for (int i = 0; i < r->note_count; i++)
        mase_html_element(out, "li", NULL, r->notes[i]);
    mase_str_add(out, "</ul></div>\n");
}

void mase_report_heading(struct mase_str *out, const struct mase_report *r)
{
    mase_str_add(out, "<header>\n");
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (mase_streq(kinds[i].action, r->action))
            mase_html_element(out, "p", "kind", kinds[i].kind);
    mase_html_element(out, "h1", NULL, mase_report_title(r));
    if (r->run) {
        put_when(out, r);
        put_data(out, r);
    }
    put_formats(out, r);
    if (r->notice) {
        mase_str_printf(out, "<p class=\"notice\" role=\"note\"><strong>%s:</strong> ",
                        r->simulated ? "Simulated data" : "About the data");
        mase_markup_add(out, r->notice);
        mase_str_add(out, "</p>\n");
    }
    put_tiles(out, r);
    put_notes(out, r);
    mase_str_add(out, "</header>\n");
}
