/*
 * no_network.c - a process that cannot reach the network.
 *
 * Twice, because either may be refused: containers often forbid new namespaces, and a kernel may be
 * built without filters. The filter lets socket() make local sockets only, refuses io_uring, which
 * could make others without that call, and calls of another architecture, which it does not know.
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
#define FIELD(name) ((unsigned)offsetof(struct seccomp_data, name))
#define LOAD(at)    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
/* Jumps count the statements that are left out. */
#define IF_EQUAL(k, yes, no)   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, k, yes, no)
#define IF_GREATER(k, yes, no) BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, k, yes, no)
#define ANSWER(k)              BPF_STMT(BPF_RET | BPF_K, k)

static void filter_calls(void)
{
    struct sock_filter steps[] = {
        LOAD(FIELD(arch)),
        IF_EQUAL(OWN_ARCH, 0, 7), /* else refuse */
        LOAD(FIELD(nr)),
        IF_GREATER(LAST_CALL, 5, 0),
        IF_EQUAL(SYS_io_uring_setup, 4, 0),
        IF_EQUAL(SYS_socket, 0, 2), /* else allow */
        LOAD(FIELD(args[0])),
        IF_EQUAL(AF_UNIX, 0, 1), /* else refuse */
        ANSWER(SECCOMP_RET_ALLOW),
        ANSWER(SECCOMP_RET_ERRNO | EACCES),
    };
    struct sock_fprog program = { sizeof steps / sizeof steps[0], steps };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
        (void)prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}
#else
static void filter_calls(void)
{
}
#endif

void mase_no_network(void)
{
    (void)!unshare(CLONE_NEWUSER | CLONE_NEWNET); /* as far as we may */
    filter_calls();
}
