# ch data: what there is, what it holds, and keeping a file; bad files get their sentence.
D=$SOURCE/tests/data/data

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
refused "or refused" 'simulated stand-in is not wanted'

run data import jsc "$D/jsc_single.h5"
succeeds "a file is imported"
out_has "without duplicates" '^rows +604 \(29 duplicates left out\)$'
run data info jsc --require-real-data --split mase
succeeds "and found"
out_has "validation as the original had it" '^validation +483 '
run data info jsc --data-dir "$D/jsc_mixed.h5"
out_has "another file by name" 'jsc_mixed\.h5$'

printf 'a,b,label\n1,2,x\n3,4\n' >ragged.csv
run data info csv:ragged.csv
fails "a ragged row" <<'END'
ragged.csv:3:1: 2 fields, expected 3
    3 | 3,4
      | ^
END
head -c 9000 "$D/jsc_single.h5" >cut.h5
run data info jsc:cut.h5
refused "a truncated file" '^cut\.h5: damaged or truncated HDF5 file \(HDF5: '
: >empty.csv
run data info csv:empty.csv
fails "an empty file" <<'END'
empty.csv: the file is empty
END
run data info "jsc:$D/bad_column.h5"
refused "a missing column" "has no column 'j_mass_mmdt'"
run data info "jsc:$D/bad_nan.h5"
refused "a feature that is no number" 'row 17: feature j_c2_b1_mmdt is nan'
run data info "jsc:$D/bad_label.h5"
refused "a label out of range" 'row 17: the label columns must hold one 1'
run data info mnist
refused "files that are not there" 'name their folder by --data-dir'
run data inform jsc
fails "another verb" <<'END'
ch: ch data can list, info and import, not 'inform'
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
