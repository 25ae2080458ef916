# The programs of examples/ print what they promise.
"$TRAVERSE" >"$T/out" 2>"$T/err"
status=$?
succeeds "traverse"
out_is "the table of the two graphs" <<'END'
| Name         | MASE_TYPE           | Mase_OP      | Original type   | Quantized type   | Changed   |
|--------------|---------------------|--------------|-----------------|------------------|-----------|
| x            | placeholder         | placeholder  | x               | x                | False     |
| seq_blocks_0 | module              | batch_norm1d | BatchNorm1d     | BatchNorm1d      | False     |
| seq_blocks_1 | module_related_func | relu         | ReLU            | ReLU             | False     |
| seq_blocks_2 | module_related_func | linear       | Linear          | LinearInteger    | True      |
| seq_blocks_3 | module_related_func | relu         | ReLU            | ReLU             | False     |
| output       | output              | output       | output          | output           | False     |
END
"$TRAVERSE" jsc-toy >"$T/out" 2>"$T/err"
status=$?
succeeds "traverse jsc-toy"
holds "changes three layers" [ "$(grep -c '| True ' "$T/out")" -eq 3 ]
"$TRAVERSE" jsc-tyni >"$T/out" 2>"$T/err"
status=$?
refused "a network that is not there" "is 'jsc-tiny' meant"
"$EMBED" >"$T/out" 2>"$T/err"
status=$?
succeeds "embed"
holds "it is told of its epochs" [ "$(grep -c '^epoch [12]: accuracy 0\.7' "$T/out")" -eq 2 ]
out_has "the integers are what was trained" "0 of 50000 outputs differ"
holds "five outputs" [ "$(tail -n 1 "$T/out" | wc -w)" -eq 5 ]
