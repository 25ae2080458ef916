/*
 * confine.c - what the kernel refuses a process.
 *
 * Before a child executes another program it loses the network, by a network namespace of its own
 * where the kernel grants one, and by a filter of system calls; both, because containers often
 * forbid new namespaces, and a kernel may be built without filters. The program may still start
 * programs, since the python3 in PATH is often a script that looks for the real one. The tracing
 * script gets a second filter, which it installs before it opens the user's file: from then on it
 * cannot start processes (threads are allowed), execute programs, send signals to other processes,
 * inspect them, or raise its limits. A process of this library that reads untrusted files gets all
 * of this at once, and cannot open or name files.
 *
 * Filters are programs for the kernel's BPF machine. They see numbers only, never memory, and
 * cannot be removed. System calls of another architecture, whose numbers mean other calls, are
 * refused.
 */
#define _GNU_SOURCE /* unshare */

#include "base/confine.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <mase/err.h>

#if defined __x86_64__
#define OWN_ARCH  AUDIT_ARCH_X86_64
#define LAST_CALL 0x3fffffff /* beyond are those of x32 */
#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ARCH  AUDIT_ARCH_AARCH64
#define LAST_CALL 0x7fffffff
#endif

#ifdef OWN_ARCH

/* ---- writing filters ---- */

enum { REFUSE = SECCOMP_RET_ERRNO | EACCES, UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS };

struct filter {
    struct sock_filter step[MASE_CONFINE_STEPS];
    bool own_id[MASE_CONFINE_STEPS]; /* k is to be the process's number */
    int count;
};

static void add(struct filter *f, int code, int yes, int no, unsigned k)
{
    if (f->count == MASE_CONFINE_STEPS)
        mase_bug("a filter of system calls has more than %d steps", MASE_CONFINE_STEPS);
    f->step[f->count++] =
        (struct sock_filter){ (unsigned short)code, (unsigned char)yes, (unsigned char)no, k };
}

static void load(struct filter *f, size_t at)
{
    add(f, BPF_LD | BPF_W | BPF_ABS, 0, 0, (unsigned)at);
}

/* Leave out so many steps if what is loaded equals k, or if not. */
static void skip_if(struct filter *f, unsigned k, int yes, int no)
{
    add(f, BPF_JMP | BPF_JEQ | BPF_K, yes, no, k);
}

static void answer(struct filter *f, unsigned k)
{
    add(f, BPF_RET | BPF_K, 0, 0, k);
}

/* The number of the call is loaded, and is one that we know. */
static void begin(struct filter *f)
{
    load(f, offsetof(struct seccomp_data, arch));
    skip_if(f, OWN_ARCH, 1, 0);
    answer(f, REFUSE);
    load(f, offsetof(struct seccomp_data, nr));
    add(f, BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_CALL);
    answer(f, REFUSE);
}

static void give(struct filter *f, long call, unsigned k)
{
    skip_if(f, (unsigned)call, 0, 1);
    answer(f, k);
}

/* The lower half of an argument; both our architectures have it first. */
static size_t argument(int i)
{
    return offsetof(struct seccomp_data, args) + (size_t)i * sizeof(uint64_t);
}

/* Allow the call only if its argument i is k, or, if own_id, the number of the process itself. */
static void only_with(struct filter *f, long call, int i, bool own_id, unsigned k)
{
    skip_if(f, (unsigned)call, 0, 4);
    load(f, argument(i));
    f->own_id[f->count] = own_id;
    skip_if(f, k, 0, 1);
    answer(f, SECCOMP_RET_ALLOW);
    answer(f, REFUSE);
}

/* Its limits: asked for, not set. */
static void only_asking(struct filter *f)
{
    skip_if(f, SYS_prlimit64, 0, 6);
    load(f, argument(2));
    skip_if(f, 0, 0, 3);
    load(f, argument(2) + sizeof(uint32_t));
    skip_if(f, 0, 0, 1);
    answer(f, SECCOMP_RET_ALLOW);
    answer(f, REFUSE);
}

static void only_threads(struct filter *f)
{
    skip_if(f, SYS_clone, 0, 4);
    load(f, argument(0));
    add(f, BPF_JMP | BPF_JSET | BPF_K, 0, 1, CLONE_THREAD);
    answer(f, SECCOMP_RET_ALLOW);
    answer(f, REFUSE);
}

/* ---- the two filters ---- */

/* io_uring makes sockets without that call. */
static const long of_network[] = { SYS_socket, SYS_io_uring_setup };

static const long of_processes[] = {
    SYS_execve,
    SYS_execveat,
    SYS_ptrace,
    SYS_process_vm_readv,
    SYS_process_vm_writev,
    SYS_setrlimit,
    SYS_tkill,
    SYS_rt_sigqueueinfo,
    SYS_rt_tgsigqueueinfo,
    SYS_unshare,
    SYS_setns,
#ifdef SYS_fork
    SYS_fork,
    SYS_vfork,
#endif
#ifdef SYS_pidfd_open
    SYS_pidfd_open,
    SYS_pidfd_send_signal,
#endif
#ifdef SYS_pidfd_getfd
    SYS_pidfd_getfd,
#endif
};

/* Whatever makes, opens, renames, removes or changes something by its name. */
static const long of_files[] = {
    SYS_openat,
    SYS_mkdirat,
    SYS_mknodat,
    SYS_unlinkat,
    SYS_renameat2,
    SYS_linkat,
    SYS_symlinkat,
    SYS_fchmodat,
    SYS_fchownat,
    SYS_truncate,
    SYS_mount,
    SYS_chroot,
    SYS_pivot_root,
    SYS_acct,
    SYS_swapon,
    SYS_chdir,
    SYS_fchdir,
    SYS_memfd_create,
#ifdef SYS_open
    SYS_open,
    SYS_creat,
    SYS_mkdir,
    SYS_mknod,
    SYS_unlink,
    SYS_rmdir,
    SYS_rename,
    SYS_link,
    SYS_symlink,
    SYS_chmod,
    SYS_chown,
    SYS_lchown,
#endif
#ifdef SYS_renameat
    SYS_renameat,
#endif
#ifdef SYS_openat2
    SYS_openat2,
#endif
    SYS_open_by_handle_at,
};

static void refuse_all(struct filter *f, const long *call, size_t n)
{
    for (size_t i = 0; i < n; i++)
        give(f, call[i], REFUSE);
}

static void put_on(struct filter *f)
{
    struct sock_fprog program = { (unsigned short)f->count, f->step };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void filter_network(void)
{
    struct filter f = { 0 };
    begin(&f);
    refuse_all(&f, of_network, sizeof of_network / sizeof of_network[0]);
    answer(&f, SECCOMP_RET_ALLOW);
    put_on(&f);
}

/* The rest of a filter that has begun. */
static void filter_processes_of(struct filter *f)
{
    refuse_all(f, of_processes, sizeof of_processes / sizeof of_processes[0]);
#ifdef SYS_clone3
    give(f, SYS_clone3, UNKNOWN); /* its flags lie in memory; the C library then uses clone */
#endif
    only_threads(f);
    only_asking(f);
    only_with(f, SYS_kill, 0, true, 0);
    only_with(f, SYS_tgkill, 0, true, 0);
    answer(f, SECCOMP_RET_ALLOW);
}

static void filter_processes(struct filter *f)
{
    begin(f);
    filter_processes_of(f);
}

int mase_confine_steps(struct mase_confine_step step[MASE_CONFINE_STEPS])
{
    struct filter f = { 0 };
    filter_processes(&f);
    for (int i = 0; i < f.count; i++)
        step[i] = (struct mase_confine_step){ f.step[i].code, f.step[i].jt, f.step[i].jf,
                                              f.step[i].k, f.own_id[i] };
    return f.count;
}

/* Files that are open stay so; nothing else has a name that the process could use. */
void mase_confine_reader(void)
{
    struct filter f = { 0 };
    begin(&f);
    refuse_all(&f, of_network, sizeof of_network / sizeof of_network[0]);
    refuse_all(&f, of_files, sizeof of_files / sizeof of_files[0]);
    filter_processes_of(&f);
    for (int i = 0; i < f.count; i++)
        if (f.own_id[i])
            f.step[i].k = (unsigned)getpid();
    put_on(&f);
}

#else

static void filter_network(void)
{
}

int mase_confine_steps(struct mase_confine_step step[MASE_CONFINE_STEPS])
{
    (void)step;
    return 0;
}

void mase_confine_reader(void)
{
}

#endif

void mase_confine_network(void)
{
    (void)!unshare(CLONE_NEWUSER | CLONE_NEWNET); /* as far as we may */
    filter_network();
}
