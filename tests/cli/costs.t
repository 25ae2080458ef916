# Costs against an independent count in Python (tests/data/costs/count.py), over operations written as functions, methods,
# operators and layers.
count() { python3 "$SOURCE/tests/data/costs/count.py" "$@"; }
printf '[passes.count_flops]\nsave_path = "costs.csv"\n' >count.toml
count net >net.py
run transform net.py:Net --input-shape 4,6 --config count.toml --project c --log-level error
succeeds "every row is counted"
costs=$(find . -name costs.csv)
holds "as products are by one" count check "$costs"
