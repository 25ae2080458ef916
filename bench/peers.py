"""peers.py - the others' side of the benchmarks: PyTorch eager and ONNX Runtime.

Answers one line for each line of standard input, so that a script can take turns with ours:

    params NET                           trainable parameters
    train NET BATCH THREADS STEPS        samples a second: forward, backward, Adam
    infer NET BATCH THREADS SECONDS      samples a second of ONNX Runtime, session.run
    bound NET BATCH THREADS SECONDS      the same with input and output bound once, not passed

NET may be an ONNX file, for infer and bound. "-" means that the peer is not installed. Training takes rows in shuffled order from tensors in
memory, as cheap as PyTorch allows: no data loader, nothing read back, nothing logged.
"""
import sys
import time

import numpy
import torch
from torch import nn

try:
    import onnx
    import onnxruntime
except ImportError:
    onnxruntime = None

NORM, RELU = "norm", "relu"


def mlp(*layers):
    """Numbers are linear layers of so many outputs; 16 features come in."""
    width, modules = 16, []
    for layer in layers:
        if layer == NORM:
            modules.append(nn.BatchNorm1d(width))
        elif layer == RELU:
            modules.append(nn.ReLU())
        else:
            modules.append(nn.Linear(width, layer))
            width = layer
    return nn.Sequential(*modules)


def toy_convnet():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, 1, 1), nn.ReLU(), nn.MaxPool2d(2, 2),
        nn.Conv2d(8, 16, 3, 1, 1), nn.ReLU(), nn.Flatten(2),
        nn.Conv1d(16, 32, 3, 1, 1), nn.ReLU(),
        nn.Conv1d(32, 64, 3, 1, 1), nn.ReLU(), nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        nn.Linear(64, 10))


def vgg7():
    modules, width = [], 3
    for outputs in (128, 256, 512):
        for _ in range(2):
            modules += [nn.Conv2d(width, outputs, 3, padding=1),
                        nn.BatchNorm2d(outputs, momentum=0.9), nn.ReLU(inplace=True)]
            width = outputs
        modules.append(nn.MaxPool2d(2))
    return nn.Sequential(*modules, nn.Flatten(), nn.Linear(8192, 1024), nn.ReLU(inplace=True),
                         nn.Linear(1024, 1024), nn.ReLU(inplace=True), nn.Linear(1024, 10))


# Each network with the shape of a sample, the classes, and the rows of the table it trains on.
JETS, IMAGES = ((16,), 5, 576000), ((3, 32, 32), 10, 1000)
NETS = {
    "jsc-tiny": (lambda: mlp(NORM, RELU, 5, RELU), JETS),
    "jsc-toy": (lambda: mlp(NORM, RELU, 8, NORM, RELU, 8, NORM, RELU, 5, NORM, RELU), JETS),
    "jsc-s": (lambda: mlp(NORM, RELU, 64, NORM, RELU, 32, RELU, 32, RELU, 32, RELU, 5, NORM, RELU),
              JETS),
    "jsc-test": (lambda: mlp(NORM, RELU, 64, NORM, RELU, 128, NORM, RELU, 8, NORM, RELU, 8, NORM,
                             RELU, 5, NORM, RELU), JETS),
    "toy_convnet": (toy_convnet, IMAGES),
    "vgg7": (vgg7, IMAGES),
}


def params(name):
    return sum(p.numel() for p in NETS[name][0]().parameters())


tables = {}


def table(sample, classes, rows):
    """Features and labels in memory; made once, so that turns are short."""
    if sample not in tables:
        generator = torch.Generator().manual_seed(0)
        tables[sample] = (torch.randn(rows, *sample, generator=generator),
                          torch.randint(classes, (rows,), generator=generator))
    return tables[sample]


def train(name, batch, threads, steps):
    torch.set_num_threads(int(threads))
    batch, steps = int(batch), int(steps)
    build, (sample, classes, rows) = NETS[name]
    x, y = table(sample, classes, rows)
    net = build().train()
    adam = torch.optim.Adam(net.parameters(), lr=1e-3)
    order = torch.randperm(rows)
    start = None
    warm = max(1, min(20, steps // 4))
    for step in range(-warm, steps):
        if step == 0:
            start = time.perf_counter()
        at = step % (rows // batch) * batch
        index = order[at:at + batch]
        adam.zero_grad(set_to_none=True)
        nn.functional.cross_entropy(net(x[index]), y[index]).backward()
        adam.step()
    return batch * steps / (time.perf_counter() - start)


def as_onnx(net):
    """A sequence of linear layers, batch norms and relus as an ONNX model."""
    nodes, weights, value = [], [], "x"
    for i, m in enumerate(net):
        given = {k: v for k, v in m.state_dict().items() if v.dim() > 0}
        for key, tensor in given.items():
            weights.append(onnx.numpy_helper.from_array(tensor.numpy(), f"{i}.{key}"))
        names = [value] + [f"{i}.{key}" for key in given]
        result = f"v{i}"
        if isinstance(m, nn.Linear):
            nodes.append(onnx.helper.make_node("Gemm", names, [result], transB=1))
        elif isinstance(m, nn.BatchNorm1d):
            nodes.append(onnx.helper.make_node("BatchNormalization", names, [result], epsilon=m.eps))
        else:
            nodes.append(onnx.helper.make_node("Relu", names, [result]))
        value = result
    shape = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "net", [shape("x", onnx.TensorProto.FLOAT, ["N", 16])],
                                   [shape(value, onnx.TensorProto.FLOAT, ["N", 5])], weights)
    opsets = [onnx.helper.make_opsetid("", 17)]
    return onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()


def session(name, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(threads)
    options.inter_op_num_threads = 1
    if name.endswith(".onnx"):
        return onnxruntime.InferenceSession(name, options, providers=["CPUExecutionProvider"])
    net = NETS[name][0]().eval()
    made = onnxruntime.InferenceSession(as_onnx(net), options, providers=["CPUExecutionProvider"])
    x = numpy.random.default_rng(0).standard_normal((64, 16)).astype(numpy.float32)
    with torch.no_grad():
        expected = net(torch.from_numpy(x)).numpy()
    assert numpy.allclose(made.run(None, {"x": x})[0], expected, atol=1e-5)
    return made


def rate(call, batch, seconds):
    """Calls for a tenth of the time to warm up, then for the time; samples a second."""
    for limit in (seconds / 10, seconds):
        calls, start = 0, time.perf_counter()
        while time.perf_counter() - start < limit:
            for _ in range(16):
                call(calls)
                calls += 1
        taken = time.perf_counter() - start
    return batch * calls / taken


def infer(name, batch, threads, seconds):
    batch = int(batch)
    made = session(name, threads)
    run, given = made.run, made.get_inputs()[0].name
    x = numpy.random.default_rng(0).standard_normal((65536, 16)).astype(numpy.float32)
    batches = len(x) // batch

    def call(i):
        at = i % batches * batch
        run(None, {given: x[at:at + batch]})
    return rate(call, batch, float(seconds))


def bound(name, batch, threads, seconds):
    made = session(name, threads)
    x = numpy.zeros((int(batch), 16), dtype=numpy.float32)
    binding = made.io_binding()
    binding.bind_ortvalue_input(made.get_inputs()[0].name, onnxruntime.OrtValue.ortvalue_from_numpy(x))
    y = onnxruntime.OrtValue.ortvalue_from_numpy(numpy.zeros((int(batch), 5), dtype=numpy.float32))
    binding.bind_ortvalue_output(made.get_outputs()[0].name, y)
    return rate(lambda i: made.run_with_iobinding(binding), int(batch), float(seconds))


ANSWERS = {"params": params, "train": train, "infer": infer, "bound": bound}

if __name__ == "__main__":
    print("PyTorch", torch.__version__, "onnxruntime",
          onnxruntime.__version__ if onnxruntime else "-", flush=True)
    for line in sys.stdin:
        verb, *arguments = line.split()
        missing = verb in ("infer", "bound") and not onnxruntime
        print("-" if missing else round(ANSWERS[verb](*arguments)), flush=True)
