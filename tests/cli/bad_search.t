# Mistakes in the search sections are found by transform too: a file is right or it is not.
cat >good.toml <<'END'
model = "jsc-tiny"
dataset = "jsc"

[search.search_space]
name = "graph/quantize/mixed_precision_ptq"

[search.search_space.setup]
by = "name"

[search.search_space.seed.default.config]
name = ["NA"]

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
eval_mode = true

[search.strategy.sw_runner.basic_evaluation]
data_loader = "val_dataloader"
num_samples = 512

[search.strategy.hw_runner.average_bitwidth]
compare_to = 32

[search.strategy.setup]
n_jobs = 1
n_trials = 20
timeout = 20000
sampler = "tpe"
sum_scaled_metrics = false

[search.strategy.metrics]
accuracy.scale = 1.0
accuracy.direction = "maximize"
average_bitwidth.scale = 0.2
average_bitwidth.direction = "minimize"
END
run transform --config good.toml
succeeds "a file without mistakes"
sed 's/"tpe"/"TPE"/' good.toml >upper.toml
run transform --config upper.toml
succeeds "samplers in capitals"
sed '/^\[search/,$d' good.toml >without.toml
run transform --config without.toml
succeeds "no search at all"
rm -r mase_output

# The same file with one edit.
edited()
{
    sed "$1" good.toml >c.toml
    run transform --config c.toml
}

edited 's/^\[search.strategy\]/[search.stratgy]/'
fails "a section misspelt" <<'END'
c.toml:22:9: search: unknown option 'stratgy', did you mean 'strategy'? allowed: search_space, strategy
   22 | [search.stratgy]
      |         ^~~~~~~
END

edited '/^\[search.strategy/,$d'
fails "a section missing" <<'END'
c.toml:4:2: search: section strategy is missing
    4 | [search.search_space]
      |  ^~~~~~
END

edited 's/^by = .*/by = "kind"/'
refuses "how seeds are looked up" c.toml:8:6 by kind name

edited 's/^n_trials = .*/n_trials = 0/'
refuses "a limit out of range" c.toml:35:12 n_trials 0 1

edited 's/^n_trials/n_trails/'
fails "a setting misspelt" <<'END'
c.toml:35:1: search: strategy: unknown option 'n_trails', did you mean 'n_trials'? allowed: n_jobs, n_trials, timeout, sampler, sum_scaled_metrics, direction, pkl_ckpt, save_every_n_trials, window
   35 | n_trails = 20
      | ^~~~~~~~
END

edited 's/"tpe"/"tpee"/'
refuses "a sampler that is not there" c.toml:37:11 sampler tpee random

edited 's/sum_scaled_metrics = false/sum_scaled_metrics = true/'
fails "a sum without direction" <<'END'
c.toml:33:18: search: strategy: sum_scaled_metrics = true needs direction: minimize or maximize
   33 | [search.strategy.setup]
      |                  ^~~~~
END

edited 's/^accuracy/acuracy/'
fails "a metric that no runner delivers" <<'END'
c.toml:41:1: search: strategy: unknown metric 'acuracy', did you mean 'accuracy'? available: loss, score, accuracy, accuracy_error, macro_accuracy, perplexity, average_bitwidth, memory_density, data_bitwidth, mean_bitwidth, overall_bitwidth
   41 | acuracy.scale = 1.0
      | ^~~~~~~
END

edited 's/"maximize"/"up"/'
refuses "a direction that is none" c.toml:42:22 direction up minimize

edited '/^accuracy.direction/d'
fails "a metric without direction" <<'END'
c.toml:41:1: search: strategy: metric accuracy: direction is missing: minimize or maximize
   41 | accuracy.scale = 1.0
      | ^~~~~~~~
END

edited 's/basic_evaluation/basic_evalution/'
fails "a runner that is not there" <<'END'
c.toml:26:28: search: strategy: unknown runner 'basic_evalution', did you mean 'basic_evaluation'? available: basic_train, basic_evaluation
   26 | [search.strategy.sw_runner.basic_evalution]
      |                            ^~~~~~~~~~~~~~~
END

edited 's/^num_samples = 512/num_samples = -2/'
refuses "fewer samples than none" c.toml:28:15 num_samples -2

edited 's/^compare_to = 32/compare_to = "all"/'
refuses "a number that is none" c.toml:31:14 compare_to 1.0..64.0 all

edited 's/^weight_width = .*/weight_width = 8/'
fails "a choice outside a list" <<'END'
c.toml:17:16: search: search_space: weight_width must be a list of choices with at least one, such as [4, 8]
   17 | weight_width = 8
      |                ^
END

edited 's/^weight_width/weight_widht/'
fails "a parameter misspelt" <<'END'
c.toml:17:1: search: search_space: 'weight_widht' is no parameter of the formats in name; they are written OPERAND_PARAMETER, such as weight_width
   17 | weight_widht = [2, 4, 8]
      | ^~~~~~~~~~~~
END

edited 's/"integer"/"intger"/'
formats=$("$CH" formats --format csv | sed '1d; s/,.*//' | paste -sd, | sed 's/,/, /g')
refuses "a format misspelt" c.toml:14:9 search_space intger integer

edited 's/\["integer"\]/[]/'
fails "an empty list" <<'END'
c.toml:14:8: search: search_space: name must be a list of choices with at least one, such as [4, 8]
   14 | name = []
      |        ^
END

edited 's/seq_blocks_2.config/seq_blocks_2.confg/'
refuses "a seed without config" c.toml:13:40 search_space confg config

edited 's/^name = "optuna"/name = "optunna"/'
refuses "a strategy that is not there" c.toml:23:8 name optunna optuna

edited '/^name = "graph/d'
refuses "a space without name" c.toml:4:9 name

edited 's/^eval_mode = true/eval_mode = 1/'
refuses "a flag that is none" c.toml:24:13 eval_mode boolean 1
holds "nothing is written" test ! -e mase_output
