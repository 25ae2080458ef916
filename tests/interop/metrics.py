#!/usr/bin/env python3
"""What ch test says of a network is what scikit-learn makes of its outputs.

usage: metrics.py CH        status 77: no NumPy or scikit-learn here, skipped
"""
import json
import os
import sys
import tempfile

from checks import ask, check, finish

try:
    import numpy as np
    import sklearn
    from sklearn import metrics
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

ch = os.path.abspath(sys.argv[1])


def close(name, ours, theirs, tolerance=1e-6):
    ours = np.array([np.nan if x is None else x for x in np.atleast_1d(ours)], dtype=float)
    holds = ours.shape == np.shape(np.atleast_1d(theirs)) and \
        np.allclose(ours, theirs, rtol=0, atol=tolerance, equal_nan=True)
    check(name if holds else f"{name}: {ours} and {theirs}", holds)


def write_table(rng, n):
    """Four classes that overlap, one of them rare; columns on scales of their own."""
    names = np.array(["east", "north", "south", "west"])
    label = rng.choice(4, n, p=[0.4, 0.3, 0.28, 0.02])
    x = (rng.normal(size=(n, 5)) + np.eye(4, 5)[label] * 2) * [1, 10, 100, 0.1, 1] + [0, 5, -50, 1, 9]
    x = np.round(x, 3).astype(np.float32)
    with open("t.csv", "w") as f:
        f.write("a,b,c,d,e,side\n")
        for row, k in zip(x, label):
            f.write(",".join(f"{v:.9g}" for v in row) + f",{names[k]}\n")
    np.save("x.npy", x)
    return label


print(f"NumPy {np.__version__}, scikit-learn {sklearn.__version__}")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    label = write_table(np.random.default_rng(3), 2000)
    ask(ch, "train", "jsc-tiny", "csv:t.csv:side", "--scaling", "standard", "--max-epochs", "4", "--batch-size", "64",
        "--learning-rate", "1e-2", "--project", "p")
    best = "mase_output/p/software/training_ckpts/best.ckpt"
    said = json.loads(ask(ch, "test", "jsc-tiny", "csv:t.csv:side", "--load", best, "--all-rows", "--json"))
    ask(ch, "predict", "jsc-tiny", "--load", best, "--input", "x.npy", "--output", "y.npy", "--raw")
    y = np.load("y.npy").astype(float)
    p = np.exp(y - y.max(axis=1, keepdims=True))
    p /= p.sum(axis=1, keepdims=True)
    answer = y.argmax(axis=1)

    accuracy = metrics.accuracy_score(label, answer)
    close("samples", said["samples"], len(label))
    close("loss", said["test_loss_epoch"], metrics.log_loss(label, p), 1e-5)
    close("accuracy", said["test_acc_epoch"], accuracy)
    close("its standard error", said["accuracy_standard_error"],
          np.sqrt(accuracy * (1 - accuracy) / len(label)))
    close("macro accuracy", said["macro_accuracy"], metrics.balanced_accuracy_score(label, answer))
    close("confusion", [k for c in said["classes"] for k in c["answers"]],
          metrics.confusion_matrix(label, answer).ravel())
    never = np.bincount(answer, minlength=4) == 0  # without answers there is no precision
    precision = metrics.precision_score(label, answer, average=None, zero_division=0)
    close("precision", [c["precision"] for c in said["classes"]], np.where(never, np.nan, precision))
    close("recall", [c["recall"] for c in said["classes"]],
          metrics.recall_score(label, answer, average=None))
    close("AUC", [c["auc"] for c in said["classes"]],
          [metrics.roc_auc_score(label == k, p[:, k]) for k in range(4)], 1e-5)

finish()
