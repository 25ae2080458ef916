"""checks.py - what the scripts of this folder share: a line for every check, a status for all."""
import subprocess
import sys

failed = 0


def check(name, holds):
    global failed
    failed += not holds
    print("ok" if holds else "NOT OK", name)


def finish():
    sys.exit(1 if failed else 0)


def run(program, *args):
    """Whether it succeeded; what it complained of goes to the error stream."""
    done = subprocess.run([program, *args], capture_output=True, text=True, errors="replace")
    if done.returncode:
        print(f"{program} {' '.join(args)}: {done.stderr}", file=sys.stderr)
    return done.returncode == 0


def ask(program, *args):
    """What it prints; without that there is nothing to check."""
    done = subprocess.run([program, *args], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{program} {' '.join(args)}: {done.stderr}")
    return done.stdout
