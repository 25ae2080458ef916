# Where both streams go to one file or pipe, the order of what is said is that of saying it: no row of
# a table is cut by a log line. A terminal gets whole lines at once, so it knows the order.
cat >c.toml <<'END'
[passes.report_graph]
[passes.report_node_type]
[passes.report_node_meta_param]
[passes.quantize]
by = "type"
default.config.name = "NA"
linear.config = { name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width = 4 }
[passes.count_flops]
END
sed -e 's/data_in_frac_width = 4/data_in_frac_width = "auto"/' c.toml >auto.toml
cat >search.toml <<'END'
[search.search_space]
name = "graph/quantize/mixed_precision_ptq"
seed.default.config.name = ["NA", "bfloat16"]
[search.strategy]
name = "optuna"
sw_runner.basic_evaluation = {}
setup.sampler = "random"
metrics.loss.direction = "minimize"
END
run search toy toy_tiny --config search.toml --trials 3 --project searched
run convert jsc-toy saved
run transform jsc-toy jsc-sim --config c.toml --project run
succeeds "something to look at"

cp "$SOURCE/tests/data/models/jsc-toy/x.npy" x.npy
# A command, and the rest of its line.
cat >lines <<END
train toy toy_tiny --max-epochs 3 --learning-rate 0.01 --project out
test jsc-toy jsc-sim --load saved --project out
verify jsc-toy jsc-sim --load saved --config c.toml
predict jsc-toy jsc-sim --load saved --input x.npy --output y.npy --project out
emit c jsc-toy jsc-sim --load saved --config c.toml --output emitted
transform jsc-toy jsc-sim --config c.toml --project out
prune jsc-toy jsc-sim --sparsity 0.5 --project out
calibrate jsc-toy jsc-sim --config auto.toml --load saved --project out
sweep toy toy_tiny --max-epochs 2 --learning-rate 0.01,0.1 --threads 1 --project out
search toy toy_tiny --config search.toml --trials 5 --workers 1 --project out
data info jsc-sim
show saved --stats
explain jsc-toy --config c.toml
diff jsc-toy --config c.toml
weights jsc-toy --config c.toml
trace jsc-toy --config c.toml
report mase_output/run
convert saved saved2 --force
study show mase_output/searched
passes
ops
formats
help transform
completion bash
man
END

# Durations and speeds differ from run to run, and with them the width of their columns.
steady()
{
    tr -d '\r' |
        sed -E 's/[0-9.e+-]+ (ms|us|s|samples\/s)\b/#/g; s/[0-9.]+ *\|$/#|/; s/ +/ /g; s/-+/-/g'
}

# A run begins with nothing.
anew()
{
    rm -rf mase_output/out
    # shellcheck disable=SC2086 # words
    "$CH" $words </dev/null
}

while read -r words; do
    command=${words%% *}
    echo "$command" >>commands
    anew >"$T/both" 2>&1
    holds "$command: it works" [ $? -eq 0 ]
    cp "$T/both" "$T/why"
    ! grep -Eq '.(INFO|WARNING|DEBUG|ERROR) {3,6}[A-Z]' "$T/both"
    report $? "$command: log lines begin lines"
    anew 2>&1 | cat >"$T/piped"
    if script -qec true /dev/null </dev/null >/dev/null 2>&1; then
        rm -rf mase_output/out
        TERM=dumb NO_COLOR=1 script -qec "$CH $words" /dev/null </dev/null >"$T/terminal"
        steady <"$T/terminal" >"$T/expected"
        steady <"$T/both" >"$T/seen"
        same "$command: the order in a file is that on a terminal" "$T/expected" "$T/seen"
        steady <"$T/piped" >"$T/seen"
        same "$command: and in a pipe" "$T/expected" "$T/seen"
    else
        skip "$command: the order of a terminal" "no script"
    fi
done <lines
run nothing
sed -E 's/.*available: //; s/, /\n/g' "$T/err" >names
diff names commands >"$T/why"
report $? "every command was run"
