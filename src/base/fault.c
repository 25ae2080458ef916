/*
 * fault.c - system calls behind a hook, see fault.h.
 */
#define _GNU_SOURCE /* sync_file_range */
#include "base/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/counters.h"
#include "base/number.h"

mase_fault_fn *mase_fault;
void *mase_fault_user;
size_t mase_fault_write_max;

/* Is this call to fail? Sets errno then. */
static bool faulty(const char *call)
{
    const int error = mase_fault ? mase_fault(call, mase_fault_user) : 0;
    if (error)
        errno = error;
    return error != 0;
}

int mase_sys_open(const char *path, int flags, mode_t mode)
{
    return faulty("open") ? -1 : open(path, flags, mode);
}

ssize_t mase_sys_read(int fd, void *data, size_t size)
{
    return faulty("read") ? -1 : read(fd, data, size);
}

ssize_t mase_sys_write(int fd, const void *data, size_t size)
{
    if (mase_fault_write_max && size > mase_fault_write_max)
        size = mase_fault_write_max;
    return faulty("write") ? -1 : write(fd, data, size);
}

void mase_sys_start_flush(int fd)
{
#ifdef SYNC_FILE_RANGE_WRITE
    (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
#else
    (void)fd;
#endif
}

int mase_sys_fsync(int fd)
{
    mase_count(MASE_COUNT_FSYNCS);
    return faulty("fsync") ? -1 : fsync(fd);
}

int mase_sys_fchmod(int fd, mode_t mode)
{
    return faulty("fchmod") ? -1 : fchmod(fd, mode);
}

int mase_sys_close(int fd)
{
    const int result = close(fd);
    return faulty("close") ? -1 : result;
}

int mase_sys_rename(const char *from, const char *to)
{
    return faulty("rename") ? -1 : rename(from, to);
}

int mase_sys_link_open(int fd, const char *to)
{
    char from[40];
    mase_snprintf(from, sizeof from, "/proc/self/fd/%d", fd);
    return faulty("link") ? -1 : linkat(AT_FDCWD, from, AT_FDCWD, to, AT_SYMLINK_FOLLOW);
}

int mase_sys_mkdir(const char *path, mode_t mode)
{
    return faulty("mkdir") ? -1 : mkdir(path, mode);
}

void *mase_sys_map(int fd, size_t size)
{
    if (faulty("mmap"))
        return NULL;
    void *map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);
    return map == MAP_FAILED ? NULL : map;
}
