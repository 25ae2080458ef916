/*
 * reader.h - a process of its own that reads what libraries of others decode: HDF5, PNG, JPEG.
 *
 * Such a library can be made to crash, to spin or worse by a damaged file. It then takes only that
 * process with it, and the file gets a sentence like any other. The process is a small program
 * (reader_main.c) that is part of this library as bytes (reader_image.c) and started from memory:
 * so it is there wherever the library is, in ch, in libmase.so, in a program that linked
 * libmase.a, and it is never of another version. A program in a folder of its own would have to be
 * found from each of these places, and a fork of the host without it would have the host's memory
 * and whatever locks its other threads held.
 *
 * It has limits of memory and time. Once it has its file it can open no other, reach no network and
 * start nothing (base/confine.h). Its answers are not trusted either: sizes are those that were
 * asked for.
 */
#ifndef MASE_DATA_READER_H
#define MASE_DATA_READER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <mase/arena.h>
#include <mase/err.h>

/* Requests and answers, as sent; both sides come from one build. */
enum mase_reader_verb {
    MASE_READER_PICTURE,   /* first, count, set: height, width, channels; the bytes of the file */
    MASE_READER_OPEN,      /* path of an HDF5 file; nothing else can be opened afterwards */
    MASE_READER_HAS,       /* a name: number is 1 if it exists */
    MASE_READER_NAMES,     /* names at the root */
    MASE_READER_TABLE,     /* a column: name of the first table that has it, or "" */
    MASE_READER_SET_OPEN,  /* a name: number is the handle, then struct mase_h5_facts */
    MASE_READER_SET_CLOSE, /* set */
    MASE_READER_ROWS,      /* set, first, count: doubles */
    MASE_READER_TEXTS,     /* set: texts of a one-dimensional dataset */
    MASE_READER_COLUMNS,   /* set: struct mase_h5_column for each, then their names */
    MASE_READER_SELECT,    /* set, names: columns for RECORDS */
    MASE_READER_RECORDS,   /* set, first, count: doubles */
    MASE_READER_COLUMN_TEXTS, /* set, name of a column: its texts */
    MASE_READER_MISBEHAVE,    /* for tests: misbehave as a library on a damaged file can */
    MASE_READER_VERBS
};

struct mase_reader_request {
    enum mase_reader_verb verb;
    int32_t set;
    int64_t first, count;
    uint64_t bytes; /* bytes that follow */
};

struct mase_reader_reply {
    enum mase_status status; /* on failure nothing follows */
    struct mase_err err;
    int64_t number;
    uint64_t bytes; /* bytes that follow */
};

/* Sent once at the start. */
struct mase_reader_limits {
    uint64_t memory;  /* bytes, beyond those of the program itself */
    uint64_t seconds; /* of CPU time */
    bool each;        /* the time is for each request, not for all */
};

struct mase_process;

struct mase_reader {
    int fd;
    pid_t child;
    struct mase_process *cleanup;
    struct mase_reader_limits limits;
    const char *path;    /* of the current file, for messages; borrowed */
    const char *library; /* library in use, for messages */
    const char *kind;    /* "HDF5 file" */
    struct mase_err end; /* why the process ended, if it has */
};

/* Start the process; w has limits, library and kind, the rest is zero. */
enum mase_status mase_reader_start(struct mase_reader *w, struct mase_err *err) MASE_MUST_CHECK;
/* Send a request, and read an answer of exactly so many bytes. */
enum mase_status mase_reader_call(struct mase_reader *w, struct mase_reader_request q,
                                  const void *data, void *reply, size_t size, int64_t *number,
                                  struct mase_err *err) MASE_MUST_CHECK;
/* As mase_reader_call, for an answer of up to `most` bytes, zero-terminated; in a. */
enum mase_status mase_reader_call_any(struct mase_reader *w, struct mase_reader_request q,
                                      const void *data, const char **reply, size_t *size,
                                      uint64_t most, struct mase_arena *a,
                                      struct mase_err *err) MASE_MUST_CHECK;
/* Does nothing if it was never started or is stopped. */
void mase_reader_stop(struct mase_reader *w);

/* Send or receive everything; false: the other side has ended. */
bool mase_reader_send(int fd, const void *data, size_t size);
bool mase_reader_receive(int fd, void *data, size_t size);

/* The most memory that reading a data file of this size may take, compressed or not. */
static inline uint64_t mase_data_memory(uint64_t file_size)
{
    return ((uint64_t)4 << 30) + 16 * file_size;
}

#endif /* MASE_DATA_READER_H */
