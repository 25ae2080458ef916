# Names that others chose, in files of every kind: neither an escape sequence nor a line of their own
# reaches the terminal.
if ! python3 -c '' 2>/dev/null; then
    skip "names of others" "no python3"
    return 0
fi
cat >make.py <<'END'
import io, json, struct, zipfile

evil = 'EVIL\x1b[31m\x9b2J\u202e\rx\nINFO     FORGED\x07'
quoted = json.dumps(evil, ensure_ascii=False).replace('\x1b', '\\u001b').replace('\x07', '\\u0007') \
    .replace('\x9b', '\\u009b')

def safetensors(path, names, metadata=None):
    head = {n: {'dtype': 'F32', 'shape': [2], 'data_offsets': [8 * i, 8 * i + 8]} for i, n in enumerate(names)}
    if metadata:
        head['__metadata__'] = metadata
    text = json.dumps(head).encode()
    open(path, 'wb').write(struct.pack('<Q', len(text)) + text + b'\0' * 8 * len(names))

safetensors('w.safetensors', ['fc.weight'])
safetensors('t.safetensors', [evil + '.weight', 'fc.bias'], {evil: evil})

npy = b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + b"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }".ljust(117) + b'\n' + b'\0' * 8
with zipfile.ZipFile('t.npz', 'w') as z:
    z.writestr(evil + '.npy', npy)

# A state dict of one tensor, as torch.save writes it.
def text(s):
    b = s.encode()
    return b'X' + struct.pack('<I', len(b)) + b
pickle = (b'\x80\x02}(' + text(evil) + b'ctorch._utils\n_rebuild_tensor_v2\n((' + text('storage') + b'ctorch\nFloatStorage\n'
          + text('0') + text('cpu') + b'K\x02tQK\x00K\x02\x85K\x01\x85\x89ccollections\nOrderedDict\n)RtRu.')
with zipfile.ZipFile('t.pt', 'w') as z:
    z.writestr('archive/data.pkl', pickle)
    z.writestr('archive/data/0', b'\0' * 8)
    z.writestr('archive/version', '3\n')

line = evil.replace('\r', '').replace('\n', '')
rows = ''.join('%d,%d,"%s"\n' % (i % 7, i % 3, line if i % 2 else 'other') for i in range(60))
open('t.csv', 'w', newline='').write('a,"%s",label\n' % line + rows)
open('bad.csv', 'w', newline='').write('a,b,label\n' + '1,"%s",x\n' % line)
open('key.toml', 'w').write('%s = 1\n' % quoted)
open('value.toml', 'w').write('task = %s\n' % quoted)
open('pass.toml', 'w').write('[passes.%s]\n' % quoted)
open('node.toml', 'w').write('[passes.quantize]\nby = "name"\ndefault.config.name = "NA"\n[passes.quantize.%s.config]\nname = "NA"\n' % quoted)
open('format.toml', 'w').write('[passes.quantize]\nby = "type"\ndefault.config.name = %s\n' % quoted)
open('model.toml', 'w').write('dataset = "toy_tiny"\nmax_epochs = 1\nproject = "m"\n[model]\nname = %s\nlayers = ["Flatten(1)", "Linear(4, 2)"]\n' % quoted)
open('layer.toml', 'w').write('dataset = "toy_tiny"\n[model]\nname = "x"\nlayers = [%s]\n' % quoted)
open('project.toml', 'w').write('model = "toy"\ndataset = "toy_tiny"\nmax_epochs = 1\nproject = %s\n' % quoted)
open('t.mg', 'w').write('mase-graph 1\nname %s\n' % quoted)
open('t2.mg', 'wb').write(b'mase-graph 1\n' + evil.encode() + b'\n')
open('run.json', 'w').write(json.dumps({evil: evil, 'action': evil, 'model': {'name': evil}}))
open(evil.replace('/', '') + '.safetensors', 'wb').write(open('t.safetensors', 'rb').read())
open(evil.replace('/', '') + '.txt', 'w').write(evil)
open('net.py', 'w').write('import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        raise ValueError(%r)\n' % evil)
END
python3 make.py || exit 2
mkdir runs && cp run.json runs/
esc=$(printf '\033') evil=$(printf 'EVIL\033[31m\302\2332J\nINFO     FORGED')

# Nothing that a terminal obeys in either stream, and no line that the name began. Something of the
# name must be there, or the case tests nothing.
tame()
{
    label=$1
    shift
    run "$@"
    cat "$T/out" "$T/err" >"$T/why"
    ! LC_ALL=C grep -q "[$esc$(printf '\001-\010\013-\037\177')]" "$T/why" &&
        ! LC_ALL=C grep -q "$(printf '\302[\200-\237]')" "$T/why" &&
        ! LC_ALL=C grep -q "$(printf '\342\200\256')" "$T/why" &&
        ! grep -q '^INFO     FORGED' "$T/why" && grep -q 'EVIL' "$T/why" && [ "$status" -le 2 ]
    report $? "$label"
}
for file in t.safetensors t.npz t.pt; do
    for format in text grid github csv json; do
        tame "show $file --format $format" show "$file" --stats --format $format
    done
    tame "load $file" test toy toy_tiny --load "$file"
    tame "diff with $file" diff "$file" w.safetensors
    tame "--map in $file" convert "$file" out.safetensors --force --map "$evil=x"
done
tame "convert" convert t.safetensors "$evil.npz" --force
for format in text grid github csv json; do
    tame "data info --format $format" data info csv:t.csv --format $format
done
cat >l.toml <<'END'
dataset = "csv:t.csv"
max_epochs = 1
project = "csv"
[model]
layers = ["Linear(2, 2)"]
END
run train --config l.toml
succeeds "a network of such a table"
rm -rf mase_output/csv
best=$(run train --config l.toml && find mase_output -name best.ckpt)
tame "class names of a test" test --config l.toml --load "$best"
tame "class names of a checkpoint" show "$best"
tame "a number in a table" data info csv:bad.csv
tame "a column" data info "csv:t.csv:$evil"
tame "a key" transform --config key.toml
tame "a value" transform --config value.toml
tame "a pass" transform --config pass.toml toy toy_tiny
tame "a node" transform --config node.toml toy toy_tiny
tame "a format" transform --config format.toml toy toy_tiny
tame "a model" train --config model.toml
tame "a layer" train --config layer.toml
tame "a project" train --config project.toml
tame "a graph's name" show t.mg
tame "a graph's line" show t2.mg
tame "a record" show run.json
tame "a report" report runs
for file in EVIL*.safetensors; do
    tame "a file" show "$file"
done
tame "a missing file" show "$evil"
tame "an exception" show net.py:Net toy_tiny
tame "a word" "$evil"
tame "an option" train "--$evil"
tame "an option's value" train toy toy_tiny --task "$evil"
tame "an operand" train "$evil" toy_tiny
tame "a data set" train toy "$evil"
tame "an array" predict toy toy_tiny --load t.pt --input "$evil" --output y.npy
