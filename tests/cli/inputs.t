# Networks of several inputs on data that has an array for each: found by names or in the order of
# --features, columns divided among them; every command that runs a network takes them.
python3 - <<END
import struct, zipfile
def npy(kind, shape, values):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (kind, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    code = {"<f4": "f", "<i8": "q", "|b1": "?"}[kind]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(values), code), *values)
def save(path, **arrays):
    with zipfile.ZipFile(path, "w") as z:
        for name, (kind, shape, values) in arrays.items():
            z.writestr(name + ".npy", npy(kind, shape, values))
n = 60
numbers = [((i * 37 + k * 11) % 17 - 8) / 4 for i in range(n) for k in range(6)]
cities = [(i * 7 + k * 3) % 10 for i in range(n) for k in range(2)]
kind = [i % 5 for i in range(n)]
labels = [(i * 7 + i // 3) % 3 for i in range(n)]
x, y = ("<f4", (n, 6), numbers), ("<i8", (n,), labels)
flags = [(i * 3 + k) % 4 == 0 for i in range(n) for k in range(6)]
save("named.npz", kind=("<i8", (n,), kind), cities=("<i8", (n, 2), cities), numbers=x, label=y)
save("others.npz", a=x, b=("<i8", (n, 2), cities), c=("<i8", (n,), kind), y=y)
save("mask.npz", x=x, mask=("<f4", (n, 6), [abs(v) for v in numbers]), y=y)
save("hidden.npz", x=x, hidden=("|b1", (n, 6), flags), y=y)
save("twos.npz", x=x, hidden=("<i8", (n, 6), [2 * f for f in flags]), y=y)
save("alone.npz", x=x, y=y)
save("short.npz", x=x, mask=("<f4", (n - 1, 6), numbers[6:]), y=y)
with open("table.csv", "w") as f:
    f.write("n0,n1,n2,n3,n4,n5,c0,c1,kind,label\n")
    for i in range(n):
        f.write(",".join(map(str, numbers[6 * i:6 * i + 6] + cities[2 * i:2 * i + 2] + [kind[i], labels[i]])) + "\n")
END
cat >flat.py <<END
import sys
sys.path.insert(0, "$SOURCE/tests/data/source")
import inputs


class Flat(inputs.Categories):
    def forward(self, numbers, cities, kind):
        return super().forward(numbers, cities, kind.squeeze(1))
END
cat >c.toml <<END
[passes.profile_statistics]
by = "type"
target_weight_nodes = ["linear"]
target_activation_nodes = ["linear"]
num_samples = 32
[passes.profile_statistics.activation_statistics.range_n_sigma]
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
END
nets=$SOURCE/tests/data/source/inputs.py
some="--max-steps 3 --batch-size 8 --seed 1"

# ---- by their names ----
run train "$nets:Categories" named.npz $some --project p
succeeds "arrays of the names of forward's parameters, in any order"
err_has "it is said which" 'Inputs of the network: numbers from numbers, cities from cities, kind from kind of named\.npz'
best=mase_output/p/software/training_ckpts/best.ckpt
run test "$nets:Categories" named.npz --load $best --project p
succeeds "tested"
out_has "with a result" 'test_acc_epoch'
run transform "$nets:Categories" named.npz --load $best --config c.toml --project p
succeeds "profiled and quantised"
run test "$nets:Categories" named.npz --load mase_output/p/software/transform/transformed_ckpt --project p
succeeds "tested in integers"
run calibrate "$nets:Categories" named.npz --load $best --config c.toml --project p
succeeds "calibrated"
run report mase_output/p
succeeds "reported"
run show mase_output/p/software/transform/transformed_ckpt
succeeds "shown"
out_has "with the shapes of all inputs" 'kind *placeholder *kind *\[1\]'
run train "$nets:Weighted" mask.npz $some --project m
succeeds "a second array beside x"
run train "$nets:Hidden" hidden.npz $some --project h
succeeds "truth values"

# ---- by --features ----
run train "$nets:Categories" others.npz --features a,b,c $some --project f
succeeds "other names, in the order of the parameters"
run convert $best p.npz --plain
run convert mase_output/f/software/training_ckpts/best.ckpt f.npz --plain
holds "the same weights" cmp p.npz f.npz
run train flat.py:Flat table.csv --features 'n0..n5;c0,c1;kind' --scaling standard $some --project c
succeeds "columns, divided among inputs"
err_has "categories are not scaled" 'c0, c1: whole numbers, as categories are: not scaled'
run test flat.py:Flat table.csv --load mase_output/c/software/training_ckpts/best.ckpt --project c
succeeds "the checkpoint remembers which are whose"

# ---- the first of them given back ----
cat >back.mg <<'END'
mase-graph 1
module fc = Linear(in_features=6, out_features=6)
%x = placeholder[target=x]
%mask = placeholder[target=mask]
%mean = call_method[target=mean](args = (%mask, 1, True), kwargs = {})
%sub = call_function[target=operator.sub](args = (%x, %mean), kwargs = {})
%fc = call_module[target=fc](args = (%sub,), kwargs = {})
%add = call_function[target=operator.add](args = (%fc, %mean), kwargs = {})
return %add
END
run train back.mg mask.npz --task autoencode --features x,mask --max-epochs 400 --learning-rate 1e-1 --batch-size 64 --project back
succeeds "an autoencoder that is told more"
out_has "gives the first input back" '\| *last .* 1\.0000 \|$'

# ---- what does not fit ----
run train "$nets:Categories" others.npz $some --project bad
refused "names that nobody knows" "the network takes 3 inputs, numbers, cities, kind; others\.npz has a, b, c: --features A,B names an array for each"
run train "$nets:Weighted" others.npz --features a,b,c $some --project bad
refused "more arrays than inputs" 'the network takes 2 inputs, x, mask; others\.npz has a, b, c'
run train "$nets:Weighted" alone.npz $some --project bad
refused "no array for the second input" 'the network takes 2 inputs, x, mask; alone\.npz has x: --features A,B names an array for each'
run train "$nets:Weighted" mask.npz --features x,label $some --project bad
refuses "an array that is not there" mask.npz label x.npy
run train "$nets:Weighted" short.npz --features x,mask $some --project bad
refused "another number of rows" 'mask has the shape \[59, 6\], expected \[N, \.\.\.\] with 60 rows'
run train "$nets:Hidden" twos.npz --features x,hidden $some --project bad
refused "no truth values" "the network takes truth values, 0 or 1, as 'hidden', and a sample has 2"
run train flat.py:Flat table.csv --features 'n0..n5,c0,c1,kind' $some --project bad
refused "columns that nobody divides" "the network takes 3 inputs, numbers, cities, kind; table\.csv has columns"
run train flat.py:Flat table.csv --features '!n0;c0' $some --project bad
refused "columns are left out of all of them" "--features 'n0;c0': semicolons divide the columns that are named"
holds "nothing was written" test ! -e mase_output/bad

# A file of one input would be another dataset.
run data export mask.npz out.csv --features x,mask
refused "several inputs are not exported as one" 'mask\.npz has samples of 2 inputs'
