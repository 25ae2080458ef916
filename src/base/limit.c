/*
 * limit.c - limits of the memory that files and networks may use.
 */
#include "base/limit.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mase/str.h>

#include "base/number.h"

static const char units[] = "KMGT"; /* each 1024 times the one before */

/* "4G": digits, then perhaps a unit; zero is no limit that anything could keep. */
static bool parse_size(uint64_t *bytes, const char *text)
{
    *bytes = 0;
    if (!mase_is_digit(*text))
        return false;
    for (; mase_is_digit(*text); text++)
        if (__builtin_mul_overflow(*bytes, UINT64_C(10), bytes) ||
            __builtin_add_overflow(*bytes, (uint64_t)(*text - '0'), bytes))
            return false;
    const char *unit = *text ? strchr(units, mase_to_upper(*text)) : NULL;
    for (const char *u = units; unit && u <= unit; u++)
        if (__builtin_mul_overflow(*bytes, UINT64_C(1024), bytes))
            return false;
    return *bytes > 0 && (!*text || (unit && !text[1]));
}

static bool read_environment(uint64_t *bytes)
{
    const char *text = getenv("MASE_MEMORY");
    return text && parse_size(bytes, text);
}

enum mase_status mase_limit_check(struct mase_err *err)
{
    const char *text = getenv("MASE_MEMORY");
    uint64_t bytes;
    if (!text || !text[0] || parse_size(&bytes, text))
        return MASE_OK;
    return mase_fail(err, MASE_EVALUE,
                     "MASE_MEMORY: '%.100s' is no size; allowed are bytes, or a number followed by "
                     "K, M, G or T, as in 8G",
                     text);
}

static uint64_t or_in_proportion(uint64_t fixed, uint64_t file_bytes)
{
    uint64_t bytes;
    if (read_environment(&bytes))
        return bytes;
    return file_bytes > (UINT64_MAX - fixed) / 16 ? UINT64_MAX : fixed + 16 * file_bytes;
}

uint64_t mase_limit_of_file(uint64_t file_bytes)
{
    return or_in_proportion(UINT64_C(128) << 20, file_bytes);
}

uint64_t mase_limit_of_text(uint64_t file_bytes)
{
    return or_in_proportion(UINT64_C(1) << 20, file_bytes);
}

uint64_t mase_limit_of_network(void)
{
    uint64_t bytes;
    if (read_environment(&bytes))
        return bytes;
    const long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
}

enum mase_status mase_limit_network(uint64_t bytes, struct mase_err *err, const char *what, ...)
{
    const uint64_t most = mase_limit_of_network();
    if (bytes <= most)
        return MASE_OK;
    struct mase_str text = { 0 };
    va_list ap;
    va_start(ap, what);
    mase_str_vprintf(&text, what, ap);
    va_end(ap);
    mase_fail(err, MASE_ELIMIT, "%s takes %s; a network may take %s here, which MASE_MEMORY sets",
              mase_str_text(&text), mase_size_text(bytes).s, mase_size_text(most).s);
    mase_str_release(&text);
    return MASE_ELIMIT;
}

struct mase_size_text mase_size_text(uint64_t bytes)
{
    struct mase_size_text text;
    double scaled = (double)bytes;
    int unit = -1;
    for (; scaled >= 1024 && unit < 4; scaled /= 1024)
        unit++;
    if (unit < 0)
        mase_snprintf(text.s, sizeof text.s, "%" PRIu64 " bytes", bytes);
    else
        mase_snprintf(text.s, sizeof text.s, "%.1f %ciB", scaled, "KMGTP"[unit]);
    return text;
}
