/*
 * fuzz_events.c - any bytes as an event file, and as the messages of one whose checksums agree:
 * without these hardly a change would come further than the first record.
 */
#include <stdbool.h>
#include <string.h>

#include <mase/str.h>

#include "file/events_wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TAG_MAX = 1024 };

static void take(const char *tag, int64_t step, double value, void *data)
{
    double *sum = data;
    if (strlen(tag) >= TAG_MAX)
        mase_bug("a tag of %zu bytes", strlen(tag));
    *sum += value + (double)step;
}

static bool read_bytes(const void *data, size_t size)
{
    struct mase_err err = { 0 };
    struct mase_cursor c = { "fuzz.events", data, size, 0 };
    double sum = 0;
    const bool good = mase_events_parse(&c, take, &sum, &err) == MASE_OK;
    if (!good && (!err.msg[0] || err.loc.off < 0 || (size_t)err.loc.off > size))
        mase_bug("refused without place or cause");
    return good;
}

static void add_word(struct mase_str *out, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        mase_str_addc(out, (char)(v >> 8 * i & 0xff));
}

/* A record around n bytes. */
static void add_record(struct mase_str *out, const uint32_t *table, const uint8_t *data, size_t n)
{
    const size_t start = out->len;
    add_word(out, n, 8);
    add_word(out, mase_events_crc(table, out->data + start, 8), 4);
    mase_str_addn(out, (const char *)data, n);
    add_word(out, mase_events_crc(table, data, n), 4);
}

/* The bytes cut into records, each as long as its first byte says. */
static void read_as_messages(const uint8_t *data, size_t size)
{
    struct mase_str file = { 0 };
    uint32_t table[256];
    mase_events_crc_table(table);
    for (size_t at = 0; at < size;) {
        const size_t left = size - at - 1, n = data[at] < left ? data[at] : left;
        add_record(&file, table, data + at + 1, n);
        at += 1 + n;
    }
    const bool whole = read_bytes(file.data, file.len);
    if (whole && file.len && !read_bytes(file.data, file.len - 1))
        mase_bug("a file that is still written is refused");
    mase_str_release(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_bytes(data, size);
    read_as_messages(data, size);
    return 0;
}
