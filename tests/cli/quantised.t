# Training through number formats: what [passes.quantize] or a saved network says is trained,
# validated, kept with the checkpoint, tested, resumed and swept.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
cat >float.toml <<'END'
model = "jsc-tiny"
dataset = "jsc-sim"
batch_size = 1024
max_epochs = 2
learning_rate = 0.01
END
cat >section.toml <<'END'
[passes.quantize]
by = "type"
default = { config = { name = "NA" } }
[passes.quantize.linear.config]
name = "integer"
data_in_width = 4
data_in_frac_width = 1
weight_width = 3
weight_frac_width = 1
bias_width = 3
bias_frac_width = 1
[passes.report_graph]
END
cat float.toml section.toml >q.toml
told='INFO     Quantised, 1 node: data_in integer\(4, 1\), weight integer\(3, 1\), bias integer\(3, 1\)'
ckpts=software/training_ckpts
acc() { sed -n 's/.*"test_acc_epoch": //p' "mase_output/$1/software/test/run.json"; }
val() { sed -n 's/.*"val_acc_epoch": \(.*\),/\1/p' "mase_output/$1/run.json"; }

run train --config float.toml --project float
succeeds "in float"
holds "without a word of formats" sh -c "! grep -q Quantised '$T/err'"
run train --config q.toml --project q
succeeds "a configuration with formats is trained quantised"
err_has "and says so" "$told"
out_has "beside the numbers" 'jsc-tiny on jsc-sim, quantised, validated on'
holds "the record too" grep -q '"quantised": "1 node: data_in integer(4, 1)' mase_output/q/run.json
holds "to other weights" sh -c "! cmp -s mase_output/float/$ckpts/last.ckpt mase_output/q/$ckpts/last.ckpt"

# The same by way of a saved network, which starts from the same weights.
run transform --config q.toml --project saved
run train --config float.toml --load mase_output/saved --project again
succeeds "a saved quantised network"
err_has "says so, too" "$told"
holds "trains to the same bytes" cmp mase_output/again/$ckpts/last.ckpt mase_output/q/$ckpts/last.ckpt
run convert mase_output/saved saved.mg
run train saved.mg jsc-sim --batch-size 1024 --max-epochs 2 --learning-rate 0.01 --project mg
succeeds "a .mg file with formats"
err_has "says so as well" "$told"
holds "and comes to the same accuracy" test "$(val mg)" = "$(val q)"

# What is measured is what was trained, whatever names it.
run test jsc-tiny jsc-sim --load mase_output/q --project t1
succeeds "tested without its configuration"
err_has "is told to be quantised" "$told"
out_has "beside the numbers, too" 'jsc-tiny on the test split of jsc-sim, quantised'
run test --config q.toml --load mase_output/q --project t2
succeeds "tested with its configuration"
holds "is the same" test "$(acc t1)" = "$(acc t2)"
holds "without a warning" sh -c "! grep -q WARNING '$T/err'"
run convert mase_output/q/$ckpts/best.ckpt alone.safetensors
run test jsc-tiny jsc-sim --load alone.safetensors --project t3
holds "in float it is another number" test "$(acc t1)" != "$(acc t3)"
run test --config q.toml --load alone.safetensors --project t4
succeeds "float weights with the configuration"
holds "are measured quantised" test "$(acc t1)" = "$(acc t4)"
run test --config q.toml --load mase_output/q --json --project t5
out_has "programs are told" '"quantised": "1 node: data_in integer'
run test jsc-tiny jsc-sim --load mase_output/float --json --project t6
out_has "of floats, too" '"quantised": null'
run report mase_output/t2
succeeds "the report of a test"
holds "says what its numbers are of" grep -q 'quantised, 1 node: data_in integer(4, 1)' mase_output/t2/report.html
run report mase_output/q --test never --samples 0
succeeds "the report of the training"
holds "says it, too" grep -q 'quantised, 1 node: data_in integer(4, 1)' mase_output/q/report.html
run show mase_output/q
out_has "show has the formats" 'integer'
run transform --config float.toml --load mase_output/q --project kept
holds "transform keeps them" grep -q "weight_width: 3" mase_output/kept/software/transform/transformed_ckpt/graph_module.mg

# Predictions are those of the quantised network, too.
{
    printf '\223NUMPY\001\000\166\000'
    printf "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 16), }%80s" '' | head -c 117
    echo
    head -c 128 /dev/zero | tr '\000' '?'
} >x.npy
best=mase_output/q/$ckpts/best.ckpt
run predict jsc-tiny --load $best --input x.npy --output trained.npy
err_has "predict says so" "$told"
run predict --config q.toml --load alone.safetensors --input x.npy --output given.npy
holds "formats of either place give the same" cmp trained.npy given.npy
run predict --config float.toml --load alone.safetensors --input x.npy --output float.npy
holds "and not what floats give" sh -c '! cmp -s trained.npy float.npy'

# Another configuration than what was trained.
sed 's/^weight_width = 3/weight_width = 5/' q.toml >other.toml
run test --config other.toml --load mase_output/q --project t7
succeeds "other formats are applied"
err_has "with a warning" 'WARNING  .*best\.ckpt has other number formats than \[passes\.quantize\] of other\.toml, which is used: module seq_blocks\.2'
err_has "and the line says which" 'Quantised, 1 node: .*weight integer\(5, 1\)'
run train --config other.toml --load mase_output/q --max-epochs 1 --project finer
succeeds "training goes on in other formats"
err_has "with the warning" 'WARNING  .*has other number formats'
run train --config other.toml --project q --max-epochs 3 --resume
refused "but a run is not resumed in others" 'cannot resume with another network: module seq_blocks\.2: different number formats'
run train --config float.toml --project q --max-epochs 3 --resume
refuses "nor in float" "$PWD/mase_output/q/software/training_ckpts/last.ckpt" seq_blocks.2

# Stopped in the middle of an epoch and resumed, with any number of threads. Counters differ, since a
# validation more was done: the weights are compared.
run train --config q.toml --max-steps 700 --project cut --threads 2
run train --config q.toml --project cut --resume --threads 1
succeeds "resumed"
for p in q cut; do run convert mase_output/$p/$ckpts/last.ckpt $p.safetensors; done
holds "to the same bytes" cmp cut.safetensors q.safetensors

# Sweeps.
run sweep --config q.toml --learning-rate 0.01,0.001 --max-epochs 1 --max-steps 20 --project s
succeeds "a sweep"
err_has "says what it trains" "$told"
out_has "and shows it" 'jsc-tiny on jsc-sim, quantised: '
run train --config q.toml --max-epochs 1 --max-steps 20 --project one
run test --config q.toml --load mase_output/one/$ckpts/last.ckpt --project one
first=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "test_acc") k = i } NR == 2 { print $k }' mase_output/s/software/sweep/sweep.csv)
holds "its numbers are those of a training" test "$(acc one | tr -d ,)" = "$first"
run report mase_output/s
succeeds "its report"
holds "says so" grep -q 'quantised, 1 node: data_in integer(4, 1)' mase_output/s/report.html

# Formats that come on later, statistics of batch norms that stay.
sed 's/^max_epochs = 2/max_epochs = 3\nquantize_after = 2\nlr_schedule = "constant"/' q.toml >late.toml
run train --config late.toml --project late
succeeds "two float epochs first"
err_has "a float epoch says so" 'Epoch 2/3: .*, float$'
holds "a quantised one does not" sh -c "! grep -q 'Epoch 3/3: .*, float' '$T/err'"
err_has "and is the best so far" 'Epoch 3/3: .*, best so far'
out_has "what counts is the quantised network" 'quantised, validated on'
run train --config late.toml --max-epochs 3 --max-steps 600 --project early --log-level warning
succeeds "stopped before"
out_has "what there is is float" 'jsc-tiny on jsc-sim, validated on'
holds "the record says nothing else" sh -c '! grep -q "\"quantised\"" mase_output/early/run.json'
run test jsc-tiny jsc-sim --load mase_output/early --json --project t8
out_has "and so does its checkpoint" '"quantised": null'
run train --config late.toml --project early --resume
succeeds "it goes on"
for p in late early; do run convert mase_output/$p/$ckpts/last.ckpt $p.safetensors; done
holds "to the same weights" cmp early.safetensors late.safetensors
run train --config late.toml --quantise-after 3 --project no
refused "none left for the formats" 'quantize_after = 3: none of the 3 epochs would train through the number formats'
run train --config late.toml --quantize-after -1
refused "no number of epochs" 'quantize-after'
run train --config float.toml --quantize-after 1 --max-steps 1 --project no1
err_has "without formats" 'WARNING  quantize_after is of no effect: the network has no number formats'
run train jsc-toy jsc-sim --max-epochs 2 --batch-size 1024 --freeze-bn-stats-after 1 --learning-rate 0.01 --project bn
succeeds "batch norms are frozen"
run train jsc-toy jsc-sim --max-epochs 2 --batch-size 1024 --learning-rate 0.01 --project bn0
holds "which changes the numbers" test "$(val bn)" != "$(val bn0)"
printf 'dataset = "jsc-sim"\n[model]\nlayers = ["Linear(16, 5)"]\n' >linear.toml
run train --config linear.toml --freeze-bn-stats-after 1 --max-steps 1 --project no2
err_has "without batch norms" 'WARNING  freeze_bn_stats_after is of no effect: the network has no batch norm'
run sweep --config late.toml --quantize-after 0,1,2 --max-steps 700 --project s2
succeeds "a sweep over the delay"

# A sweep over formats.
frac=passes.quantize.linear.config.weight_frac_width
run sweep --config q.toml --set $frac=0..2 --seed 0,1 --max-epochs 1 --max-steps 100 --project bits
succeeds "three fractions and float, two seeds"
holds "eight configurations" test "$(wc -l <mase_output/bits/software/sweep/sweep.csv)" -eq 9
out_has "mean and deviation" '^\| +1 +\| 2 \| .* ± '
out_has "of float, too" '^\| +float +\| 2 \| .* ± '
holds "the chart has a dashed level" grep -q 'float' mase_output/bits/software/sweep/sweep.svg
holds "and is of accuracy" grep -q 'test accuracy' mase_output/bits/software/sweep/sweep.svg
run train --config q.toml --set $frac=2 --seed 1 --max-epochs 1 --max-steps 100 --project alone
run test --config q.toml --set $frac=2 --load mase_output/alone/$ckpts/last.ckpt --project alone
row() { awk -F, -v v="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "test_acc") k = i } $1 == v && $2 == 1 { print $k }' mase_output/bits/software/sweep/sweep.csv; }
holds "a point is what training alone comes to" test "$(row 2)" = "$(acc alone | tr -d ,)"
run train --config float.toml --seed 1 --max-epochs 1 --max-steps 100 --project alone0
run test --config float.toml --load mase_output/alone0/$ckpts/last.ckpt --project alone0
holds "float as well" test "$(row float)" = "$(acc alone0 | tr -d ,)"
run sweep --config q.toml --set $frac=0..2 --seed 0,1 --max-epochs 1 --max-steps 100 --project bits
err_has "nothing is done twice" '8 configurations, 8 done before'
run report mase_output/bits
succeeds "its report"
holds "shows accuracy" grep -q 'Test accuracy of every configuration' mase_output/bits/report.html
run sweep --config q.toml --set $frac=0,2 --set passes.quantize.linear.config.data_in_width=3,6 --max-steps 5 --project two
holds "two axes are a grid" test "$(wc -l <mase_output/two/software/sweep/sweep.csv)" -eq 5
run report mase_output/two
succeeds "with a report"
run sweep --config q.toml --set $frac=0..2 --load alone.safetensors --max-epochs 0 --project eval
succeeds "no epoch: measured only"
run test --config q.toml --set $frac=1 --load alone.safetensors --project t9
holds "as ch test measures" test "$(awk -F, '$1 == 1 { print $10 }' mase_output/eval/software/sweep/sweep.csv)" = "$(acc t9 | tr -d ,)"
run sweep --config q.toml --set $frac=3..1 --project no3
refused "a range that falls" 'a range of at most 100 numbers, the least first'
run sweep --config q.toml --set batch_size=1,2 --project no4
refused "an option is no format" 'a sweep varies number formats, keys of \[passes.quantize\]'
run sweep --config q.toml --set $frac=1,x --project no5
refused "a value that is none" "weight_frac_width must be an integer.*got string \"x\""
run sweep --config q.toml --set $frac=1,1 --project no6
refused "a value twice" 'linear.weight_frac_width: 1 is given twice'
run train --config q.toml --set $frac=0..2 --project no7
refused "training takes one" 'weight_frac_width must be an integer'

# What a format takes from trained weights is said wherever one is given: the example's second widths cut
# them at 0.5.
run train jsc-tiny jsc-sim --max-steps 400 --batch-size 1024 --learning-rate 1e-1 --project cut
widths=$SOURCE/configs/examples/jsc_toy_by_type_widths.toml
told='WARNING +of 85 weights and biases [0-9]+ \([0-9.]+ %\) saturate, none become zero: above all seq_blocks.2.weight, of whose 80 [0-9]+ saturate; weight_frac_width = "auto" lets ch calibrate find what fits$'
run transform --config "$widths" --dataset jsc-sim --load mase_output/cut --project cut_t
err_has "by ch transform" "$told"
holds "and in its record" sh -c "tr -d ' \n' <mase_output/cut_t/run.json | grep -q '\"rounded_weights\":{\"values\":85,\"saturated\":[1-9]'"
run test --config "$widths" --dataset jsc-sim --load mase_output/cut --json --project cut_e
err_has "by ch test" "$told"
out_has "for programs" '"rounded_to_zero": 0'
run train --config "$widths" --dataset jsc-sim --load mase_output/cut --max-steps 1 --project cut_q
err_has "by ch train" "$told"
run test --dataset jsc-sim --load mase_output/cut_q jsc-tiny --project cut_f
err_has "of one that was trained so, as it is" "$(printf '%s' "$told" | sed 's/WARNING +of/INFO +Rounded, of/')"
run weights mase_output/cut_t/software/transform/transformed_ckpt
out_has "the table begins with it" '^all 85 values lie on their grid and in their range; [0-9]+ \([0-9.]+ %\) saturate$'
run test --config "$widths" --dataset jsc-sim --load mase_output/cut --set passes.quantize.linear.config.weight_frac_width=40 --project cut_g
err_has "all of them" 'WARNING +of 85 weights and biases 80 \(94.1 %\) saturate'
run test --config "$widths" --dataset jsc-sim --load mase_output/cut --set passes.quantize.linear.config.weight_frac_width=-8 --project cut_h
err_has "or none is left" 'WARNING +of 85 weights and biases none saturate, 80 \(94.1 %\) become zero: above all seq_blocks.2.weight, of whose 80 80 become zero; weight_frac_width = "auto"'
run test --config "$widths" --dataset jsc-sim --load mase_output/cut --set passes.quantize.linear.config.weight_frac_width=4 --project cut_i
holds "little is no warning" sh -c "! grep -q 'WARNING.*weights and biases' '$T/err'"
