/*
 * fault.h - the system calls of file reading and writing, which a test can make fail.
 *
 * Each wrapper asks the hook first: 0 lets the call through, an errno value makes it fail with
 * that. Without a hook they are the plain calls. mase_fault_write_max shortens writes, as a full
 * pipe or a signal does.
 */
#ifndef MASE_BASE_FAULT_H
#define MASE_BASE_FAULT_H

#include <stddef.h>
#include <sys/types.h>

typedef int mase_fault_fn(const char *call, void *user);

extern mase_fault_fn *mase_fault; /* NULL: none */
extern void *mase_fault_user;
extern size_t mase_fault_write_max; /* 0: no limit */

int mase_sys_open(const char *path, int flags, mode_t mode);
ssize_t mase_sys_read(int fd, void *data, size_t size);
ssize_t mase_sys_write(int fd, const void *data, size_t size);
int mase_sys_fsync(int fd);
/* Begin to write a file to the disk, and do not wait: of several that are flushed one after the
 * other the first waits for all. A hint, which cannot fail. */
void mase_sys_start_flush(int fd);
int mase_sys_fchmod(int fd, mode_t mode);
int mase_sys_close(int fd); /* closes even when made to fail */
int mase_sys_rename(const char *from, const char *to);
int mase_sys_link_open(int fd, const char *to); /* gives an open file without a name this one */
int mase_sys_mkdir(const char *path, mode_t mode);
void *mase_sys_map(int fd, size_t size); /* NULL on failure */

#endif /* MASE_BASE_FAULT_H */
