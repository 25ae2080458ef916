# A network of one's own: from .py, from .mg, from a list of layers, and what is wrong with one.
own=$SOURCE/examples/own_network
printf '[passes.report_graph]\n' >c.toml

run transform --model "$own/net.py:Test" --dataset jsc --config c.toml --project py --seed 3
succeeds "a class of a .py file"
err_has "it is said that the file is executed" 'INFO +Executing .*/net\.py with python3'
out_has "its graph" '%seq_blocks_16 : .*call_module\[target=seq_blocks.16\]'
run transform "$own/net.mg" jsc --config c.toml --project mg --seed 3
succeeds "a graph file"
run transform --config "$own/layers.toml" --project layers --seed 3
succeeds "a list of layers"
py=mase_output/py/software/transform/transformed_ckpt
for other in mg layers; do
    dir=mase_output/$other/software/transform/transformed_ckpt
    holds "the $other is the same network" cmp $py/graph_module.mg $dir/graph_module.mg
    holds "with the same weights" cmp $py/state_dict.safetensors $dir/state_dict.safetensors
done
holds "which has 11015 parameters" grep -q '"parameters": 11015' mase_output/py/run.json
run transform "$own/net.py" jsc --config "$own/quantize.toml"
succeeds "the only class of a file needs no name"
holds "the project is called after the file" ls -d mase_output/net_classification_jsc_*

run train "$own/net.py:Test" jsc --max-steps 20 --project t
succeeds "trained"
holds "with a checkpoint" ls -d mase_output/t/software/training_ckpts/best.ckpt
run test "$own/net.py:Test" jsc --load mase_output/t/software/training_ckpts/best.ckpt --project e
succeeds "tested"
run transform "$own/net.py:Test" jsc --config "$own/quantize.toml" --project q \
    --load mase_output/t/software/training_ckpts/best.ckpt
succeeds "transformed from its checkpoint"
run sweep --config "$own/layers.toml" --max-steps 5 --batch-size 64,128 --project s
succeeds "swept"
holds "with a result for each" sh -c 'test $(wc -l <mase_output/s/software/sweep/sweep.csv) = 3'
rm -rf mase_output

cat >net.py <<END
import torch.nn as nn


class Net(nn.Module):
    def __init__(self, info):
        super().__init__()
        self.rnn = nn.FractionalMaxPool2d(info.num_features, 5)

    def forward(self, x):
        return self.rnn(x)


class Loop(nn.Module):
    def forward(self, x):
        while True: pass
END
run transform net.py:Net jsc --config c.toml
refused "an unknown layer names its line" '^net\.py:7:[0-9]+: unknown layer .FractionalMaxPool2d.'
err_has "and shows it" 'self\.rnn = nn\.FractionalMaxPool2d\(info\.num_features, 5\)$'
run transform net.py:Nett jsc --config c.toml
refused "an unknown class" "^net\.py: no class 'Nett' in it; it has Net, Loop; did you mean 'Net'\?"
run transform net.py:Loop jsc --config c.toml --trace-seconds 1
refused "an endless loop" '^net\.py:15:[0-9]+: still running after 1 s'
run transform nowhere.py:Net jsc --config c.toml
refused "a missing file" '^nowhere\.py: '
path=$PATH
PATH=/nonexistent
run transform net.py:Net jsc --config c.toml
PATH=$path
refused "no python3" 'reading a \.py model needs python3 \(3\.8 or later\)'

# The tracer is compiled for the Python of the build; another compiles it anew.
with_python() # MAGIC, then what ch is asked: python3 says so of itself, and tells of long texts that it compiles
{
    cat >bin/python3 <<END
#!/bin/sh
exec "$python" -I -B -c "
import builtins, importlib.util, sys
def compile(text, *more, plainly=builtins.compile, **rest):
    if isinstance(text, bytes) and len(text) > 100000:
        print('a long text is compiled', file=sys.stderr)
    return plainly(text, *more, **rest)
builtins.compile = compile
importlib.util.MAGIC_NUMBER = $1
\$4"
END
    chmod +x bin/python3
    shift
    PATH=$PWD/bin:$path
    run "$@"
    PATH=$path
}
python=$(command -v python3)
mkdir bin
with_python importlib.util.MAGIC_NUMBER convert "$own/net.py:Test" ours.mg --dataset jsc
succeeds "traced by the Python of the build"
err_lacks "which compiles nothing" 'a long text is compiled'
with_python "b'none'" convert "$own/net.py:Test" theirs.mg --dataset jsc
succeeds "traced by another Python"
err_has "which does not know the code" 'a long text is compiled'
holds "to the same graph" cmp ours.mg theirs.mg
rm -r bin ours.mg theirs.mg
run sweep net.py:Net jsc --batch-size 64,128
refused "a sweep of it" '^net\.py:7:[0-9]+: unknown layer .FractionalMaxPool2d.'

printf 'dataset = "jsc"\n[model]\nlayers = ["ReLU()",\n  "Linera(16, 5)"]\n' >l.toml
run transform --config l.toml
fails "a layer misspelt" <<END
l.toml:4:4: unknown layer 'Linera'; did you mean 'Linear'?
    4 |   "Linera(16, 5)"]
      |    ^~~~~~
END
printf 'dataset = "jsc"\n[model]\nname = "x"\n' >l.toml
run transform --config l.toml
refused "a model without layers" 'l\.toml:2:.* \[model\] needs layers'
holds "nothing is written for any of these" test ! -e mase_output
