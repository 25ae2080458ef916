"""Modules of PyTorch's: captured with their weights, or refused. Needs torch."""

from __future__ import annotations

import importlib
import pathlib
import sys
import typing

import numpy
import pytest

import mase

torch = pytest.importorskip("torch")

SOURCE = """
import torch
import torch.nn as nn

class Net(nn.Module):
    def __init__(self, width, scale=1.0):
        super().__init__()
        self.width = width
        self.fc1 = nn.Linear(16, width)
        self.bn = nn.BatchNorm1d(width)
        self.fc2 = nn.Linear(width, 5)
        self.factor = scale

    def forward(self, x):
        return self.fc2(torch.relu(self.bn(self.fc1(x)))) * self.factor

class Two(nn.Module):
    def __init__(self, scale=1.0):
        super().__init__()
        self.fc = nn.Linear(16, 5)
        self.factor = scale

    def forward(self, x, y):
        return self.fc(x) * self.factor + self.fc(y)

class Hidden(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        self.layers = nn.Sequential(*[nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])])

    def forward(self, x):
        return self.layers(x)
"""


@pytest.fixture
def nets(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> typing.Any:
    (tmp_path / "captured_nets.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    sys.modules.pop("captured_nets", None)
    return importlib.import_module("captured_nets")


def same(graph: mase.MaseGraph, model: typing.Any) -> bool:
    x = torch.randn(7, 16)
    with torch.no_grad():
        return bool(numpy.allclose(graph(x), model.eval()(x).numpy(), atol=1e-5))


def test_from_its_file_with_its_weights(nets: typing.Any) -> None:
    model = nets.Net(24)
    model.bn.running_mean += 0.5
    graph = mase.MaseGraph(model=model)
    assert graph.modules["fc1"].out_features == 24
    assert same(graph, model)
    assert same(mase.trace(nets.Net(3), shape=(16,)), nets.Net(3)) is False  # other weights


def test_arguments_that_cannot_be_seen_are_asked_for(nets: typing.Any) -> None:
    model = nets.Hidden([16, 8, 5])
    with pytest.raises(mase.MaseUnsupportedError, match=r"no attributes sizes; say it"):
        mase.MaseGraph(model)
    assert same(mase.MaseGraph(model, arguments="[16, 8, 5]"), model)
    with pytest.raises(mase.MaseUnsupportedError, match="another network than the module"):
        mase.MaseGraph(model, arguments="[16, 9, 5]")


def test_what_computes_something_else_is_refused(nets: typing.Any) -> None:
    """scale is no attribute, so its default is taken: names and shapes agree, numbers do not."""
    with pytest.raises(mase.MaseUnsupportedError, match="computes something else"):
        mase.MaseGraph(nets.Net(24, scale=2.0), shape=(16,))


def test_what_cannot_be_compared_is_asked_for(nets: typing.Any) -> None:
    model = nets.Two(scale=3.0).eval()
    with pytest.raises(mase.MaseUnsupportedError, match="several inputs or results"):
        mase.MaseGraph(model)
    assert "3.0" in str(mase.MaseGraph(model, arguments="scale=3.0").fx_graph)


def test_sequential() -> None:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(16, 8, bias=False), nn.LeakyReLU(0.2), nn.Sequential(nn.Linear(8, 5)))
    graph = mase.MaseGraph(model)
    assert same(graph, model) and list(graph.modules) == ["0", "1", "2.0"]


LAYERS = [
    ("BatchNorm1d(16)", (16,)),
    ("BatchNorm1d(16, affine=False)", (16,)),
    ("BatchNorm1d(16, eps=1e-3, momentum=None)", (16,)),
    ("BatchNorm2d(3)", (3, 8, 8)),
    ("LayerNorm(16)", (16,)),
    ("LayerNorm(16, elementwise_affine=False)", (16,)),
    ("GroupNorm(2, 4)", (4, 8, 8)),
    ("GroupNorm(2, 4, affine=False)", (4, 8, 8)),
    ("InstanceNorm2d(3, affine=True)", (3, 8, 8)),
    ("Linear(16, 5, bias=False)", (16,)),
    ("Conv2d(4, 6, 3, padding='same', dilation=2, groups=2)", (4, 8, 8)),
    ("Conv2d(3, 4, 3, padding=1, padding_mode='reflect', bias=False)", (3, 8, 8)),
    ("ConvTranspose2d(3, 4, 3, 2, 1, 1)", (3, 8, 8)),
    ("AvgPool2d(3, 2, 1, ceil_mode=True, count_include_pad=False)", (3, 8, 8)),
    ("MaxPool2d(3, 2, 1, ceil_mode=True)", (3, 8, 8)),
    ("Upsample(scale_factor=2)", (3, 8, 8)),
    ("Upsample(scale_factor=2, mode='bilinear', align_corners=True)", (3, 8, 8)),
    ("Hardtanh(-2, float('inf'))", (16,)),
    ("GELU('tanh')", (16,)),
    ("Flatten(1, 2)", (3, 8, 8)),
    ("PReLU(16)", (16,)),
]


@pytest.mark.parametrize("source, sample", LAYERS)
def test_layers_have_all_their_settings(source: str, sample: typing.Tuple[int, ...]) -> None:
    """What a layer prints differs with the version of PyTorch, and leaves out some."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(eval(f"nn.{source}", {"nn": torch.nn})).eval()
    for tensor in model.state_dict().values():
        if tensor.dtype == torch.float32:
            tensor += torch.rand(tensor.shape)
    graph = mase.MaseGraph(model, shape=sample)
    x = torch.randn(5, *sample)
    with torch.no_grad():
        want = model(x).numpy()
    assert graph(x).shape == want.shape and numpy.allclose(graph(x), want, atol=1e-4)


def test_others_are_refused() -> None:
    with pytest.raises(TypeError, match="not of dict"):
        mase.MaseGraph({})
    with pytest.raises(mase.MaseUnsupportedError, match="by itself is no network"):
        mase.MaseGraph(torch.nn.Linear(16, 5))


def test_tensors_go_in_and_come_out(graph: mase.MaseGraph) -> None:
    x = torch.randn(4, 16)
    y = torch.from_dlpack(graph(x))
    assert y.shape == (4, 5)
    assert numpy.allclose(graph(x.numpy()), y.numpy())
    many = torch.randn(20, 16)
    data = mase.Data(many, torch.arange(20) % 5, train=16, validation=2)
    assert (data.train.x == many[:16].numpy()).all() and data.train.y[3] == 3
    graph.load_state_dict({k: torch.from_numpy(v.copy()) for k, v in graph.state_dict().items()})


def test_tensors_are_the_numbers_that_they_show(graph: mase.MaseGraph) -> None:
    """Their memory is not all: signs, gradients, types and layouts of PyTorch's."""
    x = torch.randn(4, 16)
    negative = torch.imag(torch.complex(x, x).conj())
    assert negative.is_neg()
    taken = {
        "negative": negative,
        "rows of it": list(negative),
        "with gradients": torch.imag(torch.complex(x, x).requires_grad_().conj()),
        "a parameter": torch.nn.Parameter(x),
        "short": x.bfloat16(),
        "rows that are short": list(x.bfloat16()),
        "half": x.half(),
        "double": x.double(),
        "columns": x.t().contiguous().t(),
        "steps": torch.cat([x, x], 1)[:, ::2],
        "truth": x > 0,
        "integers": (x * 10).long(),
        "one row": x[:1].expand(4, 16),
        "none": torch.zeros(0, 16),
    }
    for kind, tensor in taken.items():
        shown = torch.stack(tensor) if isinstance(tensor, list) else tensor
        want = numpy.array(shown.detach().tolist(), numpy.float32).reshape(len(shown), 16)
        assert (graph(tensor) == graph(want)).all(), kind
        rounded = mase.round(tensor, {"name": "integer", "width": 32, "frac_width": 16})
        assert (rounded == mase.round(want, {"name": "integer", "width": 32, "frac_width": 16})).all(), kind
        if len(want):
            assert (mase.Data(tensor, [0, 1, 2, 3], train=4).train.x == want).all(), kind
            graph.copy().load_state_dict({"seq_blocks.2.weight": torch.cat([shown, shown])[:5]}, strict=False)
    copy = graph.copy()
    copy.modules["seq_blocks.2"].bias = negative[0, :5]
    assert (copy.modules["seq_blocks.2"].bias == -x[0, :5].numpy()).all()


@pytest.mark.filterwarnings("ignore")
def test_tensors_without_numbers_are_refused(graph: mase.MaseGraph) -> None:
    x = torch.randn(4, 16)
    refused = [
        torch.complex(x, x),
        torch.complex(x, x).conj(),
        torch.empty(4, 16, device="meta"),
        x.to_sparse(),
        x.to_sparse_csr(),
        torch.quantize_per_tensor(x, 0.1, 10, torch.quint8),
        torch.tensor(1.0),
        torch._efficientzerotensor(4, 16),
    ]
    subclasses = pytest.importorskip("torch._subclasses")
    refused.append(subclasses.FakeTensorMode().from_tensor(x))
    if hasattr(torch, "masked") and hasattr(torch.masked, "masked_tensor"):
        refused.append(torch.masked.masked_tensor(x, x > 0))
    if hasattr(torch, "float8_e4m3fn"):
        refused.append(x.to(torch.float8_e4m3fn))
    for tensor in refused:
        with pytest.raises((TypeError, ValueError, RuntimeError)):
            graph(tensor)


def test_functions_and_layers_of_torch_in_edits(graph: mase.MaseGraph) -> None:
    layer = torch.nn.Linear(5, 3)
    graph.add_module("head", layer)
    last = graph.node("seq_blocks_3")
    with graph.inserting_after(last):
        head = graph.call_module("head", (last,))
    with graph.inserting_after(head):
        out = graph.call_function(torch.sigmoid, (head,))
    graph.node("output").args = (out,)
    assert out.target == "torch.sigmoid"
    x = torch.randn(4, 16)
    with torch.no_grad():
        want = torch.sigmoid(layer(torch.from_numpy(mase.open("jsc-tiny")(x))))
    assert numpy.allclose(graph(x), want.numpy(), atol=1e-6)


def test_walk_is_the_same_as_torch_fx_s(nets: typing.Any) -> None:
    model = nets.Net(8)
    theirs = importlib.import_module("torch.fx").symbolic_trace(model).graph
    ours = mase.MaseGraph(model)
    for a, b in zip(theirs.nodes, ours.nodes):
        assert (a.op, a.name, [n.name for n in a.users]) == (b.op, b.name, [n.name for n in b.users])
        assert str(a.args) == str(b.args) and str(a.kwargs) == str(b.kwargs)


CELLS = [
    "import torch.nn as nn\nfrom torch.nn.functional import relu as rectify\nWIDTH = 12\nUNUSED = open(__file__) if 0 else None",
    "def block(n):\n    return nn.Linear(n, WIDTH)",
    """
class Base(nn.Module):
    def forward(self, x):
        return self.last(rectify(self.first(x)))

class InCell(Base):
    def __init__(self):
        super().__init__()
        self.first = block(16)
        self.last = nn.Linear(WIDTH, 5)
""",
]


def test_classes_of_notebooks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells have no files: their sources are where tracebacks find them."""
    import linecache
    import types

    cells = types.ModuleType("cells")
    monkeypatch.setitem(sys.modules, "cells", cells)
    for number, cell in enumerate(CELLS):
        name = f"<ipython-input-{number}>"
        monkeypatch.setitem(linecache.cache, name, (len(cell), None, cell.splitlines(True), name))
        exec(compile(cell, name, "exec"), vars(cells))
    model = vars(cells)["InCell"]()
    graph = mase.MaseGraph(model)
    assert same(graph, model)
    assert [node.name for node in graph.nodes] == ["x", "first", "relu", "last", "output"]
