/*
 * progress.c - the progress bar, drawn as the log's status line.
 */
#include <mase/progress.h>

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>

#include <mase/log.h>
#include <mase/str.h>

#include "base/host.h"
#include "base/status_line.h"

enum { BAR = 24, REDRAW_NS = 100000000 };

uint64_t mase_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static double seconds_since(uint64_t start)
{
    return (double)(mase_clock() - start) * 1e-9;
}

static long terminal_columns(void)
{
    struct winsize size;
    const int fd = fileno(mase_log_stream());
    return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

static void add_count(struct mase_str *s, const struct mase_progress *p)
{
    if (p->total > 0)
        mase_str_printf(s, "%lld/%lld", (long long)p->done, (long long)p->total);
    else
        mase_str_printf(s, "%lld", (long long)p->done);
}

static double fraction(const struct mase_progress *p)
{
    const double f = (double)p->done / (double)p->total;
    return f < 0 ? 0 : f > 1 ? 1 : f;
}

/* Cut at a whole character to at most so many columns. */
static void fit(struct mase_str *s, long columns)
{
    while (mase_str_columns(s->data, s->len) > columns) {
        do
            s->len--;
        while (s->len && ((unsigned char)s->data[s->len] & 0xc0) == 0x80);
        s->data[s->len] = '\0';
    }
}

static void draw(struct mase_progress *p)
{
    struct mase_str s = { 0 };
    mase_str_printf(&s, "%s  ", p->title);
    const double elapsed = seconds_since(p->started);
    if (p->total > 0) {
        const double f = fraction(p);
        const int filled = (int)(f * BAR);
        mase_str_addc(&s, '[');
        mase_str_pad(&s, '#', filled);
        mase_str_pad(&s, '.', BAR - filled);
        mase_str_printf(&s, "] %3d%%  ", (int)(f * 100));
    }
    add_count(&s, p);
    mase_str_printf(&s, "  %.1f s", elapsed);
    if (p->total > p->done && p->done > 0)
        mase_str_printf(&s, ", %.0f s left",
                        elapsed * (double)(p->total - p->done) / (double)p->done);
    if (p->note[0])
        mase_str_printf(&s, "  %.79s", p->note);
    fit(&s, terminal_columns() - 1); /* a full line would scroll */
    mase_log_status(s.data);
    mase_str_release(&s);
    p->drawn = mase_clock();
}

/* As often as it would be drawn. */
static void tell_host(struct mase_progress *p)
{
    mase_host_progress(p->title, p->done, p->total);
    p->drawn = mase_clock();
}

void mase_progress_start(struct mase_progress *p, const char *title, int64_t total)
{
    *p = (struct mase_progress){ .title = title, .total = total, .started = mase_clock() };
    p->terminal = !mase_host_current() && mase_is_terminal(mase_log_stream());
    if (mase_host_current())
        tell_host(p);
    else if (p->terminal && mase_log_shows_info())
        draw(p);
}

void mase_progress_step(struct mase_progress *p, int64_t done)
{
    p->done = done;
    if (mase_host_current() && mase_clock() >= p->drawn + REDRAW_NS)
        tell_host(p);
    if (p->terminal && mase_log_shows_info() && mase_clock() >= p->drawn + REDRAW_NS)
        draw(p);
}

void mase_progress_end(struct mase_progress *p)
{
    mase_log_status(NULL);
    if (mase_host_current())
        tell_host(p);
    struct mase_str count = { 0 };
    add_count(&count, p);
    mase_info("%s: %s in %.1f s%s%.79s", p->title, mase_str_text(&count), seconds_since(p->started),
              p->note[0] ? ", " : "", p->note);
    mase_str_release(&count);
}
