/*
 * process.h - child processes that end with the call that started them.
 */
#ifndef MASE_BASE_PROCESS_H
#define MASE_BASE_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* The descriptors and the child to end when a call fails: pipes and sockets first, then the child.
 */
struct mase_process {
    int fd[6];   /* -1: none */
    pid_t child; /* 0: none; killed and waited for */
    bool group;  /* it leads a process group, which is killed with it */
};

/* A cleanup (alloc.h): NULL where there is no guard, freed by mase_xfree. */
struct mase_process *mase_process_cleanup(void);

#endif /* MASE_BASE_PROCESS_H */
