# What a person should know before the numbers: where the weights come from, whether they are numbers,
# and which options change nothing.
Q='{ name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width = 4 }'
printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\nlinear.config = %s\n' "$Q" >c.toml

# ---- where weights come from ----
run train toy toy_tiny --max-epochs 1 --seed 7 --project one
err_has "random weights are said to be" '^INFO     Weights are random, from seed 7$'
run convert toy saved
err_has "so they are when a model is converted" '^INFO     Weights are random, from seed 0$'
run convert saved w.safetensors --force
run convert saved w.pt --force
run convert saved w.npz --force
for file in saved w.safetensors w.pt w.npz; do
    for words in "test toy toy_tiny --project two" "transform toy toy_tiny --config c.toml --project three"; do
        # shellcheck disable=SC2086 # words
        run $words --load $file
        err_has "$words: from $file" "^INFO     Weights from $file: 6 tensors, 130 values\$"
        rm -rf mase_output/two mase_output/three
    done
done
run sweep toy toy_tiny --max-epochs 1 --learning-rate 0.1,0.2 --project four --load w.pt
err_has "a sweep" '^INFO     Weights from w.pt: 6 tensors, 130 values$'
run sweep toy toy_tiny --max-epochs 1 --seed 1,2 --project five
err_has "a sweep over seeds" '^INFO     Weights are random, from the seed of each configuration$'
for command in trace weights diff; do
    run $command toy --config c.toml
    err_has "$command: random weights" '^INFO     Weights are random, from seed 0$'
    run $command toy --config c.toml --load w.pt
    err_has "$command: weights of a file" '^INFO     Weights from w.pt: 6 tensors, 130 values$'
done
run convert toy net.mg
run trace net.mg --dataset toy_tiny --load w.pt
err_has "a graph takes weights, too" '^INFO     Weights from w.pt: 6 tensors, 130 values$'
cp "$T/out" graph
run trace toy --load w.pt
same "and computes with them" "$T/out" graph
run trace saved --load w.pt
err_has "weights that are named go before a folder's own" '^INFO     Weights from w.pt: 6 tensors, 130 values$'
run diff saved toy --load w.pt --seed 5
out_has "of two networks they are for the one that has none" '^0 of 6 parameters differ$'
run explain toy --config c.toml
err_is "what needs no weights says nothing" </dev/null
run explain toy toy_tiny --config c.toml
succeeds "explain takes the data set as train does"
cp "$T/out" with
run explain toy cifar10 --config c.toml
succeeds "another data set"
run explain toy toy_tiny x --config c.toml
refuses "and nothing more" ch "'x'" explain '[MODEL]' '[DATASET]' --config

# ---- options without effect ----
idle()
{
    name=$1 expected=$2
    shift 2
    run "$@" --project idle
    rm -rf mase_output/idle
    succeeds "$name: works"
    grep '^WARNING' "$T/err" >"$T/seen" || :
    printf '%s' "${expected:+WARNING  $expected
}" >"$T/expected"
    same "$name" "$T/expected" "$T/seen"
}
: >q.toml
T1="train toy toy_tiny --max-epochs 1 --learning-rate 1e-3"
# shellcheck disable=SC2086 # words
{
    idle "nothing asked for" "" $T1
    idle "what happens anyway" "" $T1 --accelerator cpu --cpu 0 --gpu 1 --strategy auto
    idle "another device" "of no effect on ch train: accelerator = gpu" $T1 --accelerator gpu
    idle "four in one line" \
        "of no effect on ch train: quant_config = $PWD/q.toml, num_devices = 2, strategy = ddp, is_pretrained = True" \
        $T1 --strategy ddp --pretrained --gpu 2 --quant-config q.toml
    idle "hardware" "of no effect on ch train: target = x, run_emit = True, profile = True" \
        $T1 --target x --run-emit --profile
    idle "what another command acts on" "of no effect on ch test: learning_rate = 0.1, max_epochs = 3" \
        test toy toy_tiny --load saved --learning-rate 0.1 --max-epochs 3
    idle "passes read samples in batches" "" transform toy toy_tiny --config c.toml --batch-size 4 --threads 1
    idle "momentum of adam" "momentum is of no effect: it is for training_optimizer = sgd" $T1 --momentum 0.5
    idle "momentum of sgd" "" $T1 --momentum 0.5 --training-optimizer sgd
    idle "cuts of a cosine" "lr_gamma is of no effect: it is for lr_schedule = step or plateau" $T1 --lr-gamma 0.5
    idle "names of nothing" "map is of no effect: it is for load_name" $T1 --map a=b
}
printf 'accelerator = "gpu"\nmax_epochs = 3\nbatch_size = 64\n' | cat - c.toml >g.toml
idle "in a file, which serves several commands" "of no effect on ch transform: accelerator = gpu" \
    transform toy toy_tiny --config g.toml
run train toy toy_tiny --set max_epochs=1
refused "--set of no file" '^ch: --set changes a value of a configuration file: give --config FILE, too$'
run train toy toy_tiny --dump-after all
refuses "dumps are of transform" ch --dump-after PASS train

# ---- weights that are no numbers ----
rm -r mase_output
cat >net.py <<'END'
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(4, 2)
    def forward(self, x):
        return self.fc(x.flatten(1))
END
python3 - <<'END'
import struct, json
w = [float('nan'), float('inf')] + [0.5] * 6
b = [-float('inf'), 1.0]
h = json.dumps({'fc.weight': {'dtype': 'F32', 'shape': [2, 4], 'data_offsets': [0, 32]},
                'fc.bias': {'dtype': 'F32', 'shape': [2], 'data_offsets': [32, 40]}}).encode()
open('odd.safetensors', 'wb').write(struct.pack('<Q', len(h)) + h + struct.pack('<10f', *w, *b))
END
strange='^WARNING  3 of the weights are NaN or infinite: fc.weight \(2\), fc.bias \(1\)$'
if [ -s odd.safetensors ]; then
    run test net.py:Net toy_tiny --load odd.safetensors --project odd
    succeeds "a network of strange weights is tested"
    err_has "they are told of" "$strange"
    err_has "and so is the loss" '^WARNING  the loss is (-?nan|inf): some outputs of the network are NaN or infinite$'
    holds "run.json says how many" grep -rq '"not_finite": 3' mase_output
    run train net.py:Net toy_tiny --load odd.safetensors --max-epochs 1 --project train
    err_has "training tells, too" "$strange"
    err_has "and of its loss" '^WARNING  the loss is (-?nan|inf) at step 1'
    run weights net.py:Net --dataset toy_tiny --load odd.safetensors --config c.toml
    err_has "weights" "$strange"
    run transform net.py:Net toy_tiny --load odd.safetensors --config c.toml --project odd2
    run report mase_output/odd2
    succeeds "a report of them"
    err_has "report" "$strange"
    holds "and its page" grep -q '3 of the weights are NaN or infinite' mase_output/odd2/report.html
else
    skip "weights that are no numbers" "no python3"
fi

# What keeps a network from learning: a second softmax, and a rate that nobody chose.
nothing='WARNING +the first epoch has learnt hardly anything: its loss is 0\.[67][0-9]*, that of guessing 0\.6931; learning_rate = 1e-05'
run train toy toy_tiny --max-epochs 1 --project slow
err_has "a rate that is too low" "$nothing"
run train toy toy_tiny --max-epochs 1 --learning-rate 1e-6 --project slow
err_lacks "one that was chosen" "$nothing"
cat >soft.mg <<'END'
mase-graph 1
module fc = Linear(in_features=4, out_features=2)
%x = placeholder[target=x]
%flat = call_function[target=torch.flatten](args = (%x, 1), kwargs = {})
%fc = call_module[target=fc](args = (%flat,), kwargs = {})
%soft = call_function[target=torch.softmax](args = (%fc, 1), kwargs = {})
return %soft
END
run train soft.mg toy_tiny --max-epochs 1 --learning-rate 1e-3 --project soft
succeeds "a network that ends in a softmax is trained"
err_has "and told of" "WARNING +the network ends in a softmax \('soft'\), and the loss takes another"
sed 's/torch.softmax/torch.nn.functional.log_softmax/' soft.mg >log.mg
run train log.mg toy_tiny --max-epochs 1 --learning-rate 1e-3 --project soft
err_lacks "a logarithm of one changes nothing" 'ends in a softmax'
