# Lab 1's test of what was trained, its tables and JSON, and weights that do not fit.
run train jsc-tiny jsc --max-epochs 2 --batch-size 256 --project tiny
best=mase_output/tiny/software/training_ckpts/best.ckpt
run test jsc-tiny jsc --load $best --load-type pl
succeeds "the lab's command"
out_has "Lightning's table" '^\| +Test metric +\| DataLoader 0 \|$'
out_has "the accuracy" '^\| test_acc_epoch +\| +0\.[0-9]+ +\|$'
out_has "the loss" '^\| test_loss_epoch +\| +[0-9.]+ +\|$'
out_has "its standard error" 'standard error of accuracy'
out_has "by class" '^\| Class \| Samples \| Precision \| Recall +\| +AUC +\|$'
out_has "the confusion matrix" '^\| Truth \\ answer'
out_has "the notice" '^simulated stand-in, not the CERN file$'
holds "a record" grep -q '"test_acc_epoch"' mase_output/jsc-tiny_classification_jsc_*/software/test/run.json

run test jsc-tiny jsc --load $best --json
succeeds "as JSON"
holds "which is JSON and nothing else" sh -c 'head -c 1 "$1" | grep -q "{" && tail -c 2 "$1" | grep -q "}"' sh "$T/out"
out_has "with the classes" '"auc": 0\.'
out_has "and the notice" '"notice": "simulated stand-in'
grep -v -e seconds -e _per_second "$T/out" >"$T/once"
run test jsc-tiny jsc --load $best --json --threads 2
grep -v -e seconds -e _per_second "$T/out" >"$T/twice"
same "the same with two threads" "$T/once" "$T/twice"

# A checkpoint brings its scaling: another dataset is scaled by it, not by itself.
run test jsc-tiny jsc-sim --load $best --json
grep '"test_loss_epoch"' "$T/out" >"$T/same"
grep '"test_loss_epoch"' "$T/once" >"$T/expected"
same "jsc-sim is the stand-in itself" "$T/expected" "$T/same"


# So are classes: a table of the user's own has its labels in another order.
cat >jets.csv <<'END'
a,b,c,d,e,f,g,h,i,j,k,l,m,n,o,p,label
END
for label in z w t q g z w t q g; do
    echo "-2.3,0.4,0.003,2e-5,0.003,2e-5,1.2,1.1,1.2,0.3,0.13,0.09,0.36,0.26,4.1,31,$label" >>jets.csv
done
run test jsc-tiny csv:jets.csv:label --load $best --all-rows --json
succeeds "a table of one's own"
err_has "scaled as the checkpoint says" 'The features are scaled as those of jsc'
err_has "classes by name" 'Classes are matched by their names'
out_has "all rows" '"samples": 10,'
tr -d ' \n' <"$T/out" | grep -o '"name":"[gqwzt]","precision' | cut -d'"' -f4 | tr -d '\n' >"$T/got"
printf gqwzt >"$T/expected"
same "in the checkpoint's order" "$T/expected" "$T/got"
run train jsc-tiny jsc --all-rows
refuses "an option of test only" ch --all-rows train

rm -rf "$T/kept"
mv mase_output "$T/kept"
best=$T/kept/tiny/software/training_ckpts/best.ckpt
run test jsc-tiny jsc
fails "no weights" <<'END'
ch: expected checkpoint via --load, got None; 'ch train jsc-tiny jsc --project mine' makes mase_output/mine/software/training_ckpts/best.ckpt
END
run test jsc-toy jsc --load "$best"
refuses "a checkpoint of another network" "$best" seq_blocks.3.weight
head -c 3000 "$best" >short.ckpt
run test jsc-tiny jsc --load short.ckpt
refused "a truncated checkpoint" 'short\.ckpt'
: >empty.ckpt
run test jsc-tiny jsc --load empty.ckpt
refused "an empty one" 'empty\.ckpt'
holds "nothing was written" test ! -e mase_output

# ---- many classes ----
# as much memory as there are samples, not the square of the classes: 1 500 made a run.json that no report read
awk 'BEGIN { print "x,kind"; for (i = 0; i < 6000; i++) print i * 7919 % 6000 / 3000 "," i % 1500 }' >many.csv
cat >many.mg <<'END'
mase-graph 1
module fc = Linear(in_features=1, out_features=1500)
%x = placeholder[target=x]
%y = call_module[target=fc](args = (%x,), kwargs = {})
return %y
END
run train many.mg many.csv:kind --max-epochs 1 --batch-size 512 --project many --log-level error
succeeds "1 500 classes"
run test many.mg many.csv:kind --load mase_output/many --project many --log-level error
succeeds "are tested"
holds "in a record of a few bytes for each sample" test "$(wc -c <mase_output/many/software/test/run.json)" -lt 1000000
holds "that has every answer" awk '/"answers": \{/ { inside = 1; next } inside && /\}/ { inside = 0; next }
    inside { gsub(/[^0-9: ]/, ""); sum += $NF } END { print sum; exit sum != 1200 }' mase_output/many/software/test/run.json
run report mase_output/many --log-level error
succeeds "and a report reads it"

# ---- rows that were trained on ----
awk 'BEGIN { print "a,b,side"; for (i = 0; i < 900; i++) print i * 7919 % 900 / 900 "," i * 104729 % 900 / 900 "," i % 2 }' >first.csv
{ head -n 1 first.csv; tail -n +2 first.csv | awk '{ print NR * 7919 % 907 "," $0 }' | sort -n | cut -d, -f2-; } >shuffled.csv
awk 'BEGIN { print "a,b,side"; for (i = 0; i < 900; i++) print i * 7919 % 900 / 450 "," i * 104729 % 900 / 901 "," i % 2 }' >other.csv
cat >two.mg <<'END'
mase-graph 1
module fc = Linear(in_features=2, out_features=2)
%x = placeholder[target=x]
%y = call_module[target=fc](args = (%x,), kwargs = {})
return %y
END
run train two.mg first.csv:side --max-epochs 1 --scaling standard --project seen --log-level error
succeeds "trained"
load="--load mase_output/seen --project seen"
# shellcheck disable=SC2086 # words
{
run test two.mg first.csv:side $load
succeeds "tested on its own test split"
err_lacks "nothing of which was trained on" 'trained on: of new ones'
run test two.mg shuffled.csv:side $load --json
succeeds "on a copy in another order, whose test split is another"
err_has "which is said" 'WARNING +[67][0-9] % of the 180 rows that are tested were trained on: of new ones'
out_has "and told to programs" '"trained_on": 0\.[67]'
run test two.mg first.csv:side $load --all-rows
err_has "all rows are said, too" 'INFO +72 % of the 900 rows that are tested were trained on'
run test two.mg other.csv:side $load
err_lacks "other rows are not" 'trained on: of new ones'
}
