# ch data: what there is, what it holds, and keeping a file; bad files get their sentence.
D=$SOURCE/tests/data/data

# Parts of a file have parts of the splits; what is not read is said.
K=$D/kinds
for f in plain_and_test test_first; do
    run data info "$K/$f.npz" --json
    succeeds "$f"
    out_has "its test rows are tested" '"test": 10,?$'
    err_has "and it is said" 'INFO +.*npz: (X|images) is trained on, tested by (X_test|test_images)$'
done
run data info "$K/train_and_val.npz" --json
out_has "validation rows are tested" '"test": 10,?$'
err_has "which is said" 'WARNING +.*train_and_val\.npz has no rows to test: tested are those that validate$'
run data info "$K/test_unlabelled.npz" --json
out_has "samples without labels test nothing" '"rows_read": 20,?$'
err_has "which is said, too" 'WARNING +.*npz: X_test is not read: samples are those of X$'
run data info "$D/own_split.npz"
err_lacks "nothing else is said" 'not read|trained on|no rows'

# gzipped; and with the index that pandas writes, which is no feature.
awk 'BEGIN { print "Unnamed: 0,a,label"; for (i = 0; i < 20; i++) print i "," i % 7 "," i % 2 }' >index.csv
gzip -k index.csv
run data info index.csv.gz --json
succeeds "gzipped"
out_has "is the table" '"rows_read": 20,?$'
out_has "its hash that of the file" "\"sha256\": \"$(sha256sum index.csv.gz | cut -d ' ' -f 1)\""
err_has "an index is named" "WARNING +index.csv.gz: the feature 'Unnamed: 0' looks like an index"
run data info index.csv.gz --features '!Unnamed: 0'
err_lacks "unless it is left out" 'looks like an index'

# A label cell without a label is none, whatever word says so.
{
    echo 'a,b,kind'
    for i in 0 1 2 3 4 5 6 7 8 9; do printf '%s,1,cat\n%s,2,dog\n' $i $i; done
    for word in NA None null NaN '""' '"NA"' '<NA>' '#N/A' '?'; do echo "5,5,$word"; done
} >labels.csv
run data info labels.csv:kind
refuses "without a label" labels.csv:22:5 "('NA')" NA --drop-nan
run data info labels.csv:kind --drop-nan --json
succeeds "left out"
out_has "are all of them" '"dropped": 9,?$'
out_has "and there are two classes" '"classes": 2,?$'

run data
succeeds "the list"
out_has "named datasets" '^jsc +\[16\] +5 '
out_has "tables of one's own" 'csv:FILE:LABEL'

run data info jsc
succeeds "a stand-in"
out_has "is said to be one" '^note +simulated stand-in, not the CERN file$'
err_has "in the log too" 'simulated stand-in, not the CERN file'
out_has "has its rows" '^rows +800000$'
run data info jsc --require-real-data
refuses "or refused" ch jsc MASE_DATA

run data import jsc "$D/jsc_single.h5"
succeeds "a file is imported"
out_has "into the cache" "^cache +$XDG_CACHE_HOME/mase/jsc.table$"
out_has "without duplicates" '^rows +604 \(29 duplicates left out\)$'
run data info jsc --require-real-data --split mase
succeeds "and found"
out_has "validation as the original had it" '^validation +483 '
run data info jsc --data-dir "$D/jsc_mixed.h5"
out_has "another file by name" 'jsc_mixed\.h5$'

# Undone: what was imported, and what was kept of other files.
run data
out_has "where it is kept" "^What is imported is kept in $XDG_CACHE_HOME/mase$"
touch "$XDG_CACHE_HOME/mase/jsc-sim.table" "$XDG_CACHE_HOME/mase/jsc.table.mine"
run data remove jsc
succeeds "removed"
out_has "what was imported" '/mase/jsc\.table$'
out_has "what was read" '/mase/jsc-[0-9a-f]{16}\.table$'
ls "$XDG_CACHE_HOME/mase" >"$T/shown"
printf 'jsc-sim.table\njsc.table.mine\n' >"$T/expected"
same "and nothing else" "$T/expected" "$T/shown"
run data info jsc --require-real-data
refuses "it is gone" ch jsc MASE_DATA
run data remove jsc
refused "nothing to remove" "nothing of jsc is kept in $XDG_CACHE_HOME/mase"
run data remove mnist
refused "what is not imported" 'only jsc is imported'
run data remove
refused "remove what?" 'ch data remove needs a dataset'
MASE_DATA=/nonexistent run data info jsc
refuses "a folder of data that is not there" /nonexistent MASE_DATA
MASE_DATA=/nonexistent run data info mnist
refuses "for images, too" /nonexistent MASE_DATA
MASE_DATA=/nonexistent run data info toy_tiny
succeeds "but what is built in needs none"
run data import jsc "$D/jsc_single.h5"
succeeds "imported again"

printf 'a,b,label\n1,2,x\n3,4\n' >ragged.csv
run data info csv:ragged.csv
refuses "a ragged row" ragged.csv:3:1 2 3
head -c 9000 "$D/jsc_single.h5" >cut.h5
run data info jsc:cut.h5
refused "a truncated file" '^cut\.h5: damaged or truncated HDF5 file \(HDF5: '
: >empty.csv
run data info csv:empty.csv
refuses "an empty file" empty.csv empty
run data info "jsc:$D/bad_column.h5"
refused "a missing column" "there is no column 'j_mass_mmdt' for the features"
run data info "jsc:$D/bad_nan.h5"
refused "a feature that is no number" 'row 17: feature j_c2_b1_mmdt is nan'
run data info "jsc:$D/bad_label.h5"
refused "a label out of range" 'row 17: the label columns must hold one 1'
run data info mnist
refuses "files that are not there" ch mnist train-images-idx3-ubyte --data-dir
run data inform jsc
fails "another verb" <<'END'
ch: ch data can list, info, import, remove and export, not 'inform'
END
run data info
refused "no name" 'needs the name of a dataset'
if command -v python3 >/dev/null; then
    run data info jsc --json
    holds "JSON" python3 -m json.tool "$T/out"
    run data list --json
    holds "a list as JSON" python3 -m json.tool "$T/out"
else
    skip "JSON" "no python3"
fi

# A file that is not there, beside a network that has a usual data set.
for missing in missing.csv missing.npz npz:missing.npz missing.h5; do
    run train jsc-tiny $missing
    refuses "$missing" ${missing#npz:}
done
