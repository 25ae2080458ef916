"""What ch checks of a model before it is written, beside onnx.checker of the onnx package: a damaged model that the
package refuses is refused by us, and one that we write is taken by both.

usage: onnx_checker.py CH ONNX_TOOL [MODELS]    status 77: no onnx here, skipped
"""
import copy
import os
import random
import subprocess
import sys
import tempfile

try:
    import onnx
    from onnx import TensorProto, helper
except ImportError as lacking:
    print(f"skipped: {lacking}")
    sys.exit(77)

CH, TOOL = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
COUNT = int(sys.argv[3]) if len(sys.argv) > 3 else 400

NETWORKS = {
    "net": """module conv = Conv2d(in_channels=3, out_channels=4, kernel_size=(3, 3), groups=1)
module norm = BatchNorm2d(num_features=4)
module fc = Linear(in_features=4, out_features=5)

%x = placeholder[target=x]
%conv = call_module[target=conv](args = (%x,), kwargs = {})
%norm = call_module[target=norm](args = (%conv,), kwargs = {})
%act = call_function[target=torch.nn.functional.leaky_relu](args = (%norm, 0.1), kwargs = {})
%pool = call_function[target=torch.nn.functional.avg_pool2d](args = (%act, 2), kwargs = {})
%mean = call_method[target=mean](args = (%pool, (2, 3)), kwargs = {})
%fc = call_module[target=fc](args = (%mean,), kwargs = {})
%half = call_function[target=operator.mul](args = (%fc, 0.5), kwargs = {})
%y = call_function[target=torch.softmax](args = (%half, -1), kwargs = {})
%z = call_function[target=torch.cat](args = ([%y, %half], 1), kwargs = {})
%t = call_method[target=reshape](args = (%z, -1, 5, 2), kwargs = {})
%p = call_method[target=permute](args = (%t, 0, 2, 1), kwargs = {})
return %p
""",
    "int": """module fc1 = Linear(in_features=6, out_features=4) quantized {name: 'int', data_in_name: 'int', data_in_width: 8, data_in_scale: 0.1, weight_name: 'int', weight_width: 8, weight_scale: 0.01, bias_name: 'NA'}
module norm = LayerNorm(normalized_shape=(4,))
module fc2 = Linear(in_features=4, out_features=3) quantized {name: 'int', data_in_name: 'int', data_in_width: 12, data_in_scale: 0.1, weight_name: 'int', weight_width: 6, weight_scale: 0.01, bias_name: 'NA'}

%x = placeholder[target=x]
%fc1 = call_module[target=fc1](args = (%x,), kwargs = {})
%norm = call_module[target=norm](args = (%fc1,), kwargs = {})
%relu = call_function[target=torch.relu](args = (%norm,), kwargs = {})
%fc2 = call_module[target=fc2](args = (%relu,), kwargs = {})
%y = call_function[target=operator.add](args = (%fc2, 3), kwargs = {})
return %y
""",
}
SHAPES = {"net": "3,9,9", "int": "6"}


def pick(rng, items):
    return items[rng.randrange(len(items))]


def damage(rng, model):
    """One thing changed; its name."""
    g = model.graph
    node, init = pick(rng, g.node), pick(rng, g.initializer)
    names = [i.name for i in g.initializer] + [o for n in g.node for o in n.output] + ["x", "nowhere", ""]
    kinds = [n.op_type for n in g.node] + ["Relu", "Gelu", "Cast", "Mul", "MatMul", "Reshape", "Softmin", "Neg", "Sign"]
    how = rng.randrange(13)
    if how == 0 and node.input:
        node.input[rng.randrange(len(node.input))] = pick(rng, names)
    elif how == 1 and node.input:
        del node.input[-1]
    elif how == 2:
        node.input.append(pick(rng, names))
    elif how == 3:
        node.output[0] = pick(rng, names)
    elif how == 4:
        node.op_type = pick(rng, kinds)
    elif how == 5 and node.attribute:
        del node.attribute[rng.randrange(len(node.attribute))]
    elif how == 6:
        node.attribute.append(pick(rng, [helper.make_attribute("axis", 3), helper.make_attribute("alpha", 0.5), helper.make_attribute("perm", [1, 0]),
                                         helper.make_attribute("to", 7), helper.make_attribute("keepdims", 0)]))
    elif how == 7:
        init.data_type = pick(rng, [TensorProto.INT32, TensorProto.FLOAT, TensorProto.UINT32, TensorProto.DOUBLE, TensorProto.INT8, TensorProto.UINT8])
    elif how == 8 and init.dims:
        init.dims[rng.randrange(len(init.dims))] += pick(rng, [-1, 1, 4])
    elif how == 9:
        a, b = sorted(rng.sample(range(len(g.node)), 2))
        first, second = copy.deepcopy(g.node[a]), copy.deepcopy(g.node[b])
        g.node[a].CopyFrom(second)
        g.node[b].CopyFrom(first)
    elif how == 10:
        model.opset_import[0].version = pick(rng, [0, 12, 18, 19, 20, 21])
    elif how == 11:
        g.output[0].type.tensor_type.elem_type = pick(rng, [TensorProto.INT64, TensorProto.DOUBLE])
    else:
        g.output[0].type.tensor_type.shape.dim[-1].dim_value += 1
    return how


def package_says(model):
    try:
        onnx.checker.check_model(model, full_check=True)
    except Exception as why:  # one class for each of its checks
        return str(why).split("\n")[0][:160] or "refused"
    return None


def main():
    os.chdir(tempfile.mkdtemp())
    rng, models, said = random.Random(7), [], []
    for name, text in NETWORKS.items():
        with open(name + ".mg", "w", encoding="utf-8") as f:
            f.write("mase-graph 1\nname net\n\n" + text)
        run = subprocess.run([CH, "convert", name + ".mg", name + ".onnx", "--input-shape", SHAPES[name]], capture_output=True, text=True, check=False)
        if run.returncode:
            sys.exit(run.stderr)
        models.append(onnx.load(name + ".onnx"))
    for k in range(COUNT):
        model = copy.deepcopy(models[k % len(models)])
        how = damage(rng, model) if k >= len(models) else None
        said.append((how, package_says(model)))
        with open("%d.onnx" % k, "wb") as f:
            f.write(model.SerializeToString())
    ours = subprocess.run([TOOL, "--check"] + ["%d.onnx" % k for k in range(COUNT)], capture_output=True, text=True, check=False)
    lines = ours.stdout.splitlines()
    if ours.returncode or len(lines) != COUNT:
        sys.exit("onnx_tool: status %d, %d lines of %d: %s" % (ours.returncode, len(lines), COUNT, ours.stderr[-300:]))
    wrong, stricter, both = 0, 0, 0
    for k, (line, (how, package)) in enumerate(zip(lines, said)):
        refused = " refused " in line
        both += refused and package is not None
        stricter += refused and package is None
        if (package and not refused) or (how is None and refused):
            wrong += 1
            print("WRONG: model %d (damage %s): the package: %s; we: %s" % (k, how, package, line))
    print("%d models: %d refused by both, %d by us alone, %d taken by both" % (COUNT, both, stricter, COUNT - both - stricter - wrong))
    if both < COUNT // 4:
        sys.exit("too few damaged models are refused")
    sys.exit(1 if wrong else 0)


main()
