# How many bits a quantised training comes to, epoch by epoch: bits.csv, metrics.csv, TensorBoard, what
# is printed, the report.
MASE_DATA=; XDG_CACHE_HOME=$T/cache
export MASE_DATA XDG_CACHE_HOME
config() {
    printf 'model = "toy"\ndataset = "toy_tiny"\nbatch_size = 64\nmax_epochs = 3\n'
    printf 'learning_rate = 0.01\n[passes.quantize]\nby = "type"\n'
    printf 'default = { config = { name = "NA" } }\n[passes.quantize.linear.config]\n%s\n' "$1"
}
config 'name = "hgq"
data_in_width = 6
data_in_axis = 1
weight_width = 6
weight_block_size = 1
bias_width = 6' >hgq.toml
config 'name = "lsq"
data_in_width = 4
weight_width = 3
bias_name = "NA"' >lsq.toml
bits=software/bits.csv
# COLUMN of an OPERAND of the first layer of PROJECT after EPOCH
field() { awk -F, -v e="$2" -v o="$3" -v c="$4" '$1 == e && $2 == "seq_blocks_0" && $3 == o { print $c }' "mase_output/$1/$bits"; }
train() { run train --config hgq.toml --ebops-weight 0.001 --bits-hold 0 "$@"; }
page=mase_output/dear/report.html

run train --config hgq.toml --project free
train --project dear --json
succeeds "bits are learned"
out_has "programs are told what they come to" '"mean_bits": '
out_has "and what they cost" '"ebops": '
holds "a row for each operand of each layer after each epoch" test "$(wc -l <mase_output/dear/$bits)" -eq 28
holds "dear weights have fewer" awk -v a="$(field dear 2 weight 5)" -v b="$(field free 2 weight 5)" 'BEGIN { exit !(a < b && b <= 13) }'
holds "some have none" test "$(field dear 2 weight 6)" = 0
holds "which is counted" awk -v a="$(field dear 2 weight 8)" 'BEGIN { exit !(a > 0 && a <= 1) }'
last=$(awk -F, '$1 == 2 && $6 != "" { print $11 }' mase_output/dear/software/metrics.csv)
sum=$(awk -F, '$1 == 2 && $3 == "weight" { s += $9 } END { print s }' mase_output/dear/$bits)
holds "metrics.csv has the cost of all layers" test "$last" = "$sum"
holds "and run.json" grep -q "\"ebops\": $last\.0" mase_output/dear/run.json
holds "which lists the file" grep -q '"software/bits.csv"\|/software/bits.csv"' mase_output/dear/run.json
events=$(echo mase_output/dear/software/tensorboard/lightning_logs/version_0/events*)
for tag in ebops bits/seq_blocks_0.weight bits/seq_blocks_4.data_in; do
    holds "TensorBoard has $tag" grep -qaF "$tag" "$events"
done
train --project told
out_has "people are told, too" "^$last EBOPs, weights of [0-9.]+ bits \([0-9.]+ % have none\), data of [0-9.]+ bits"

# The same files after a pause, between epochs and within one.
for steps in 160 200; do
    train --project paused$steps --max-steps $steps
    train --project paused$steps --resume
    succeeds "resumed after $steps steps"
    holds "bits are told as without a pause" cmp mase_output/paused$steps/$bits mase_output/dear/$bits
done
cut -d, -f1-9,11 mase_output/paused160/software/metrics.csv >"$T/got"
cut -d, -f1-9,11 mase_output/dear/software/metrics.csv >"$T/expected"
same "and so is what they cost" "$T/expected" "$T/got"

run report mase_output/dear --test never --samples 0
succeeds "the report"
for what in '<section id="bits"' 'Mean bits of weights' 'Mean bits of data' 'against EBOPs' "costs $last EBOPs" 'seq_blocks_4</span>'; do
    holds "has $what" grep -qF "$what" $page
done
damaged()
{
    cp mase_output/dear/$bits kept
    sed "$1" kept >mase_output/dear/$bits
    run report mase_output/dear --test never --samples 0
    refused "$2" "$3"
    mv kept mase_output/dear/$bits
}
f='mase_output/dear/software/bits\.csv'
damaged '1s/operand/operator/' "a file of other columns" "^$f:1:13: the header has no column 'operand' here"
damaged '1s/,ebops//' "or fewer" "^$f:1:[0-9]+: the header has no column 'ebops' here"
damaged '3s/,[0-9.]*$//' "a short row" "^$f:3:[0-9]+: has 8 fields, the header 9"
damaged '3s/,weight,32/,weight,many/' "words for numbers" "^$f:3:23: "

# Bits that are not learned stay what they are, from the epoch on that they are on.
run train --config lsq.toml --project lsq --quantize-after 2
row() { printf '2,seq_blocks_%d,data_in,%d,4,4,4,0,%d 2,seq_blocks_%d,weight,%d,3,3,3,0,%d ' $1 $2 $4 $1 $3 $4; }
holds "fixed bits are told" test "$(sed 1d mase_output/lsq/$bits | tr '\n' ' ')" = "$(row 0 4 32 192; row 2 8 64 512; row 4 8 16 128)"
holds "without a column for their cost" sh -c '! head -n 1 mase_output/lsq/software/metrics.csv | grep -q ebops'
holds "or a sentence" sh -c "! grep -q EBOPs '$T/out'"
run report mase_output/lsq --test never --samples 0
holds "the report shows them" grep -qF '<section id="bits"' mase_output/lsq/report.html

# Floats have no bits to tell of; files of a run go aside with it.
run train toy toy_tiny --max-epochs 1 --project dear
holds "bits of an older run go with it" test ! -e mase_output/dear/$bits -a -e mase_output/dear/version_0/$bits
run report mase_output/dear --test never --samples 0
holds "there is no section of them" sh -c "! grep -q 'id=\"bits\"' $page"

# The average of the weights is what is measured and kept, so its bits are what is told.
train --average-weights 0.999 --project average
run train --config hgq.toml --load mase_output/average/software/training_ckpts/last.ckpt --learning-rate 1e-9 --max-epochs 1 --project kept
for operand in data_in weight bias; do
    holds "the $operand of an average" test "$(field kept 0 $operand 5)" = "$(field average 2 $operand 5)"
done
