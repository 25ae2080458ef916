/*
 * fuzz_cache.c - any bytes as a table of the cache: as they are, and with the checksums that would
 * belong to them, so that what lies behind those is reached.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "data/dataset_parts.h"
#include "data/raw.h"

enum { HEADER = 4096, HEADER_CRC = 12, ROWS = 16, FEATURES = 32, DATA_CRC = 56, PLAIN_CRC = 60 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void parse(const uint8_t *data, size_t size)
{
    struct mase_dataset d = { .info.data = { "jsc", { 1, { 3 } }, 2, "" },
                              .file[0] = { .path = "fuzz.table", .data = data, .size = size } };
    struct mase_err err = { 0 };
    int64_t training = 0;
    if (mase_cache_parse(&d, &training, true, &err) == MASE_OK) {
        float sum = 0; /* every number can be read, every label has its class */
        for (int64_t i = 0; i < 3 * d.info.rows; i++)
            sum += d.table[i] + d.plain[i];
        for (int64_t i = 0; i < d.info.rows; i++)
            if (d.label[i] < 0 || d.label[i] > 1)
                mase_bug("label %d", d.label[i]);
        for (int64_t i = 0; i < d.info.scaling.n; i++)
            sum += (float)(d.info.scaling.mean[i] + d.info.scaling.std[i]);
        if (training < 0 || training > d.info.rows || !d.info.source)
            mase_bug("%lld of %lld rows", (long long)training, (long long)d.info.rows);
        (void)sum;
    } else if (!err.msg[0]) {
        mase_bug("refused without cause");
    }
    mase_arena_release(&d.arena);
}

static uint64_t get(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static void put_crc(uint8_t *to, const uint8_t *data, size_t size)
{
    const uint32_t crc = (uint32_t)crc32_z(0, data, size);
    memcpy(to, &crc, sizeof crc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    parse(data, size);
    if (size < HEADER)
        return 0;
    uint8_t *copy = malloc(size);
    memcpy(copy, data, size);
    const uint64_t table = get(data + ROWS) * get(data + FEATURES) * 4,
                   labels = get(data + ROWS) * 4;
    const uint64_t rest = size - HEADER;
    if (table <= rest && labels <= rest - table) {
        put_crc(copy + DATA_CRC, copy + HEADER, (size_t)(table + labels));
        put_crc(copy + PLAIN_CRC, copy + HEADER + table + labels, (size_t)(rest - table - labels));
    }
    memset(copy + HEADER_CRC, 0, 4);
    put_crc(copy + HEADER_CRC, copy, HEADER);
    parse(copy, size);
    free(copy);
    return 0;
}
