# default < file < command line, and given is given.
cat >c.toml <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
batch_size = 512
seed = 42
trainer_precision = 64
max_steps = 0
weight_decay = 1
load_name = "NA"
[passes.report_graph]
END
row()
{
    grep "^| $1 " "$T/out" | tr -s ' ' >"$T/got"
    echo "$2" >"$T/expected"
    same "$3" "$T/expected" "$T/got"
}
run transform --config c.toml
succeeds "from the file"
row batch_size '| batch_size | 128 | 512 | | 512 |' "the file wins over the default"
row trainer_precision '| trainer_precision | 32 | 64 | | 64 |' "a choice may be written as a number"
row weight_decay '| weight_decay | 0 | 1.0 | | 1.0 |' "an integer serves as a number"
row load_name '| load_name | None | None | | None |' '"NA" is None'
row max_steps '| max_steps | -1 | None | | None |' "not positive becomes None"
row log_level '| log_level | info | | | info |' "the default holds where nothing is said"
err_has "with a warning" '^WARNING  0 is ignored because it is not a positive integer, and is set to None$'
err_has "the seed of the file is in force" '^INFO     Seed set to 42$'

run transform --config c.toml --batch-size 256 --seed=7
row batch_size '| batch_size | 128 | 512 | 256 | 256 |' "the command line wins over the file"
err_has "and its seed is in force" '^INFO     Seed set to 7$'

run transform --config c.toml --batch-size 128
row batch_size '| batch_size | 128 | 512 | 128 | 128 |' "even when it says the default"

run transform --gpu=-3 --config c.toml jsc-toy
row num_devices '| num_devices | 1 | | None | None |' "so on the command line"
row model '| model | None | jsc-tiny | jsc-toy | jsc-toy |' "a positional wins too"

run transform --config c.toml --log-level error
err_is "the log level is in force" </dev/null
echo 'log_level = "error"' | cat - c.toml >quiet.toml
run transform --config quiet.toml
err_is "from the file too" </dev/null
run transform --config quiet.toml --log-level info
err_has "and can be overridden" '^INFO     Set logging level to info$'
run transform --config c.toml --debug
err_has "debug shows everything" '^DEBUG '
run transform --config c.toml --no-warnings
err_is "no warnings" </dev/null

run transform --config c.toml --set batch_size=64 --set passes.quantize.by=type \
    --set 'passes.quantize.default.config.name="NA"'
succeeds "--set overrides and adds"
row batch_size '| batch_size | 128 | 64 | | 64 |' "in the place of the file"
out_has "a pass that only --set names" '^\| Linear '

run transform --seed 1 jsc-tiny --config=c.toml -- jsc
succeeds "options and positionals in any order"

run transform --config c.toml --project-dir deep/er --project other
succeeds "another folder"
holds "is made" [ -f deep/er/other/run.json ]
sed '/^project =/d' c.toml >unnamed.toml
run transform --config unnamed.toml --task cls
holds "the default name says model, task, dataset and day" \
    [ -f "mase_output/jsc-tiny_cls_jsc_$(date +%Y-%m-%d)/run.json" ]
