#!/usr/bin/env python3
"""Networks written as QONNX: the executor of the qonnx package gives our outputs, and so does the file read again.

usage: qonnx_out.py CH [ROWS]   status 77: no qonnx here, skipped
"""
import os
import subprocess
import sys
import tempfile

from checks import check, finish

try:
    import numpy as np
    import onnx
    from qonnx.core.modelwrapper import ModelWrapper
    from qonnx.core.onnx_exec import execute_onnx
    from qonnx.transformation.infer_shapes import InferShapes
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

CH = os.path.abspath(sys.argv[1])
ROWS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
FIXED = [f"{o}_{k}" for o in ("data_in", "weight", "bias") for k in ("width", "frac_width")]
make_model = onnx.helper.make_model


def older(*words, **options):
    """Of models that qonnx makes for ONNX Runtime, which takes older ones than onnx writes."""
    model = make_model(*words, **options)
    model.ir_version = min(model.ir_version, 10)
    return model


onnx.helper.make_model = older


def ch(*words):
    done = subprocess.run([CH, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"ch {' '.join(words)}: {done.stderr}")
    return done.stderr


def ours(x, *words):
    np.save("x.npy", x)
    ch("predict", *words, "--input", "x.npy", "--output", "y.npy", "--project", "p")
    return np.load("y.npy")


def section(name, rows, kind="linear"):
    return f'[passes.quantize.{kind}.config]\nname = "{name}"\n' + "".join(f"{k} = {v}\n" for k, v in rows.items())


def fixed(width, fraction):
    return {k: fraction if "frac" in k else width for k in FIXED}


def both(name, rows):
    """Of layers, and of the ReLU behind batch norms, which float32 computes in more than one way."""
    return section(name, rows) + section(name, rows, "relu")


RELU = section("integer", fixed(8, 4), "relu")


def one_bit(name, **rows):
    """Weights of another format."""
    return dict({k: v for k, v in fixed(8, 4).items() if not k.startswith("weight")}, weight_name=name, **rows)


def compare(name, model, data, config, x, train=(), exact=True, executes=True):
    """One network in some formats: written, computed by qonnx where it takes the widths, and read again."""
    with open(f"{name}.toml", "w", encoding="utf-8") as f:
        f.write('[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n' + config)
    words = ("--config", f"{name}.toml")
    if train:
        ch("train", model, data, *words, "--max-epochs", "1", "--project", name, *train)
        source, ran = ("mase_output/" + name,), ("mase_output/" + name, "--load", "mase_output/" + name)
    else:
        source, ran = (model, data, words), (model, data, "--load", "mase_output/float_" + model, *words)
    said = ch("convert", source[0], f"{name}.onnx", "--dialect", "qonnx", *(("--load", "mase_output/float_" + model, "--dataset", data, *words) if not train else ()))
    want = ours(x, *ran)
    if executes:
        compare_executor(name, x, want, exact)
    again = ours(x, f"{name}.onnx")
    check(f"{name}: read again, {int((again != want).sum())} differ", np.array_equal(again, want))
    if exact:
        check(f"{name}: and in integers", np.array_equal(ours(x, f"{name}.onnx", "--engine", "int"), ours(x, *ran, "--engine", "int")))
    return said


def compare_executor(name, x, want, exact):
    file = ModelWrapper(f"{name}.onnx")
    file.set_tensor_shape(file.graph.input[0].name, list(x.shape))
    file.set_tensor_shape(file.graph.output[0].name, list(want.shape))
    file = file.transform(InferShapes())
    got = execute_onnx(file, {file.graph.input[0].name: x})[file.graph.output[0].name]
    kinds = {n.op_type for n in file.graph.node if n.domain}
    near = np.abs(got - want).max() <= 1e-5 * max(1, np.abs(want).max())
    differ = int((got != want).sum())
    check(f"{name}: the executor's outputs, {differ} of {want.size} differ, {kinds}", (differ == 0 if exact else near) and kinds)


def main():
    os.chdir(tempfile.mkdtemp())
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal(0, s, (ROWS, 16)) for s in (1, 5)]).astype(np.float32)
    for model in ("jsc-toy", "jsc-s"):
        ch("train", model, "jsc-sim", "--max-epochs", "1", "--max-steps", "200", "--learning-rate", "1e-2", "--project", f"float_{model}")
    for width, fraction in ((8, 4), (6, 3), (4, 2)):
        for model in ("jsc-toy", "jsc-s"):
            compare(f"{model}-{width}", model, "jsc-sim", both("integer", fixed(width, fraction)), x)
    compare("floor", "jsc-toy", "jsc-sim", both("integer_floor", fixed(7, 3)), x)
    compare("ternary", "jsc-toy", "jsc-sim", section("integer", one_bit('"ternary"', weight_width=2, weight_scaling_factor="true", weight_mean='"NA"', weight_median='"NA"', weight_max='"NA"')) + RELU, x, exact=False)
    compare("binary", "jsc-toy", "jsc-sim", section("integer", one_bit('"binary"', weight_width=1, weight_bipolar="true", weight_stochastic="false")) + RELU, x)
    compare("bipolar", "jsc-toy", "jsc-sim", section("binary", {f"{o}_{k}": v for o in ("data_in", "weight", "bias")
                                                               for k, v in (("width", 1), ("bipolar", "true"), ("stochastic", "false"))}) + RELU, x)
    learned = {"data_in_width": 6, "weight_width": 6, "weight_block_size": 1, "bias_width": 6, "bias_block_size": 1}
    compare("learned", "jsc-s", "jsc-sim", section("hgq", learned) + RELU, x, ("--max-steps", "300", "--learning-rate", "5e-3", "--ebops-weight", "1e-5"))
    compare("channels", "jsc-s", "jsc-sim", section("hgq", dict(learned, data_in_axis=1)) + RELU, x, ("--max-steps", "300", "--learning-rate", "5e-3", "--ebops-weight", "1e-5"),
            executes=False)
    lsq = {"data_in_width": 5, "weight_width": 3, "weight_axis": 0, "bias_name": '"NA"'}
    compare("lsq", "jsc-toy", "jsc-sim", section("lsq", lsq), x, ("--max-steps", "200", "--learning-rate", "1e-3"), exact=False)
    said = ch("convert", "jsc-toy", "any.onnx", "--dataset", "jsc-sim", "--load", "mase_output/float_jsc-toy", "--config", "floor.toml")
    check("what QuantizeLinear cannot say is QONNX, and it is said", "any.onnx is in QONNX: " in said and "integer_floor" in said)
    finish()


main()
