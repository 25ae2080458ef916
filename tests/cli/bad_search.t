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
fails "how seeds are looked up" <<'END'
c.toml:8:6: search: search_space: by = "kind" is not one of name, type
    8 | by = "kind"
      |      ^~~~~~
END

edited 's/^n_trials = .*/n_trials = 0/'
fails "a limit out of range" <<'END'
c.toml:35:12: search: strategy: n_trials = 0 is outside 1..
   35 | n_trials = 0
      |            ^
END

edited 's/^n_trials/n_trails/'
fails "a setting misspelt" <<'END'
c.toml:35:1: search: strategy: unknown option 'n_trails', did you mean 'n_trials'? allowed: n_jobs, n_trials, timeout, sampler, sum_scaled_metrics, direction, pkl_ckpt, save_every_n_trials
   35 | n_trails = 20
      | ^~~~~~~~
END

edited 's/"tpe"/"tpee"/'
fails "a sampler that is not there" <<'END'
c.toml:37:11: search: strategy: sampler = "tpee" is not one of random, tpe, nsgaii, nsgaiii, qmc, bruteforce
   37 | sampler = "tpee"
      |           ^~~~~~
END

edited 's/sum_scaled_metrics = false/sum_scaled_metrics = true/'
fails "a sum without direction" <<'END'
c.toml:33:18: search: strategy: sum_scaled_metrics = true needs direction: minimize or maximize
   33 | [search.strategy.setup]
      |                  ^~~~~
END

edited 's/^accuracy/acuracy/'
fails "a metric that no runner delivers" <<'END'
c.toml:41:1: search: strategy: unknown metric 'acuracy', did you mean 'accuracy'? available: loss, accuracy, perplexity, average_bitwidth, memory_density
   41 | acuracy.scale = 1.0
      | ^~~~~~~
END

edited 's/"maximize"/"up"/'
fails "a direction that is none" <<'END'
c.toml:42:22: search: strategy: direction = "up" is not one of minimize, maximize
   42 | accuracy.direction = "up"
      |                      ^~~~
END

edited '/^accuracy.direction/d'
fails "a metric without direction" <<'END'
c.toml:41:1: search: strategy: metric accuracy: direction is missing: minimize or maximize
   41 | accuracy.scale = 1.0
      | ^~~~~~~~
END

edited 's/basic_evaluation/basic_evalution/'
fails "a runner that is not there" <<'END'
c.toml:26:28: search: strategy: unknown runner 'basic_evalution', did you mean 'basic_evaluation'? available: basic_evaluation, basic_train
   26 | [search.strategy.sw_runner.basic_evalution]
      |                            ^~~~~~~~~~~~~~~
END

edited '/^num_samples/d'
fails "a runner without what it needs" <<'END'
c.toml:26:28: search: strategy: option 'num_samples' is missing
   26 | [search.strategy.sw_runner.basic_evaluation]
      |                            ^~~~~~~~~~~~~~~~
END

edited 's/^compare_to = 32/compare_to = "all"/'
fails "a number that is none" <<'END'
c.toml:31:14: search: strategy: compare_to must be a number 1.0..64.0, got string "all"
   31 | compare_to = "all"
      |              ^~~~~
END

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
fails "a format misspelt" <<END
c.toml:14:9: search: search_space: unknown number format 'intger', did you mean 'integer'? available: $formats
   14 | name = ["intger"]
      |         ^~~~~~~~
END

edited 's/\["integer"\]/[]/'
fails "an empty list" <<'END'
c.toml:14:8: search: search_space: name must be a list of choices with at least one, such as [4, 8]
   14 | name = []
      |        ^
END

edited 's/seq_blocks_2.config/seq_blocks_2.confg/'
fails "a seed without config" <<'END'
c.toml:13:40: search: search_space: unknown option 'confg', did you mean 'config'? allowed: config
   13 | [search.search_space.seed.seq_blocks_2.confg]
      |                                        ^~~~~
END

edited 's/^name = "optuna"/name = "optunna"/'
fails "a strategy that is not there" <<'END'
c.toml:23:8: search: strategy: name = "optunna" is not one of optuna
   23 | name = "optunna"
      |        ^~~~~~~~~
END

edited '/^name = "graph/d'
fails "a space without name" <<'END'
c.toml:4:9: search: search_space: option 'name' is missing
    4 | [search.search_space]
      |         ^~~~~~~~~~~~
END

edited 's/^eval_mode = true/eval_mode = 1/'
fails "a flag that is none" <<'END'
c.toml:24:13: search: strategy: eval_mode must be a boolean, got integer 1
   24 | eval_mode = 1
      |             ^
END
