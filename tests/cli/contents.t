# What a run is told by is what its files hold, not what they are called: results of a sweep and a checkpoint are not
# taken for those of another loss or scaling under the same name.
awk 'BEGIN { print "a,b,price"
    for (i = 0; i < 200; i++) { a = i * 7 % 20 / 10; b = i * 11 % 17 / 10; print a "," b "," 2 * a - b + 1 } }' >t.csv
cat >one.mg <<'END'
mase-graph 1
module fc = Linear(in_features=2, out_features=1)
%x = placeholder[target=x]
%y = call_module[target=fc](args = (%x,), kwargs = {})
return %y
END
loss() { printf 'import parts\n\n\ndef mine(output, target):\n    return %s * parts.distance(output, target)\n' "$1" >own.py; }
parts() { printf 'def distance(output, target):\n    return (output - target).%s.mean()\n' "$1" >parts.py; }
loss 1
parts 'abs()'
printf '{"mean": [1, 1], "scale": [1, 1]}\n' >s.json
common="one.mg t.csv:price --task reg --features a,b --loss own.py:mine --project-dir out"
sweep="sweep $common --max-epochs 1 --learning-rate 0.01,0.02 --scaling s.json --project s"
loss_of() { awk -F, 'NR == 2 { print $3 }' out/s/software/sweep/sweep.csv; }

# ---- a sweep ----
# shellcheck disable=SC2086 # words
{
run $sweep
succeeds "a sweep by a loss of one's own"
first=$(loss_of)
run $sweep
err_has "again, and nothing is trained" '2 configurations, 2 done before'
loss 10
run $sweep
succeeds "the loss is edited"
err_lacks "no result is taken for one of the new loss" '[1-9] done before'
holds "the table has the new loss" test "$first" != "$(loss_of)"
parts 'pow(2)'
run $sweep
err_lacks "nor of the file that it imports" '[1-9] done before'
printf '{"mean": [1, 1], "scale": [100, 100]}\n' >s.json
run $sweep
succeeds "the file of the scaling is another"
err_lacks "no result is taken for one of the new scaling" '[1-9] done before'
loss 1
parts 'abs()'
printf '{"scale": [1, 1], "mean": [1.0, 1.0]}\n' >s.json
run $sweep
err_has "as they were: the first results are there" '2 configurations, 2 done before'
holds "in the table, too" test "$first" = "$(loss_of)"
}

# ---- a run that goes on ----
train="train $common --learning-rate 0.01 --project t"
# shellcheck disable=SC2086 # words
{
run $train --max-epochs 2
succeeds "a run by a loss of one's own"
run $train --max-epochs 3 --resume
succeeds "goes on by it"
loss 10
run $train --max-epochs 4 --resume
refused "not by another under its name" 'last\.ckpt: cannot resume: the loss own\.py:mine computes something else now'
loss 1
run $train --max-epochs 4 --resume
succeeds "but by the one it was"
}
