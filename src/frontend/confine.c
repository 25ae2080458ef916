/*
 * confine.c - what the kernel refuses a child.
 *
 * In two steps. Before another program takes our child's place it loses the network: by a network
 * namespace of its own where the kernel grants one, and by a filter of system calls; twice, because
 * containers often forbid new namespaces, and a kernel may be built without filters. It may still
 * start programs, since the python3 in PATH is often a script that looks for the real one. The
 * second filter is sent to the script, which puts it on before it looks at the user's file: from
 * then on no process is started (threads are), none becomes another program, none but itself is
 * sent signals or looked into, and its limits stay.
 *
 * Filters are programs for the kernel's BPF machine. They look at numbers only, never at memory,
 * and stay for good. Calls of another architecture, whose numbers mean other calls, are refused.
 */
#define _GNU_SOURCE /* unshare */

#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "frontend/child.h"

#if defined __x86_64__
#define OWN_ARCH  AUDIT_ARCH_X86_64
#define LAST_CALL 0x3fffffff /* beyond are those of x32 */
#elif defined __aarch64__ && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OWN_ARCH  AUDIT_ARCH_AARCH64
#define LAST_CALL 0x7fffffff
#endif

#ifdef OWN_ARCH

/* ---- writing filters ---- */

enum { MAX_STEPS = 128, REFUSE = SECCOMP_RET_ERRNO | EACCES, UNKNOWN = SECCOMP_RET_ERRNO | ENOSYS };

struct filter {
    struct sock_filter step[MAX_STEPS];
    bool own_id[MAX_STEPS]; /* k is to be the process's number */
    int count;
};

static void add(struct filter *f, int code, int yes, int no, unsigned k)
{
    if (f->count == MAX_STEPS)
        mase_bug("a filter of system calls has more than %d steps", MAX_STEPS);
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

/* The call only with this argument; own_id: the process's own number. */
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

static void filter_network(void)
{
    struct filter f = { 0 };
    begin(&f);
    for (size_t i = 0; i < sizeof of_network / sizeof of_network[0]; i++)
        give(&f, of_network[i], REFUSE);
    answer(&f, SECCOMP_RET_ALLOW);
    struct sock_fprog program = { (unsigned short)f.count, f.step };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void filter_processes(struct filter *f)
{
    begin(f);
    for (size_t i = 0; i < sizeof of_processes / sizeof of_processes[0]; i++)
        give(f, of_processes[i], REFUSE);
#ifdef SYS_clone3
    give(f, SYS_clone3, UNKNOWN); /* its flags lie in memory; the C library then uses clone */
#endif
    only_threads(f);
    only_asking(f);
    only_with(f, SYS_kill, 0, true, 0);
    only_with(f, SYS_tgkill, 0, true, 0);
    answer(f, SECCOMP_RET_ALLOW);
}

struct mase_value *mase_confinement(struct mase_arena *a)
{
    struct mase_value *list = mase_value_list(a);
    struct filter f = { 0 };
    filter_processes(&f);
    for (int i = 0; i < f.count; i++) {
        struct mase_value *step = mase_value_list(a);
        mase_value_push(a, step, mase_value_int(a, f.step[i].code));
        mase_value_push(a, step, mase_value_int(a, f.step[i].jt));
        mase_value_push(a, step, mase_value_int(a, f.step[i].jf));
        mase_value_push(a, step, f.own_id[i] ? mase_value_none(a) : mase_value_int(a, f.step[i].k));
        mase_value_push(a, list, step);
    }
    return list;
}

#else

static void filter_network(void)
{
}

struct mase_value *mase_confinement(struct mase_arena *a)
{
    return mase_value_list(a);
}

#endif

void mase_no_network(void)
{
    (void)!unshare(CLONE_NEWUSER | CLONE_NEWNET); /* as far as we may */
    filter_network();
}
