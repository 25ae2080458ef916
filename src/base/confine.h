/*
 * confine.h - what the kernel refuses this process from now on, and whatever it becomes.
 */
#ifndef MASE_BASE_CONFINE_H
#define MASE_BASE_CONFINE_H

#include <stdbool.h>

/* No network. Nothing here allocates, so a child may call it between fork and exec. */
void mase_confine_network(void);

/* No network, no further file, no other process or program, no signal to others. Where we know no
 * filter for the machine it does nothing: the limits that a reader has hold without it. */
void mase_confine_reader(void);

/* The filter of system calls that a script puts on before it runs what it does not trust: steps for
 * the kernel's machine; own_id: k is to be the number of the process. Returns how many there are, 0
 * where we know none for the machine. */
enum { MASE_CONFINE_STEPS = 192 };
struct mase_confine_step {
    unsigned code, yes, no, k;
    bool own_id;
};
int mase_confine_steps(struct mase_confine_step step[MASE_CONFINE_STEPS]);

#endif /* MASE_BASE_CONFINE_H */
