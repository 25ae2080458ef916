/*
 * child.h - another program run as a filter: text in, text out, within limits.
 */
#ifndef MASE_FRONTEND_CHILD_H
#define MASE_FRONTEND_CHILD_H

#include <stdint.h>

#include <mase/err.h>
#include <mase/str.h>

struct mase_child {
    const char *program;     /* searched in PATH */
    const char *const *argv; /* ended by NULL */
    const char *input;       /* start of its standard input */
    size_t input_size;
    double seconds;    /* the child is killed so long after its first output */
    int64_t memory;    /* limit of its address space in bytes */
    size_t max_output; /* the child is killed when it writes more */
    size_t max_errors; /* how many bytes of its standard error are forwarded to ours */
    /* A last line of output that begins with '?' is a question and no output; what the function
     * appends to reply is the next input. NULL: the child asks nothing, and its input ends. */
    void (*ask)(struct mase_str *reply, const char *question, size_t size, void *data);
    void *data;
};

enum mase_child_end {
    MASE_CHILD_DONE,         /* it closed its output; its exit status is in *code */
    MASE_CHILD_NOT_FOUND,    /* there is no such program */
    MASE_CHILD_TIMEOUT,      /* killed: it ran too long */
    MASE_CHILD_OUTPUT_LIMIT, /* killed: it wrote too much */
};

/* Run the program and wait for its end; its output is appended to out, also when it is killed. Its
 * standard error is forwarded to ours; *dropped is how many bytes were beyond max_errors. The child
 * has no network, none of our open files, and an environment of PATH, HOME, TMPDIR and pyenv's
 * variables. Processes that it started are killed when it ends, unless they left its process group.
 * An error means that the system refused to start a process. */
enum mase_status mase_child_run(enum mase_child_end *end, int *code, struct mase_str *out,
                                size_t *dropped, const struct mase_child *c,
                                struct mase_err *err) MASE_MUST_CHECK;

#endif /* MASE_FRONTEND_CHILD_H */
