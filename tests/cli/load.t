# --load: the kind is told from the file, and weights arrive unchanged.
printf 'model = "jsc-tiny"\ndataset = "jsc"\n[passes.report_graph]\n' >c.toml
run transform --config c.toml --project a --seed 1
succeeds "something to load"
a=mase_output/a/software/transform/transformed_ckpt

run transform --config c.toml --project b --seed 2 --load $a/state_dict.safetensors
succeeds "a safetensors file"
holds "gives its weights" cmp $a/state_dict.safetensors mase_output/b/software/transform/transformed_ckpt/state_dict.safetensors

run transform --config c.toml --project q --seed 2 --load $a \
    --set passes.quantize.by=type --set 'passes.quantize.default.config.name="NA"' \
    --set 'passes.quantize.linear.config={name="integer",data_in_width=8,data_in_frac_width=4,weight_width=8,weight_frac_width=4,bias_width=8,bias_frac_width=4}'
succeeds "a saved folder"
holds "gives its weights too" cmp $a/state_dict.safetensors mase_output/q/software/transform/transformed_ckpt/state_dict.safetensors
q=mase_output/q/software/transform/transformed_ckpt

run transform --config c.toml --project r --seed 3 --load $q --load-type mz
succeeds "a quantised one"
holds "stays quantised" cmp $q/graph_module.mg mase_output/r/software/transform/transformed_ckpt/graph_module.mg
out_has "and says so" 'LinearInteger\(in_features=16, out_features=5, bias=True\)'
run transform --config c.toml --project s --load $q/graph_module.mg
succeeds "the graph file alone stands for its folder"

run transform --config c.toml --project t --load "$SOURCE/tests/data/torch/jsc-tiny.ckpt"
succeeds "a Lightning checkpoint"
run transform --config c.toml --project u --load "$SOURCE/tests/data/torch/jsc-tiny.ckpt.safetensors"
succeeds "the same weights as safetensors"
t=mase_output/t/software/transform/transformed_ckpt/state_dict.safetensors
holds "are the same" cmp $t mase_output/u/software/transform/transformed_ckpt/state_dict.safetensors
cp "$SOURCE/tests/data/torch/jsc-tiny.pt" weights.pth
run transform --config c.toml --project v --load weights.pth --load-type pt
succeeds "a PyTorch state dict"
run transform --config c.toml --project w --load "$SOURCE/tests/data/torch/jsc-tiny.ckpt" --load-type pt
succeeds "which of the two it is, the file says"
rm weights.pth

rm -rf mase_output/[b-z]*
mv mase_output saved
a=saved/a/software/transform/transformed_ckpt
abs=$W
: >best.ckpt
: >graph.mz
: >notes.txt
mkdir hf nothing
: >hf/config.json
run transform --config c.toml --load best.ckpt
refuses "an empty checkpoint" "$PWD/best.ckpt" empty
run transform --config c.toml --load graph.mz
fails "a pickled graph" <<END
ch: cannot load '$abs/graph.mz': pickled graphs (.mz) are not read by this version; use .safetensors, .pt, .ckpt or a saved folder
END
for folder in hf nothing; do
    run transform --config c.toml --load $folder
    refused "a folder without weights" "^ch: '.*/$folder' is a folder without weights: expected model.safetensors, pytorch_model.bin or an index"
done
run transform --config c.toml --load $a/state_dict.safetensors --load-type pl
fails "a type that contradicts the file" <<END
ch: load type pl contradicts '$abs/$a/state_dict.safetensors', which is of type safetensors
END
run transform --config c.toml --load notes.txt --load-type safetensors
refused "a file that is not what was said" '/notes\.txt'
run transform --config c.toml jsc-toy jsc --load $a/state_dict.safetensors
refused "weights of another network" 'seq_blocks\.'
printf 'load_name = "missing.safetensors"\n' | cat - c.toml >d.toml
run transform --config d.toml
fails "a path in a configuration is checked at its place" <<'END'
d.toml:1:13: load_name: file or directory not found: 'missing.safetensors'
    1 | load_name = "missing.safetensors"
      |             ^~~~~~~~~~~~~~~~~~~~~
END

# ---- weights that fit in part: another head, another layer ----
run convert jsc-tiny five.mg
sed 's/out_features=5/out_features=6/' five.mg >six.mg
sed 's/seq_blocks\.2/seq_blocks.head/g' five.mg >head.mg
sed 's/seq_blocks/other/g' five.mg >other.mg
tiny=$SOURCE/tests/data/torch/jsc-tiny.ckpt
run convert six.mg six --load "$tiny" --dataset jsc
refused "another head" '1 of another shape|2 of another shape: seq_blocks\.2\.weight \(\[6, 16\] in the model, \[5, 16\] in the file\).*; --strict no takes what fits and draws the rest from the seed$'
run convert six.mg six --load "$tiny" --strict no --seed 5 --dataset jsc
succeeds "what fits is taken"
err_has "the rest is named" '^WARNING  .*jsc-tiny\.ckpt: 2 of another shape, drawn from the seed: seq_blocks\.2\.weight \(\[6, 16\] .*, seq_blocks\.2\.bias \(\[6\] in the model, \[5\] in the file\)$'
run convert six.mg drawn --seed 5 --dataset jsc
run convert five.mg five --load "$tiny" --dataset jsc
for folder in six drawn five; do run show $folder --stats --json; cp "$T/out" $folder.json; done
stats() { grep -F -A12 "\"$2\"" "$1.json" | tr -d ' \n'; }
holds "a new head starts from the seed" test "$(stats six seq_blocks.2.weight)" = "$(stats drawn seq_blocks.2.weight)"
holds "what fits has the file's numbers" test "$(stats six seq_blocks.0.weight)" = "$(stats five seq_blocks.0.weight)"
holds "which are others" test "$(stats six seq_blocks.0.weight)" != "$(stats drawn seq_blocks.0.weight)"
run convert head.mg head --load "$tiny" --strict no --dataset jsc
succeeds "other names"
err_has "missing ones are named" '^WARNING .*2 not in the file, drawn from the seed: seq_blocks\.head\.weight, seq_blocks\.head\.bias$'
err_has "and those too many" '^WARNING .*2 not in the model, left out: seq_blocks\.2\.weight .*, seq_blocks\.2\.bias'
run convert other.mg other --load "$tiny" --strict no --dataset jsc
refused "nothing fits" 'nothing in it fits the model: 7 tensors of other names, 0 of other shapes; --map OLD=NEW'
run convert five.mg x --load "$tiny" --load-key optimizer_states --dataset jsc
refused "no state dict there" "'optimizer_states' leads to no state dict; the file holds a dict with the keys 'epoch', "

# ---- what lies in place of a file ----
printf 'version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 12\n' >lfs.pt
printf '\n<!DOCTYPE html><html></html>' >page.safetensors
printf '\037\213\010' >packed.ckpt
head -c 700 "$SOURCE/tests/data/torch/jsc-tiny.pt" >cut.pt
head -c 300 "$SOURCE/tests/data/torch/jsc-tiny.ckpt.safetensors" >cut.safetensors
while read -r file message; do
    run transform --config c.toml --load $file
    refused "$file" "/$file$message"
done <<'END'
lfs.pt : a Git LFS pointer: 'git lfs pull' fetches the file itself$
page.safetensors : an HTML page: the download gave a page in place of the file$
packed.ckpt : a tar or gzip archive: unpack it first$
cut.pt : no zip file, or cut short: there is no end record in its 700 bytes$
cut.safetensors @0x8: file ends
END

# ---- folders of Hugging Face, whole and in parts ----
whole=$SOURCE/tests/data/torch/jsc-tiny.ckpt.safetensors
mkdir whole parts
cp "$whole" whole/model.safetensors
cp "$whole" parts/one.safetensors
run show whole/model.safetensors --format csv
grep -o '^[a-z_]*\.[a-z_0-9.]*' "$T/out" >names
{
    printf '{"weight_map": {'
    awk '{ printf "%s\"%s\": \"one.safetensors\"", (NR > 1 ? ", " : ""), $0 }' names
    printf '}}'
} >parts/model.safetensors.index.json
for folder in whole parts parts/model.safetensors.index.json; do
    run transform --config c.toml --project hf --load $folder
    succeeds "weights of $folder"
    run transform --config c.toml --project file --load "$whole"
    holds "are the file's" cmp mase_output/hf/software/transform/transformed_ckpt/state_dict.safetensors \
        mase_output/file/software/transform/transformed_ckpt/state_dict.safetensors
    rm -rf mase_output
done
sed 's/one\./..\/one./' parts/model.safetensors.index.json >parts/out.index.json
run transform --config c.toml --load parts/out.index.json
refused "an index leads nowhere else" 'parts/out\.index\.json:1:[0-9]+: expected the name of a file beside the index'
