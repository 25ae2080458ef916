# Calibration: what a configuration leaves "auto" is found on rows of the training data, written as a
# configuration that every command runs, and found on the spot by those that are given the data.
awk 'BEGIN { srand(3); print "a,b,c,d,label"
    for (i = 0; i < 900; i++) {
        for (k = 0; k < 4; k++) { x[k] = -4; for (j = 0; j < 8; j++) x[k] += rand() }
        s = x[0] + 2 * x[1] * x[2]
        printf "%.4f,%.4f,%.4f,%.4f,%s\n", x[0], x[1], x[2], 9 * x[3], (s > 1 ? "up" : s < -1 ? "down" : "flat") } }' >t.csv
cat >float.toml <<'END'
dataset = "csv:t.csv:label"
batch_size = 32
max_epochs = 12
learning_rate = 0.01
[model]
name = "own"
layers = ["Linear(4, 16)", "ReLU()", "Linear(16, 12)", "ReLU()", "Linear(12, 3)"]
END
section()
{
    cat float.toml
    cat <<END
[passes.quantize]
by = "type"
default.config.name = "NA"
${2-}
[passes.quantize.linear.config]
name = "int"
data_in_width = $1
data_in_scale = "auto"
weight_width = $1
weight_scale = "auto"
weight_axis = 0
bias_width = 16
bias_scale = "auto"
END
}
section 4 >q.toml
acc() { sed -n 's/.*"test_acc_epoch": \(.*\),/\1/p' "$1"; }

run train --config float.toml --project float
succeeds "a float network"
float=mase_output/float
run calibrate --config q.toml --load $float --rows 300 --measure test --output c1
succeeds "calibrated"
err_has "on so many rows" 'INFO     Calibrated 9 operands on 300 rows of the training split, by mse'
out_has "a scale for each channel" '^seq_blocks_0 +weight +int\(4, \[16 from [0-9.e-]+ to [0-9.e-]+\], NA, 0\) '
out_has "one for all that comes in" '^seq_blocks_2 +data_in +int\(4, [0-9.e-]+\) +0 '
out_has "how good it is in float" '^float +test +180 +0\.[0-9]+'
out_has "and quantised" '^quantised +test +180 +0\.[0-9]+'
out_has "where it is" '^The configuration is c1/calibrated.toml$'
holds "no auto is left" sh -c '! grep auto c1/calibrated.toml'
holds "the figures stand above the formats" grep -Eq \
    '^# weight, mse: values .* \.\. .*, range .*, mse .*, sqnr .* dB, .* % outside$' c1/calibrated.toml
holds "nothing else was written" test ! -e mase_output/own_classification_csv

# The file runs as it is, and means what was measured.
run test --config c1/calibrated.toml --project t1
succeeds "tested by it"
err_has "in its formats" 'INFO     Quantised, 3 nodes: '
holds "without a warning" sh -c "! grep -q WARNING '$T/err'"
q=$(acc mase_output/t1/software/test/run.json)
holds "to the accuracy that was told" sh -c "grep -q '\"accuracy\": $q' c1/run.json"
run transform --config c1/calibrated.toml --project t2
succeeds "transformed by it"
run train --config c1/calibrated.toml --max-epochs 2 --project t3
succeeds "trained on by it"
err_has "through its formats" 'INFO     Quantised, 3 nodes: '

# On the spot, with the same numbers.
run test --config q.toml --load $float --set passes.quantize.calibrate.rows=300 --project t4
succeeds "tested with auto"
err_has "which is found first" 'INFO     Calibrated 9 operands on 300 rows'
holds "the record has the numbers" sh -c '! grep -q "\"auto\"" mase_output/t4/software/test/run.json || ! grep "_scale\": \"auto" mase_output/t4/software/test/run.json'
run report mase_output/t4 --output t4.html
succeeds "a report shows them"
holds "in full" sh -c '! grep -q "cannot be told" t4.html'
holds "comes to the same" test "$(acc mase_output/t4/software/test/run.json)" = "$q"
run transform --config q.toml --load $float --set passes.quantize.calibrate.rows=300 --project t5
succeeds "transformed with auto"
holds "into the same graph" cmp mase_output/t5/software/transform/transformed_ckpt/graph_module.mg c1/network/graph_module.mg
run train --config q.toml --load $float --max-epochs 1 --learning-rate 0 --project t6
succeeds "trained with auto"
err_has "from calibrated scales" 'INFO     Calibrated 9 operands'
run train --config q.toml --max-epochs 0 --project t0
err_has "initial weights are no good to calibrate on" 'WARNING .*calibrated on initial weights'
run test --config q.toml --load mase_output/t6 --project t7
succeeds "what was trained so is tested so"
holds "and not calibrated again" sh -c "! grep -q 'Calibrated' '$T/err'"
holds "in the formats that it was trained in" sh -c "! grep -q WARNING '$T/err'"

# Weights and biases that are fitted.
run calibrate --config q.toml --load $float --gptq --measure none --json --output c2
succeeds "gptq"
holds "errors are told" grep -q '"error_gptq":' "$T/out"
holds "and less than to nearest" awk -F'[:,]' '/"error_nearest"/ { n = $2 } /"error_gptq"/ { bad += !($2 < n); k++ }
    END { exit bad || k != 3 }' "$T/out"
run test --config c2/calibrated.toml --project t8
succeeds "its network is tested"
run weights c2/network
succeeds "its weights"
holds "lie on their grids" sh -c "! grep -q 'off the grid' '$T/out'"
run calibrate --config q.toml --load $float --bias-correction --method minmax --output c3
succeeds "bias correction"
holds "by minmax" grep -q '^# data_in, minmax: ' c3/calibrated.toml
run calibrate --config q.toml --load $float --project cal --method quantile --quantile 0.99
succeeds "in the project without --output"
holds "there" test -f mase_output/cal/software/calibrate/calibrated.toml
run test --config mase_output/cal/software/calibrate/calibrated.toml --project t9
succeeds "which runs, too"

sed -e '/^bias_/d' q.toml >nobias.toml
echo 'bias_name = "NA"' >>nobias.toml
run calibrate --config nobias.toml --load $float --output c5
succeeds "biases that stay in float"
run test --config c5/calibrated.toml --project t11
succeeds "stay so in the file"

# Passes before it are part of the network.
section 4 >p.toml
cat >>p.toml <<'END'
[passes.report_graph]
END
sed 's/^\[passes.quantize\]/[passes.equalise]\n&/' p.toml >e.toml
run calibrate --config e.toml --load $float --output c4
succeeds "behind equalise"
holds "which is said" grep -q '^# The network in load_name has been through equalise.$' c4/calibrated.toml
holds "other passes stay" grep -q '^\[passes.report_graph\]$' c4/calibrated.toml
run test --config c4/calibrated.toml --project t10
succeeds "its file runs"

# By fractions, and what stands beside them as passes.
cat float.toml >f.toml
cat >>f.toml <<'END'
[passes.quantize]
by = "type"
default.config.name = "NA"
linear.config = { name = "integer", data_in_width = 6, data_in_frac_width = "auto", weight_width = 6, weight_frac_width = "auto", bias_width = 8, bias_frac_width = "auto" }
[passes.bias_correction]
END
run transform --config f.toml --load $float --project t11
succeeds "the pass bias_correction"
out_has "says what it is worth" '^Outputs on 648 rows of the training split: mean squared error against float '
sed 's/bias_correction/gptq/' f.toml >g.toml
run transform --config g.toml --load $float --project t12
succeeds "the pass gptq"

# ---- mistakes ----
rm -rf mase_output_kept && mv mase_output mase_output_kept
float=mase_output_kept/float
bad() { run calibrate --config "$1" --load $float --output bad; }
sed 's/^weight_width = 4/weight_width = "auto"/' q.toml >bad.toml
bad bad.toml
refuses "auto for what cannot be" bad.toml:16:16 weight_width auto int zero_point
section 4 'calibrate.method = "best"' >bad.toml
bad bad.toml
refused "a method that there is not" 'bad.toml:11:20: pass quantize: method.*minmax, quantile, mse, kl'
section 4 'calibrate.rows = 0' >bad.toml
bad bad.toml
refuses "no rows" bad.toml:11:18 rows 0 1..2147483648
section 4 'calibrate.quantile = 2' >bad.toml
bad bad.toml
refuses "a quantile above 1" bad.toml:11:22 quantile 2 0.5..1.0
run calibrate --config q.toml --load $float --rows 0 --output bad
refused "no rows, on the command line" '--rows'
run calibrate --config q.toml --load $float --method best --output bad
refused "a method, on the command line" '--method'
run calibrate --config q.toml --output bad
refused "no weights" 'expected trained weights via --load'
run calibrate --config float.toml --load $float --output bad
refused "no formats" 'float.toml: has no \[passes.quantize\]'
run calibrate --config q.toml --load $float --output c1
refused "a folder that is not empty" 'c1: is not empty'
sed 's/t.csv/gone.csv/' q.toml >bad.toml
bad bad.toml
refused "no data" 'gone.csv'
run explain $float --config q.toml
refuses "explain has no data" q.toml:15:17 data_in_scale auto
section 4 'calibrate.method = "kl"' | sed 's/"int"/"int"\nweight_name = "block_fp"/; s/weight_scale.*/weight_exponent_width = 4\nweight_exponent_bias = "auto"\nweight_block_size = [4]/; /weight_axis/d' >bad.toml
bad bad.toml
refuses "kl for blocks" bad.toml:12:25 block_fp
holds "and nothing was written" sh -c '! test -e bad && ! test -e mase_output'
