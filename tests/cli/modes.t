# Networks that are others while they are trained: each graph in its mode, said and kept.
own=$SOURCE/tests/data/source/modes.py
# A small table: what is trained on matters little here.
awk 'BEGIN {
    srand(7)
    for (k = 0; k < 16; k++) printf "f%d,", k
    print "label"
    for (i = 0; i < 400; i++) {
        for (k = 0; k < 16; k++) printf "%.4f,", rand() * 2 - 1
        print i % 5
    }
}' >jets.csv
data=csv:jets.csv

train="$data --max-steps 20 --batch-size 64 --learning-rate 1e-2 --seed 3"
weights() { echo "mase_output/$1/software/training_ckpts/$2.ckpt"; }

run show "$own:Branches" jsc
out_has "what is evaluated" '^softmax +call_function +softmax +truediv +\[1, 5\]'
out_has "training is said to be another network" '^while it is trained it is another network: forward asks self\.training; 11 nodes$'
out_has "and shown" '^aux +call_module +Linear '
run show "$own:Follows" jsc
out_lacks "one graph that follows the mode is one" '^while it is trained'
run show "$own:Pinned" jsc
out_has "a layer that stays in evaluation" '^stem_1 +call_module +BatchNorm1d \(eval\) '
out_has "and one that follows" '^norm +call_module +BatchNorm1d +'

# Forms of one network are one network: the same texts, the same training, the same predictions.
for net in Follows Branches Pinned; do
    run convert "$own:$net" $net.py --dataset jsc
    succeeds "$net.py is written"
    run convert "$own:$net" $net.mg --dataset jsc
    succeeds "$net.mg is written"
    run convert $net.py from_py.mg --dataset jsc --force
    holds "and $net.py is the same graph" cmp $net.mg from_py.mg
    run convert $net.mg from_mg.mg --dataset jsc --force
    holds "as is $net.mg read again" cmp $net.mg from_mg.mg
    for form in "$own:$net" $net.mg $net.py; do
        project=$net-$(echo "$form" | sed 's/.*\.//; s/:.*//')
        [ "$form" = "$own:$net" ] && project=$net
        # shellcheck disable=SC2086 # words
        run train "$form" $train --project "$project"
        succeeds "$project is trained"
        holds "to the same bytes" cmp "$(weights $net last)" "$(weights "$project" last)"
        run test "$form" "$data" --load "$(weights "$project" last)" --project "$project"
        grep test_acc "$T/out" >"$project.acc"
        holds "and tests the same" cmp $net.acc "$project.acc"
    done
done
holds "a class follows the mode" grep -q 'training=self\.training' Follows.py
holds "and asks for it where it must" grep -q '^        if self\.training:$' Branches.py
holds "pins what was pinned" grep -q 'self\.stem\[1\]\.eval()(stem_0)' Pinned.py

# Passes change what is evaluated; training is then refused rather than wrong.
cat >quantise.toml <<'EOF'
model = "Branches.mg"
dataset = "csv:jets.csv"
project = "quantised"
[passes.quantize]
by = "type"
default.config.name = "NA"
linear.config.name = "integer"
linear.config.data_in_width = 8
linear.config.data_in_frac_width = 4
linear.config.weight_width = 8
linear.config.weight_frac_width = 4
linear.config.bias_width = 8
linear.config.bias_frac_width = 4
EOF
run transform --config quantise.toml
succeeds "the evaluated graph is quantised"
err_has "with a warning" 'WARNING .*cannot be trained: forward asks self\.training, and quantize changed only'
run train Branches.mg "$data" --load mase_output/quantised/software/transform/transformed_ckpt --max-steps 1 --project no
refused "and cannot be trained" 'cannot be trained: forward asks self\.training, and quantize'

# shellcheck disable=SC2086
run train "$own:Defaults" $train --project fc
fc=$(weights fc last)
run test "$own:Unsupported" "$data" --load "$fc" --project no
succeeds "what only training lacks is no matter in evaluation"
run show "$own:Unsupported" jsc
err_has "but is said" "WARNING +it cannot be trained: in training, .*modes\.py:92: unknown function 'torch\.linalg\.svdvals'"
run train "$own:Unsupported" "$data" --max-steps 1 --project no
refused "and refused" "^ch: in training, .*modes\.py:92: unknown function 'torch\.linalg\.svdvals'"
for form in mg py; do
    run convert "$own:Unsupported" no.$form --dataset jsc
    run train no.$form "$data" --max-steps 1 --project no
    refused "from .$form too" "modes\.py:92: unknown function 'torch\.linalg\.svdvals'"
done
for action in test train; do
    run $action "$own:AlwaysOn" "$data" --load "$fc" --project no
    refused "$action with dropout that is always on" \
        'modes\.py:104:24: dropout: dropout: drops out in evaluation too, so results would be random'
done
run test "$own:Remembers" "$data" --load "$fc" --project no
refused "what a call leaves for the next is no network" \
    "modes\.py:80:16: forward computes something else when it is called again, because of what a call leaves in 'cached', 'calls'"

run show "$own:Defaults" jsc
err_has "defaults are told" "INFO +forward's defaults are taken: mask=None, scale=2\.0, flip=False, shift=\(1, 2\)$"
out_lacks "and are no inputs" '^(mask|scale) +placeholder'

# A file by hand.
cat >two.mg <<'EOF'
mase-graph 1
module a = Linear(16, 5)
%x = placeholder[target=x]
%a = call_module[target=a](args = (%x,))
return %a
training
module a = Linear(16, 4)
%x = placeholder[target=x]
%a = call_module[target=a](args = (%x,))
return %a
EOF
run show two.mg jsc
refused "other parameters while trained" "^two\.mg:11:1: 'a\.weight' is another parameter while the network is trained"
sed -i 's/16, 4/16, 5/; 8,9s/%x/%y/g' two.mg
run show two.mg jsc
refused "other inputs" 'the network has other inputs while it is trained'
printf 'training\n' >>two.mg
run show two.mg jsc
refused "a third graph" '^two\.mg:11:1: there is one graph for training'
