"""trial.py - the Python package of an installed system: without a compiler, without PyTorch."""
import importlib.metadata
import sys

import mase

assert importlib.metadata.version("mase") == mase.__version__
assert "torch" not in sys.modules

graph = mase.open("jsc-tiny")
assert [node.op for node in graph.nodes].count("call_module") == 4
data = mase.Data("jsc")
mase.train(graph, data, max_epochs=1, batch_size=1024, learning_rate=1e-2)
before = mase.evaluate(graph, data)
widths = {f"{operand}_{width}": bits for operand in ("data_in", "weight", "bias") for width, bits in (("width", 8), ("frac_width", 5))}
mase.quantize(graph, {"by": "type", "default": {"config": {"name": None}}, "linear": {"config": {"name": "integer", **widths}}})
after = mase.evaluate(graph, data)
print(before, after)
