/*
 * process.c - end a child process when the call that started it fails.
 */
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"

enum { FDS = sizeof((struct mase_process *)0)->fd / sizeof(int) };

static void end_process(void *record)
{
    const struct mase_process *p = record;
    for (int i = 0; i < FDS; i++)
        if (p->fd[i] >= 0)
            close(p->fd[i]);
    if (p->child <= 0)
        return;
    kill(p->group ? -p->child : p->child, SIGKILL);
    while (waitpid(p->child, NULL, 0) < 0 && errno == EINTR)
        continue;
}

struct mase_process *mase_process_cleanup(void)
{
    struct mase_process *p = mase_cleanup(sizeof *p, end_process);
    for (int i = 0; p && i < FDS; i++)
        p->fd[i] = -1;
    return p;
}
