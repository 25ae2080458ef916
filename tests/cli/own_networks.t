# Networks of one's own from the command line: each is trained, tested and transformed. What they
# compute is compared elsewhere; here nothing may stand in their way.
source=$SOURCE/tests/data/source
awk 'BEGIN { srand(1)
    for (i = 0; i < 16; i++) printf "f%d,", i
    print "label"
    for (r = 0; r < 120; r++) {
        for (i = 0; i < 16; i++) printf "%.4f,", rand() + r % 5 * (i % 5 == r % 5)
        print r % 5 } }' >jets.csv
python3 - <<EOF
import struct, zipfile
def npy(kind, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %r, }" % (kind, shape)
    head += " " * (63 - (10 + len(head)) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data
n, size = 20, 3 * 16 * 16
x = b"".join(struct.pack("<%df" % size, *(((i * 37 + k * 11) % 17 - 8) / 8 for k in range(size)))
             for i in range(n))
with zipfile.ZipFile("photos.npz", "w") as z:
    z.writestr("X.npy", npy("<f4", (n, 3, 16, 16), x))
    z.writestr("y.npy", npy("<i8", (n,), struct.pack("<%dq" % n, *(i % 3 for i in range(n)))))
EOF
cat >c.toml <<EOF
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
[passes.report_graph]
EOF

each()
{
    name=$1 spec=$source/$2 data=$3
    run train "$spec" $data --max-steps 2 --batch-size 8 --project p --seed 1
    succeeds "$name is trained"
    best=mase_output/p/software/training_ckpts/best.ckpt
    run test "$spec" $data --load $best --project p
    succeeds "$name is tested"
    out_has "with a result" 'test_acc_epoch'
    run transform "$spec" $data --load $best --config c.toml --project p
    succeeds "$name is transformed"
    run test "$spec" $data --load mase_output/p/software/transform/transformed_ckpt --project p
    succeeds "$name is tested in integers"
    rm -rf mase_output
}

each "lab 1's network" test.py:Test csv:jets.csv
each "jsc-s with its lists" jsc.py:Small csv:jets.csv
each "a residual network" residual.py:ResMLP csv:jets.csv
each "attention by hand" products.py:MatmulNet csv:jets.csv
each "a transformer" transformer.py:Transformer csv:jets.csv
each "functions and methods" mixed.py:Mixed csv:jets.csv
each "a network with settings and mixins" jets.py:GatedTagger csv:jets.csv
each "a KAN" jets.py:KAN csv:jets.csv
each "a Lightning module" jets.py:LitTagger csv:jets.csv
each "a file of a package" package/net.py:Net csv:jets.csv
each "resnet18" resnet.py:resnet18 npz:photos.npz
