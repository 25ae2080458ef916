"""random_integers_onnx.py - the exported files of random_integers.py.

As QuantizeLinear and DequantizeLinear, and as QONNX, a file is equal, near, refused or wrong: read again by ch predict
--engine int; where onnxruntime is installed, computed by it with its optimiser and without; where qonnx is installed,
by its executor. Read again, a file gives the bits of the engine. Others compute in float32: equal means the bits of
the engine, near within 1e-5 of what ch predict gives in float.
"""
import os

import numpy as np

try:
    import onnx
    import onnxruntime
except ImportError:
    onnxruntime = None
try:
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes
except ImportError:
    ModelWrapper = None

STAGES = ("QDQ read", "ORT", "ORT plain", "QONNX read", "qonnx")
NEAR = 1e-5
ABOUT = "ONNX Runtime: %s; qonnx: %s" % (onnxruntime.__version__ if onnxruntime else "not installed, skipped", "yes" if ModelWrapper else "not installed, skipped")


def run(args, case, ch):
    for dialect, file, stage in (("qdq", "q.onnx", "QDQ read"), ("qonnx", "b.onnx", "QONNX read")):
        status, said = ch(args, case.folder, "convert", "net.mg", file, *case.words, "--dialect", dialect)
        if status:
            case.is_(stage, "refused" if status == 2 else "wrong", "written: " + said)
            continue
        read_again(args, case, ch, file, stage)
        if dialect == "qdq" and onnxruntime:
            by_runtime(args, case, ch, file)
        if dialect == "qonnx" and ModelWrapper:
            by_qonnx(args, case, ch, file)


def read_again(args, case, ch, file, stage):
    status, said = ch(args, case.folder, "predict", file, "--engine", "int", "--input", "x.npy", "--output", "r.npy", "--project", "p")
    if status:
        case.is_(stage, "refused" if status == 2 else "wrong", "read: " + said)
    else:
        case.compare(stage, case.load("r.npy"), case.wanted)


def in_float(args, case, ch):
    """What ch predict gives by the plan; the integers where it does not."""
    if not hasattr(case, "float"):
        status, _ = ch(args, case.folder, "predict", "net.mg", *case.words, "--input", "x.npy", "--output", "f.npy", "--project", "p")
        case.float = case.wanted if status else case.load("f.npy")
    return case.float


def judge(args, case, ch, stage, y):
    y = y.reshape(len(y), -1)
    if y.shape == case.wanted.shape and (y == case.wanted).all():
        case.is_(stage, "equal")
        return
    near = in_float(args, case, ch)
    bound = NEAR * max(1.0, float(np.abs(near).max()))
    if y.shape == near.shape and ((np.abs(y - near) <= bound) | (np.abs(y - case.wanted) <= bound)).all():
        case.is_(stage, "near")
    else:
        case.is_(stage, "wrong", "%d of %d outputs differ" % ((np.abs(y - near) > bound).sum(), y.size) if y.shape == near.shape else "shape %s" % (y.shape,))


def by_runtime(args, case, ch, file):
    path = os.path.join(case.folder, file)
    for stage, level in (("ORT", onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL), ("ORT plain", onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = level
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        try:
            onnx.checker.check_model(path, full_check=True)
            session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
            y = session.run(None, {session.get_inputs()[0].name: case.net.x})[0]
        except Exception as why:  # onnxruntime has many kinds of its own
            case.is_(stage, "wrong", str(why).replace("\n", " ")[:300])
            continue
        judge(args, case, ch, stage, y)


def by_qonnx(args, case, ch, file):
    model = ModelWrapper(os.path.join(case.folder, file))
    try:
        model.set_tensor_shape(model.graph.input[0].name, list(case.net.x.shape))
        model = model.transform(InferShapes())
        y = execute_onnx(model, {model.graph.input[0].name: case.net.x})[model.graph.output[0].name]
    except Exception as why:  # what the executor raises where it takes no such file
        case.is_("qonnx", "refused", str(why).replace("\n", " ")[:100])
        return
    judge(args, case, ch, "qonnx", y)
