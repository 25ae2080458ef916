"""random_integers_onnx.py - the exported files of random_integers.py: by ONNX Runtime, with its optimiser and without, read again by us, by qonnx.

A file as QDQ and one as QONNX. What is computed of a file is equal to the integers or to the program; near, which is within the bounds that
float32 leaves to any program that computes the file, where these numbers lie, too (onnx_intervals.py); refused; or wrong. Beside scales that are
no powers of two, biases are codes at the scale of the products: then the program with the biases of the file is what counts.
"""
import atexit
import collections
import copy
import os

try:
    import numpy as np
    import onnx
    import onnxruntime

    import onnx_intervals

    STAGES = ("QDQ read", "ORT", "ORT plain", "QONNX read", "qonnx")
    ABOUT = "ONNX Runtime " + onnxruntime.__version__
except ImportError as lacking:
    STAGES = ()
    ABOUT = "exported files: %s is not installed, skipped" % lacking.name
try:
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes
except ImportError:
    ModelWrapper = None

rounded, unread = collections.Counter(), collections.Counter()


def tell_rounded():
    r = rounded
    if r["outputs"]:
        print("float32: %d of %d outputs differ and lie within bounds, in %d of %d runs; %d outputs have one possible value, %d bounds within 1e-5 of the largest, "
              "outside of which %d of these lie" % (r["differ"], r["outputs"], r["runs that differ"], r["runs"], r["certain"], r["tight"], r["loose"]))
    for why, n in unread.most_common(8):
        print("%6d  read again in float32 alone, since in integers %s" % (n, why))


atexit.register(tell_rounded)


def runtime(path, x, optimise):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    if not optimise:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0].reshape(len(x), -1)


def compare(case, stage, y, within):
    """Equal to the integers or to the program, or within what float32 leaves open, where one of these lies, too. Beside scales that
    are no powers of two integers have biases at the scale of the products, which the program and QONNX have not."""
    lo, hi = (np.broadcast_to(b.reshape(len(y), -1), y.shape) for b in (within.lo, within.hi))
    inside = (y >= lo) & (y <= hi)
    of = case.truths
    differ = min(((y != w) for w in of), key=np.sum)
    open_ = inside & (hi > lo) & np.any([(w >= lo) & (w <= hi) for w in of], 0)
    tight = hi - lo <= 1e-5 * max(1e-30, float(np.abs(y).max()))
    rounded.update({"outputs": y.size, "runs": 1, "certain": int((lo == hi).sum()), "tight": int(tight.sum())})
    if (~differ | open_).all():
        case.is_(stage, "near" if differ.any() else "equal")
        rounded.update({"differ": int(differ.sum()), "runs that differ": int(differ.any()), "loose": int((differ & ~tight).sum())})
        return
    at = int(np.argmax((differ & ~open_).ravel()))
    case.is_(stage, "wrong", "%d of %d outputs differ, %d beyond float32, %s is %r within [%r, %r]" % (
        differ.sum(), y.size, (differ & ~open_).sum(), " or ".join(repr(float(w.ravel()[at])) for w in of), float(y.ravel()[at]), float(lo.ravel()[at]), float(hi.ravel()[at])))


def run_runtime(case, path, within):
    for stage, optimise in (("ORT plain", False), ("ORT", True)):
        try:
            compare(case, stage, runtime(path, case.net.x, optimise), within)
        except Exception as what:  # whatever it has
            case.is_(stage, "wrong", "cannot run: %s" % str(what)[:300])


def read_again(args, case, ch, stage, path, within):
    """In integers; where these are refused, in float32 within the bounds."""
    words = ["predict", path, "--input", "x.npy", "--output", "again.npy", "--project", "p"]
    status, said = ch(args, case.folder, *words, "--engine", "int")
    if not status:
        y = case.load("again.npy")
        differ = min(int((y != w).sum()) for w in case.truths)
        if not differ:
            case.is_(stage, "equal")
        elif within:
            compare(case, stage, y, within)
        return
    unread[said.split(": ")[-1][:60]] += 1
    status, said = ch(args, case.folder, *words)
    if status:
        case.is_(stage, "refused" if status == 2 else "wrong", said)
    elif within:
        compare(case, stage, case.load("again.npy"), within)


def with_rounded_biases(args, case, ch, path):
    """What the program gives if its biases are those that the file has as codes, each at most half a step from its own; None: no such."""
    known = {t.name: onnx.numpy_helper.to_array(t) for t in onnx.load(path).graph.initializer}
    net, rounded_any = copy.deepcopy(case.net), False
    for n in net.nodes:
        for name in (n["name"] + ".bias", n["name"] + "_bias"):
            if name + "_codes" in known:
                scale = known[name + "_scale"].astype(np.float64)
                n["bias"] = (known[name + "_codes"] * scale).astype(np.float32)
                n["formats"].pop("bias", None)
                rounded_any = True
    if not rounded_any:
        return None
    folder = os.path.join(case.folder, "biases")
    os.makedirs(folder, exist_ok=True)
    net.write(folder)
    np.save(os.path.join(folder, "x.npy"), net.x)
    status, _ = ch(args, folder, "predict", "net.mg", *case.words, "--input", "x.npy", "--output", "y.npy", "--project", "p")
    return None if status else np.load(os.path.join(folder, "y.npy")).reshape(len(net.x), -1)


def run_qonnx(case, path, within):
    model = ModelWrapper(path)
    try:
        model.set_tensor_shape(model.graph.input[0].name, list(case.net.x.shape))
        model = model.transform(InferShapes())
        y = execute_onnx(model, {model.graph.input[0].name: case.net.x})[model.graph.output[0].name]
    except Exception as what:  # what the executor raises where it takes no such file
        case.is_("qonnx", "refused", str(what).replace("\n", " ")[:100])
        return
    compare(case, "qonnx", y.reshape(len(y), -1), within)


def bounds(case, stage, path):
    try:
        model = onnx.load(path)
        onnx.checker.check_model(model, full_check=True)
        return onnx_intervals.Model(model).run(case.net.x)
    except onnx_intervals.Unknown as what:
        case.is_(stage, "wrong", "no bounds of %s" % what)
    except Exception as what:  # whatever the checker says
        case.is_(stage, "wrong", "the checker: %s" % str(what)[:200])
    return None


def run(args, case, ch):
    if not STAGES:
        return
    status, said = ch(args, case.folder, "predict", "net.mg", *case.words, "--input", "x.npy", "--output", "plan.npy", "--project", "p")
    if status:
        case.is_(STAGES[0], "wrong", said)
        return
    case.truths = [case.got if case.wanted is None else case.wanted, case.load("plan.npy")]
    first = list(case.truths)
    for dialect, stage in (("qdq", "QDQ read"), ("qonnx", "QONNX read")):
        path = dialect + ".onnx"
        status, said = ch(args, case.folder, "convert", "net.mg", path, *case.words, "--dialect", dialect)
        stages = [stage] + (["ORT", "ORT plain"] if dialect == "qdq" else ["qonnx"] if ModelWrapper else [])
        if status:
            for s in stages:
                case.is_(s, "refused" if status == 2 else "wrong", said)
            continue
        full = os.path.join(case.folder, path)
        within = bounds(case, stage, full)
        y = with_rounded_biases(args, case, ch, full) if within else None
        case.truths = first + ([] if y is None else [y])
        if within and dialect == "qdq":
            run_runtime(case, full, within)
        if within and dialect == "qonnx" and ModelWrapper:
            run_qonnx(case, full, within)
        if within:
            read_again(args, case, ch, stage, path, within)
