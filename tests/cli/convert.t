# convert: between all kinds of files there and back, every tensor stays what it was.
data=$SOURCE/tests/data

# ---- weights, all pairs ----
run convert "$data/torch/jsc-tiny.ckpt" a.safetensors
succeeds "a Lightning checkpoint to safetensors"
err_has "and what stays behind is told" '^WARNING .*holds tensors alone: left out .epoch., .global_step.'
out_has "and what was written" '^a.safetensors +safetensors +7 +150$'
for kind in pt pth ckpt npz safetensors; do
    run convert a.safetensors one.$kind
    cp "$T/err" why
    for other in pt pth ckpt npz safetensors; do
        run convert one.$kind two.$other --force
        cat "$T/err" >>why
        run convert two.$other back.safetensors --force
        cat "$T/err" >>why
        cmp a.safetensors back.safetensors >>why 2>&1
    done
    cp why "$T/why"
    holds ".$kind to every kind and back is the same to the bit, and nothing is said" test ! -s why
done
run convert "$data/torch/mixed_legacy.pt" new.pt
succeeds "the format before zip"
run convert "$data/torch/mixed.pt" same.pt
run convert new.pt x.safetensors
run convert same.pt y.safetensors
holds "holds the same" cmp x.safetensors y.safetensors

# ---- types ----
run convert "$data/safetensors/types.safetensors" all.safetensors
succeeds "every type"
run convert all.safetensors all.ckpt
run convert all.ckpt back.safetensors --force
holds "comes back through PyTorch's file, metadata too" cmp all.safetensors back.safetensors
run convert all.safetensors all.npz
refuses "bfloat16 to NumPy" all.npz bfloat16
err_has "metadata that would be lost is told" "^WARNING  all.npz has no place for metadata: left out 'note'$"
holds "and nothing is written" test ! -e all.npz

# ---- names ----
run convert a.safetensors named.npz --map model.seq_blocks=net --map missing=x
refused "a name that is not there" "^a.safetensors: cannot map 'missing' to 'x': no tensor has that name"
run convert a.safetensors named.npz --map model.seq_block.2=fc
refused "one that is nearly there" "did you mean 'model.seq_blocks.2'"
run convert a.safetensors named.npz --map seq_blocks.0=seq_blocks.2
refuses "two of one name" a.safetensors model.seq_blocks.2.weight
run convert a.safetensors named.npz --map fc
refused "no equals sign" "^ch: --map 'fc': expected OLD=NEW"
run convert a.safetensors named.npz --map seq_blocks.2=head --map model=
succeeds "first parts are renamed or dropped"
run convert named.npz again.safetensors --map head=seq_blocks.2 --map =model
holds "and back" cmp a.safetensors again.safetensors
run convert "$data/torch/jsc-tiny.ckpt" head.ckpt --map seq_blocks.2=head
succeeds "in the tree of a checkpoint"

printf 'model = "jsc-tiny"\ndataset = "jsc"\n[passes.report_graph]\n' >c.toml
run transform --config c.toml --project a --load "$data/torch/jsc-tiny.ckpt"
run transform --config c.toml --project b --load head.ckpt
refused "weights under other names" "2 missing: seq_blocks.2.weight, seq_blocks.2.bias; 2 unexpected: head.weight"
run transform --config c.toml --project b --load head.ckpt --map head=seq_blocks.2
succeeds "load where --map says so"
saved=software/transform/transformed_ckpt
holds "and are the same" cmp mase_output/a/$saved/state_dict.safetensors mase_output/b/$saved/state_dict.safetensors
run transform --config c.toml --project c --load named.npz --map head=seq_blocks.2
succeeds "from .npz too"
holds "and are the same again" cmp mase_output/a/$saved/state_dict.safetensors mase_output/c/$saved/state_dict.safetensors
run transform --config c.toml --load mase_output/a/$saved --map head=seq_blocks.2
refused "a folder has no names to change" '^ch: --map renames the tensors of a file'

rm -rf mase_output

# ---- networks ----
run convert jsc-tiny net.mg
succeeds "a model's name to a graph"
run convert net.mg net2.mg
holds "a graph to itself" cmp net.mg net2.mg
run convert "$SOURCE/examples/own_network/net.mg" own.mg
succeeds "a graph written by hand"
printf '%s\n' 'mase-graph 1' 'attr c = i64[3] constant init uniform(0.0, 2.0)' '%x = placeholder[target=x]' '%c = get_attr[target=c]' \
    '%y = call_function[target=operator.mul](args = (%x, %c), kwargs = {})' 'return %y' >twos.mg
run convert twos.mg twos.py
holds "integers that are all the same are written as PyTorch takes them" grep -q 'torch.zeros((3,), dtype=torch.int64).fill_(2.0)' twos.py
if python3 -c '' 2>/dev/null; then
    run convert "$SOURCE/examples/own_network/net.py:Test" py.mg --dataset jsc
    succeeds "a class of PyTorch's"
    holds "is the same network" test "$(sed 1,2d py.mg | grep -c call_module)" = "$(grep -c call_module own.mg)"
    run convert py.mg class.py
    succeeds "back to a class"
    run convert class.py:Test again.mg --dataset jsc
    holds "which is the same network" cmp py.mg again.mg
    run convert "$SOURCE/examples/own_network/net.py:Test" py2.mg
    refuses "but what data it takes, someone must say" ch --dataset --input-shape
else
    skip "a class of PyTorch's" "no python3"
fi
run convert jsc-tiny folder --load a.safetensors
succeeds "a network and its weights to a folder"
run convert folder out.pt
succeeds "and the weights out of it"
run convert a.safetensors plain.pt --map model=
holds "they are the same" cmp out.pt plain.pt
run convert folder folder.mg
holds "and the graph" grep -q '^module seq_blocks.2 = Linear(' folder.mg
run convert jsc-tiny other --seed 3
run convert out.pt other --force
succeeds "a folder's weights are replaced"
holds "by these" cmp other/state_dict.safetensors folder/state_dict.safetensors
holds "and nothing else is left there" test "$(ls other | wc -l)" = 4

# ---- refused ----
cp out.pt kept.pt
run convert a.safetensors out.pt
fails "what is there stays" <<'END'
ch: 'out.pt' exists; --force replaces it
END
holds "as it was" cmp out.pt kept.pt
run convert out.pt other
refused "a folder too" "^ch: 'other' exists; --force replaces it$"
run convert out.pt nowhere
refused "weights without a network to take them" "ch convert NETWORK nowhere --load out.pt makes one"
run convert out.pt out.mg
refused "no graph in weights" "^ch: 'out.pt' holds weights and no graph for 'out.mg'$"
run convert jsc-tiny weights.pt
refused "no weights in a name" "^ch: 'jsc-tiny' has no weights for 'weights.pt'"
run convert jsc-tinny x.mg
refuses "a name that is none" ch jsc-tinny
run transform --config "$SOURCE/configs/examples/jsc_toy_by_type.toml" --project quantised
run convert mase_output/quantised/software/transform/transformed_ckpt quantised.py
refused "no class for formats" 'seq_blocks_2 is quantised, and PyTorch has no class for that'
holds "nothing is written" test ! -e quantised.py
run convert out.pt out.tflite
refused "a kind that we do not write" "cannot tell what 'out.tflite' shall be"
run convert out.pt
refused "one name" 'usage: ch convert IN OUT$'
head -c 700 out.pt >cut.pt
run convert cut.pt cut.npz
refused "a damaged file" '^cut.pt: '
holds "leaves nothing" test ! -e cut.npz

# ---- hostile ----
# A file of the old format whose tree is os.system('touch escaped').
{
    printf '\200\002\212\012l\374\234F\371 j\250P\031.\200\002M\351\003.\200\002}.'
    printf '\200\002cposix\nsystem\nX\015\000\000\000touch escaped\205R.\200\002].'
} >evil.pt
run convert evil.pt evil.npz
refuses "a pickle that runs a command" evil.pt posix.system
holds "which is not run" test ! -e escaped -a ! -e evil.npz

# A folder of Hugging Face stands for the weights in it.
mkdir hub && cp a.safetensors hub/model.safetensors && echo '{}' >hub/config.json
run show hub
succeeds "a folder of Hugging Face is shown"
out_has "with its tensors" 'seq_blocks'
run convert hub hub.npz
succeeds "and converted"
out_has "as its weights are" '^hub.npz +npz +7 +150$'

# A configuration quantises, whatever is written.
cat >eight.toml <<'END'
[passes.quantize]
by = "type"
default.config.name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
END
run convert jsc-tiny eight.mg --dataset jsc --config eight.toml
holds "a graph has the formats" grep -q "^module seq_blocks.2 = Linear.*name: 'integer'" eight.mg
run convert jsc-tiny eight --dataset jsc --config eight.toml
holds "so has a folder" grep -q "name: 'integer'" eight/graph_module.mg
run convert jsc-tiny eight.py --dataset jsc --config eight.toml
refused "a .py cannot have them" 'seq_blocks_2 is quantised, and PyTorch has no class for that'
