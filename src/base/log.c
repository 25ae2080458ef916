/*
 * log.c - levels, colours and the status line. A message is written by one call, so that messages
 * of several threads do not mix within a line.
 */
#include <mase/log.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/str.h>

#include "base/host.h"
#include "base/ledger.h"
#include "base/status_line.h"

const char *const mase_log_level_names[] = { "debug", "info", "warning", "error", "critical" };

static const struct {
    const char *name, *colour;
} levels[] = {
    [MASE_DEBUG] = { "DEBUG", "36" },          [MASE_INFO] = { "INFO", "32" },
    [MASE_WARNING] = { "WARNING", "33" },      [MASE_ERROR] = { "ERROR", "31" },
    [MASE_CRITICAL] = { "CRITICAL", "31;47" },
};

static struct {
    enum mase_log_level level;
    FILE *out;        /* NULL: stderr */
    bool status_line; /* one is drawn */
    int output_fault; /* errno of the first failure to write to stdout */
} logger = { .level = MASE_INFO };

void mase_log_set_level(enum mase_log_level level)
{
    logger.level = level;
}

enum mase_log_level mase_log_get_level(void)
{
    const struct mase_host *host = mase_host_current();
    return host ? host->level : logger.level;
}

void mase_log_set_stream(FILE *out)
{
    logger.out = out;
    logger.status_line = false;
}

FILE *mase_log_stream(void)
{
    return logger.out ? logger.out : stderr;
}

bool mase_log_shows_info(void)
{
    return mase_log_get_level() <= MASE_INFO;
}

bool mase_is_terminal(FILE *stream)
{
    const int fd = fileno(stream);
    return fd >= 0 && isatty(fd) && !mase_streq(getenv("TERM"), "dumb");
}

bool mase_use_colour(FILE *stream)
{
    const char *refused = getenv("NO_COLOR");
    return !(refused && refused[0]) && mase_is_terminal(stream);
}

int mase_flush_output(void)
{
    if (mase_host_current())
        return 0; /* what is printed there is not ours */
    if ((fflush(stdout) != 0 || ferror(stdout)) && !logger.output_fault)
        logger.output_fault = errno ? errno : EIO; /* of the write that failed, now or before */
    return logger.output_fault;
}

/* Where both streams end in one file or pipe, what was printed before a message stands before it,
 * and not cut where a buffer happened to be full. */
static FILE *stream_after_output(void)
{
    FILE *out = mase_log_stream();
    if (out != stdout)
        mase_flush_output();
    return out;
}

void mase_log_status(const char *text)
{
    if ((!text && !logger.status_line) || mase_host_current())
        return;
    FILE *out = stream_after_output();
    struct mase_str line = { 0 };
    mase_str_add(&line, "\r\033[K");
    mase_str_add_printable(&line, text ? text : "", text ? strlen(text) : 0, false);
    fwrite(line.data, 1, line.len, out);
    fflush(out);
    mase_str_release(&line);
    logger.status_line = text != NULL;
}

/* For the program around us, in the words of a terminal, which it may print to. */
static void log_to_host(enum mase_log_level level, const char *fmt, va_list ap)
{
    struct mase_str message = { 0 }, harmless = { 0 };
    mase_str_vprintf(&message, fmt, ap);
    mase_str_add_printable(&harmless, mase_str_text(&message), message.len, false);
    mase_host_log(level, mase_str_text(&harmless));
    mase_str_release(&harmless);
    mase_str_release(&message);
}

static void log_to_stream(enum mase_log_level level, const char *fmt, va_list ap)
{
    FILE *out = stream_after_output();
    const bool colour = mase_use_colour(out);
    struct mase_str line = { 0 }, message = { 0 };
    if (colour)
        mase_str_printf(&line, "\033[%sm%-8s\033[0m \033[34m", levels[level].colour,
                        levels[level].name);
    else
        mase_str_printf(&line, "%-8s ", levels[level].name);
    mase_str_vprintf(&message, fmt, ap);
    mase_str_add_printable(&line, mase_str_text(&message), message.len, false);
    mase_str_add(&line, colour ? "\033[0m\n" : "\n");
    mase_log_status(NULL);
    fwrite(line.data, 1, line.len, out);
    fflush(out);
    mase_str_release(&message);
    mase_str_release(&line);
}

void mase_log(enum mase_log_level level, const char *fmt, ...)
{
    const struct mase_host *host = mase_host_current();
    if (level < mase_log_get_level() || (host && !host->log))
        return;
    va_list ap;
    va_start(ap, fmt);
    if (host)
        log_to_host(level, fmt, ap);
    else
        log_to_stream(level, fmt, ap);
    va_end(ap);
}
