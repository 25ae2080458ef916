# ch study: the studies of a store, listed, shown, and as files.
W=$SOURCE/examples/study/widths.json

run study import s.db "$W"
succeeds "a study is read from JSON"
err_has "and said to be" "study 'widths', 40 trials, added to s\.db$"
holds "one file is what there is" test "$(ls)" = s.db
run study import s.db "$W"
refuses "a second one of that name" s.db widths
run study import s.db "$W" again
succeeds "unless it gets another"

run study list s.db
succeeds "a store is listed"
out_has "its studies in their order" '^widths +40 +39 +3 +minimize loss, maximize gain$'
out_has "both of them" '^again +40 '
run study list s.db --json
out_has "for programs" '"study": "again",$'

run study show s.db
refuses "one of two needs a name" ch 2
run study show s.db width
refuses "a wrong one is told the nearest" s.db width widths
run study show s.db widths
succeeds "a study is shown"
out_has "its trials by state" '^trials +40, 39 COMPLETE, 1 FAIL$'
out_has "its parameters" "^name +\['integer', None\]$"
out_has "its last trials" '^ +39  COMPLETE '
out_has "the one that failed" '^ +30  FAIL  +rate='
hash=$(sed -n 's/^hash *//p' "$T/out")
run study show s.db again
out_has "the other one is the same" "^hash +$hash\$"

run study best s.db widths
succeeds "the front"
out_has "is in order of numbers" '^ +7  0\.0475434 +0\.832452  rate=0\.167548 width=3 name=integer$'
out_lacks "without what is not feasible" 'width=[78]'
run study best s.db widths --json
out_has "for programs, too" '"number": 7,$'

for kind in json db; do
    run study export s.db "t.$kind" widths
    succeeds "a study goes to .$kind"
done
holds "which is what came in" cmp t.json "$W"
run study show t.db
out_has "a store of its own has the same" "^hash +$hash\$"
run study import u.db t.db
succeeds "and is imported from"
run study export s.db t.csv widths
succeeds "a table is written"
holds "with a line for each trial" test "$(wc -l <t.csv)" -eq 41
holds "columns as Optuna's" test "$(head -1 t.csv)" = \
    number,values_loss,values_gain,constraints_wide,params_rate,params_width,params_name,duration,state
run study export s.db old.db widths --optuna 3.1
succeeds "there is a schema for Optuna 3.1"
holds "which says so" grep -q 'v3\.0\.0\.d' old.db
run study export s.db t.json widths --optuna 3.1
refuses "which is for stores" ch t.json --optuna
run study export s.db t.xml widths
refuses "not every file" ch t.xml .csv

run study remove s.db again
succeeds "a study is removed"
run study list s.db
out_lacks "and is gone" again

# The folder of a run stands for the store in it.
mkdir -p mase_output/lab/software/search_ckpts
cp t.db mase_output/lab/software/search_ckpts/study.db
run study list mase_output/lab
out_has "a folder" '^widths '
run study best --project lab
out_has "a project" '^ +7  0\.0475434 '
run study list --project other
refuses "without one" "$PWD/mase_output/other" study
run study list
refuses "nothing named" ch list --project

# What is no study.
echo '{"format": "mase study 1", "name": "x"}' >x.json
run study import v.db x.json
refuses "a study without objectives" x.json:1:1 objectives
sed 's/"COMPLETE"/"ASLEEP"/' "$W" >x.json
run study import v.db x.json
refuses "a state that is none" x.json:58:16 ASLEEP
sed 's/"name": "integer"/"name": "float"/' "$W" >x.json
run study import v.db x.json
refuses "a value that is no choice" x.json:69:17 name
holds "nothing was made of them" test ! -e v.db
head -c 3000 t.db >x.db
run study list x.db
refuses "a part of a file" x.db
echo nothing >x.db
run study list x.db
refuses "another file" x.db database
run study list no.db
refuses "no file" no.db
run study dance
refuses "another word" ch dance export
