# Mistakes on the command line: what was wrong, what is allowed, status 2, nothing written.
run
fails "no command" <<'END'
ch: no command given; ch --help explains them
END
run simulate jsc-tiny jsc
fails "an action of a later version" <<'END'
ch: simulate is not part of this version; available: train, test, verify, predict, emit, transform, prune, calibrate, sweep, search, data, show, explain, diff, weights, trace, report, convert, study, passes, ops, formats, help, completion, man
END
run trasform
fails "a command misspelt" <<'END'
ch: unknown command 'trasform', did you mean 'transform'? available: train, test, verify, predict, emit, transform, prune, calibrate, sweep, search, data, show, explain, diff, weights, trace, report, convert, study, passes, ops, formats, help, completion, man
END
run transform jsc-tiny jsc
fails "no configuration" <<'END'
ch: expected configuration via --config, got None
END
run transform --config nope.toml
fails "a missing file" <<'END'
ch: --config: file not found: 'nope.toml'
END
mkdir folder
run transform --config folder
fails "a directory in place of a file" <<'END'
ch: --config: expected path to file, got directory 'folder'
END
: >config.json
run transform --config config.json
fails "another kind of file" <<'END'
ch: --config: expected a .toml file, got 'config.json'
END
run transform --project-dir config.json
fails "a file in place of a directory" <<'END'
ch: --project-dir: expected path to directory, got file 'config.json'
END
run transform --load nope
fails "nothing to load" <<'END'
ch: --load: file or directory not found: 'nope'
END
run transform --bach-size 4
fails "an option misspelt" <<'END'
ch: unknown option '--bach-size', did you mean '--batch-size'?
END
run transform -x
fails "an option unlike any" <<'END'
ch: unknown option '-x'; see ch --help
END
run transform --batch-size
refuses "no value" ch --batch-size
run transform --task --debug
refuses "an option in place of a value" ch --task TASK
run transform --debug=yes
refuses "a value for a flag" ch --debug yes
run transform --batch-size many
refuses "not a number" ch --batch-size many 1..16777216
run transform --max-steps ten
refuses "not a number, for a positive one" ch --max-steps ten integer
run transform --batch-size=0
refuses "out of range" ch --batch-size 0 1..16777216
run transform --batch-size=16777217
refuses "more than the library takes" ch --batch-size 16777217 1..16777216
run transform --seed 99999999999999999999
refuses "larger than any integer" ch --seed 99999999999999999999 0..4294967295
run transform --learning-rate nan
refuses "not a number in name only" ch --learning-rate nan 0.0
run transform --task guess
refuses "not a choice" ch --task guess classification
run transform a b c
refuses "one argument too many" ch "'c'" transform '[MODEL] [DATASET]'

echo '[passes.report_graph]' >c.toml
run transform --config c.toml
fails "no model" <<'END'
ch: No model and/or dataset provided! These are required.
END
run transform --config c.toml net.py
fails "no dataset" <<'END'
ch: No model and/or dataset provided! These are required.
END
run transform --config c.toml jsc-tny jsc
refused "a model that is not there" "^ch: .*'jsc-tny'.*'jsc-tiny'"
run transform --config c.toml jsc-tiny jcs
refused "a dataset that is not there" "^ch: .*'jcs'.*'jsc'"
run transform --config c.toml jsc-tiny jsc --project a/b
fails "a project that is no name" <<'END'
ch: project 'a/b': expected the name of a folder, without '/'
END
run transform --config c.toml jsc-tiny jsc --dump-after quantise
fails "a dump after no pass" <<'END'
ch: --dump-after: no pass is called 'quantise', did you mean 'quantize'? ch passes lists them
END
run transform --config c.toml jsc-tiny jsc --set seed
fails "--set without a value" <<'END'
ch: --set: expected KEY=VALUE, got 'seed'
END
for option in --map --set --dump-after --target --project-dir; do
    run transform --config c.toml jsc-tiny jsc $option NA
    refuses "$option NA" ch $option '"NA"'
done
echo '[passes.load_mase_graph]
load_dir = "NA"' >none.toml
run transform --config none.toml jsc-tiny jsc
refuses "none where a pass needs a path" none.toml:2:12 load_dir path NA
run transform --config c.toml jsc-tiny jsc --set sed=1
fails "--set of a key that is not there" <<'END'
--set:1:1: unknown key 'sed', did you mean 'seed'?
END
run transform --config c.toml jsc-tiny jsc --set seed=-1
refuses "--set out of range" --set:1:6 seed -1 0..4294967295
holds "and nothing was written" [ ! -e mase_output ]
holds "nothing is written" test ! -e mase_output
