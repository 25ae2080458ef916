/*
 * crc32.h - the CRC of zip files, as fast as memory is read.
 */
#ifndef MASE_FILE_CRC32_H
#define MASE_FILE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* The CRC of earlier data (0 for none) continued over size bytes; equals zlib's crc32, several
 * times faster on CPUs with carry-less multiplication. */
uint32_t mase_crc32(uint32_t crc, const void *data, size_t size);

/* The ways to compute it, which a CPU may lack; for tests. */
enum mase_crc32_way { MASE_CRC32_ZLIB, MASE_CRC32_NARROW, MASE_CRC32_WIDE };
enum mase_crc32_way mase_crc32_best(void);
uint32_t mase_crc32_by(enum mase_crc32_way way, uint32_t crc, const void *data, size_t size);

#endif /* MASE_FILE_CRC32_H */
