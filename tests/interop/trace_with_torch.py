#!/usr/bin/env python3
"""The graph that we trace from a .py file is the one that torch.fx traces from it.

usage: trace_with_torch.py TRACE_TOOL        compares
       trace_with_torch.py --write           writes tests/data/source/CLASS.txt for the files that
                                             have no graphs elsewhere
"""
import os
import subprocess
import sys

try:
    import torch
    from torch_models import IS_OLD, MODELS, SOURCE, build, graph_text, load
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

WRITTEN = ("features.py", "mixed.py", "transformer.py", "students.py", "vision.py", "jets.py", "language.py",
           "package/net.py", "frozen.py", "tied.py", "modes.py")

# What torch.fx before 2.0 does not do as later versions do.
NOT_OLD = {"SENet": "pad had another name", "GPT": "arange took no traced size"}

failed = 0
print("torch", torch.__version__)
for name, data, classes in MODELS:
    module = load(name)
    for cls in classes:
        if IS_OLD and cls in NOT_OLD:
            print("--", name, cls, "is not compared: before torch 2.0", NOT_OLD[cls])
            continue
        theirs = graph_text(lambda: build(getattr(module, cls), *data))
        if sys.argv[1] == "--write":
            if name in WRITTEN:
                with open(os.path.join(SOURCE, cls + ".txt"), "w") as f:
                    f.write(theirs + "\n")
            continue
        ours = subprocess.run([sys.argv[1], os.path.join(SOURCE, name) + ":" + cls,
                               *map(str, data)], stdout=subprocess.PIPE, text=True)
        same = ours.stdout.rstrip("\n") == theirs
        failed += not same
        print("ok" if same else "NOT OK", name, cls)
        if not same:
            print(ours.stdout, theirs, sep="\n")
sys.exit(failed > 0)
