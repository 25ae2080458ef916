"""python_costs.py - what Python costs on top of the library.

    bench/python [RUNS]          default 15; MASE_BUILD: where ch and libmase.so are

    import       seconds of `import mase`, in processes of their own: wall, and of the processor
    walk         processor's time for name, op, target and args of resnet18's nodes, beside torch.fx over
                 the same graph (if torch and torchvision are there); `cold` reads it from the library first
    evaluate     160 000 jets with a trained network, beside `ch test` of the same rows and weights: what
                 both say that evaluating took, and processes from start to end

Ours and the peer take turns. A line shows the medians, the median of the ratios with their quartiles, and
the least of each, which a machine with other work to do disturbs least.
"""

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import mase

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("MASE_BUILD", ROOT / "build"))


def quartiles(values):
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return f"{middle:.3f} [{low:.3f} .. {high:.3f}]"


def line(what, ours, theirs, unit):
    ratios = [a / b for a, b in zip(ours, theirs)]
    print(
        f"{what}: ours {statistics.median(ours):.4g} {unit}, peer {statistics.median(theirs):.4g} {unit}, "
        f"ratio {quartiles(ratios)}; the least of each {min(ours):.4g} and {min(theirs):.4g}, "
        f"ratio {min(ours) / min(theirs):.3f}",
        flush=True,
    )


def importing(runs):
    code = (
        "import time; a = time.perf_counter(), time.process_time(); import {}; "
        "print(time.perf_counter() - a[0], time.process_time() - a[1])"
    )
    for name in ("mase", "numpy"):
        walls, cpus = [], []
        for _ in range(runs):
            done = subprocess.run(
                [sys.executable, "-c", code.format(name)], capture_output=True, text=True, check=True
            )
            wall, cpu = (float(word) * 1e3 for word in done.stdout.split())
            walls.append(wall)
            cpus.append(cpu)
        print(f"import {name}: {quartiles(walls)} ms, processor {quartiles(cpus)} ms", flush=True)


def walk(graph):
    seen = None
    for node in graph.nodes:
        seen = node.name, node.op, node.target, node.args
    return seen


def timed(function, argument, times):
    start = time.thread_time()
    for _ in range(times):
        function(argument)
    return (time.thread_time() - start) / times * 1e6


def walking(runs):
    graph = mase.open("resnet18", no_weights=True)
    cold = []
    for _ in range(5):
        graph._stale, graph._edits = True, -1
        cold.append(timed(walk, graph, 1))
    print(f"walk {len(graph.nodes)} nodes: cold {quartiles(cold)} us", flush=True)
    try:
        import torch.fx
        import torchvision
    except ImportError:
        print(f"walk: warm {quartiles([timed(walk, graph, 200) for _ in range(runs)])} us; no torch.fx here")
        return
    theirs = torch.fx.symbolic_trace(torchvision.models.resnet18()).graph
    assert [n.name for n in theirs.nodes] == [n.name for n in graph.nodes]
    pairs = [(timed(walk, graph, 200), timed(walk, theirs, 200)) for _ in range(runs)]
    line(f"walk, torch.fx {torch.__version__}", *zip(*pairs), "us")


def evaluating(runs):
    with tempfile.TemporaryDirectory() as folder:
        graph, data = mase.open("jsc-toy", dataset="jsc"), mase.Data("jsc")
        mase.train(graph, data, max_epochs=2, batch_size=512, learning_rate=1e-2, progress=False)
        weights = os.path.join(folder, "net.safetensors")
        graph.write(weights)
        code = (
            f"import mase; g = mase.open('jsc-toy', dataset='jsc', weights={weights!r});"
            "r = mase.evaluate(g, mase.Data('jsc', trained=g));"
            "print(r.samples, r.loss, r.score, r.seconds)"
        )
        command = [str(BUILD / "ch"), "test", "jsc-toy", "jsc", "--load", weights, "--json"]
        command += ["--project-dir", os.path.join(folder, "out")]
        said, whole, cpu = [], [], []
        for _ in range(runs):
            (ours, our_cpu), first = run([sys.executable, "-c", code])
            (peer, peer_cpu), second = run(command)
            samples, loss, score, seconds = (float(word) for word in first.split())
            result = json.loads(second)
            assert (samples, score) == (result["samples"], result["test_acc_epoch"])
            assert abs(loss - result["test_loss_epoch"]) < 1e-9
            said.append((seconds, result["seconds"]))
            whole.append((ours, peer))
            cpu.append((our_cpu, peer_cpu))
        line(f"evaluate {samples:.0f} jets, as both say", *zip(*said), "s")
        line(f"evaluate {samples:.0f} jets, whole processes", *zip(*whole), "s")
        line("evaluate, processor of whole processes", *zip(*cpu), "s")


def run(command):
    """Wall and processor's seconds of a command, and what it prints."""
    start, before = time.perf_counter(), used()
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return (time.perf_counter() - start, used() - before), done.stdout


def used():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


if __name__ == "__main__":
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    importing(runs)
    walking(runs)
    evaluating(runs)
