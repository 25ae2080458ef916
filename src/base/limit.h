/*
 * limit.h - limits of the memory that files and networks may use.
 *
 * A size that comes from a file is compared with these before anything is allocated. A reader
 * allows 128 MiB plus 16 times the size of its file, and 1 MiB plus 16 times the size for names
 * that it composes; a network may use the machine's memory. MASE_MEMORY in the environment, bytes
 * or a number with K, M, G or T behind it, replaces them all.
 */
#ifndef MASE_BASE_LIMIT_H
#define MASE_BASE_LIMIT_H

#include <stdint.h>

#include <mase/err.h>

/* Check that MASE_MEMORY is absent or a size. The functions below ignore one that is neither. */
enum mase_status mase_limit_check(struct mase_err *err) MASE_MUST_CHECK;

uint64_t mase_limit_of_file(uint64_t file_bytes);
/* The limit for names that are composed of keys. */
uint64_t mase_limit_of_text(uint64_t file_bytes);
uint64_t mase_limit_of_network(void);
/* MASE_ELIMIT when a network needs more: "NAME: WHAT takes 128.0 GiB; ...". */
enum mase_status mase_limit_network(uint64_t bytes, struct mase_err *err, const char *what, ...)
    MASE_PRINTF(3, 4) MASE_MUST_CHECK;

/* "397 bytes", "128.0 MiB": for messages. */
struct mase_size_text {
    char s[32];
};
struct mase_size_text mase_size_text(uint64_t bytes);

#endif /* MASE_BASE_LIMIT_H */
