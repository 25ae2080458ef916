/*
 * isolate.h - reading a table in a child process.
 *
 * libhdf5 can crash on a damaged file. It then takes only the child with it, and the file gets a
 * sentence like any other. The table comes back through a socket.
 */
#ifndef MASE_DATA_ISOLATE_H
#define MASE_DATA_ISOLATE_H

#include "data/raw.h"

/* What is read: the table and the shape of a sample. */
struct mase_isolated {
    struct mase_raw raw;
    struct mase_shape sample;
    unsigned seconds; /* of computing, before one more for each megabyte of the file; 0: a minute */
};

/* Reads into t; names go to the arena. user is the caller's. */
typedef enum mase_status mase_isolated_fn(struct mase_isolated *t, struct mase_arena *a,
                                          const char *path, const void *user, struct mase_err *err);

/* Run read in a child and take over what it has read; t must be zeroed but for seconds and
 * raw.drop. */
enum mase_status mase_isolate(struct mase_isolated *t, struct mase_arena *a, const char *path,
                              mase_isolated_fn *read, const void *user,
                              struct mase_err *err) MASE_MUST_CHECK;

/* All of it through a socket, or false: the other side is gone. */
bool mase_isolate_send(int fd, const void *data, size_t size);
bool mase_isolate_receive(int fd, void *data, size_t size);

/* For a child: signals end it, and its memory is bounded by what a file of this size may take. */
void mase_isolate_limit(uint64_t file_bytes);

/* For a reader, once its file is open: from here on the process can open no other. */
void mase_isolate_seal(void);

/* The most bytes of memory that reading a data file of this size may take, be it packed. */
uint64_t mase_data_memory(uint64_t file_size);

#endif /* MASE_DATA_ISOLATE_H */
