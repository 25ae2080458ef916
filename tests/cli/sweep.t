# ch sweep: lists of options as a grid, one table, and nothing trained twice.
sweep="sweep toy toy_tiny --max-epochs 2 --project-dir out --project s"
d=out/s/software/sweep

run $sweep --batch-size 32,64 --training-optimizer adam,sgd --learning-rate 1e-2
succeeds "a grid of four"
out_has "has a row for each" '\| *sgd *\| *64 *\| *2 *\|'
holds "and four results" test "$(ls $d/runs | wc -l)" = 4
holds "four lines of CSV under a header" test "$(wc -l <$d/sweep.csv)" = 5
holds "and a chart" grep -q '</svg>' $d/sweep.svg
err_has "told one by one" 'training_optimizer=adam batch_size=64: val_loss [0-9.]+, val_acc [0-9.]+'
cp $d/sweep.csv first.csv
cp "$T/out" first.out

run $sweep --batch-size 32,64 --training-optimizer adam,sgd --learning-rate 0.01
succeeds "again, a value spelt differently"
err_has "trains nothing" '4 configurations, 4 done before'
holds "and gives the same file" cmp first.csv $d/sweep.csv
holds "and the same table" cmp first.out "$T/out"

rm "$(ls $d/runs/* | head -n 1)"
run $sweep --batch-size 32,64 --training-optimizer adam,sgd --learning-rate 0.01
err_has "what is missing is trained" '4 configurations, 3 done before'
cut -d, -f1-12 first.csv >a
cut -d, -f1-12 $d/sweep.csv >b
holds "and comes to the same, but for the time" cmp a b

run sweep toy toy_tiny --max-epochs 1 --project-dir alone --batch-size 32
succeeds "a single configuration is a sweep too"
holds "its project has no date: the next run finds it" test -d alone/toy_classification_toy_tiny_sweep

# ---- seeds ----
run sweep toy toy_tiny --max-epochs 2 --learning-rate 1e-2 --batch-size 32,64 --seed 0,1,2 --project-dir out --project seeds
succeeds "the same with several seeds"
out_has "says what is fixed" '^fixed: training_optimizer adam, learning_rate 0.01, max_epochs 2$'
out_has "and tells mean and spread" '^\|     64     \| 3 \| 0\.[0-9]{4} ± 0\.[0-9]{4} \|'
awk -F, 'NR > 1 { n[$1]++; sum[$1] += $6; square[$1] += $6 * $6 }
    END { for (b in n) { mean = sum[b] / n[b]
        printf "%s %d %.6f %.6f\n", b, n[b], mean, sqrt((square[b] - n[b] * mean * mean) / (n[b] - 1)) } }' \
    out/seeds/software/sweep/sweep.csv | sort >wanted
awk -F, 'NR > 1 { printf "%s %d %.6f %.6f\n", $1, $2, $5, $6 }' out/seeds/software/sweep/seeds.csv | sort >found
holds "mean and sample deviation of the losses in the table" cmp wanted found
holds "for two batch sizes" test "$(wc -l <found)" = 2
holds "the chart has a bar for each" test "$(grep -c '<path class="line c0" d="M[0-9., ]*L[0-9., ]*"/>' out/seeds/software/sweep/sweep.svg)" -ge 2
holds "says over how many" grep -q ', 3 seeds<' out/seeds/software/sweep/sweep.svg
holds "and that the data were simulated" grep -q 'toy on toy_tiny (simulated)' out/seeds/software/sweep/sweep.svg
holds "run.json has them" grep -q '"test_acc_std": 0' out/seeds/run.json
run sweep toy toy_tiny --max-epochs 2 --learning-rate 1e-2 --seed 1,2 --project-dir out --project json --json
out_has "and so has JSON" '"val_loss_std": 0'
out_has "with what is fixed" '"option": "learning_rate"'
run report out/seeds
succeeds "a report of seeds"

# ---- models, and lists in a file ----
cat >two.toml <<'END'
model = ["jsc-tiny", "jsc-toy"]
dataset = "jsc"
max_steps = 20
batch_size = [128, 256]
project_dir = "out"
project = "models"
END
run sweep --config two.toml
succeeds "lists of a configuration file"
out_has "two models" '^jsc-tiny, jsc-toy on jsc: '
out_has "and two batch sizes" '^\| jsc-toy  \|    256     \|'
run sweep jsc-tiny,jsc-toy jsc --max-steps 20 --batch-size 128,256 --project-dir out --project models
err_has "or on the command line" '4 configurations, 4 done before'
run sweep jsc-toy jsc --max-steps 20 --batch-size 256 --project-dir out --project models
err_has "a model alone is the same configuration" '1 configurations, 1 done before'
run sweep --config two.toml
run report out/models
succeeds "a report of several models"
printf 'model = "jsc-toy"\ndataset = "jsc"\nbatch_size = []\n' >none.toml
run sweep --config none.toml
refused "a list of nothing" '^none.toml:3:14: batch_size: a list of nothing to try'
run train --config two.toml
refused "only a sweep takes lists" '^two.toml:1:9: model.*list'
run sweep jsc-tiny,nothing jsc
refused "an unknown model among them" "nothing"

rm -rf out alone wanted found two.toml none.toml first.csv first.out a b
run sweep toy toy_tiny --batch-size 32,32
refuses "a value given twice" ch batch_size 32
run sweep toy toy_tiny --batch-size 32,
refuses "an empty value" ch --batch-size 1..16777216
run sweep toy toy_tiny --training-optimizer adam,tiger
refused "an unknown choice" "ch: --training-optimizer.*tiger"
run sweep --batch-size 32,64
refused "no model" 'ch: No model and/or dataset provided!'
run transform toy toy_tiny --batch-size 32,64
refuses "lists are for sweeps" ch --batch-size 32,64 1..16777216

# Runs of unequal length whose batches are worked on in parts: none may wait for another's threads.
timeout 60 "$CH" sweep jsc-tiny jsc --max-steps 3,40 --batch-size 1024 --project side \
    >"$T/out" 2>"$T/err" </dev/null
status=$?
succeeds "large batches side by side"

# Number formats over weights that were trained in float: each configuration is what ch train makes of it.
formats() {
    printf 'model = "jsc-tiny"\ndataset = "jsc-sim"\nmax_epochs = 1\nmax_steps = 30\nbatch_size = 1024\nlearning_rate = 1e-3\n'
    printf '[passes.quantize]\nby = "type"\ndefault.config.name = "NA"\n[passes.quantize.linear.config]\n%s\n' "$1"
}
formats 'name = "lsq"
data_in_width = 4
weight_width = 4
weight_axis = 0' >learned.toml
formats 'name = "int"
data_in_width = 8
data_in_scale = "auto"
weight_width = 4
weight_scale = "auto"' >auto.toml
run train jsc-tiny jsc-sim --max-steps 50 --learning-rate 1e-2 --project float
for what in learned auto; do
    run sweep --config $what.toml --load mase_output/float --set passes.quantize.linear.config.weight_width=3,2 --project swept_$what
    succeeds "a sweep over formats with steps: $what"
    table=$(cut -d, -f1-6 mase_output/swept_$what/software/sweep/sweep.csv)
    run train --config $what.toml --load mase_output/float --set passes.quantize.linear.config.weight_width=3 --project alone_$what --threads 1
    alone=$(sed -n 's/.*Epoch 1.1: .*val_loss \([0-9.]*\),.*/\1/p' "$T/err")
    holds "as it is trained alone" sh -c "test -n '$alone' && echo '$table' | sed -n 2p | grep -q ',${alone%?}'"
    run sweep --config $what.toml --load mase_output/float --set passes.quantize.linear.config.weight_width=3,2 --project swept_$what
    holds "which is found again" test "$(cut -d, -f1-6 mase_output/swept_$what/software/sweep/sweep.csv)" = "$table"
done
run sweep --config auto.toml --learning-rate 1e-3,1e-2 --project initial
succeeds "by initial weights"
err_has "of which a warning speaks" 'the number formats were calibrated on initial weights: train in float first'

# Nothing is trained, so there is no training loss and no best epoch.
run sweep toy toy_tiny --learning-rate 0.1,0.01 --max-epochs 0 --project still
out_lacks "no number that is none" '\| +(nan|inf) +\|'
holds "nor in the table for programs" grep -q '^0\.1,0,,,0\.' mase_output/still/software/sweep/sweep.csv
run report mase_output/still
succeeds "which a report reads back"
