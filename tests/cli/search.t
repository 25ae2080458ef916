# ch search: the points of [search], measured; the same study whoever runs it.
run train jsc-tiny jsc-sim --max-steps 300 --batch-size 512 --project trained
succeeds "a network to search with"
load=mase_output/trained/software/training_ckpts/best.ckpt
cat >lab.toml <<'END'
model = "jsc-tiny"
dataset = "jsc-sim"
batch_size = 512

[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
setup.by = "name"
seed.default.config.name = ["NA"]

[search.search_space.seed.seq_blocks_2.config]
name = ["integer"]
data_in_width = [4, 8]
data_in_frac_width = ["NA"]
weight_width = [2, 4, 8]
weight_frac_width = ["NA"]
bias_width = [2, 4, 8]
bias_frac_width = ["NA"]

[search.strategy]
name = "optuna"
sw_runner.basic_evaluation = { data_loader = "val_dataloader", num_samples = 512 }
hw_runner.average_bitwidth.compare_to = 32
setup = { n_trials = 20, sampler = "bruteforce" }

[search.strategy.metrics]
accuracy.scale = 1.0
accuracy.direction = "maximize"
average_bitwidth.scale = 0.2
average_bitwidth.direction = "minimize"
END
d=mase_output/brute/software/search_ckpts
hash_of()
{
    sed -n 's/.*"study_hash": "\([0-9a-f]*\)".*/\1/p' "mase_output/$1/run.json"
}

run search --config lab.toml --load $load --project brute
succeeds "brute force"
out_has "all 18 points and no more" '^jsc-tiny on jsc-sim: 18 trials'
out_has "the columns of the original" '^\|    \|   number \| software_metrics +\| hardware_metrics +\| scaled_metrics +\|$'
holds "every point once" test "$(grep -c '"number":' $d/log.json)" = 18
holds "all of them different" test "$(tr -d '\n ' <$d/log.json | grep -o '"seq_blocks_2":{[^}]*}' | sort -u | wc -l)" = 18
holds "values in the order of the names of metrics" grep -q '"values_0"' $d/log.json
holds "the best have configurations" test -e "$(echo $d/trial_*.toml | cut -d' ' -f1)"

sum=
for sampler in random tpe nsgaii nsgaiii qmc greedy grid cmaes; do
    [ $sampler != cmaes ] || sum=', sum_scaled_metrics = true, direction = "maximize"' # it has one objective
    sed "s/\"bruteforce\"/\"$sampler\"$sum/" lab.toml >s.toml
    run search --config s.toml --load $load --project $sampler --workers 1
    succeeds "sampler $sampler"
    run search --config s.toml --load $load --project ${sampler}2 --workers 2
    holds "$sampler: the same with two workers" test "$(hash_of $sampler)" = "$(hash_of ${sampler}2)"
done

# ---- what the best were is what they are ----
best=$(echo $d/trial_*.toml | tr ' ' '\n' | head -n 1)
wanted=$(sed -n 's/.*"test_acc": \([0-9.]*\).*/\1/p' mase_output/brute/run.json | head -n 1)
n=${best##*_}
run test --config "$best" --project checked --json
succeeds "ch test takes the configuration of trial ${n%.toml}"
out_has "and measures what the search did" "\"test_acc_epoch\": $wanted"

# ---- going on ----
run search --config lab.toml --load $load --project again --trials 7
succeeds "seven trials"
run search --config lab.toml --load $load --project again --resume
succeeds "and the rest"
err_has "from the study" "Study 'again' of .*study.db: 7 trials so far"
holds "unbroken and resumed are equal" test "$(hash_of again)" = "$(hash_of brute)"
run search --config lab.toml --load $load --project again --resume --seed 3
refused "another seed" "study.db: study 'again' is of another search: another \[search\], seed, network, weights or data"
run search --config lab.toml --load $load --project again --resume --set search.search_space.seed.seq_blocks_2.config.weight_width=[4]
refused "another space" "study.db: study 'again' is of another search"

# ---- trained, with options that vary ----
cat >train.toml <<'END'
model = "jsc-tiny"
dataset = "jsc-sim"
batch_size = 512

[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
setup.by = "type"
train.learning_rate = { low = 1e-3, high = 1e-1, log = true }
train.batch_size = [256, 1024]
seed.default.config.name = ["NA"]
seed.linear.config = { name = ["integer"], data_in_width = [4, 8], data_in_frac_width = ["NA"], weight_width = [4, 8], weight_frac_width = ["NA"], bias_width = [8], bias_frac_width = ["NA"] }

[search.strategy]
name = "optuna"
sw_runner.basic_train = { num_samples = 50000, optimizer = "adam", lr_scheduler = "cosine" }
hw_runner.costs = {}
setup = { n_trials = 6, sampler = "random" }
metrics.accuracy.direction = "maximize"
metrics.ebops.direction = "minimize"
END
run search --config train.toml --project fit --workers 2
succeeds "trials that train"
run search --config train.toml --project fit1 --workers 1
holds "to the same bits" test "$(hash_of fit)" = "$(hash_of fit1)"
first=$(echo mase_output/fit/software/search_ckpts/trial_*.toml | cut -d' ' -f1)
holds "a trained network is saved" test -e "${first%.toml}/graph_module.mg"
wanted=$(sed -n 's/.*"test_acc": \([0-9.]*\).*/\1/p' mase_output/fit/run.json | sort | head -n 1)
run test --config "$first" --project checked --json
succeeds "and tested"

# ---- pruned while it trains ----
sed -e '/^seed/d; s/^train.learning_rate.*/prune.sparsity = [0, 0.5, 0.9]/; /^train.batch/d; s/ebops/nonzero_macs/' train.toml >prune.toml
run search --config prune.toml --project pruned --set search.strategy.setup.sampler=bruteforce
succeeds "sparsity as a dimension"
out_has "each share of the weights, by brute force" '3 trials'
holds "a half of 80 weights, and a tenth" grep -q '"nonzero_macs": 8.0' mase_output/pruned/software/search_ckpts/log.json
run search --config prune.toml --project pruned --set search.search_space.prune.sparsity=[1.5]
refused "more than all of them" "^--set:1:37: search: basic_train: sparsity = 1.5 must be between 0 and 1"

# ---- a module that is called twice has the formats of its last call that names some ----
cat >twice.py <<'END'
from torch import nn


class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(16, 16)
        self.out = nn.Linear(16, 5)

    def forward(self, x):
        return self.out(self.fc(self.fc(x).relu()).relu())
END
cat >twice.toml <<'END'
model = "twice.py:Twice"
dataset = "jsc-sim"
batch_size = 512

[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
setup.by = "type"
seed.default.config.name = ["NA"]
seed.linear.config = { name = ["NA", "integer"], data_in_width = [4, 8], data_in_frac_width = ["NA"], weight_width = [2, 8], weight_frac_width = ["NA"], bias_width = [8], bias_frac_width = ["NA"] }

[search.strategy]
name = "optuna"
sw_runner.basic_evaluation.num_samples = 512
hw_runner.average_bitwidth = {}
setup = { n_trials = 40, sampler = "random" }
metrics.loss.direction = "minimize"
metrics.average_bitwidth.direction = "minimize"
END
run search --config twice.toml --project twice1 --workers 1
succeeds "a module that is called twice"
run search --config twice.toml --project twice3 --workers 3
holds "whatever was measured before" test "$(hash_of twice1)" = "$(hash_of twice3)"
first=$(echo mase_output/twice1/software/search_ckpts/trial_*.toml | cut -d' ' -f1)
n=${first##*trial_}
run transform --config "$first" --project twice
run test --config "$first" --load mase_output/twice --project checked --json
wanted=$(grep -A12 "\"number\": ${n%.toml}," mase_output/twice1/run.json | sed -n 's/.*"test_loss": \([0-9.]*\).*/\1/p' | head -n 1)
out_has "and what was searched is what ch test measures" "\"test_loss_epoch\": $wanted"

# ---- refused ----
edited()
{
    sed "$1" lab.toml >c.toml
    run search --config c.toml --load $load --project bad
}
edited '/^setup.by/,/^bias_frac/d'
refuses "a space of nothing" c.toml:5:9 search_space seed missing
edited 's/n_trials = 20/n_trials = 20, pkl_ckpt = "study.pkl"/'
refused "a pickled study" 'c.toml:[0-9:]*: search: study.pkl is a pickled study'
edited 's#graph/quantize/mixed_precision_ptq#module/manual_hf/quantize/llm_mixed_precision_ptq#'
refused "a space of other networks" "c.toml:6:8: search: module/manual_hf/.* is for Hugging Face's own modules"
edited 's/bruteforce/cmaes/'
refused "two objectives, where one is searched for" '^ch: search: sampler cmaes: there are 2 objectives'
edited 's/weight_width = \[2, 4, 8\]/weight_width = [2, 99]/'
refuses "a width that is none" c.toml:14:20 weight_width 99 32
edited '/^\[search/,$d; /^sw_runner/d'
refused "no section" "^c.toml: there is no section \[search\]"
run search --load $load --project bad
refused "no configuration" "^ch: expected configuration via --config"
holds "what is refused leaves nothing" test ! -e mase_output/bad
edited 's/weight_frac_width = \["NA"\]/weight_frac_width = ["NA", "auto"]/'
succeeds "a fraction that calibration finds"
out_has "and is one of the choices" '20 trials'
