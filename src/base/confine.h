/*
 * confine.h - system call filters for this process and the programs that it executes.
 */
#ifndef MASE_BASE_CONFINE_H
#define MASE_BASE_CONFINE_H

#include <stdbool.h>

/* Forbid the network. Does not allocate, so a child may call it between fork and exec. */
void mase_confine_network(void);

/* Forbid network, opening files, other processes and programs, and signals to others. On a machine
 * without a known filter it does nothing; a reader's other limits hold without it. */
void mase_confine_reader(void);

/* The filter of system calls that a script installs before it runs untrusted code: instructions for
 * the kernel; own_id: the operand k to set to the process's number. Returns the number of
 * instructions, 0 on a machine without a known filter. */
enum { MASE_CONFINE_STEPS = 192 };
struct mase_confine_step {
    unsigned code, yes, no, k;
    bool own_id;
};
int mase_confine_steps(struct mase_confine_step step[MASE_CONFINE_STEPS]);

#endif /* MASE_BASE_CONFINE_H */
