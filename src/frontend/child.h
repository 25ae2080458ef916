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
    const char *input;       /* its standard input, of which questions get the rest */
    size_t input_size;
    double seconds;    /* killed so long after its first output */
    int64_t memory;    /* bytes of address space */
    size_t max_output; /* killed when it writes more */
    size_t max_said;   /* of its standard error, what is passed on to ours */
    /* A last line of its output that begins with '?' is a question, and no output; what is appended
     * to reply is its next input. NULL: it asks nothing, and its input ends. */
    void (*ask)(struct mase_str *reply, const char *question, size_t size, void *data);
    void *data;
};

enum mase_child_end {
    MASE_CHILD_DONE,   /* it closed its output; status is in *code */
    MASE_CHILD_ABSENT, /* there is no such program */
    MASE_CHILD_LATE,   /* killed: it took too long */
    MASE_CHILD_LOUD,   /* killed: it wrote too much */
};

/* Run it and wait; its output is appended to out, also when it is killed. What it says on its
 * standard error goes to ours; left_out is how much of that was too much. It has no network, an
 * environment of PATH, HOME, TMPDIR and pyenv's variables only, and none of our files. Processes
 * that it started are killed when it ends, unless they left its process group.
 * An error only when the system refuses to start processes. */
enum mase_status mase_child_run(enum mase_child_end *end, int *code, struct mase_str *out,
                                size_t *left_out, const struct mase_child *c,
                                struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FRONTEND_CHILD_H */
