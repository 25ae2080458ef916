# A .py file that means harm: it starts no program, reaches no other process, leaves nothing behind,
# and is stopped when it takes too much.
cat >net.py <<'EOF'
import ctypes, os, resource, signal, subprocess, sys, threading, time
import torch.nn as nn

libc = ctypes.CDLL(None, use_errno=True)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act()
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        return self.fc(x)

    def act(self):
        pass


def refused(result):
    """Or it is heard of."""
    if result >= 0:
        raise RuntimeError("it was let")


class Threads(Net):
    """What libraries do is allowed."""

    def act(self):
        done = []
        thread = threading.Thread(target=lambda: done.append(1))
        thread.start()
        thread.join()
        assert done and os.getpid() and os.kill(os.getpid(), 0) is None


class System(Net):
    def act(self):
        refused(-abs(libc.system(b"touch called")))


class Subprocess(Net):
    def act(self):
        subprocess.run(["touch", "called"])


class Spawns(Net):
    """subprocess without its audit event."""

    def act(self):
        import _posixsubprocess
        out, err = os.pipe()
        try:
            _posixsubprocess.fork_exec([b"/bin/touch", b"called"], [b"/bin/touch"], True, (), None, None, -1, -1, -1,
                                       -1, -1, -1, out, err, False, False, 0, None, None, None, -1, None, False)
        except (OSError, TypeError):
            pass


class Becomes(Net):
    def act(self):
        arguments = (ctypes.c_char_p * 3)(b"touch", b"called", None)
        for path in (b"/bin/touch", b"/usr/bin/touch"):
            refused(libc.execv(path, arguments))


class BecomesBy(Net):
    """execveat, by its number."""

    def act(self):
        arguments = (ctypes.c_char_p * 3)(b"touch", b"called", None)
        for number in (322, 281):
            libc.syscall(number, -100, b"/bin/touch", arguments, None, 0)


class Daemon(Net):
    def act(self):
        if libc.fork() == 0:
            libc.setsid()
            if libc.fork() == 0:
                open("daemon", "w").write(str(os.getpid()))
                time.sleep(600)
            os._exit(0)


class Clones(Net):
    """A process by clone3 and clone."""

    def act(self):
        flags = (ctypes.c_uint64 * 11)(0, 0, 0, 0, signal.SIGCHLD)
        for number, args in ((435, (flags, 88)), (56, (signal.SIGCHLD, 0, 0, 0, 0)), (220, (signal.SIGCHLD, 0, 0, 0, 0))):
            if libc.syscall(number, *args) == 0 and os.getppid() != PARENT:
                open("called", "w").close()
                os._exit(0)


PARENT = os.getppid()


class Kills(Net):
    def act(self):
        refused(libc.kill(PARENT, signal.SIGKILL))


class Looks(Net):
    """Into the program that started it."""

    def act(self):
        refused(libc.ptrace(16, PARENT, 0, 0))


class Raises(Net):
    """Its own limits."""

    def act(self):
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        raise RuntimeError("it was let")


class Local(Net):
    """A socket of this machine."""

    def act(self):
        refused(libc.socket(1, 1, 0))


class Prints(Net):
    def act(self):
        while True:
            print("x" * 1000)


class Writes(Net):
    """An answer of its own, too long."""

    def act(self):
        for fd in range(3, 20):
            try:
                while True:
                    os.write(fd, b"x" * 65536)
            except OSError:
                pass


class Grows(Net):
    def act(self):
        self.hoard = []
        while True:
            self.hoard.append(bytearray(64 << 20))


class Spins(Net):
    def act(self):
        signal.signal(signal.SIGALRM, signal.SIG_IGN)
        while True:
            pass
EOF
show()
{
    run show net.py:$1 jsc --trace-seconds 2
}

show Net
succeeds "a network"
show Threads
succeeds "threads, and signals to itself"
for way in System Subprocess Spawns Becomes BecomesBy Clones; do
    show $way
    holds "$way: no program is started" test ! -e called
done
show System
succeeds "what fails is its own business"
show Subprocess
refused "and Python says so" '^net\.py:44:9: subprocess\.Popen is not allowed while a model is read$'
show Daemon
holds "no process outlives it" test ! -e daemon
show Kills
succeeds "nor is another killed"
show Looks
succeeds "nor looked into"
show Raises
refused "limits stay" '^net\.py:116:9: (Permission|Value|OS)Error'
show Local
succeeds "no socket at all"
show Prints
refused "a flood" '^net\.py:1[0-9]+:.*still running after 2 s'
holds "of which little is let through" test "$(wc -c <"$T/err")" -lt 200000
err_has "and the rest counted" 'WARNING +net\.py printed [0-9.]+ MB more, which are left out'
show Writes
status_was=$status
holds "an answer that never ends" test "$status_was" -eq 2
run show net.py:Grows jsc --trace-seconds 120 # that long only where others compute, too
refused "memory without end" '^net\.py:[0-9]+:[0-9]+: MemoryError'
show Spins
refused "a loop that is deaf" '^net\.py:[0-9]+:[0-9]+: still running after 2 s'
