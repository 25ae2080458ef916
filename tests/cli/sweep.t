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

rm -rf out alone first.csv first.out a b
run sweep toy toy_tiny --batch-size 32,32
refused "a value given twice" 'batch_size: 32 is given twice'
run sweep toy toy_tiny --batch-size 32,
refused "an empty value" "ch: --batch-size = '' is not a number"
run sweep toy toy_tiny --training-optimizer adam,lion
refused "an unknown choice" "ch: --training-optimizer.*lion"
run sweep toy --batch-size 32,64
refused "no dataset" 'ch: No model and/or dataset provided!'
run transform toy toy_tiny --batch-size 32,64
fails "lists are for sweeps" <<'X'
ch: --batch-size = '32,64' is not a number; allowed: integer 1..
X

# Runs of unequal length whose batches are worked on in parts: none may wait for another's threads.
timeout 60 "$CH" sweep jsc-tiny jsc --max-steps 3,40 --batch-size 1024 --project side \
    >"$T/out" 2>"$T/err" </dev/null
status=$?
succeeds "large batches side by side"
