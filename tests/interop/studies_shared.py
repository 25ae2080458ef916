#!/usr/bin/env python3
"""Studies in PostgreSQL: any number of processes make the same study, whoever is killed; Optuna 5 loads
it, where it is installed. The server is started here, in a folder of its own, by an ordinary user.

usage: studies_shared.py STUDY_TOOL [--kills N] [--outage SECONDS]
"""
import argparse
import glob
import os
import pwd
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from checks import check, finish

options = argparse.ArgumentParser()
options.add_argument("tool", type=os.path.abspath)
options.add_argument("--kills", type=int, default=50)
options.add_argument("--outage", type=float, default=30)
options = options.parse_args()
homes = sorted(glob.glob("/usr/lib/postgresql/*/bin"))
bin = homes[-1] if homes else os.path.dirname(shutil.which("initdb") or "")
if not bin:
    print("skipped: there is no PostgreSQL")
    sys.exit(77)

# The server refuses to be run by root.
user = []
if os.geteuid() == 0:
    try:
        pwd.getpwnam("postgres")
    except KeyError:
        print("skipped: the server does not run as root, and there is no user postgres")
        sys.exit(77)
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]


class Server:
    def __init__(self, folder):
        self.folder = folder
        self.url = f"postgresql://mase@/postgres?host={folder}"
        if user:
            shutil.chown(folder, "postgres")
        self.run("initdb", "-D", f"{folder}/data", "-A", "trust", "-U", "mase", "--no-sync")
        self.start()

    def run(self, program, *arguments):
        subprocess.run([*user, f"{bin}/{program}", *arguments], check=True, cwd=self.folder,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start(self):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o",
                 f"-k {self.folder} -c listen_addresses= -c fsync=off", "start")

    def stop(self, how="fast"):
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", how, "stop")


def start(where, name, *arguments):
    return subprocess.Popen([options.tool, where, name, *arguments], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def end(process):
    """Its hash."""
    out, err = process.communicate()
    if process.returncode:
        sys.exit(f"{' '.join(process.args)}: {err}")
    return out.splitlines()[-1]


def together(where, name, processes, *arguments):
    return {end(p) for p in [start(where, name, *arguments) for _ in range(processes)]}


def check_processes(server):
    expected = together(":memory:", "s", 1, "--trials", "400")
    for processes in (1, 2, 4):
        made = together(server.url, f"with {processes}", processes, "--trials", "400",
                        "--pause", "1000")
        check(f"the study of {processes} processes", made == expected)
    made = together(server.url, "with threads", 2, "--trials", "400", "--workers", "2")
    check("the study of 2 processes of 2 threads", made == expected)


def check_kills(server):
    seed = os.getpid()
    print(f"seed {seed}")
    draw = random.Random(seed)
    arguments = ("--trials", "3000", "--pause", "3000", "--lease", "1")
    running = [start(server.url, "killed", *arguments) for _ in range(3)]
    killed = 0
    while killed < options.kills:
        time.sleep(draw.uniform(0, 0.3))
        victim = draw.randrange(3)
        if running[victim].poll() is not None:
            break
        running[victim].kill()
        running[victim].communicate()
        killed += 1
        running[victim] = start(server.url, "killed", *arguments)
    made = {end(p) for p in running}
    check(f"{killed} of {options.kills} kills: every trial is there once, and the same",
          killed == options.kills and made == together(":memory:", "s", 1, "--trials", "3000"))


def check_outage(server):
    running = [start(server.url, "outage", "--trials", "1500", "--pause", "4000") for _ in range(2)]
    time.sleep(1.5)
    server.stop("immediate")
    time.sleep(options.outage)
    still = all(p.poll() is None for p in running)
    server.start()
    made = {end(p) for p in running}
    check(f"a database that is away for {options.outage:g} s",
          still and made == together(":memory:", "s", 1, "--trials", "1500"))


def check_terminated(server):
    """Its lease is long: who waits for it to end waits a minute."""
    arguments = ("--trials", "60", "--pause", "200000", "--lease", "60")
    first = start(server.url, "given", *arguments)
    time.sleep(4)
    began = time.monotonic()
    first.send_signal(signal.SIGTERM)
    end(first)
    quick = time.monotonic() - began < 3
    made = end(start(server.url, "given", *arguments))
    check("SIGTERM gives leases back", quick and time.monotonic() - began < 30
          and {made} == together(":memory:", "s", 1, "--trials", "60"))


def check_optuna(server):
    try:
        import optuna
        import psycopg2  # noqa: F401

        if int(optuna.__version__.split(".")[0]) < 5:
            raise ImportError(f"Optuna is {optuna.__version__}, not 5 or later")
    except ImportError as lacking:
        print(f"left out: Optuna: {lacking}")
        return
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    place = server.url.replace("postgresql:", "postgresql+psycopg2:")
    end(start(server.url, "one", "--trials", "60", "--one"))
    study = optuna.load_study(study_name="one", storage=place)
    check("Optuna loads it", [t.number for t in study.trials] == list(range(60)))

    def objective(trial):
        name = trial.suggest_categorical("name", ["integer", None])
        return trial.suggest_float("rate", 0, 1) + trial.suggest_int("width", 2, 8) + (name is None)

    study.optimize(objective, n_trials=20)
    check("and goes on with it", len(study.trials) == 80)
    ours = start(server.url, "one", "--trials", "140", "--one", "--pause", "20000")
    study.optimize(objective, n_trials=20)
    end(ours)
    trials = optuna.load_study(study_name="one", storage=place).trials
    check("both at a time", [t.number for t in trials[:140]] == list(range(140))
          and all(t.state.is_finished() for t in trials))
    optuna.create_study(study_name="theirs", storage=place)
    check("one that it began", end(start(place, "theirs", "--trials", "20", "--one")).endswith(" 20"))


with tempfile.TemporaryDirectory(prefix="pg") as folder:
    server = Server(folder)
    try:
        check_processes(server)
        check_kills(server)
        check_terminated(server)
        check_optuna(server)
        check_outage(server)
    finally:
        server.stop()
finish()
