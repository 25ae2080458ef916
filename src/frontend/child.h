/*
 * child.h - another program run as a filter: text in, text out, within limits.
 */
#ifndef MASE_FRONTEND_CHILD_H
#define MASE_FRONTEND_CHILD_H

#include <stdint.h>

#include <mase/err.h>
#include <mase/str.h>

struct mase_child {
    const char *program;     /* looked for in PATH */
    const char *const *argv; /* ends with NULL */
    const char *input;       /* its standard input */
    double seconds;          /* killed so long after its first output */
    int64_t memory;          /* bytes of address space */
    size_t max_output;       /* killed when it writes more */
};

enum mase_child_end {
    MASE_CHILD_DONE,   /* it closed its output; status is in *code */
    MASE_CHILD_ABSENT, /* there is no such program */
    MASE_CHILD_LATE,   /* killed: it took too long */
    MASE_CHILD_LOUD,   /* killed: it wrote too much */
};

/* Run it and wait; its output is appended to out, also when it is killed. It has no network, an
 * environment of PATH, HOME, TMPDIR and pyenv's variables only, and of our files standard error
 * alone. Processes that it started are killed when it ends, unless they left its process group.
 * An error only when the system refuses to start processes. */
enum mase_status mase_child_run(enum mase_child_end *end, int *code, struct mase_str *out,
                                const struct mase_child *c, struct mase_err *err) MASE_MUST_CHECK;

/* Take the network from this process and what it becomes: a network namespace of its own where the
 * kernel grants one, and no sockets but local ones where it filters system calls (no_network.c). */
void mase_no_network(void);

#endif /* MASE_FRONTEND_CHILD_H */
