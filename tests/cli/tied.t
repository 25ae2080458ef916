# Parameters and layers under more than one name are one parameter: counted, trained and saved as such.
own=$SOURCE/tests/data/source/tied.py
# A small table: what is trained on matters little here.
awk 'BEGIN {
    srand(7)
    for (k = 0; k < 16; k++) printf "f%d,", k
    print "label"
    for (i = 0; i < 400; i++) {
        for (k = 0; k < 16; k++) printf "%.4f,", 20 * rand() - 10
        print i % 5
    }
}' >jets.csv
data=csv:jets.csv

weights() { echo "mase_output/$1/software/training_ckpts/$2.ckpt"; }

run show "$own:Words" jsc
out_has "a tied parameter is counted once" '^207 trainable values, and 0 in buffers$'
out_has "and has two names" '^head\.weight +tied to embed\.weight +float32'
run show "$own:Places" jsc
out_has "a layer in two places" '^b\.weight +tied to a\.weight '
out_has "in a list" '^blocks\.2\.bias +tied to blocks\.0\.bias '
out_has "with its statistics" '^again\.0\.running_var +tied to norm\.running_var '
out_has "and what a container holds" '^other\.g +tied to scale\.g '
run show "$own:Words" jsc --program
succeeds "a program"
out_has "has one value for it" 'embed\.weight'
out_lacks "under its first name" 'head\.weight'

# One network in three forms trains to the same bits, whatever the threads.
train="$data --max-steps 20 --batch-size 64 --learning-rate 1e-2 --weight-decay 0.1 --seed 3"
for net in Words Places; do
    for form in mg py; do
        run convert "$own:$net" "$net.$form" --dataset jsc
        succeeds "$net: written as .$form"
        run convert "$net.$form" again.mg --dataset jsc --force
        holds "$net: and read back the same from .$form" sh -c "[ ! -e $net.first ] || cmp $net.first again.mg"
        cp again.mg "$net.first"
    done
    # shellcheck disable=SC2086 # words
    run train "$own:$net" $train --project "$net" --threads 1
    succeeds "$net: trained"
    for form in mg py; do
        # shellcheck disable=SC2086 # words
        run train "$net.$form" $train --project "$net-$form" --threads 1
        succeeds "$net: trained from .$form"
        holds "to the same bytes" cmp "$(weights "$net" last)" "$(weights "$net-$form" last)"
    done
    # shellcheck disable=SC2086 # words
    run train "$own:$net" $train --project "$net-2" --threads 2
    run convert "$(weights "$net" last)" "$net.npz"
    run convert "$(weights "$net-2" last)" "$net-2.npz"
    holds "$net: with two threads, too" cmp "$net.npz" "$net-2.npz"
    run convert "$(weights "$net" last)" "$net.safetensors"
    succeeds "$net: written as .safetensors"
    run test "$own:$net" $data --load "$net.safetensors" --project tested
    succeeds "$net: and loaded from it"
done
holds "layers are named again in Python" grep -q '^        self\.blocks\[2\] = self\.blocks\[0\]$' Places.py
holds "and parameters" grep -q '^        self\.head\.weight = self\.embed\.weight$' Words.py

# A run that was interrupted goes on to the same bits.
train="$data --batch-size 64 --learning-rate 1e-2 --seed 3 --lr-schedule constant --max-epochs 9"
# shellcheck disable=SC2086 # words
{
    run train "$own:Words" $train --max-steps 20 --project whole
    run train "$own:Words" $train --max-steps 10 --project parts
    run train "$own:Words" $train --max-steps 20 --project parts --resume
}
succeeds "a run is resumed"
for project in whole parts; do
    run convert "$(weights $project last)" $project.npz
done
holds "to the same weights" cmp whole.npz parts.npz

# Each use may round it by a format of its own.
cat >q.toml <<'END'
[passes.quantize]
by = "name"
default.config.name = "NA"
down.config = { name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 6, weight_frac_width = 5 }
up.config = { name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 8, weight_frac_width = 7, bias_width = 8, bias_frac_width = 5 }
[passes.count_flops]
format = "csv"
END
sed 's/requires_grad = False/requires_grad = True/' "$own" >thawed.py
run transform thawed.py:FrozenTable $data --config q.toml --project q
succeeds "it is quantised"
out_has "parameters are counted once" '^total,,[0-9]+,[0-9]+,[0-9]+,357,'
out_has "and their bits in each format once" '^total,,[0-9]+,[0-9]+,[0-9]+,357,6432,'
saved=mase_output/q/software/transform/transformed_ckpt
run test thawed.py:FrozenTable $data --load $saved --project q
succeeds "tested"
run train thawed.py:FrozenTable $data --load $saved --max-steps 5 --batch-size 64 --project trained
succeeds "and trained"
run weights thawed.py:FrozenTable --dataset $data --config q.toml
out_has "one use" '^down\.weight +integer\(6, 5\)'
out_has "and the other" '^up\.weight +integer\(8, 7\)'

# What a file says of it.
cat >bad.mg <<'END'
mase-graph 1
module a = Linear(in_features=16, out_features=16) tied {weight: b.wieght}
module b = Linear(in_features=16, out_features=5)

%x = placeholder[target=x]
%a = call_module[target=a](args = (%x,), kwargs = {})
%b = call_module[target=b](args = (%a,), kwargs = {})
return %b
END
run show bad.mg --dataset jsc
refuses "a name that is not there" bad.mg:2:66 b.wieght
sed 's/wieght/weight/' bad.mg >shapes.mg
run show shapes.mg --dataset jsc
refuses "another shape" shapes.mg:2:66 a.weight 'f32[16, 16]' b.weight 'f32[5, 16]'

# A parameter that forward finds in a list beside the registered ones is that parameter, also where something is computed from it alone.
cat >lists.py <<'END'
import torch
import torch.nn as nn


class Lists(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Parameter(torch.full((16,), 0.5))
        self.b = nn.Parameter(torch.full((16,), 2.0))
        self.scales, self.named = [self.a], {"b": (self.b,)}
        self.fc = nn.Linear(16, 5)

    def forward(self, x):
        return self.fc(x * self.scales[0][None, :] + (self.named["b"][0] * 2).unsqueeze(0))


class Hidden:
    pass


class Elsewhere(Lists):
    def __init__(self):
        super().__init__()
        self.hidden = Hidden()
        self.hidden.a = self.a

    def forward(self, x):
        return self.fc(x * self.hidden.a[None, :])
END
run show lists.py:Lists jsc
out_has "a parameter in a list is read" '^a_?[0-9]* +get_attr +a '
out_has "and indexed in the graph" '^getitem +call_function +getitem +a'
out_has "as is one in a dict" '^mul(_1)? +call_function +mul +b'
# shellcheck disable=SC2086 # words
run train lists.py:Lists $data --max-steps 20 --batch-size 64 --learning-rate 1e-2 --project lists
succeeds "it is trained"
run convert "$(weights lists last)" lists.npz
holds "and moves" python3 -c "
import struct, zipfile
for name, start in (('a', 0.5), ('b', 2.0)):
    z = zipfile.ZipFile('lists.npz')
    data = z.read(next(n for n in z.namelist() if n.endswith('model.%s.npy' % name) or n == name + '.npy'))[-64:]
    assert all(abs(v - start) > 1e-4 for v in struct.unpack('<16f', data)), (name, data)"
run show lists.py:Elsewhere jsc
refused "where it is not found its numbers are not frozen" "^lists\.py:[0-9]+:[0-9]+: the numbers of parameter 'a' are needed while tracing"
