"""What a network that was captured does further: quantised, and trained a few steps beside PyTorch.

Both go through ch alone, with the weights and samples that survey_torch.py left in a folder.
"""
import math
import os
import re
import subprocess

SECONDS = 180
WIDE, NARROW = 24, 8
CONFIGURATION = """[passes.quantize]
by = "type"
default.config = {{ name = "integer", data_in_width = {width}, data_in_frac_width = {data}, weight_width = {width}, weight_frac_width = {weight}, bias_width = {width}, bias_frac_width = {weight} }}
"""
LARGEST = 1024.0  # what is far beyond, as -1e9 in a mask, may as well be that


def run_quietly(command, seconds=SECONDS, **more):
    try:
        return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace",
                              timeout=seconds, stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"still running after {seconds} s")


def distance(np, ours, theirs):
    """The largest, relative where they are above 1."""
    ours, theirs = ours.reshape(-1).astype("f8"), theirs.reshape(-1).astype("f8")
    with np.errstate(invalid="ignore"):
        apart = np.abs(ours - theirs) / np.maximum(1, np.abs(theirs))
    apart[(ours == theirs) | (np.isnan(ours) & np.isnan(theirs))] = 0
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0))


def farthest(np, folder, outputs, count):
    """The largest distance of the outputs that are there; None: they are not."""
    most = 0.0
    for i in range(count):
        theirs = np.load(os.path.join(folder, f"y{i}.npy"))
        if i >= len(outputs) or outputs[i].size != theirs.size:
            return None
        most = max(most, distance(np, outputs[i], theirs))
    return most


def given_samples(np, folder, names, scratch):
    """The file that ch takes: of several inputs one with an array for each."""
    if len(names) == 1:
        return os.path.join(folder, "x0.npy")
    given = os.path.join(scratch, "x.npz")
    np.savez(given, **{n: np.load(os.path.join(folder, f"x{i}.npy")) for i, n in enumerate(names)})
    return given


# ---- quantised ----

def fraction(width, largest):
    """So that values up to some times the largest are held: what functions give nobody has seen."""
    margin = 5 if width == WIDE else 1
    return width - 1 - margin - math.ceil(math.log2(max(min(largest, LARGEST), 2.0 ** -10)))


def predict(ch, np, spec, folder, answer, names, scratch, width, largest):
    """Outputs with every layer that can be in integers of that width, and how many nodes those are."""
    with open(os.path.join(scratch, "q.toml"), "w") as f:
        f.write(CONFIGURATION.format(width=width, data=fraction(width, largest),
                                     weight=fraction(width, answer["largest weight"])))
    given = given_samples(np, folder, names, scratch)
    out = os.path.join(scratch, f"q{width}.npz")
    run = run_quietly([ch, "predict", spec, "--config", "q.toml", "--load", os.path.join(folder, "weights.pt"), "--input", given,
                       "--output", out], cwd=scratch)
    if run.returncode:
        return None, 0, run.stderr
    made = np.load(out)
    outputs = [made] if isinstance(made, np.ndarray) else [made[k] for k in made.files]
    nodes = re.search(r"Quantised, (\d+) nodes?", run.stderr)
    return outputs, int(nodes[1]) if nodes else 0, run.stderr


def quantised(ch, np, spec, folder, answer, names, scratch):
    """In integers so wide that nothing is lost, the network computes what it did; in narrow ones, finite numbers."""
    result = dict(nodes=0, far=None, finite=False, why="")
    given = [float(np.abs(np.load(os.path.join(folder, f"x{i}.npy"))).max(initial=0)) for i in range(len(names))]
    for largest in (answer["largest"], max(answer["largest"], *given)):  # indices may become numbers, or not
        outputs, result["nodes"], said = predict(ch, np, spec, folder, answer, names, scratch, WIDE, largest)
        if outputs is None:
            result["why"] = said
            return result
        result["far"] = farthest(np, folder, outputs, answer["outputs"])
        if result["far"] is not None and result["far"] <= 1e-3:
            break
    outputs, _, said = predict(ch, np, spec, folder, answer, names, scratch, NARROW, largest)
    result["finite"] = outputs is not None and all(np.isfinite(y).all() for y in outputs)
    result["why"] = "" if result["finite"] else said if outputs is None else f"{NARROW} bits: not finite"
    return result


# ---- trained ----

def state(ch, np, checkpoint, scratch):
    out = os.path.join(scratch, "state.npz")
    run = run_quietly([ch, "convert", checkpoint, out, "--force"], cwd=scratch)
    if run.returncode:
        return None
    made = np.load(out)
    return {re.sub(r"^(state_dict\.)?(model\.)?", "", k): made[k] for k in made.files}


def apart(np, ours, kept):
    """How far weights are from where PyTorch in float64 ends, as a share of how far those of the same tensor moved. Of a
    tensor that hardly moves, as a share of 1e-4 of its size or of 1e-3 of the largest movement: there float32 rounds."""
    names = [k[len("end/"):] for k in kept if k.startswith("end/")]
    ends = {n: kept["end/" + n].astype("f8") for n in names}
    moved = {n: np.abs(ends[n] - kept["start/" + n]).max(initial=0) for n in names}
    least = 1e-3 * max(moved.values(), default=0)
    most, worst = 0.0, ""
    for n in names:
        if ours[n].shape != ends[n].shape:
            return float("inf"), n
        room = max(moved[n], least, 1e-4 * np.abs(kept["start/" + n]).max(initial=0))
        far = np.nan_to_num(np.abs(ours[n].astype("f8") - ends[n]), nan=np.inf).max(initial=0)
        if far > most * room:
            most, worst = float(far / room) if room else float("inf"), n
    return most, worst


def sampled(t, stride):
    return t.reshape(-1)[::stride]


def trained(ch, np, spec, folder, told, scratch, name="trained"):
    """Steps of descent onto random numbers from the same weights."""
    result = dict(far=None, own=0.0, draws=told["draws"], why="", worst="")
    kept = np.load(os.path.join(folder, name + ".npz"))
    x, y = kept["x"], kept["y"]
    np.savez(os.path.join(scratch, "rows.npz"), X_train=x, y_train=y, X_test=x, y_test=y)
    run = run_quietly([ch, "train", spec, "npz:rows.npz", "--load", os.path.join(folder, "weights.pt"), "--task", "reg",
                       "--split", "mase", "--scaling", "none", "--batch-size", str(len(x)), "--max-steps", str(told["steps"]),
                       "--max-epochs", str(told["steps"]), "--learning-rate", repr(told["rate"]), "--weight-decay", "0",
                       "--momentum", "0", "--lr-schedule", "constant", "--training-optimizer", "sgd", "--project", name],
                      cwd=scratch)
    if run.returncode:
        result["why"] = run.stderr
        return result
    ours = state(ch, np, os.path.join(scratch, f"mase_output/{name}/software/training_ckpts/last.ckpt"), scratch)
    if ours is None or not all(np.isfinite(v).all() for v in ours.values()):
        result["why"] = "weights are not finite after training"
        return result
    result["far"] = 0.0
    if told["draws"]:
        return result
    strides = {n: int(kept["stride/" + n]) for n in ours if "stride/" + n in kept.files}
    if set(strides) != {k[len("end/"):] for k in kept.files if k.startswith("end/")}:
        result.update(far=float("inf"), why="other tensors")
        return result
    result["far"], result["worst"] = apart(np, {n: sampled(ours[n], s) for n, s in strides.items()}, kept)
    result["own"], _ = apart(np, {n: kept["narrow/" + n] for n in strides}, kept)
    return result
