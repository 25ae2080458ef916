#!/usr/bin/env python3
"""Write cases.txt: every operation of ops.def, called as PyTorch calls it, with PyTorch's results.

    python3 generate.py > cases.txt          (needs torch; any recent version, CPU)

A case is a small program, one statement a line:

    case OP                                   the row of ops.def that it exercises
    input NAME TYPE[SHAPE] = VALUES           a placeholder
    attr PATH TYPE[SHAPE] = VALUES            what get_attr reads
    module PATH CLASS ARGS KWARGS             a layer, as its constructor is called
    param PATH.NAME TYPE[SHAPE] = VALUES      one of its parameters or buffers
    NAME = KIND TARGET ARGS KWARGS            a node: function, method, module or get_attr
    return ARG                                what the graph returns
    expect TYPE[SHAPE] = VALUES               a tensor of the result, in order
    expect LITERAL                            or a plain value
    expect tuple                              before the tensors when they come as a tuple

Arguments are Python literals with %NAME for nodes. Values are printed with nine digits, which keeps
a float32; inputs are multiples of 1/16, which keeps them short. Evaluation mode throughout.
"""

import torch
import torch.nn as nn
import torch.nn.functional as F  # noqa: F401  (targets are evaluated by name)

torch.manual_seed(7)
torch.set_grad_enabled(False)

DTYPES = {
    torch.float32: "f32",
    torch.float64: "f64",
    torch.int64: "i64",
    torch.int32: "i32",
    torch.uint8: "u8",
    torch.bool: "bool",
}


# ---- values ----


def grid(*shape, scale=1.0):
    """Floats on a grid of 1/16."""
    return torch.round(torch.randn(*shape) * 16 * scale) / 16


def positive(*shape):
    return grid(*shape).abs() + 0.0625


def ints(low, high, *shape, dtype=torch.int64):
    return torch.randint(low, high, shape, dtype=dtype)


def mask(*shape):
    return torch.rand(*shape) > 0.5


# ---- text ----


def literal(a, names):
    """A Python literal; tensors become %NAME."""
    if isinstance(a, torch.Tensor):
        return "%" + names[id(a)]
    if isinstance(a, (tuple, torch.Size)):
        inner = ", ".join(literal(x, names) for x in a)
        return "(%s%s)" % (inner, "," if len(a) == 1 else "")
    if isinstance(a, list):
        return "[%s]" % ", ".join(literal(x, names) for x in a)
    if isinstance(a, dict):
        return "{%s}" % ", ".join("%r: %s" % (k, literal(v, names)) for k, v in a.items())
    if isinstance(a, Node):
        return "%" + a.name
    return repr(a)  # numbers, strings, None, Ellipsis, slices, torch.float32


def tensor_text(t):
    flat = t.flatten().tolist()
    if t.dtype in (torch.float32, torch.float64):
        values = " ".join("%.9g" % v for v in flat)
    else:
        values = " ".join("%d" % v for v in flat)
    return "%s%s = %s" % (DTYPES[t.dtype], list(t.shape), values)


def expect(v):
    if isinstance(v, torch.Tensor):
        print("expect", tensor_text(v))
    elif isinstance(v, (tuple, list)) and any(isinstance(x, torch.Tensor) for x in v):
        print("expect tuple")
        for x in v:
            expect(x)
    else:
        print("expect", literal(v, {}))


class Node:
    def __init__(self, name):
        self.name = name


# ---- cases ----


def tensors_in(a):
    if isinstance(a, torch.Tensor):
        return [a]
    if isinstance(a, (tuple, list)):
        return [t for x in a for t in tensors_in(x)]
    if isinstance(a, dict):
        return tensors_in(list(a.values()))
    return []


def begin(op, args, kwargs):
    """Print the case's head and inputs; returns the inputs' names by identity."""
    print("case", op)
    names = {}
    for t in tensors_in([list(args), kwargs]):
        if id(t) not in names:
            names[id(t)] = "x%d" % len(names)
            print("input", names[id(t)], tensor_text(t))
    return names


def finish(op, kind, target, args, kwargs, names, result):
    print("y = %s %s %s %s" % (kind, target, literal(tuple(args), names), literal(kwargs, names)))
    print("return %y")
    expect(result)
    print()


def function(op, target, *args, run=None, **kwargs):
    """A call of the function that target names (or of run, for what PyTorch has not)."""
    names = begin(op, args, kwargs)
    f = run if run else eval(target, {"torch": torch, "operator": __import__("operator"),
                                      "math": __import__("math"), "builtins": __import__("builtins")})
    finish(op, "function", target, args, kwargs, names, f(*args, **kwargs))


def method(op, target, *args, **kwargs):
    names = begin(op, args, kwargs)
    x = args[0].clone() if isinstance(args[0], torch.Tensor) else args[0]
    finish(op, "method", target, args, kwargs, names, getattr(x, target)(*args[1:], **kwargs))


def module(op, cls, ctor=(), ctor_kw=None, inputs=(), randomise=True):
    """A layer with parameters on the grid, called on inputs."""
    ctor_kw = ctor_kw or {}
    m = getattr(nn, cls)(*ctor, **ctor_kw).eval()
    names = begin(op, inputs, {})
    print("module m %s %s %s" % (cls, literal(tuple(ctor), {}), literal(ctor_kw, {})))
    for name, p in list(m.named_parameters()) + list(m.named_buffers()):
        if p.dtype == torch.float32 and randomise:
            p.copy_(positive(*p.shape) if name == "running_var" else grid(*p.shape, scale=0.5))
        if p.dtype == torch.float32:
            print("param m.%s %s" % (name, tensor_text(p)))
    finish(op, "module", "m", inputs, {}, names, m(*inputs))


def program(op, inputs, lines, returned, result):
    """Several nodes; inputs by name."""
    print("case", op)
    for name, t in inputs.items():
        print("input", name, tensor_text(t))
    for line in lines:
        print(line)
    print("return", returned)
    expect(result)
    print()


# ---- the graph itself ----

w = grid(2, 3)
print("case constant\nattr block.w %s\ny = get_attr block.w () {}\nreturn %%y" % tensor_text(w))
expect(w)
print()
w = ints(-3, 4, 2)
print("case constant\nattr _tensor_constant0 %s\ny = get_attr _tensor_constant0 () {}\nreturn %%y"
      % tensor_text(w))
expect(w)
print()

# ---- dense layers and products ----

module("linear", "Linear", (5, 3), {}, (grid(2, 5),))
module("linear", "Linear", (5, 3), {"bias": False}, (grid(2, 2, 5),))
module("linear", "Linear", (4, 2), {}, (grid(4),))
function("linear", "torch._C._nn.linear", grid(3, 4), grid(2, 4), grid(2))
function("linear", "torch.nn.functional.linear", grid(3, 4), grid(2, 4))
module("bilinear", "Bilinear", (3, 4, 2), {}, (grid(5, 3), grid(5, 4)))
function("bilinear", "torch.nn.functional.bilinear", grid(2, 3), grid(2, 2), grid(4, 3, 2))
function("matmul", "operator.matmul", grid(2, 3), grid(3, 4))
function("matmul", "torch.matmul", grid(3), grid(3))
function("matmul", "torch.matmul", grid(2, 3), grid(3))
function("matmul", "torch.matmul", grid(3), grid(2, 3, 2))
function("matmul", "torch.matmul", grid(2, 1, 2, 3), grid(3, 3, 2))
function("matmul", "torch.matmul", ints(-3, 4, 2, 3), ints(-3, 4, 3, 2))
method("matmul", "matmul", grid(2, 2, 3), grid(3, 2))
function("bmm", "torch.bmm", grid(2, 2, 3), grid(2, 3, 4))
method("bmm", "bmm", grid(3, 1, 2), grid(3, 2, 1))
function("addmm", "torch.addmm", grid(4), grid(2, 3), grid(3, 4))
function("addmm", "torch.addmm", grid(2, 4), grid(2, 3), grid(3, 4), beta=0.5, alpha=2)
function("addmm", "torch.addmm", grid(2, 1), grid(2, 3), grid(3, 4), beta=0)
function("baddbmm", "torch.baddbmm", grid(2, 2, 2), grid(2, 2, 3), grid(2, 3, 2))
function("baddbmm", "torch.baddbmm", grid(1, 2, 2), grid(2, 2, 3), grid(2, 3, 2), beta=2, alpha=0.5)


def gemm(a, b, c=None, alpha=1.0, beta=1.0, transA=0, transB=0):
    y = alpha * ((a.t() if transA else a) @ (b.t() if transB else b))
    return y if c is None else y + beta * c


function("gemm", "onnx.gemm", grid(2, 3), grid(3, 4), run=gemm)
function("gemm", "onnx.gemm", grid(3, 2), grid(4, 3), grid(4), run=gemm, alpha=0.5, beta=2.0, transA=1,
         transB=1)
function("gemm", "chop.models.onnx.gemm", grid(2, 3), grid(4, 3), grid(2, 1), 1.0, 1.0, 0, 1, run=gemm)
SDPA = "torch.nn.functional.scaled_dot_product_attention"
function("scaled_dot_product_attention", SDPA, grid(1, 2, 3, 4), grid(1, 2, 5, 4), grid(1, 2, 5, 2))
function("scaled_dot_product_attention", SDPA, grid(3, 4), grid(3, 4), grid(3, 4), is_causal=True)
function("scaled_dot_product_attention", SDPA, grid(2, 3, 4), grid(2, 3, 4), grid(2, 3, 4), grid(3, 3))
function("scaled_dot_product_attention", "torch._C._nn.scaled_dot_product_attention", grid(2, 2, 4),
         grid(2, 3, 4), grid(2, 3, 2), attn_mask=torch.tensor([[True, False, True], [False, True, True]]),
         scale=0.25)

function("scaled_dot_product_attention", SDPA, grid(2, 4), grid(3, 4), grid(3, 2),
         attn_mask=torch.tensor([[False, False, False], [True, True, False]]))
function("scaled_dot_product_attention", SDPA, grid(2, 1, 2, 4), grid(1, 3, 2, 4), grid(2, 3, 2, 2))

# ---- convolutions ----

module("conv1d", "Conv1d", (2, 3, 3), {}, (grid(2, 2, 6),))
module("conv1d", "Conv1d", (2, 2, 2), {"stride": 2, "padding": 1, "dilation": 2, "bias": False},
       (grid(1, 2, 7),))
module("conv1d", "Conv1d", (2, 2, 4), {"padding": "same", "dilation": 1}, (grid(1, 2, 5),))
function("conv1d", "torch.conv1d", grid(2, 5), grid(3, 2, 2), grid(3))
module("conv2d", "Conv2d", (2, 3, 3), {}, (grid(1, 2, 5, 4),))
module("conv2d", "Conv2d", (2, 4, (2, 3)), {"stride": (2, 1), "padding": (0, 1), "groups": 2},
       (grid(2, 2, 5, 4),))
module("conv2d", "Conv2d", (1, 2, 3), {"padding": "valid", "dilation": (1, 2)}, (grid(1, 1, 5, 6),))
module("conv2d", "Conv2d", (2, 1, (2, 3)), {"padding": "same", "dilation": (2, 1)}, (grid(1, 2, 4, 4),))
for mode in ("reflect", "replicate", "circular"):
    module("conv2d", "Conv2d", (1, 2, 3), {"padding": (1, 2), "padding_mode": mode, "bias": False},
           (grid(1, 1, 4, 4),))
module("conv2d", "Conv2d", (4, 4, 3), {"groups": 4, "stride": 3, "padding": 4}, (grid(4, 3, 3),))
function("conv2d", "torch.conv2d", grid(1, 2, 3, 3), grid(2, 2, 2, 2))
function("conv2d", "torch.nn.functional.conv2d", grid(1, 4, 3, 3), grid(2, 2, 3, 3), grid(2), 1, 1, 1, 2)
module("conv3d", "Conv3d", (1, 2, 2), {}, (grid(1, 1, 3, 3, 3),))
module("conv3d", "Conv3d", (2, 2, (1, 2, 3)), {"stride": (1, 2, 1), "padding": (1, 0, 1), "groups": 2},
       (grid(1, 2, 2, 4, 3),))
function("conv3d", "torch.conv3d", grid(1, 2, 3, 2), grid(2, 1, 2, 2, 1), padding=1)
module("convtranspose2d", "ConvTranspose2d", (2, 3, 3), {}, (grid(1, 2, 3, 2),))
module("convtranspose2d", "ConvTranspose2d", (4, 2, (2, 3)),
       {"stride": 2, "padding": (0, 1), "output_padding": 1, "groups": 2, "bias": False},
       (grid(2, 4, 2, 3),))
module("convtranspose2d", "ConvTranspose2d", (1, 2, 2), {"dilation": 2, "padding": 1}, (grid(1, 4, 3),))
function("convtranspose2d", "torch.conv_transpose2d", grid(1, 1, 2, 2), grid(1, 2, 2, 2), None, 2)

# ---- pooling and resampling ----

module("adaptive_avg_pool1d", "AdaptiveAvgPool1d", (3,), {}, (grid(1, 2, 7),))
function("adaptive_avg_pool1d", "torch.adaptive_avg_pool1d", grid(2, 5), (2,))
function("adaptive_avg_pool1d", "torch.nn.functional.adaptive_avg_pool1d", grid(1, 1, 3), 5)
module("adaptive_avg_pool2d", "AdaptiveAvgPool2d", ((1, 1),), {}, (grid(2, 2, 3, 3),))
module("adaptive_avg_pool2d", "AdaptiveAvgPool2d", ((2, None),), {}, (grid(1, 2, 5, 3),))
function("adaptive_avg_pool2d", "torch._C._nn.adaptive_avg_pool2d", grid(2, 5, 7), (3, 4))
function("adaptive_avg_pool2d", "torch.nn.functional.adaptive_avg_pool2d", grid(1, 1, 4, 4), 3)
module("adaptive_max_pool1d", "AdaptiveMaxPool1d", (3,), {}, (grid(1, 2, 7),))
module("adaptive_max_pool1d", "AdaptiveMaxPool1d", (2,), {"return_indices": True}, (grid(1, 2, 5),))
function("adaptive_max_pool1d", "torch.nn.functional.adaptive_max_pool1d", grid(2, 6), 4)
module("adaptive_max_pool2d", "AdaptiveMaxPool2d", ((2, 3),), {}, (grid(1, 2, 5, 4),))
module("adaptive_max_pool2d", "AdaptiveMaxPool2d", ((None, 2),), {"return_indices": True},
       (grid(1, 1, 3, 4),))
function("adaptive_max_pool2d", "torch.nn.functional.adaptive_max_pool2d", grid(1, 1, 4, 5), 2)
module("avg_pool1d", "AvgPool1d", (2,), {}, (grid(1, 2, 5),))
module("avg_pool1d", "AvgPool1d", (3,), {"stride": 2, "padding": 1, "count_include_pad": False},
       (grid(1, 2, 6),))
function("avg_pool1d", "torch.avg_pool1d", grid(2, 6), 3, 2, 1, True)
module("avg_pool2d", "AvgPool2d", (2,), {}, (grid(1, 2, 4, 5),))
module("avg_pool2d", "AvgPool2d", (3,), {"stride": 2, "padding": 1, "ceil_mode": True}, (grid(1, 1, 6, 5),))
module("avg_pool2d", "AvgPool2d", ((2, 3),), {"stride": (2, 1), "padding": (1, 1), "ceil_mode": True,
                                             "count_include_pad": False}, (grid(1, 1, 5, 4),))
function("avg_pool2d", "torch._C._nn.avg_pool2d", grid(2, 4, 4), 2, [], 0, False, True, 3)
function("avg_pool2d", "torch.nn.functional.avg_pool2d", grid(1, 1, 3, 3), 2, 1)
module("max_pool1d", "MaxPool1d", (2,), {}, (grid(1, 2, 5),))
module("max_pool1d", "MaxPool1d", (3, 2, 1), {"ceil_mode": True}, (grid(1, 2, 6),))
function("max_pool1d", "torch.max_pool1d", grid(2, 7), 2, 2, 0, 3)
module("max_pool1d", "MaxPool1d", (2,), {"return_indices": True}, (grid(1, 2, 4),))
module("max_pool2d", "MaxPool2d", (2,), {}, (grid(1, 2, 4, 5),))
module("max_pool2d", "MaxPool2d", (3,), {"stride": 2, "padding": 1}, (grid(1, 2, 5, 6),))
module("max_pool2d", "MaxPool2d", ((2, 3),), {"stride": 2, "ceil_mode": True}, (grid(1, 1, 5, 6),))
module("max_pool2d", "MaxPool2d", (2,), {"dilation": 2, "stride": 1, "return_indices": True},
       (grid(1, 1, 5, 4),))
function("max_pool2d", "torch.nn.functional.max_pool2d", grid(1, 1, 4, 4), 2, stride=None, padding=0,
         dilation=1, ceil_mode=False, return_indices=False)
module("upsample", "Upsample", (), {"scale_factor": 2}, (grid(1, 2, 2, 3),))
module("upsample", "Upsample", (), {"size": 5}, (grid(1, 2, 3),))
module("upsample", "Upsample", (), {"scale_factor": 1.5, "mode": "nearest-exact"}, (grid(1, 1, 5),))
module("upsample", "Upsample", (), {"scale_factor": 2.5, "mode": "nearest"}, (grid(1, 1, 3),))
module("upsample", "Upsample", (), {"scale_factor": 2, "mode": "bilinear"}, (grid(1, 1, 3, 2),))
module("upsample", "Upsample", (), {"size": (4, 5), "mode": "bilinear", "align_corners": True},
       (grid(1, 1, 3, 2),))
module("upsample", "Upsample", (), {"size": 7, "mode": "linear"}, (grid(1, 2, 3),))
module("upsample", "Upsample", (), {"scale_factor": 1.7, "mode": "linear"}, (grid(1, 1, 4),))
function("upsample", "torch.nn.functional.interpolate", grid(1, 1, 4), scale_factor=1.7, mode="linear",
         recompute_scale_factor=True)
function("upsample", "torch.nn.functional.interpolate", grid(1, 1, 2, 2, 2), size=(3, 2, 4),
         mode="trilinear")
function("upsample", "torch.nn.functional.interpolate", grid(1, 1, 5, 4), scale_factor=(0.5, 1.0))

# ---- normalisation ----

BN = "torch.nn.functional.batch_norm"
function("batch_norm", BN, grid(2, 3), grid(3), positive(3), grid(3), grid(3))
function("batch_norm", BN, grid(2, 3, 2), grid(3), positive(3), eps=0.5)
function("batch_norm", BN, grid(2, 3, 2), None, None, grid(3), grid(3), True)
module("batch_norm1d", "BatchNorm1d", (4,), {}, (grid(3, 4),))
module("batch_norm1d", "BatchNorm1d", (2,), {"eps": 0.1, "affine": False}, (grid(2, 2, 3),))
module("batch_norm1d", "BatchNorm1d", (2,), {"track_running_stats": False}, (grid(3, 2, 2),))
module("batch_norm2d", "BatchNorm2d", (2,), {}, (grid(2, 2, 2, 3),))
module("batch_norm2d", "BatchNorm2d", (3,), {"affine": False}, (grid(1, 3, 2, 2),))
module("batch_norm3d", "BatchNorm3d", (2,), {}, (grid(1, 2, 2, 2, 2),))
module("instance_norm1d", "InstanceNorm1d", (2,), {}, (grid(2, 2, 4),))
module("instance_norm1d", "InstanceNorm1d", (2,), {"affine": True}, (grid(2, 4),))
module("instance_norm1d", "InstanceNorm1d", (2,), {"affine": True, "track_running_stats": True},
       (grid(2, 2, 3),))
module("instance_norm2d", "InstanceNorm2d", (2,), {}, (grid(2, 2, 3, 2),))
module("instance_norm2d", "InstanceNorm2d", (2,), {"affine": True, "eps": 0.25}, (grid(2, 3, 2),))
function("instance_norm2d", "torch.nn.functional.instance_norm", grid(2, 2, 3), weight=grid(2), bias=grid(2))
function("instance_norm2d", "torch.nn.functional.instance_norm", grid(1, 2, 2, 2), grid(2), positive(2),
         use_input_stats=False)
module("layer_norm", "LayerNorm", (4,), {}, (grid(2, 3, 4),))
module("layer_norm", "LayerNorm", ((2, 3),), {"eps": 0.1}, (grid(2, 2, 3),))
module("layer_norm", "LayerNorm", (3,), {"elementwise_affine": False}, (grid(2, 3),))
function("layer_norm", "torch.nn.functional.layer_norm", grid(2, 4), (4,), grid(4))
if hasattr(torch.nn, "RMSNorm"):  # of PyTorch 2.4
    module("rms_norm", "RMSNorm", (4,), {}, (grid(2, 3, 4),))
    module("rms_norm", "RMSNorm", ((2, 3),), {"eps": 0.1}, (grid(2, 2, 3),))
    module("rms_norm", "RMSNorm", (3,), {"elementwise_affine": False}, (grid(2, 3),))
    function("rms_norm", "torch.nn.functional.rms_norm", grid(2, 4), (4,), grid(4), 0.25)
module("group_norm", "GroupNorm", (2, 4), {}, (grid(2, 4, 3),))
module("group_norm", "GroupNorm", (3, 3), {"affine": False}, (grid(1, 3, 2, 2),))
function("group_norm", "torch.nn.functional.group_norm", grid(2, 4), 1, grid(4), grid(4), 0.5)

# ---- activations ----

SOFT = grid(2, 6, scale=2.0)
for op, cls, kws in (
    ("relu", "ReLU", [{}, {"inplace": True}]),
    ("relu6", "ReLU6", [{}]),
    ("leaky_relu", "LeakyReLU", [{}, {"negative_slope": 0.25}]),
    ("elu", "ELU", [{}, {"alpha": 0.5}]),
    ("selu", "SELU", [{}]),
    ("silu", "SiLU", [{}]),
    ("gelu", "GELU", [{}, {"approximate": "tanh"}]),
    ("sigmoid", "Sigmoid", [{}]),
    ("tanh", "Tanh", [{}]),
    ("hardtanh", "Hardtanh", [{}, {"min_val": -0.5, "max_val": 2.0}]),
    ("hardswish", "Hardswish", [{}]),
    ("hardsigmoid", "Hardsigmoid", [{}]),
    ("hardshrink", "Hardshrink", [{}, {"lambd": 1.0}]),
    ("softshrink", "Softshrink", [{}, {"lambd": 1.0}]),
    ("softplus", "Softplus", [{}, {"beta": 2.0, "threshold": 1.5}]),
    ("softsign", "Softsign", [{}]),
    ("logsigmoid", "LogSigmoid", [{}]),
):
    for kw in kws:
        module(op, cls, (), kw, (SOFT.clone(),))
for op, target in (
    ("relu", "torch.nn.functional.relu"), ("relu", "torch.relu"), ("relu6", "torch.nn.functional.relu6"),
    ("leaky_relu", "torch.nn.functional.leaky_relu"), ("elu", "torch.nn.functional.elu"),
    ("selu", "torch.selu"), ("silu", "torch.nn.functional.silu"), ("gelu", "torch._C._nn.gelu"),
    ("sigmoid", "torch.sigmoid"), ("tanh", "torch.tanh"), ("hardtanh", "torch.nn.functional.hardtanh"),
    ("hardswish", "torch.nn.functional.hardswish"), ("hardsigmoid", "torch.nn.functional.hardsigmoid"),
    ("hardshrink", "torch.hardshrink"), ("softshrink", "torch._C._nn.softshrink"),
    ("softplus", "torch._C._nn.softplus"), ("softsign", "torch.nn.functional.softsign"),
    ("logsigmoid", "torch._C._nn.log_sigmoid"),
):
    function(op, target, grid(5, scale=8.0))
function("relu", "torch.relu", ints(-3, 4, 5))
method("relu", "relu", grid(3))
method("sigmoid", "sigmoid", ints(-3, 4, 5))
method("tanh", "tanh", ints(-3, 4, 5))
module("softmax", "Softmax", (), {"dim": 1}, (SOFT,))
module("softmax", "Softmax", (), {"dim": -2}, (grid(2, 3, 2),))
for shape in ((4,), (2, 3), (2, 2, 2), (1, 2, 2, 2)):
    x = grid(*shape)
    d = 0 if len(shape) in (1, 3) else 1
    names = begin("softmax", (x,), {})
    finish("softmax", "function", "torch.nn.functional.softmax", (x,), {}, names, F.softmax(x, dim=d))
function("softmax", "torch.nn.functional.softmax", grid(2, 3), dim=1, _stacklevel=3, dtype=None)
method("softmax", "softmax", grid(2, 3), -1)
module("log_softmax", "LogSoftmax", (), {"dim": 1}, (SOFT,))
function("log_softmax", "torch.log_softmax", grid(2, 3, 2), 1)
method("softmax", "softmax", SOFT, 1, torch.float64)

# ---- layers that pass on or pick ----

module("identity", "Identity", (), {}, (grid(2, 3),))
module("dropout", "Dropout", (0.3,), {}, (grid(2, 3),))
x = grid(2, 3)
names = begin("dropout", (x,), {})
finish("dropout", "function", "torch.nn.functional.dropout", (x,),
       {"p": 0.5, "training": False, "inplace": False}, names, x)
module("dropout2d", "Dropout2d", (), {}, (grid(1, 2, 2, 2),))
module("embedding", "Embedding", (5, 3), {}, (ints(0, 5, 2, 3),))
module("embedding", "Embedding", (4, 2), {"padding_idx": 0}, (ints(0, 4, 3),))
function("embedding", "torch.nn.functional.embedding", ints(0, 4, 3), grid(4, 2))
CE = "torch.nn.functional.cross_entropy"
module("crossentropyloss", "CrossEntropyLoss", (), {}, (grid(4, 3), ints(0, 3, 4)))
module("crossentropyloss", "CrossEntropyLoss", (), {"label_smoothing": 0.1, "reduction": "sum"},
       (grid(4, 3), ints(0, 3, 4)))
module("crossentropyloss", "CrossEntropyLoss", (), {"ignore_index": 1, "reduction": "none"},
       (grid(4, 3), torch.tensor([0, 1, 2, 1])))
function("crossentropyloss", CE, grid(4, 3), torch.tensor([0, 1, 2, 1]), positive(3), ignore_index=0)
function("crossentropyloss", CE, grid(4, 3), torch.tensor([0, 1, 2, 1]), positive(3), label_smoothing=0.25)
function("crossentropyloss", CE, grid(2, 3, 2), ints(0, 3, 2, 2))
function("crossentropyloss", CE, grid(2, 3, 2), ints(0, 3, 2, 2), positive(3), reduction="none")
function("crossentropyloss", CE, grid(3), torch.tensor(2))
function("crossentropyloss", CE, grid(2, 3), torch.tensor([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]))
function("crossentropyloss", CE, grid(2, 3), torch.tensor([[0.25, 0.5, 0.25], [1.0, 0.0, 0.0]]),
         positive(3), label_smoothing=0.5, reduction="sum")

# ---- arithmetic ----

for op, target, name in (("add", "operator.add", "add"), ("sub", "operator.sub", "sub"),
                         ("mul", "operator.mul", "mul"), ("div", "operator.truediv", "div")):
    function(op, target, grid(2, 3), grid(2, 3))
    function(op, target, grid(2, 1, 3), positive(4, 1))
    function(op, target, grid(2, 2), 2)
    function(op, target, 2, positive(3))
    function(op, target, ints(-5, 6, 4), ints(1, 4, 4))
    function(op, target, ints(-5, 6, 3), 0.5)
    function(op, target, ints(-5, 6, 3), positive(1, 3))
    function(op, target, ints(0, 6, 3, dtype=torch.int32), torch.tensor(3))
    function(op, target, 7, 2)
    function(op, target, 7.5, 2)
    method(op, name, grid(2, 2), grid(2))
function("add", "torch.add", grid(3), grid(3), alpha=2)
function("add", "operator.add", mask(4), mask(4))
function("add", "operator.add", (2, 3), (4,), run=lambda a, b: a + b)
function("add", "operator.add", grid(2).double(), grid(2))
function("sub", "torch.sub", grid(3), grid(3), alpha=0.5)
function("mul", "operator.mul", mask(4), grid(4))
function("div", "torch.div", grid(4, scale=4.0), positive(4), rounding_mode="floor")
function("div", "torch.div", ints(-9, 9, 4), ints(1, 4, 4), rounding_mode="trunc")
function("floordiv", "operator.floordiv", grid(4, scale=4.0), positive(4))
function("floordiv", "operator.floordiv", ints(-9, 9, 5), 2)
function("floordiv", "operator.floordiv", 7, 2)
function("floordiv", "operator.floordiv", -7, 2)
function("floordiv", "torch.floor_divide", ints(-9, 9, 5), ints(1, 4, 5))
function("pow", "operator.pow", grid(4), 2)
function("pow", "operator.pow", 2, grid(3))
function("pow", "operator.pow", 2, 10)
function("pow", "operator.pow", 2, -1)
function("pow", "torch.pow", positive(3), grid(3))
function("pow", "torch.pow", ints(-3, 4, 4), 3)
function("pow", "torch.pow", positive(3), -0.5)
for op, target, x in (
    ("neg", "operator.neg", grid(4)), ("neg", "torch.neg", ints(-3, 4, 4)), ("neg", "operator.neg", 3),
    ("abs", "torch.abs", grid(4)), ("abs", "builtins.abs", ints(-3, 4, 4)), ("abs", "builtins.abs", -2.5),
    ("sqrt", "torch.sqrt", positive(4)), ("sqrt", "torch.sqrt", ints(0, 9, 4)), ("sqrt", "math.sqrt", 16),
    ("exp", "torch.exp", grid(4)), ("exp", "math.exp", 1.5),
    ("log", "torch.log", positive(4)), ("log", "torch.log", ints(1, 9, 3)), ("log", "math.log", 2),
    ("erf", "torch.erf", grid(6)), ("sin", "torch.sin", grid(4)), ("cos", "torch.cos", grid(4)),
    ("tan", "torch.tan", grid(4)), ("sinh", "torch.sinh", grid(4)), ("cosh", "torch.cosh", grid(4)),
    ("round", "torch.round", torch.tensor([0.5, 1.5, -0.5, 2.5, 1.25, -1.75])),
    ("round", "builtins.round", 2.5), ("floor", "torch.floor", grid(5, scale=2.0)),
    ("floor", "math.floor", -2.5),
):
    function(op, target, x)
for op in ("neg", "abs", "exp", "erf", "sin", "cos", "tan", "sinh", "cosh", "round", "floor"):
    method(op, op, grid(3))
function("clamp", "torch.clamp", grid(6, scale=2.0), -1, 1)
function("clamp", "torch.clamp", grid(6, scale=2.0), min=0.25)
function("clamp", "torch.clamp", ints(-9, 9, 5), max=2)
function("clamp", "torch.clamp", ints(-9, 9, 5), 0.5, 3.5)
function("clamp", "torch.clamp", grid(2, 3), grid(3), grid(2, 1))
method("clamp", "clamp", grid(4), 2.0, 1.0)

# ---- comparison and logic ----

for op in ("eq", "ne", "ge", "gt", "le", "lt"):
    function(op, "operator." + op, ints(0, 3, 6), ints(0, 3, 6))
    function(op, "operator." + op, grid(2, 2), 0)
    function(op, "torch." + op, torch.tensor([[0.5], [1.0]]), torch.tensor([0.5, 0.75, 1.0]))
    function(op, "operator." + op, 2, 3)
    method(op, op, grid(4), grid(4))
function("eq", "operator.eq", (2, 3), (2, 3))
function("ne", "operator.ne", "a", "b")
function("not", "torch.logical_not", mask(4))
function("not", "torch.logical_not", torch.tensor([0.0, 2.0]))
function("not", "operator.not_", 0)
function("invert", "operator.invert", mask(4))
function("invert", "torch.bitwise_not", ints(-4, 4, 5))
function("invert", "torch.bitwise_not", ints(0, 256, 4, dtype=torch.uint8))
function("invert", "operator.invert", 5)
function("where", "torch.where", mask(2, 3), grid(2, 3), grid(3))
function("where", "torch.where", mask(4), grid(4), 0.0)
function("where", "torch.where", mask(4), 1, ints(0, 5, 4))
method("tensor_where", "where", grid(2, 3), mask(2, 3), grid(3))
method("tensor_where", "where", grid(4), mask(4), 0.0)
function("masked_fill", "torch.masked_fill", grid(2, 3), mask(3), 7.5)
method("masked_fill", "masked_fill", grid(2, 3), mask(2, 1), float("-inf"))
method("masked_fill", "masked_fill_", grid(4), mask(4), 2)
function("_assert", "torch._assert", torch.tensor(True), "must hold")
function("_assert", "torch._assert", True, "must hold")

# ---- reductions ----

for op in ("mean", "sum"):
    function(op, "torch." + op, grid(2, 3))
    function(op, "torch." + op, grid(2, 3, 2), 1)
    function(op, "torch." + op, grid(2, 3, 2), (0, -1), True)
    method(op, op, grid(2, 3, 2), dim=[1, 2], keepdim=True)
    method(op, op, grid(3), -1)
function("mean", "torch.mean", ints(0, 9, 4), dtype=torch.float32)
function("sum", "torch.sum", ints(0, 9, 2, 3), 0)
function("sum", "torch.sum", mask(6))
function("sum", "builtins.sum", [1, 2, 3])
for op in ("max", "min"):
    function(op, "torch." + op, grid(2, 3))
    function(op, "torch." + op, grid(2, 3), 1)
    function(op, "torch." + op, grid(2, 3, 2), -2, True)
    function(op, "torch." + op, grid(2, 3), grid(3))
    function(op, "torch.%simum" % op, grid(2, 1), grid(3))
    function(op, "builtins." + op, 3, 4.5)
    method(op, op, ints(-5, 5, 2, 3), dim=0)
x = grid(2, 4)
program("max", {"x": x}, ["m = method max (%x,) {'dim': 1}", "v = function builtins.getattr (%m, 'values') {}",
                          "i = function operator.getitem (%m, 1) {}"], "(%v, %i)", tuple(x.max(dim=1)))
function("cumsum", "torch.cumsum", grid(2, 3), 1)
function("cumsum", "torch.cumsum", ints(0, 5, 2, 3), dim=0)
method("cumsum", "cumsum", mask(5), -1)

# ---- shape and layout ----

method("size", "size", grid(2, 3))
method("size", "size", grid(2, 3), 1)
method("size", "size", grid(2, 3), -2)
method("dim", "dim", grid(2, 3))
x = grid(2, 3)
names = begin("shape", (x,), {})
finish("shape", "method", "shape", (x,), {}, names, x.shape)
for name in ("shape", "ndim", "dtype", "T", "mT"):
    x = grid(2, 3)
    names = begin("getattr", (x,), {})
    finish("getattr", "function", "builtins.getattr", (x, name), {}, names, getattr(x, name))
x = grid(3, 2, 2)
names = begin("getattr", (x,), {})
finish("getattr", "function", "builtins.getattr", (x, "mT"), {}, names, x.mT)
method("view", "view", grid(2, 6), 3, 4)
method("view", "view", grid(2, 6), (3, -1))
method("view", "view", grid(2, 6), -1)
method("reshape", "reshape", grid(2, 6), 2, 3, -1)
function("reshape", "torch.reshape", grid(2, 3), (6,))
x = grid(2, 3, 2)
program("view", {"x": x}, ["s = method size (%x, 0) {}", "h = method size (%x, 1) {}",
                           "k = function operator.floordiv (%h, 2) {}", "v = method view (%x, %s, %k, -1) {}"],
        "%v", x.view(2, 1, -1))
program("view", {"x": x}, ["s = method size (%x,) {}", "a = function operator.getitem (%s, slice(None, -1, None)) {}",
                           "b = function operator.add (%a, (1, 2)) {}", "v = method view (%x, %b) {}"],
        "%v", x.view(2, 3, 1, 2))
module("flatten", "Flatten", (), {}, (grid(2, 3, 2),))
module("flatten", "Flatten", (0, 1), {}, (grid(2, 3, 2),))
function("flatten", "torch.flatten", grid(2, 3, 2), 1)
function("flatten", "torch.flatten", grid(2, 3), start_dim=-2, end_dim=-1)
function("squeeze", "torch.squeeze", grid(1, 2, 1, 3))
method("squeeze", "squeeze", grid(1, 2, 1), 0)
method("squeeze", "squeeze", grid(1, 2, 1), 1)
method("squeeze", "squeeze", grid(1, 2, 1), (0, -1))
function("unsqueeze", "torch.unsqueeze", grid(2, 3), 0)
method("unsqueeze", "unsqueeze", grid(2, 3), -1)
method("unsqueeze", "unsqueeze", grid(2, 3), 1)
method("contiguous", "contiguous", grid(2, 3))
method("detach", "detach", grid(2, 3))
method("t", "t", grid(2, 3))
function("t", "torch.t", grid(3))
method("transpose", "transpose", grid(2, 3, 2), 0, 1)
function("transpose", "torch.transpose", grid(2, 3, 2), -1, -2)
method("permute", "permute", grid(2, 3, 4), 2, 0, 1)
function("permute", "torch.permute", grid(2, 3, 2), (0, -1, 1))
method("permute", "permute", ints(0, 9, 2, 3), 1, 0)
method("expand", "expand", grid(2, 1), 2, 3)
method("expand", "expand", grid(1, 2), (3, -1, 2))
method("expand", "expand", grid(3), 2, -1)
method("repeat", "repeat", grid(2), 3)
method("repeat", "repeat", grid(2, 3), 2, 1)
method("repeat", "repeat", grid(2, 3), (2, 1, 2))
function("tile", "torch.tile", grid(2, 3), (2,))
method("tile", "tile", grid(2), 2, 2)
function("flip", "torch.flip", grid(2, 3), (0,))
method("flip", "flip", grid(2, 3, 2), 1, -1)
function("cat", "torch.cat", [grid(2, 3), grid(1, 3)])
function("cat", "torch.cat", (grid(2, 1), grid(2, 3), grid(2, 2)), dim=-1)
function("cat", "torch.cat", [ints(0, 5, 2), grid(2)], 0)
function("stack", "torch.stack", [grid(2, 3), grid(2, 3)])
function("stack", "torch.stack", (grid(2, 3), grid(2, 3), grid(2, 3)), dim=1)
function("stack", "torch.stack", [grid(2), grid(2)], -1)
function("split", "torch.functional.split", grid(5, 2), 2)
function("split", "torch.functional.split", grid(2, 5), [1, 4], dim=1)
method("split", "split", grid(2, 4), 2, -1)
x = grid(2, 4)
names = begin("df_split", (x,), {})
finish("df_split", "function", "chop.nn.functional.df_split", (x, 2, 1), {}, names, x.split(2, 1))
S = slice
for index in (0, -1, S(1, None), S(None, None, 2), (S(None), 1), (0, S(1, 3)), (Ellipsis, 0), None,
              (S(None), None, 2), (1, Ellipsis, None), S(5, 9), S(-2, None), [1, 0, 1], (S(None), [2, 0]),
              S(2, 1), (0, 1, 1)):
    function("getitem", "operator.getitem", grid(3, 4, 2), index)
function("getitem", "operator.getitem", grid(4, 2), ints(-4, 4, 2, 2))
function("getitem", "operator.getitem", grid(2, 3, 2), (S(None), ints(0, 3, 2), S(0, 1)))
function("getitem", "operator.getitem", (4, 5, 6), -1)
function("getitem", "operator.getitem", (4, 5, 6), S(1, None))
x, y = grid(3, 4), grid(2)
for index, value, text in ((0, 1.5, "0, 1.5"), ((S(None), S(1, 3)), y, "(slice(None, None, None), slice(1, 3, None)), %y"),
                           ((S(None), [0, 2]), y, "(slice(None, None, None), [0, 2]), %y")):
    z = x.clone()
    z[index] = value
    program("setitem", {"x": x, "y": y}, ["s = function operator.setitem (%%x, %s) {}" % text], "%x", z)
x = grid(3)
program("relu", {"x": x}, ["r = method relu_ (%x,) {}", "s = function operator.add (%x, %r) {}"], "%s",
        2 * x.relu())
program("add", {"x": x}, ["r = function operator.iadd (%x, 1) {}", "s = function operator.mul (%x, %r) {}"],
        "(%x, %s)", (x + 1, (x + 1) * (x + 1)))


def onnx_slice(x, dim, start=None, stop=None, step=None):
    index = [S(None)] * x.dim()
    index[dim] = S(start, stop, step)
    return x[tuple(index)]


function("slice", "onnx.slice", grid(5, 2), 0, 1, 4, 2, run=onnx_slice)
function("slice", "onnx.slice", grid(2, 5), -1, -3, run=onnx_slice)
function("gather", "torch.gather", grid(3, 4), 1, ints(0, 4, 3, 2))
method("gather", "gather", grid(3, 4), 0, ints(0, 3, 2, 3))
function("index_select", "torch.index_select", grid(3, 4), 0, ints(0, 3, 4))
method("index_select", "index_select", grid(2, 3, 2), -2, ints(0, 3, 2))

# ---- types and new tensors ----

method("to", "to", grid(4, scale=4.0), torch.int64)
method("to", "to", ints(0, 3, 3), torch.float32)
method("to", "to", grid(2), "cpu")
method("to", "to", grid(4), dtype=torch.bool)
method("type_as", "type_as", ints(0, 3, 3), grid(1))
method("cast", "type", grid(3, scale=4.0), torch.int32)
method("bool", "bool", torch.tensor([0.0, 0.5, -1.0]))
method("int", "int", grid(4, scale=4.0))
method("long", "long", grid(4, scale=4.0))
method("float", "float", ints(-3, 4, 3))
method("float", "float", mask(3))
function("full", "torch.full", (2, 3), 1.5)
function("full", "torch.full", (2,), 3)
function("full", "torch.full", (2,), True)
function("full", "torch.full", (2, 2), 3, dtype=torch.float32)
function("ones", "torch.ones", 2, 3)
function("ones", "torch.ones", (2,), dtype=torch.int64)
function("zeros", "torch.zeros", 2, 2)
function("zeros", "torch.zeros", (3,), dtype=torch.bool)
function("arange", "torch.arange", 4)
function("arange", "torch.arange", 1, 8, 3)
function("arange", "torch.arange", 0.5, 2.0, 0.5)
function("arange", "torch.arange", 5, 0, -2)
function("arange", "torch.arange", 3, dtype=torch.float32)
function("range", "torch.range", 1, 4, run=lambda a, b: torch.arange(a, b + 1).float())
function("range", "torch.range", 0, 1, 0.25, run=lambda a, b, s: torch.arange(0, 1.25, 0.25))
function("tensor", "torch.tensor", [[1, 2], [3, 4]])
function("tensor", "torch.tensor", [1, 2.5])
function("tensor", "torch.tensor", 3)
function("tensor", "torch.tensor", [True, False])
function("tensor", "torch.tensor", [1, 0], dtype=torch.float32)
for name in ("min", "max", "eps"):
    program("finfo", {}, ["f = function torch.finfo (torch.float32,) {}",
                          "v = function builtins.getattr (%%f, '%s') {}" % name], "%v",
            getattr(torch.finfo(torch.float32), name))

# ---- values that need care ----

NAN, INF = float("nan"), float("inf")
ODD = torch.tensor([NAN, INF, -INF, -0.0, 1e-30, 3e38])
for op, target in (("relu", "torch.relu"), ("relu6", "torch.nn.functional.relu6"), ("exp", "torch.exp"),
                   ("hardtanh", "torch.nn.functional.hardtanh"), ("sigmoid", "torch.sigmoid"),
                   ("leaky_relu", "torch.nn.functional.leaky_relu"), ("abs", "torch.abs"),
                   ("softsign", "torch.nn.functional.softsign"), ("floor", "torch.floor"),
                   ("hardshrink", "torch.hardshrink"), ("softplus", "torch._C._nn.softplus"),
                   ("logsigmoid", "torch._C._nn.log_sigmoid"), ("sqrt", "torch.sqrt")):
    function(op, target, ODD)
function("clamp", "torch.clamp", ODD, -1.0, 1.0)
function("max", "torch.max", ODD)
function("min", "torch.min", ODD, 0)
function("max", "torch.maximum", ODD, ODD.flip(0))
function("min", "torch.minimum", ODD, ODD.flip(0))
function("eq", "operator.eq", ODD, ODD)
method("bool", "bool", ODD)
function("floordiv", "operator.floordiv", torch.tensor([1.0, -1.0, 0.0]), 0.0)
function("div", "operator.truediv", torch.tensor([1.0, -1.0, 0.0]), 0.0)
function("softmax", "torch.softmax", torch.tensor([[-INF, 0.0], [INF, 0.0], [1e30, 1e30]]), 1)
function("max_pool1d", "torch.nn.functional.max_pool1d", torch.tensor([[1.0, NAN, 2.0, 3.0, -INF, -INF]]), 2)
function("cumsum", "torch.cumsum", torch.tensor([1.0, INF, -INF, 1.0]), 0)

# no dimensions, no elements
function("add", "operator.add", torch.tensor(1.5), torch.tensor(2))
function("add", "operator.add", torch.zeros(0, 3), grid(3))
function("sum", "torch.sum", torch.zeros(0, 3), 0)
function("sum", "torch.sum", torch.tensor(2.5), 0)
function("mean", "torch.mean", torch.zeros(2, 0), 1)
function("softmax", "torch.softmax", torch.tensor(2.0), 0)
function("max", "torch.max", torch.tensor(2.0), 0)
function("cat", "torch.cat", [torch.zeros(0, 2), grid(1, 2)])
function("flatten", "torch.flatten", torch.tensor(2.0))
method("view", "view", torch.zeros(0, 4), 2, 0)
method("squeeze", "squeeze", torch.tensor(2.0), 0)
method("unsqueeze", "unsqueeze", torch.tensor(2.0), 0)
method("split", "split", torch.zeros(0, 2), 3)
method("repeat", "repeat", grid(2), 0)
method("permute", "permute", torch.zeros(2, 0, 3), 2, 0, 1)
function("matmul", "torch.matmul", torch.zeros(2, 0), torch.zeros(0, 3))
function("getitem", "operator.getitem", torch.tensor(2.0), Ellipsis)
function("getitem", "operator.getitem", torch.tensor(2.0), None)
function("getitem", "operator.getitem", grid(3), ints(0, 3, 0))
function("index_select", "torch.index_select", grid(3), 0, torch.tensor(1))
function("tensor", "torch.tensor", [])

# other types
function("mul", "operator.mul", ints(0, 20, 3, dtype=torch.uint8), ints(0, 9, 3, dtype=torch.int32))
function("add", "operator.add", ints(0, 9, 3, dtype=torch.uint8), 2)
function("mul", "operator.mul", grid(3).double(), 0.1)
function("add", "operator.add", mask(3), 1)
function("where", "torch.where", mask(3), ints(0, 9, 3), grid(3))
function("exp", "torch.exp", grid(3).double())
function("mean", "torch.mean", grid(4).double())
function("linear", "torch.nn.functional.linear", grid(2, 3).double(), grid(2, 3).double())
module("layer_norm", "LayerNorm", (3,), {"elementwise_affine": False}, (grid(2, 3).double(),))
method("to", "to", torch.tensor([1.9, -1.9, 2.5]), torch.int32)
method("to", "to", grid(2), torch.double)
method("to", "to", grid(2), grid(1).long())


# ---- added later: here, so that the numbers above stay ----

method("expand_as", "expand_as", grid(2, 1), grid(3, 2, 2))
method("expand_as", "expand_as", ints(0, 9, 1), grid(2, 0))
function("pad", "torch.nn.functional.pad", grid(2, 3), (1, 2))
function("pad", "torch.nn.functional.pad", grid(2, 3, 2), (1, -1, 0, 2), "constant", 0.5)
function("pad", "torch.nn.functional.pad", ints(0, 9, 2), [-1, 3], value=7)
function("pad", "torch.nn.functional.pad", grid(1, 2, 4), (3, 2), mode="reflect")
function("pad", "torch.nn.functional.pad", grid(1, 2, 3), (1, 4), "replicate")
function("pad", "torch.nn.functional.pad", grid(1, 2, 3), (3, 2), "circular")
function("chunk", "torch.chunk", grid(2, 7), 3, -1)
method("chunk", "chunk", grid(5, 2), 4)
method("chunk", "chunk", grid(2, 2), 5, dim=1)
function("unbind", "torch.unbind", grid(2, 3))
method("unbind", "unbind", grid(2, 3, 2), -2)
function("matmul", "torch.mm", grid(2, 3), grid(3, 2))

module("rnn", "RNN", (3, 2), {}, (grid(4, 2, 3),))
module("rnn", "RNN", (3, 2, 2), {"nonlinearity": "relu", "batch_first": True}, (grid(2, 4, 3), grid(2, 2, 2)))
module("rnn", "RNN", (3, 2), {"bidirectional": True, "bias": False}, (grid(4, 3),))
module("lstm", "LSTM", (3, 2), {}, (grid(4, 2, 3),))
module("lstm", "LSTM", (3, 2, 2), {"batch_first": True, "bidirectional": True, "dropout": 0.5}, (grid(2, 4, 3),))
module("lstm", "LSTM", (3, 3), {"proj_size": 2, "num_layers": 2}, (grid(3, 2, 3), (grid(2, 2, 2), grid(2, 2, 3))))
module("lstm", "LSTM", (3, 2), {"bias": False}, (grid(3, 3), (grid(1, 2), grid(1, 2))))
module("gru", "GRU", (3, 2), {}, (grid(4, 2, 3),))
module("gru", "GRU", (3, 2, 2), {"bidirectional": True, "batch_first": True}, (grid(2, 4, 3), grid(4, 2, 2)))
module("gru", "GRU", (3, 2), {"bias": False}, (grid(4, 3),))
module("rnn_cell", "RNNCell", (3, 2), {}, (grid(4, 3),))
module("rnn_cell", "RNNCell", (3, 2), {"nonlinearity": "relu", "bias": False}, (grid(4, 3), grid(4, 2)))
module("lstm_cell", "LSTMCell", (3, 2), {}, (grid(4, 3), (grid(4, 2), grid(4, 2))))
module("lstm_cell", "LSTMCell", (3, 2), {"bias": False}, (grid(4, 3),))
module("gru_cell", "GRUCell", (3, 2), {}, (grid(4, 3), grid(4, 2)))
module("gru_cell", "GRUCell", (3, 2), {}, (grid(3),))

for op, target in (("remainder", "operator.mod"), ("fmod", "torch.fmod")):
    function(op, target, torch.tensor([7.5, -7.5, 7.5, -7.5]), torch.tensor([2.0, 2.0, -2.0, -2.0]))
    function(op, target, grid(2, 1, 3, scale=4.0), positive(4, 1))
    function(op, target, ints(-9, 9, 6), torch.tensor([2, 3, 4, -2, -3, -4]))
    function(op, target, ints(-9, 9, 4, dtype=torch.int32), 3)
    function(op, target, ints(-9, 9, 4), 2.5)
    function(op, target, torch.tensor([1.0, -1.0, INF, 5.0, -5.0, -0.0]), torch.tensor([0.0, 0.0, 2.0, INF, INF, 3.0]))
    method(op, op, grid(3), 0.75)
function("remainder", "torch.remainder", 7, torch.tensor([2, -3, 4]))
for x, y in ((7, 3), (-7, 3), (7, -3), (7.5, -2)):
    function("remainder", "operator.mod", x, y)
for op in ("atan2", "hypot"):
    function(op, "torch." + op, grid(2, 3), grid(2, 3))
    function(op, "torch." + op, grid(2, 1, 3), grid(4, 1))
    function(op, "torch." + op, torch.tensor([0.0, -0.0, 1.0, -0.0, INF, 3e38]),
             torch.tensor([0.0, -1.0, -INF, 1.0, INF, 3e38]))
    function(op, "math." + op, 3, -4)
    method(op, op, grid(3), grid(3))
function("atan2", "torch.atan2", ints(-3, 4, 4), ints(-3, 4, 4))
function("floordiv", "operator.floordiv", torch.tensor([INF, 5.0, -5.0, 7.5, -7.5]),
         torch.tensor([2.0, INF, INF, -2.0, 2.0]))
method("clone", "clone", grid(2, 3))
x = torch.tensor([-1.5, 0.25, -0.75])
program("clone", {"x": x}, ["c = function torch.clone (%x,) {}", "r = method relu_ (%x,) {}",
                            "s = function operator.sub (%c, %x) {}"], "%s", x - x.relu())

# ---- added later still: from here on the numbers do not depend on those above ----

torch.manual_seed(11)
NAN = float("nan")
ODD = torch.tensor([-INF, -2.0, -1.0, -0.5, -0.0, 0.0, 0.25, 1.0, 3.0, INF, NAN])
F_ = "torch.nn.functional."

module("mish", "Mish", (), {}, (grid(2, 5),))
function("mish", F_ + "mish", ODD)
function("mish", F_ + "mish", torch.tensor([25.0, -25.0, 100.0]), inplace=False)
module("celu", "CELU", (0.5,), {}, (grid(2, 5),))
function("celu", "torch.celu", ODD)
module("threshold", "Threshold", (0.25, -3), {}, (grid(2, 5),))
function("threshold", F_ + "_threshold", ODD, 0.25, 20.0)
module("rrelu", "RReLU", (), {}, (grid(2, 5),))
function("rrelu", F_ + "rrelu", ODD, lower=0.25, upper=0.5)
module("tanhshrink", "Tanhshrink", (), {}, (grid(2, 5),))
function("tanhshrink", F_ + "tanhshrink", ODD)
module("prelu", "PReLU", (), {}, (grid(2, 3, 2),))
module("prelu", "PReLU", (3, 0.5), {}, (grid(2, 3, 2),))
module("prelu", "PReLU", (3,), {}, (grid(4, 3),))
function("prelu", "torch.prelu", ODD, torch.tensor([0.5]))
method("prelu", "prelu", grid(1, 2, 2, 2), grid(2))
module("glu", "GLU", (), {}, (grid(2, 6),))
module("glu", "GLU", (1,), {}, (grid(2, 4, 3),))
function("glu", F_ + "glu", grid(4), dim=-1)
module("softmin", "Softmin", (1,), {}, (grid(2, 4),))
function("softmin", F_ + "softmin", grid(2, 3, 2), dim=-1)
module("softmax2d", "Softmax2d", (), {}, (grid(2, 3, 2, 2),))
module("softmax2d", "Softmax2d", (), {}, (grid(3, 2, 2),))
for op in ("rsqrt", "square", "sign", "reciprocal", "log2", "log10", "log1p", "exp2", "expm1", "asin", "acos",
           "atan", "ceil", "trunc", "isnan", "isinf", "isfinite"):
    function(op, "torch." + op, ODD)
    function(op, "torch." + op, ints(-3, 5, 4))
    method(op, op, positive(2, 3) / 4)
function("square", "torch.square", mask(4))
function("sign", "torch.sgn", ints(-3, 4, 4, dtype=torch.int32))
function("trunc", "math.trunc", -2.75)
function("ceil", "math.ceil", 2.25)
for op in ("exp", "sqrt", "neg", "tanh", "sigmoid", "square", "pow"):
    x = positive(3)
    args = " 2," if op == "pow" else ""
    result = getattr(x, op)(*([2] if args else []))
    program(op, {"x": x}, ["y = method %s_ (%%x,%s) {}" % (op, args),
                           "s = function operator.sub (%x, %y) {}",
                           "t = function operator.add (%s, %x) {}"], "%t", result)
function("nan_to_num", "torch.nan_to_num", ODD)
function("nan_to_num", "torch.nan_to_num", ODD, 1.5, posinf=7.0, neginf=-7.0)
method("nan_to_num", "nan_to_num", ints(0, 4, 3), nan=2.0)
method("clamp_min", "clamp_min", ODD, -0.5)
function("clamp_min", "torch.clamp_min", ints(-3, 4, 4), 1)
function("clamp_max", "torch.clamp_max", ODD, 0.5)
method("clamp_max", "clamp_max", grid(2, 3), torch.tensor([0.0, 0.5, -0.5]))
function("lerp", "torch.lerp", grid(2, 3), grid(2, 3), 0.25)
method("lerp", "lerp", grid(2, 3), grid(1, 3), positive(2, 1))
function("addcmul", "torch.addcmul", grid(2, 3), grid(2, 1), grid(3), value=0.5)
method("addcmul", "addcmul", grid(3), grid(3), grid(3))
function("addcdiv", "torch.addcdiv", grid(2, 3), grid(2, 3), positive(2, 3), value=-2)
for n in ("and", "or", "xor"):
    function("logical_" + n, "torch.logical_" + n, torch.tensor([0.0, -0.0, NAN, 1.0, INF, 0.0]),
             torch.tensor([0.0, 2.0, 1.0, 0.0, NAN, NAN]))
    method("logical_" + n, "logical_" + n, mask(2, 3), ints(0, 2, 3))
    function("bitwise_" + n, "operator." + {"and": "and_", "or": "or_", "xor": "xor"}[n], mask(2, 3), mask(3))
    function("bitwise_" + n, "torch.bitwise_" + n, ints(-9, 9, 2, 3), 5)
    function("bitwise_" + n, "torch.bitwise_" + n, ints(0, 200, 4, dtype=torch.uint8), ints(-9, 9, 4))
for cls, op in (("Zero", "zero"), ("Constant", "constant"), ("Reflection", "reflection"), ("Replication", "replication"),
                ("Circular", "circular")):
    more = (1.5,) if cls == "Constant" else ()
    for d in (1, 2, 3):
        name = "%s_pad%dd" % (op, d)
        module(name, "%sPad%dd" % (cls, d), (1,) + more, {}, (grid(1, 2, *(2, 3, 4)[3 - d:]),))
        module(name, "%sPad%dd" % (cls, d), ((1, 0, 0, 2, 1, 1)[:2 * d],) + more, {}, (grid(2, *(3, 3, 3)[3 - d:]),))
module("reflection_pad2d", "ReflectionPad2d", ((2, -1, 1, 0),), {}, (grid(1, 1, 3, 4),))
function("roll", "torch.roll", grid(2, 3), 1, 1)
function("roll", "torch.roll", grid(2, 3), 2)
method("roll", "roll", grid(2, 3, 2), (-1, 4), (1, -1))
method("roll", "roll", ints(0, 9, 3, 2), shifts=(1, 1), dims=(0, 0))
function("roll", "torch.roll", grid(0, 3), 1, 0)
for op in ("tril", "triu"):
    function(op, "torch." + op, grid(3, 4))
    method(op, op, grid(2, 3, 3), -1)
    function(op, "torch." + op, torch.tensor([[NAN, INF], [NAN, INF]]), diagonal=1)
function("repeat_interleave", "torch.repeat_interleave", grid(2, 2), 2)
method("repeat_interleave", "repeat_interleave", grid(2, 2), 3, dim=-1)
function("diagonal", "torch.diagonal", grid(3, 4))
method("diagonal", "diagonal", grid(2, 3, 4), 1, 1, 2)
method("diagonal", "diagonal", grid(2, 3, 4), offset=-1, dim1=-1, dim2=0)
method("slide", "unfold", grid(2, 7), 1, 3, 2)
method("slide", "unfold", grid(5, 2), 0, 2, 1)
module("pixel_shuffle", "PixelShuffle", (2,), {}, (grid(1, 8, 2, 3),))
function("pixel_shuffle", "torch.pixel_shuffle", grid(9, 1, 2), 3)
module("pixel_unshuffle", "PixelUnshuffle", (2,), {}, (grid(1, 2, 4, 2),))
function("pixel_unshuffle", "torch.pixel_unshuffle", grid(2, 1, 1, 3, 6), 3)
module("channel_shuffle", "ChannelShuffle", (2,), {}, (grid(1, 6, 2, 1),))
function("channel_shuffle", "torch.channel_shuffle", grid(2, 6, 1, 2), 3)
module("unfold", "Unfold", (2,), {}, (grid(1, 2, 3, 4),))
module("unfold", "Unfold", ((2, 3),), {"dilation": (1, 2), "padding": 1, "stride": 2}, (grid(2, 1, 4, 5),))
function("unfold", F_ + "unfold", grid(2, 3, 3), (3, 2), padding=(0, 1))
module("fold", "Fold", ((3, 4), 2), {}, (grid(1, 8, 6),))
module("fold", "Fold", (4, (2, 3)), {"dilation": (1, 1), "padding": 1, "stride": 2}, (grid(2, 6, 6),))
function("fold", F_ + "fold", grid(4, 4), (3, 3), (2, 2))
module("unflatten", "Unflatten", (1, (2, 3)), {}, (grid(2, 6),))
method("unflatten", "unflatten", grid(2, 6, 2), 1, (-1, 2))
function("unflatten", "torch.unflatten", grid(4), -1, (2, 2))
method("view_as", "view_as", grid(2, 3), grid(3, 2))
method("view_as", "reshape_as", ints(0, 9, 4), grid(2, 2))
function("movedim", "torch.movedim", grid(2, 3, 4), 0, 2)
method("movedim", "movedim", grid(2, 3, 4), (0, 1), (-1, 0))
function("movedim", "torch.moveaxis", grid(2, 3), 1, 0)
function("narrow", "torch.narrow", grid(2, 5), 1, 1, 3)
method("narrow", "narrow", grid(4, 2), 0, -3, 2)
function("select", "torch.select", grid(2, 5), 1, -1)
method("select", "select", grid(2, 3, 2), 1, 2)
function("zeros_like", "torch.zeros_like", grid(2, 3))
function("ones_like", "torch.ones_like", ints(0, 9, 2))
function("ones_like", "torch.ones_like", mask(2), dtype=torch.float32)
function("full_like", "torch.full_like", grid(2, 2), 3)
function("full_like", "torch.full_like", ints(0, 3, 2), 2.5)
method("new_zeros", "new_zeros", grid(2), 2, 3)
method("new_zeros", "new_zeros", grid(2), (3,), dtype=torch.int64)
method("new_ones", "new_ones", ints(0, 9, 2), (2, 2))
method("new_full", "new_full", grid(2), (2, 2), 1.5)
module("convtranspose1d", "ConvTranspose1d", (2, 3, 3), {}, (grid(1, 2, 4),))
module("convtranspose1d", "ConvTranspose1d", (4, 2, 3), {"stride": 2, "padding": 1, "output_padding": 1, "groups": 2,
                                                         "bias": False}, (grid(2, 4, 3),))
function("convtranspose1d", "torch.conv_transpose1d", grid(1, 1, 3), grid(1, 2, 2), None, 2)
module("convtranspose3d", "ConvTranspose3d", (2, 2, 2), {}, (grid(1, 2, 2, 1, 2),))
module("convtranspose3d", "ConvTranspose3d", (2, 2, (1, 2, 3)), {"stride": (1, 2, 1), "padding": (0, 1, 1), "dilation": 1,
                                                                 "groups": 2}, (grid(1, 2, 2, 3, 2),))
function("convtranspose3d", "torch.conv_transpose3d", grid(1, 1, 2, 2), grid(1, 2, 2, 1, 2))
module("avg_pool3d", "AvgPool3d", (2,), {}, (grid(1, 1, 3, 4, 2),))
module("avg_pool3d", "AvgPool3d", ((2, 1, 3),), {"stride": 2, "padding": (1, 0, 1), "ceil_mode": True,
                                                 "count_include_pad": False}, (grid(1, 1, 3, 2, 4),))
function("avg_pool3d", "torch._C._nn.avg_pool3d", grid(1, 2, 2, 2), 2, None, 0, False, True, 3)
module("max_pool3d", "MaxPool3d", (2,), {}, (grid(1, 1, 3, 4, 2),))
module("max_pool3d", "MaxPool3d", ((1, 2, 2),), {"stride": 1, "padding": (0, 1, 1), "return_indices": True},
       (grid(1, 1, 2, 2, 3),))
function("max_pool3d", F_ + "max_pool3d", grid(1, 2, 3, 3), 2, stride=1, dilation=1)
module("adaptive_avg_pool3d", "AdaptiveAvgPool3d", (1,), {}, (grid(2, 2, 2, 3, 2),))
module("adaptive_avg_pool3d", "AdaptiveAvgPool3d", ((2, None, 3),), {}, (grid(1, 1, 3, 2, 4),))
function("adaptive_avg_pool3d", F_ + "adaptive_avg_pool3d", grid(1, 2, 3, 2), (1, 2, 2))
module("adaptive_max_pool3d", "AdaptiveMaxPool3d", (2,), {}, (grid(1, 1, 3, 4, 2),))
module("adaptive_max_pool3d", "AdaptiveMaxPool3d", ((1, 2, 2),), {"return_indices": True}, (grid(1, 1, 3, 2, 4),))
function("adaptive_max_pool3d", F_ + "adaptive_max_pool3d", grid(1, 2, 2, 2), 1)
for op, cls in (("dropout1d", "Dropout1d"), ("dropout3d", "Dropout3d"), ("alpha_dropout", "AlphaDropout"),
                ("feature_alpha_dropout", "FeatureAlphaDropout")):
    module(op, cls, (0.25,), {}, (grid(2, 3, 2),))
    function(op, F_ + op, grid(2, 3), training=False)
module("upsample", "Upsample", (), {"scale_factor": 2, "mode": "bicubic"}, (grid(1, 1, 3, 2),))
module("upsample", "Upsample", (), {"size": (4, 7), "mode": "bicubic", "align_corners": True}, (grid(1, 1, 3, 4),))
function("upsample", F_ + "interpolate", grid(1, 2, 5, 4), scale_factor=(0.5, 1.7), mode="bicubic")
function("upsample", F_ + "interpolate", grid(1, 1, 3, 2, 2), scale_factor=2, mode="trilinear", align_corners=True)
for op in ("var", "std"):
    function(op, "torch." + op, grid(2, 5), 1)
    function(op, "torch." + op, grid(2, 3, 2), (0, 2), unbiased=False)
    function(op, "torch." + op, grid(4), correction=2)
    method(op, op, grid(2, 4), -1, True, True)
    method(op, op, grid(3, 2), False)
    method(op, op, torch.tensor([[1.0, NAN], [2.0, 2.0]]), dim=1, keepdim=True)
for p in (2, 1, 0, 3, 0.5, INF, -INF, "fro"):
    function("norm", "torch.functional.norm", grid(2, 3), p=p, dim=1)
method("norm", "norm", grid(2, 3))
method("norm", "norm", grid(2, 3, 2), p=2, dim=(1, 2), keepdim=True)
method("norm", "norm", torch.tensor([[0.0, 0.0], [NAN, 1.0]]), dim=1)
function("linalg_norm", "torch._C._linalg.linalg_norm", grid(2, 3), dim=1)
function("linalg_norm", "torch._C._linalg.linalg_norm", grid(2, 3))
function("linalg_norm", "torch._C._linalg.linalg_norm", grid(5), 3)
function("vector_norm", "torch._C._linalg.linalg_vector_norm", grid(2, 3), 1, dim=-1, keepdim=True)
function("logsumexp", "torch.logsumexp", grid(2, 3), 1)
method("logsumexp", "logsumexp", torch.tensor([[INF, 1.0], [-INF, -INF], [NAN, 1.0], [300.0, 301.0]]), -1, True)
function("prod", "torch.prod", grid(2, 3))
function("prod", "torch.prod", ints(-3, 4, 2, 3), 1)
method("prod", "prod", grid(2, 3), 0, keepdim=True)
for op in ("amax", "amin"):
    function(op, "torch." + op, grid(2, 3), 1)
    function(op, "torch." + op, ints(-9, 9, 2, 3, 2), (0, 2), keepdim=True)
    method(op, op, torch.tensor([[1.0, NAN], [2.0, 2.0]]), -1)
for op in ("argmax", "argmin"):
    function(op, "torch." + op, grid(2, 3), 1)
    function(op, "torch." + op, grid(2, 3))
    method(op, op, torch.tensor([[2.0, 2.0, 1.0, 1.0], [0.0, NAN, 1.0, NAN]]), -1, keepdim=True)
for op in ("any", "all"):
    function(op, "torch." + op, mask(2, 3))
    function(op, "torch." + op, torch.tensor([[0.0, NAN], [0.0, -0.0], [1.0, 2.0]]), 1)
    method(op, op, ints(0, 2, 3, 2, dtype=torch.uint8), dim=1, keepdim=True)
function("normalize", F_ + "normalize", grid(2, 3))
function("normalize", F_ + "normalize", grid(2, 3, 2), p=1.0, dim=-1, eps=0.5)
function("normalize", F_ + "normalize", torch.tensor([[0.0, 0.0], [NAN, 1.0], [INF, 1.0]]), p=2.0, dim=1)
module("cosine_similarity", "CosineSimilarity", (), {}, (grid(2, 3), grid(2, 3)))
function("cosine_similarity", "torch.cosine_similarity", grid(2, 3, 2), grid(1, 3, 2), dim=-1)
module("pairwise_distance", "PairwiseDistance", (), {}, (grid(2, 3), grid(2, 3)))
module("pairwise_distance", "PairwiseDistance", (1.0,), {"keepdim": True}, (grid(2, 3), grid(2, 3)))
function("pairwise_distance", "torch.pairwise_distance", grid(2, 3), grid(3), p=3.0)
EINSUM = "torch.functional.einsum"
for equation, *shapes in (("bij,bjk->bik", (2, 3, 4), (2, 4, 2)), ("i j, k j", (2, 3), (4, 3)), ("ij->ji", (2, 3)), ("ij->", (2, 3)),
                          ("ii->i", (3, 3)), ("iij->j", (2, 2, 3)), ("bhid,bhjd->bhij", (1, 2, 3, 4), (1, 2, 2, 4)),
                          ("...ij,...jk->...ik", (2, 1, 2, 3), (3, 3, 2)), ("i,j,k->kij", (2,), (3,), (2,)),
                          ("ij,ij->i", (2, 3), (1, 3)), ("bA,Ba", (2, 3), (1, 2)), ("bn,anm,bm->ba", (2, 3), (2, 3, 4), (2, 4)),
                          ("i...->...", (2, 3)), ("ab,cd->dabc", (2, 1), (2, 3)), ("...,...->...", (2, 3), (3,))):
    function("einsum", EINSUM, equation, *(grid(*s) for s in shapes))
function("outer", "torch.outer", grid(3), grid(2))
method("outer", "outer", ints(0, 5, 2), grid(3))
for op in ("var_mean", "std_mean"):
    function(op, "torch." + op, grid(2, 5), 1)
    function(op, "torch." + op, grid(2, 3, 2), (0, 2), unbiased=False, keepdim=True)
    function(op, "torch." + op, grid(4), correction=0, dim=None)
for kw in ({}, {"dim": 0}, {"dim": 1, "descending": True}, {"dim": -2, "descending": True, "stable": True}):
    function("sort", "torch.sort", torch.randperm(12).view(3, 4).float() / 4, **kw)
    function("argsort", "torch.argsort", torch.randperm(12).view(3, 4), **kw)
method("sort", "sort", torch.tensor([[2.0, NAN, 1.0, INF, 1.0], [0.0, -INF, 3.0, -1.0, 0.0]]), stable=True)
method("argsort", "argsort", torch.tensor([1.0, NAN, 2.0]), 0, True)
function("sort", "torch.sort", torch.tensor(2.5))
function("topk", "torch.topk", torch.randperm(15).view(3, 5).float(), 2)
function("topk", "torch.topk", torch.randperm(15).view(3, 5), 2, dim=0, largest=False)
method("topk", "topk", torch.randperm(8).view(2, 2, 2).float(), 2, -2, sorted=True)
function("gather", "torch.gather", grid(2, 3, 2), -2, ints(0, 3, 2, 4, 1))
function("scatter", "torch.scatter", grid(2, 4), 1, torch.tensor([[3, 0], [1, 2]]), grid(2, 3))
function("scatter", "torch.scatter", grid(3, 2), 0, torch.tensor([[2, 0]]), 0.25)
method("scatter", "scatter_", ints(0, 9, 2, 4), -1, torch.tensor([[3], [1]]), value=1)
function("scatter_add", "torch.scatter_add", grid(2, 4), 1, ints(0, 4, 2, 5), grid(2, 5))
method("scatter_add", "scatter_add_", grid(3, 2, 2), 0, ints(0, 3, 4, 2, 1), grid(4, 2, 2))
function("index_add", "torch.index_add", grid(2, 4), 1, ints(0, 4, 5), grid(2, 5), alpha=-2)
method("index_add", "index_add_", grid(3, 2, 2), -2, ints(0, 2, 3), grid(3, 3, 2))
function("one_hot", "torch._C._nn.one_hot", ints(0, 4, 2, 3), 4)
function("one_hot", F_ + "one_hot", torch.tensor(2), num_classes=5)
# What is drawn cannot be compared, only what is drawn without a choice.
for op in ("rand", "randn"):
    function(op, "torch." + op, 0, 3)
    function(op + "_like", "torch." + op + "_like", grid(2, 0))
method("fill_uniform", "uniform_", grid(2, 3), 0.5, 0.5)
method("fill_normal", "normal_", grid(2, 3), mean=-1.5, std=0.0)
method("fill_bernoulli", "bernoulli_", grid(2, 3), 1.0)
function("bernoulli", "torch.bernoulli", mask(2, 3).float())
function("normal", "torch.normal", grid(2, 3), torch.zeros(3))
for edge in ("zeros", "border", "reflection"):
    for mode in ("bilinear", "nearest"):
        for corners in (False, True):
            function("grid_sample", F_ + "grid_sample", grid(1, 2, 3, 4), grid(1, 3, 3, 2, scale=1.3) + 1 / 64,
                     mode=mode, padding_mode=edge, align_corners=corners)
function("grid_sample", F_ + "grid_sample", grid(2, 1, 2, 3, 2), grid(2, 1, 2, 2, 3), align_corners=True, mode="bilinear", padding_mode="zeros")
function("grid_sample", F_ + "grid_sample", grid(1, 1, 1, 3), grid(1, 1, 3, 2, scale=2), align_corners=True, padding_mode="reflection")
for corners in (False, True):
    function("affine_grid", F_ + "affine_grid", grid(2, 2, 3), (2, 3, 3, 4), align_corners=corners)
function("affine_grid", F_ + "affine_grid", grid(1, 3, 4), (1, 1, 2, 1, 3), align_corners=True)
for mode in ("sum", "mean", "max"):
    module("embedding_bag_layer", "EmbeddingBag", (5, 3), {"mode": mode}, (ints(0, 5, 2, 4),))
    function("embedding_bag", F_ + "embedding_bag", ints(0, 5, 2, 4), grid(5, 3), mode=mode)
for mode in ("sum", "mean"):
    module("embedding_bag_layer", "EmbeddingBag", (5, 3), {"mode": mode, "padding_idx": -4}, (torch.tensor([[1, 0, 1], [1, 1, 1]]),))
function("embedding_bag", F_ + "embedding_bag", ints(0, 5, 2, 4), grid(5, 3), mode="sum", per_sample_weights=grid(2, 4))
method("copy_into", "copy_", grid(2, 3), grid(3))
method("copy_into", "copy_", ints(0, 9, 2, 2), grid(2, 1, scale=3))
method("copy_into", "copy_", mask(3), torch.tensor(2.5))
function("mul", "operator.mul", (2, 3), 2)
function("mul", "operator.mul", 3, [1])
function("mul", "operator.mul", (1,), -1)

# ---- losses ----
NLL, BCE, BCEL = F_ + "nll_loss", F_ + "binary_cross_entropy", F_ + "binary_cross_entropy_with_logits"
for reduction in ("none", "mean", "sum"):
    function("nll_loss", NLL, grid(4, 3), torch.tensor([0, 1, 2, 1]), positive(3), ignore_index=1, reduction=reduction)
    for name, cls, more in (("mse_loss", "MSELoss", {}), ("l1_loss", "L1Loss", {}), ("huber_loss", "HuberLoss", {"delta": 0.5}),
                            ("smooth_l1_loss", "SmoothL1Loss", {"beta": 0.5})):
        function(name, F_ + name, grid(2, 3), grid(2, 3), reduction=reduction, **more)
        module(name, cls, (), {"reduction": reduction}, (grid(2, 3), grid(2, 3)))
    function("binary_cross_entropy", BCE, torch.tensor([[0.0, 0.25, 1.0], [0.5, 1.0, 0.75]]), torch.tensor([[0.5, 1.0, 1.0], [0.0, 0.25, 1.0]]),
             positive(3), reduction=reduction)
    function("bce_with_logits", BCEL, grid(2, 3, scale=4), mask(2, 3).float(), positive(2, 3), pos_weight=positive(3),
             reduction=reduction)
    function("bce_with_logits", BCEL, grid(2, 3) * 32, mask(2, 3).float(), reduction=reduction)
    function("kl_div", F_ + "kl_div", grid(2, 3), torch.tensor([[0.0, 0.25, 0.75], [0.5, 0.5, 0.0]]), reduction=reduction)
function("nll_loss", NLL, grid(2, 3, 2), ints(0, 3, 2, 2))
module("nll_loss", "NLLLoss", (), {}, (grid(4, 3), ints(0, 3, 4)))
function("smooth_l1_loss", F_ + "smooth_l1_loss", grid(2, 3), grid(2, 3), beta=0.0)
module("binary_cross_entropy", "BCELoss", (), {}, (torch.tensor([0.25, 0.5]), torch.tensor([1.0, 0.0])))
module("bce_with_logits", "BCEWithLogitsLoss", (), {}, (grid(4), mask(4).float()))
function("kl_div", F_ + "kl_div", grid(2, 3), grid(2, 3), reduction="batchmean", log_target=True)
module("kl_div", "KLDivLoss", (), {"reduction": "batchmean"}, (grid(2, 3), positive(2, 3)))
function("kthvalue", "torch.kthvalue", torch.tensor([[3.0, 1.0, 2.0], [6.0, 5.0, 4.0]]), 2)
method("kthvalue", "kthvalue", torch.tensor([[3, 1], [2, 9], [5, 0]]), 3, 0, True)
function("median", "torch.median", torch.tensor([[3.0, 1.0, 2.0, 7.0], [6.0, float("nan"), 4.0, 0.0]]), -1)
method("median", "median", torch.tensor([[3, 1], [2, 9], [5, 0]]), dim=0, keepdim=True)
function("median", "torch.median", torch.tensor([[4.0, 1.0], [2.0, 8.0]]))
function("tensordot", "torch.functional.tensordot", grid(2, 3, 4), grid(3, 4, 5))
function("tensordot", "torch.tensordot", grid(2, 3, 4), grid(4, 5, 2), dims=([-1, 0], [0, 2]))
function("tensordot", "torch.tensordot", ints(0, 5, 2), ints(0, 5, 3), dims=0)
function("searchsorted", "torch.searchsorted", torch.tensor([1.0, 3.0, 3.0, 5.0]), torch.tensor([[3.0, 0.0], [9.0, float("nan")]]))
function("searchsorted", "torch.searchsorted", torch.tensor([[1, 3], [2, 4]]), torch.tensor([[3, 0, 1], [4, 5, 2]]), right=True, out_int32=True)
function("searchsorted", "torch.searchsorted", torch.tensor([[1, 3], [2, 4]]), torch.tensor([[3, 0, 1], [4, 5, 2]]), side="right")
function("bucketize", "torch.bucketize", grid(2, 3), torch.tensor([-0.5, 0.0, 0.5]))
function("bucketize", "torch.bucketize", torch.tensor(2), torch.tensor([1, 2, 2, 3]), right=True)
for p in (2.0, 1.0, 0.0, 3.0):
    function("cdist", "torch.functional.cdist", grid(2, 3, 4), grid(1, 2, 4), p=p)
function("cdist", "torch.cdist", grid(3, 2), grid(2, 2))
function("diag", "torch.diag", grid(3))
method("diag", "diag", grid(3), -2)
function("diag", "torch.diag", grid(3, 4), diagonal=1)
function("diag_embed", "torch.diag_embed", grid(2, 3))
method("diag_embed", "diag_embed", ints(0, 9, 2, 2), offset=1)
# Names of NumPy's.
function("mean", "torch.mean", grid(2, 3), axis=1, keepdims=True)
method("sum", "sum", grid(2, 3), axis=0)
function("cat", "torch.cat", [grid(1, 2), grid(1, 2)], axis=1)
method("split", "split", grid(2, 3), split_size=2, dim=1)
# Integers wrap around.
bytes_ = torch.tensor([250, 3, 128], dtype=torch.uint8)
function("add", "operator.add", bytes_, torch.tensor([10, 4, 128], dtype=torch.uint8))
function("sub", "operator.sub", bytes_, torch.tensor([251, 4, 1], dtype=torch.uint8))
function("mul", "operator.mul", bytes_, torch.tensor([3, 100, 2], dtype=torch.uint8))
function("mul", "operator.mul", torch.tensor([2147483647, -65536], dtype=torch.int32), torch.tensor([3, 65537], dtype=torch.int32))

# Functions of one value and of two.
for op in ("erfc", "asinh", "deg2rad", "rad2deg", "sinc", "lgamma", "digamma"):
    function(op, "torch." + op, grid(6))
    function(op, "torch." + op, torch.tensor([0.0, -0.5, 30.25, INF, NAN]))
    method(op, op, grid(2, 3))
for op in ("erfc", "asinh", "deg2rad", "sinc", "lgamma", "digamma"):
    function(op, "torch." + op, ints(1, 6, 4))
function("erfinv", "torch.erfinv", torch.tensor([0.0, 0.25, -0.5, 0.9375, -0.999, 0.9999999, 1.0, -1.0, 1.5, NAN]))
function("erfinv", "torch.special.erfinv", grid(2, 3).clamp(-0.9375, 0.9375))
function("lgamma", "torch.lgamma", torch.tensor([-1.0, -2.5, -0.25, 100.5, 1e-3]))
function("digamma", "torch.digamma", torch.tensor([-1.0, -2.5, -0.25, 100.5, 1e-3]))
function("acosh", "torch.acosh", positive(5) + 1)
function("acosh", "torch.acosh", torch.tensor([1.0, 0.5, INF, NAN]))
function("frac", "torch.frac", torch.tensor([1.75, -1.75, 0.0, 3.0, -0.25]))
method("frac", "frac", grid(3))
function("signbit", "torch.signbit", torch.tensor([0.0, -0.0, 1.0, -2.0, -INF]))
function("signbit", "torch.signbit", ints(-3, 4, 4))
function("ndtr", "torch.special.ndtr", torch.tensor([0.0, -1.5, 3.0, -8.0, INF, NAN]))
function("entr", "torch.special.entr", torch.tensor([0.0, 0.5, 2.0, -1.0, NAN]))
function("sigmoid", "torch.special.expit", grid(4))
for op in ("xlogy", "copysign", "fmax", "fmin", "heaviside"):
    function(op, "torch." + op, grid(2, 3), positive(2, 3))
    function(op, "torch." + op, grid(2, 1, 3), positive(4, 1))
    function(op, "torch." + op, torch.tensor([0.0, 0.0, -0.0, 2.0, NAN, 1.0]), torch.tensor([0.0, NAN, -1.0, 0.5, 1.0, -INF]))
    method(op, op, grid(3), positive(3))
for op in ("xlogy", "copysign", "fmax", "heaviside"):
    function(op, "torch." + op, ints(-2, 3, 4), ints(1, 4, 4))
function("matmul", "torch.mv", grid(2, 3), grid(3))
function("matmul", "torch.dot", grid(3), grid(3))
function("expand", "torch.broadcast_to", grid(1, 3), (2, 2, 3))

# Vectors, matrices, channels.
for dim in (0, -1):
    function("cross", "torch.cross", grid(3, 2, 3), grid(3, 2, 3), dim=dim)
method("cross", "cross", grid(2, 3), grid(2, 3), 1)
function("linalg_cross", "torch.linalg.cross", grid(4, 3), grid(1, 3))
function("linalg_cross", "torch._C._linalg.linalg_cross", ints(-3, 4, 3, 2), ints(-3, 4, 3, 2), dim=0)
function("diag_embed", "torch.diag_embed", grid(2, 3))
function("diag_embed", "torch.diag_embed", grid(2, 3), offset=1)
method("diag_embed", "diag_embed", grid(2, 3), -2, 0, 2)
function("trace", "torch.trace", grid(3, 4))
method("trace", "trace", ints(-3, 4, 3, 3))
function("count_nonzero", "torch.count_nonzero", ints(-1, 2, 2, 3))
function("count_nonzero", "torch.count_nonzero", torch.tensor([[0.0, NAN, -0.0], [1.0, 0.0, 2.0]]), dim=1)
method("count_nonzero", "count_nonzero", ints(-1, 2, 2, 3, 2), (0, 2))
function("cumprod", "torch.cumprod", grid(2, 4), 1)
function("cumprod", "torch.cumprod", torch.tensor([2.0, 0.0, 3.0, NAN]), 0)
method("cumprod", "cumprod", ints(-2, 3, 3, 2), 0)
function("logcumsumexp", "torch.logcumsumexp", grid(2, 4), 1)
function("logcumsumexp", "torch.logcumsumexp", torch.tensor([-INF, -INF, 100.0, 101.0, -200.0]), 0)
method("logcumsumexp", "logcumsumexp", grid(3, 2, 2), -2)
module("local_response_norm", "LocalResponseNorm", (2,), {}, (grid(2, 4, 3),))
module("local_response_norm", "LocalResponseNorm", (5,), {"alpha": 0.5, "beta": 0.5, "k": 2.0}, (grid(1, 3, 2, 2),))
function("local_response_norm", F_ + "local_response_norm", grid(1, 4, 2, 2), 3, alpha=1.0)
module("instance_norm3d", "InstanceNorm3d", (2,), {}, (grid(2, 2, 2, 2, 3),))
module("instance_norm3d", "InstanceNorm3d", (2,), {"affine": True}, (grid(2, 2, 2, 3),))

# Norms of windows, and maxima put back.
module("lp_pool1d", "LPPool1d", (2, 3), {}, (grid(1, 2, 7),))
module("lp_pool1d", "LPPool1d", (1, 3), {"stride": 2, "ceil_mode": True}, (positive(1, 2, 6),))
function("lp_pool1d", F_ + "lp_pool1d", positive(2, 5), 1.5, 2)
module("lp_pool2d", "LPPool2d", (2, 2), {}, (grid(1, 2, 4, 5),))
module("lp_pool2d", "LPPool2d", (3, (2, 3)), {"stride": (1, 2), "ceil_mode": True}, (positive(1, 1, 4, 6),))
function("lp_pool2d", F_ + "lp_pool2d", grid(1, 1, 4, 4), 4.0, 2, stride=1)
pooled = F.max_pool1d(grid(1, 2, 6), 2, return_indices=True)
module("max_unpool1d", "MaxUnpool1d", (2,), {}, pooled)
function("max_unpool1d", F_ + "max_unpool1d", *F.max_pool1d(grid(2, 7), 3, 2, return_indices=True), 3, stride=2, output_size=(7,))
pooled = F.max_pool2d(grid(1, 2, 4, 6), 2, return_indices=True)
module("max_unpool2d", "MaxUnpool2d", (2,), {}, pooled)
function("max_unpool2d", F_ + "max_unpool2d", *F.max_pool2d(grid(1, 1, 5, 5), 2, return_indices=True), 2, output_size=(1, 1, 5, 5))
function("max_unpool2d", F_ + "max_unpool2d", *F.max_pool2d(grid(1, 1, 4, 4), 3, 2, 1, return_indices=True), 3, stride=2, padding=1, output_size=[4, 4])
module("max_unpool3d", "MaxUnpool3d", (2,), {"stride": (1, 2, 2)}, F.max_pool3d(grid(1, 1, 3, 4, 4), 2, (1, 2, 2), return_indices=True))

# Tensors made, filled and drawn.
x = grid(2, 3)
method("new_tensor", "new_tensor", grid(2), [[1, 2], [3, 4]])
method("new_tensor", "new_tensor", ints(0, 3, 2), [1.75, -2.0])
method("new_tensor", "new_tensor", grid(2), 3, dtype=torch.int64)
method("fill", "fill_", x, 0.75)
function("fill", "torch.fill", ints(0, 3, 2), 2)
method("zeros_like", "zero_", grid(2))
a, b = grid(1).sum(), grid(1)
program("tensor", {"a": a, "b": b}, ["t = function torch.tensor ([%a, 2, %b],) {}"], "%t", torch.tensor([a.item(), 2.0, b.item()]))
program("randint", {}, ["r = function torch.randint (3, 4, (2, 3)) {}"], "%r", torch.full((2, 3), 3))
program("randint", {}, ["r = function torch.randint (1,) {'size': (4,), 'dtype': torch.float32}"], "%r", torch.zeros(4))
function("max_unpool2d", F_ + "max_unpool2d", *F.max_pool2d(grid(1, 1, 4, 4), 2, 2, 1, return_indices=True), 2, padding=1)

for op in ("atanh", "arctanh"):
    function("atanh", "torch." + op, torch.tensor([0.25, -0.5, 0.0, 0.9375, 1.0, -1.0, 1.5, NAN]))
method("atanh", "atanh", grid(2, 3).clamp(-0.9375, 0.9375))
function("logaddexp", "torch.logaddexp", grid(2, 1, 3), grid(4, 1))
function("logaddexp", "torch.logaddexp", torch.tensor([0.25, -0.5, 88.0, INF, -INF, -INF, NAN]), torch.tensor([0.25, 0.75, -88.0, INF, -INF, 1.0, 1.0]))
method("logaddexp", "logaddexp", grid(3), grid(3))

# Several tensors in an index, together and apart; a tensor made of a tensor.
for index in ((ints(0, 3, 2, 1), ints(-4, 4, 3)), (S(None), ints(0, 4, 2), ints(-2, 2, 2)), (ints(0, 3, 2), S(None), ints(0, 2, 2, 2)), ([0, 2], [1, -1], ints(0, 2, 2)),
              (0, S(1, None), None, ints(0, 2, 3)), (S(None), ints(0, 4, 2), None, ints(0, 2, 2))):
    function("getitem", "operator.getitem", grid(3, 4, 2), index)
method("new_tensor", "new_tensor", grid(2), ints(0, 3, 1, 2))
function("tensor", "torch.tensor", grid(1), dtype=torch.float32)

# Integers wrap around, each in its own width; sums and products of any width are int64.
WHOLE = {
    torch.uint8: [0, 1, 7, 100, 200, 255],
    torch.int32: [0, -3, 65537, 123456789, 2147483647, -2147483648],
    torch.int64: [0, -3, 65537, 3037000500, 9223372036854774784, -9223372036854775808],
}
for kind, values in WHOLE.items():
    x = torch.tensor(values, dtype=kind).reshape(2, 3)
    function("neg", "torch.neg", x)
    if kind != torch.uint8:
        function("abs", "torch.abs", x)
        method("abs", "abs", x)
    function("square", "torch.square", x)
    function("mul", "torch.mul", x, x)
    function("add", "torch.add", x, x)
    function("sub", "torch.sub", x.flip(0), x)
    for power in (0, 2, 3, 7):
        function("pow", "torch.pow", x, power)
    function("pow", "torch.pow", x, torch.tensor([[1, 2, 3], [2, 5, 9]], dtype=kind))
    function("sum", "torch.sum", x)
    function("sum", "torch.sum", x, 1)
    method("sum", "sum", x, dtype=torch.int32)
    function("prod", "torch.prod", x, 1)
    function("cumsum", "torch.cumsum", x, 1)
    function("cumprod", "torch.cumprod", x, 1)
    function("matmul", "torch.matmul", x, x.t().contiguous())
    function("addmm", "torch.addmm", torch.tensor([3, 1], dtype=kind), x, x.t().contiguous())
    method("to", "to", x, torch.int32 if kind == torch.int64 else torch.uint8)

# Numbers are taken as float32 beside tensors of such: 0.1 is no less than the 0.1 of a tensor.
EDGES = torch.tensor([0.1, 0.2, 0.3, 0.6, 0.7, -0.1, -0.3, -0.6, -0.7, 0.9, 1.2, -1.2])
for op, target, other in (("remainder", "operator.mod", 0.7), ("remainder", "torch.remainder", -0.6), ("floordiv", "operator.floordiv", 0.3),
                          ("fmod", "torch.fmod", 0.6), ("gt", "operator.gt", 0.1), ("ge", "operator.ge", 0.7), ("lt", "operator.lt", 0.7),
                          ("le", "operator.le", 0.1), ("eq", "operator.eq", 0.3), ("ne", "torch.ne", 0.7), ("sub", "operator.sub", 0.1)):
    function(op, target, EDGES, other)
function("div", "torch.div", EDGES, 0.1, rounding_mode="floor")
function("threshold", "torch.nn.functional.threshold", EDGES, 0.3, 9.0)
function("hardshrink", "torch.nn.functional.hardshrink", EDGES, 0.3)
function("gt", "operator.gt", EDGES.double(), 0.1)
