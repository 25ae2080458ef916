/*
 * events.c - TensorBoard's event files, written.
 *
 * A file is a sequence of records, integers little-endian:
 *
 *     offset  size  content
 *          0     8  length n of the message
 *          8     4  masked CRC-32C of those 8 bytes
 *         12     n  message
 *     12 + n     4  masked CRC-32C of the message
 *
 * masked(c) = rotate right(c, 15) + 0xa282ead8. A message is a protocol buffer, fields by number:
 *
 *     Event    1 wall_time (double)  2 step (varint)  3 file_version (text)  5 summary (Summary)
 *     Summary  1 value (Value, repeated)
 *     Value    1 tag (text)  2 simple_value (float)
 *
 * The first record holds file_version "brain.Event:2". The file is called
 * events.out.tfevents.SECONDS.HOST.PID.NUMBER, NUMBER being the first that is free.
 */
#include <mase/events.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <mase/file.h>
#include <mase/progress.h>
#include <mase/str.h>

#include "base/alloc.h"
#include "base/fault.h"
#include "file/events_wire.h"

enum { FLUSH_BYTES = 1 << 14, HEADER = 12, NAME_TRIES = 1000 };
static const uint64_t flush_ns = 2000000000u;

struct mase_events {
    char *path;
    int fd;
    int *cleanup;            /* of fd */
    off_t size;              /* bytes of whole records in the file */
    uint64_t flushed;        /* mase_clock of the last write */
    struct mase_str waiting; /* whole records not yet written */
    struct mase_str message; /* the one being made */
    uint32_t crc_table[256]; /* CRC-32C of each single byte */
};

/* ---- the checksum: Castagnoli's polynomial, bits reflected ---- */

void mase_events_crc_table(uint32_t table[256])
{
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int bit = 0; bit < 8; bit++)
            c = c >> 1 ^ (c & 1 ? 0x82f63b78u : 0);
        table[i] = c;
    }
}

uint32_t mase_events_crc(const uint32_t table[256], const void *data, size_t n)
{
    const unsigned char *p = data;
    uint32_t c = UINT32_MAX;
    for (size_t i = 0; i < n; i++)
        c = c >> 8 ^ table[(c ^ p[i]) & 0xff];
    c = ~c;
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

/* ---- protocol buffers ---- */

static void put_fixed(struct mase_str *s, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        mase_str_addc(s, (char)(v >> (8 * i) & 0xff));
}

static void put_varint(struct mase_str *s, uint64_t v)
{
    for (; v >= 0x80; v >>= 7)
        mase_str_addc(s, (char)((v & 0x7f) | 0x80));
    mase_str_addc(s, (char)v);
}

static size_t varint_size(uint64_t v)
{
    size_t n = 1;
    while (v >>= 7)
        n++;
    return n;
}

static void put_key(struct mase_str *s, unsigned field, enum mase_wire wire)
{
    put_varint(s, field << 3 | wire);
}

static void put_double(struct mase_str *s, unsigned field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    put_key(s, field, MASE_WIRE_FIXED64);
    put_fixed(s, bits, 8);
}

static void put_float(struct mase_str *s, unsigned field, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof(bits));
    put_key(s, field, MASE_WIRE_FIXED32);
    put_fixed(s, bits, 4);
}

static void put_text(struct mase_str *s, unsigned field, const char *text)
{
    put_key(s, field, MASE_WIRE_BYTES);
    put_varint(s, strlen(text));
    mase_str_add(s, text);
}

static double wall_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A Summary of one Value; the lengths go before what they measure. */
static void put_summary(struct mase_str *s, const char *tag, double value)
{
    const size_t tag_size = strlen(tag);
    const size_t value_size = 1 + varint_size(tag_size) + tag_size + 1 + sizeof(float);
    put_key(s, 5, MASE_WIRE_BYTES);
    put_varint(s, 1 + varint_size(value_size) + value_size);
    put_key(s, 1, MASE_WIRE_BYTES);
    put_varint(s, value_size);
    put_text(s, 1, tag);
    put_float(s, 2, (float)value);
}

/* ---- the file ---- */

/* Frame e->message and append it to the waiting records. */
static void add_record(struct mase_events *e)
{
    struct mase_str *s = &e->waiting;
    const struct mase_str *m = &e->message;
    const size_t start = s->len;
    put_fixed(s, m->len, 8);
    put_fixed(s, mase_events_crc(e->crc_table, s->data + start, 8), 4);
    mase_str_addn(s, m->data, m->len);
    put_fixed(s, mase_events_crc(e->crc_table, m->data, m->len), 4);
}

static enum mase_status write_all(int fd, const char *p, size_t size)
{
    while (size) {
        const ssize_t n = mase_sys_write(fd, p, size);
        if (n < 0 && errno != EINTR)
            return MASE_EIO;
        if (n > 0) {
            p += n;
            size -= (size_t)n;
        }
    }
    return MASE_OK;
}

enum mase_status mase_events_flush(struct mase_events *e, struct mase_err *err)
{
    const size_t size = e->waiting.len;
    enum mase_status st = write_all(e->fd, e->waiting.data, size);
    if (st) {
        st = mase_fail_errno(err, e->path, "cannot write");
        if (ftruncate(e->fd, e->size) != 0 && err)
            mase_wrap(err, "the file now ends inside a record");
    } else {
        e->size += (off_t)size;
    }
    mase_str_clear(&e->waiting);
    e->flushed = mase_clock();
    return st;
}

/* Create the first name of the series that is free. */
static enum mase_status create(struct mase_events *e, const char *dir, struct mase_err *err)
{
    char host[256] = "localhost";
    struct mase_str path = { 0 };
    gethostname(host, sizeof(host) - 1);
    e->cleanup = mase_cleanup_fd();
    for (int i = 0; i < NAME_TRIES; i++) {
        mase_str_clear(&path);
        mase_str_printf(&path, "%s/events.out.tfevents.%lld.%s.%ld.%d", dir, (long long)time(NULL),
                        host, (long)getpid(), i);
        e->fd = mase_sys_open(path.data, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666);
        if (e->fd >= 0 || errno != EEXIST)
            break;
    }
    if (e->cleanup)
        *e->cleanup = e->fd;
    const enum mase_status st =
        e->fd >= 0 ? MASE_OK : mase_fail_errno(err, path.data, "cannot create");
    e->path = path.data; /* taken over */
    return st;
}

static void events_free(struct mase_events *e)
{
    mase_str_release(&e->waiting);
    mase_str_release(&e->message);
    mase_xfree(e->path);
    mase_xfree(e->cleanup);
    mase_xfree(e);
}

enum mase_status mase_events_open(struct mase_events **out, const char *dir, struct mase_err *err)
{
    *out = NULL;
    MASE_TRY(mase_make_dirs(dir, err));
    struct mase_events *e = mase_xcalloc(sizeof(*e));
    mase_events_crc_table(e->crc_table);
    enum mase_status st = create(e, dir, err);
    if (st) {
        events_free(e);
        return st;
    }
    put_double(&e->message, 1, wall_time());
    put_text(&e->message, 3, "brain.Event:2");
    add_record(e);
    st = mase_events_flush(e, err); /* at once, so that a reader recognises the file */
    if (st) {
        mase_sys_close(e->fd);
        unlink(e->path);
        events_free(e);
        return st;
    }
    *out = e;
    return MASE_OK;
}

const char *mase_events_path(const struct mase_events *e)
{
    return e->path;
}

enum mase_status mase_events_scalar(struct mase_events *e, const char *tag, int64_t step,
                                    double value, struct mase_err *err)
{
    struct mase_str *m = &e->message;
    mase_str_clear(m);
    put_double(m, 1, wall_time());
    put_key(m, 2, MASE_WIRE_VARINT);
    put_varint(m, (uint64_t)step);
    put_summary(m, tag, value);
    add_record(e);
    const bool due = e->waiting.len >= FLUSH_BYTES || mase_clock() - e->flushed >= flush_ns;
    return due ? mase_events_flush(e, err) : MASE_OK;
}

enum mase_status mase_events_close(struct mase_events *e, struct mase_err *err)
{
    if (!e)
        return MASE_OK;
    enum mase_status st = mase_events_flush(e, err);
    if (mase_sys_close(e->fd) != 0 && !st)
        st = mase_fail_errno(err, e->path, "cannot close");
    events_free(e);
    return st;
}
