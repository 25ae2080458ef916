# Every table is printed in every format: --format text, grid, github, csv, json.
ln -s "$SOURCE/configs/examples" c
cat >c.toml <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
seed = 42
[passes.report_node_type]
[passes.report_node_hardware_type]
[passes.quantize]
by = "type"
default.config.name = "NA"
linear.config = { name = "integer", data_in_width = 8, data_in_frac_width = 4, weight_width = 8, weight_frac_width = 4, bias_width = 8, bias_frac_width = 4 }
[passes.count_flops]
[passes.calculate_avg_bits]
[passes.report_node_meta_param]
which = ["software"]
END
run train toy_tiny toy_tiny --max-epochs 1 --project t --log-level error
succeeds "a checkpoint"
load=$(find "$PWD/mase_output/t" -name best.ckpt)

# Tables of a CSV: an empty line between two, and as many fields in a row as in its heading.
cat >tables.py <<'END'
import csv, sys
tables = [list(csv.reader(t.splitlines())) for t in sys.stdin.read().strip("\n").split("\n\n")]
assert len(tables) >= int(sys.argv[1]), len(tables)
for t in tables:
    assert len(t[0]) > 1 and all(len(row) == len(t[0]) for row in t), t
END

# shown NAME TABLES ARGS...: at least so many tables in each format
shown()
{
    what=$1 tables=$2
    shift 2
    run "$@" --format grid
    holds "$what as grids" test "$(grep -c '^+=[=+]*+$' "$T/out")" -ge "$tables"
    run "$@" --format github
    holds "$what for GitHub" test "$(grep -c '^|-*:|[-:|]*$' "$T/out")" -ge "$tables"
    run "$@" --format csv
    cp "$T/out" "$T/csv"
    run "$@" --json
    if command -v python3 >/dev/null; then
        holds "$what as CSV" python3 tables.py "$tables" <"$T/csv"
        holds "$what as JSON" python3 -m json.tool "$T/out"
    else
        skip "$what for programs" "no python3"
    fi
}

shown "the passes" 1 passes
shown "the options of a pass" 1 passes quantize
shown "a pass without options" 0 passes init_metadata
shown "the operations" 1 ops
shown "an operation" 1 ops linear
shown "the number formats" 1 formats
shown "a number format" 1 formats integer
shown "the datasets" 1 data list
shown "a dataset" 2 data info toy_tiny
shown "models and datasets" 2 --info
shown "an explanation" 1 explain --config c.toml --log-level error
shown "a comparison" 2 diff jsc-tiny --config c.toml --log-level error
shown "weights" 1 weights jsc-tiny --config c.toml --log-level error
shown "a trace" 2 trace jsc-tiny --config c.toml --log-level error
shown "passes" 7 transform --config c.toml --log-level error
shown "a test" 4 test toy_tiny toy_tiny --load "$load" --project t --log-level error
shown "training" 2 train toy_tiny toy_tiny --max-epochs 1 --project u --log-level error
shown "a sweep" 1 sweep toy_tiny toy_tiny --max-epochs 1 --batch-size 64,128 --project s --log-level error

run transform --config c.toml --format csv --log-level error
holds "nothing but tables in CSV" test "$(head -n 1 "$T/out")" = 'Node name,Fx Node op,Mase type,Mase op,Value type'
run transform --config c.toml --format json --log-level error
out_has "a pass's own value in JSON" '"bitops": 5120'
out_has "a sentence becomes a table" '^      "average_bits": 8$'
out_has "and the results of the passes" '^  "results": '
run transform --config c.toml --format github --log-level error
out_has "the configuration for GitHub" '^\| +0 \| task +\| classification'
out_has "cells of several lines, too" "\{'args': \{.*<br>"
run transform --config c.toml --set 'passes.count_flops.format="pretty"' --log-level error
out_has "a pass that is told how to print" '^\| +seq_blocks_2 +\| +linear +\| +80 '

mv mase_output m
run ops --format json
cp "$T/out" "$T/json"
run ops --json
same "--json is --format json" "$T/json" "$T/out"
run ops --json --format csv
refuses "two formats" ch --json --format csv
run ops --format yaml
refuses "a format that is not there" ch --format yaml text
run completion bash --json
refuses "what prints no table" ch --json completion
