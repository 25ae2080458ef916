#!/usr/bin/env python3
"""The conformance cases of the onnx package: every case whose operations and types we have gives what it should within its own tolerance,
the others are refused by name, none crashes. Prints how many there are of each, and the operations of the node cases.

usage: onnx_cases.py TOOL [FOLDER]   status 77: there is no onnx package here, skipped. FOLDER keeps what is generated
"""
import collections
import glob
import os
import subprocess
import sys
import tempfile
import warnings

from checks import check, finish

try:
    import numpy as np
    import onnx
    import onnx.backend.test
    from onnx import TensorProto, numpy_helper
    from onnx.backend.test.case import node
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

# At least so many: of onnx 1.23. Other versions have other cases, of which none may be wrong.
WANTED = {"node": 1240, "pytorch-converted": 82, "pytorch-operator": 35}


def write(path, proto):
    with open(path, "wb") as f:
        f.write(proto.SerializeToString())


def as_proto(value, info):
    kind = info.type
    if kind.HasField("sequence_type"):
        return numpy_helper.from_list(value, info.name)
    if kind.HasField("map_type"):
        return numpy_helper.from_dict(value, info.name)
    if kind.HasField("optional_type"):
        return numpy_helper.from_optional(value, info.name)
    return value if isinstance(value, TensorProto) else numpy_helper.from_array(np.asarray(value), info.name)


def generate(folder):
    """The node cases as folders of files; the others lie in the package as such."""
    for case in node.collect_testcases(None):
        path = f"{folder}/node/{case.name}"
        os.makedirs(path, exist_ok=True)
        write(f"{path}/model.onnx", case.model)
        with open(f"{path}/tolerance", "w") as f:
            f.write(f"{case.rtol} {case.atol}\n")
        for k, (inputs, outputs) in enumerate(case.data_sets):
            os.makedirs(f"{path}/test_data_set_{k}", exist_ok=True)
            for word, values, infos in (("input", inputs, case.model.graph.input), ("output", outputs, case.model.graph.output)):
                for j, value in enumerate(values):
                    write(f"{path}/test_data_set_{k}/{word}_{j}.pb", as_proto(value, infos[j]))


def run(tool, cases):
    """word and reason for each case."""
    results = {}
    for k in range(0, len(cases), 200):
        done = subprocess.run([tool, *cases[k:k + 200]], capture_output=True, text=True, errors="replace")
        for line in done.stdout.splitlines():
            name, word, *why = line.split(" ", 2)
            results[os.path.basename(name)] = word, why[0] if why else ""
    return results


def operation(path):
    model = onnx.load(f"{path}/model.onnx", load_external_data=False)
    names = {(n.domain + "." if n.domain not in ("", "ai.onnx") else "") + n.op_type for n in model.graph.node}
    return names.pop() if len(names) == 1 else "(several)"


def print_table(paths, results):
    table = collections.defaultdict(lambda: [0, 0])
    for path in paths:
        row = table[operation(path)]
        row[results[os.path.basename(path)][0] != "ok"] += 1
    print(f"{'operation':40} {'right':>6} {'refused':>8}")
    for name, (right, refused) in sorted(table.items()):
        print(f"{name:40} {right:6} {refused:8}")


def main():
    warnings.filterwarnings("ignore")
    tool = sys.argv[1]
    package = os.path.dirname(onnx.backend.test.__file__) + "/data"
    with tempfile.TemporaryDirectory() as temporary:
        folder = sys.argv[2] if len(sys.argv) > 2 else temporary
        generate(folder)
        for kind in ("node", "pytorch-converted", "pytorch-operator", "simple"):
            paths = sorted(glob.glob(f"{folder if kind == 'node' else package}/{kind}/*/model.onnx"))
            paths = [os.path.dirname(p) for p in paths]
            results = run(tool, paths)
            count = collections.Counter(word for word, _ in results.values())
            print(f"{kind}: {len(paths)} cases, {count['ok']} right, {count['refused']} refused")
            for name, (word, why) in sorted(results.items()):
                if word in ("wrong", "crash"):
                    print(f"    {name}: {word} {why}")
            check(f"{kind}: none is wrong, none crashes", paths and len(results) == len(paths) and not count["wrong"] + count["crash"])
            if onnx.__version__.startswith("1.23") and kind in WANTED:
                check(f"{kind}: at least {WANTED[kind]} are right", count["ok"] >= WANTED[kind])
            if kind == "node":
                print_table(paths, results)
    finish()


main()
