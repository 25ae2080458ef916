/*
 * limit.h - how much memory a file or a network may ask for.
 *
 * A size that comes from a file is compared with these before anything is allocated. A reader
 * allows 128 MiB plus 16 times the size of its file, and 1 MiB plus 16 times for the names that it
 * puts together; a network may take what the machine has.
 * MASE_MEMORY in the environment, bytes or a number with K, M, G or T behind it, replaces them all.
 */
#ifndef MASE_BASE_LIMIT_H
#define MASE_BASE_LIMIT_H

#include <stdint.h>

#include <mase/err.h>

/* Is MASE_MEMORY absent or a size? The functions below take one that is neither as absent. */
enum mase_status mase_limit_check(struct mase_err *err) MASE_MUST_CHECK;

uint64_t mase_limit_of_file(uint64_t file_bytes);
/* Of what is written out of a file: names that are made of the keys above them. */
uint64_t mase_limit_of_text(uint64_t file_bytes);
uint64_t mase_limit_of_network(void);
/* MASE_ELIMIT where a network wants more: "NAME: WHAT takes 128.0 GiB; ...". */
enum mase_status mase_limit_network(uint64_t bytes, struct mase_err *err, const char *what, ...)
    MASE_PRINTF(3, 4) MASE_MUST_CHECK;

/* "397 bytes", "128.0 MiB": for messages. */
struct mase_size_text {
    char s[32];
};
struct mase_size_text mase_size_text(uint64_t bytes);

#endif /* MASE_BASE_LIMIT_H */
