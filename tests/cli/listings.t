# The tables can be listed, one entry explained, and all of it read by programs.
run passes
succeeds "passes"
for pass in init_metadata add_common_metadata add_software_metadata add_hardware_metadata \
    verify_common_metadata profile_statistics count_flops calculate_avg_bits report_graph report_node_type report_node_shape \
    report_node_hardware_type report_node_meta_param quantize summarize_quantization \
    save_mase_graph load_mase_graph save_node_meta_param load_node_meta_param; do
    out_has "pass $pass" "^$pass "
done
run passes quantize
out_has "an option with what it allows" '^by +one of type, name, regex_name'
out_has "its section" '^\[passes\.quantize\]$'
run passes qantize
fails "a pass that is not there" <<'END'
ch: no pass is called 'qantize', did you mean 'quantize'? ch passes lists them
END

run ops
succeeds "ops"
for op in add bmm conv1d conv2d matmul mul linear relu sub; do
    out_has "$op can be quantised" "^$op +[A-Za-z0-9-]+ +yes"
done
out_has "batch_norm1d where it is named" '^batch_norm1d +BatchNorm1d +if named'
out_has "dropout cannot" '^dropout +Dropout +x when'
run ops linear
out_has "its module" 'module +Linear\(in_features, out_features'
out_has "its operands that have formats" '^formats of +data_in, weight, bias, data_out$'
run ops softmax
out_has "an operation without weights" '^formats of +data_in, data_out$'
run ops liner
fails "an operation that is not there" <<'END'
ch: no operation is called 'liner', did you mean 'linear'? ch ops lists them
END

run formats
succeeds "formats"
out_has "integer" '^integer +width, frac_width'
run formats integr
fails "a format that is not there" <<'END'
ch: no number format is called 'integr', did you mean 'integer'? ch formats lists them
END

run --info
succeeds "info"
for row in 'jsc-tiny .* 117 ' 'jsc-toy .* 327 ' 'jsc-s .* 5615 ' 'jsc-test .* 11015 ' \
    'toy .* 130 ' 'toy_convnet .* 9818 ' 'vgg7 .* 14029450 ' 'lfc .* 402974 ' 'cnv .* 1548638 '; do
    out_has "parameters: $row" "^$row"
done
out_has "datasets" '^jsc +\[16\] +5 '
run --info model
out_lacks "models alone" '^Supported Datasets'
run --info=dataset
out_lacks "datasets alone" '^Supported Models'
run --info everything
refuses "neither" ch --info everything all

if command -v python3 >/dev/null; then
    for listing in passes ops formats --info "passes quantize" "ops linear" "formats integer"; do
        # shellcheck disable=SC2086 # two words
        run $listing --json
        holds "$listing is JSON" python3 -m json.tool "$T/out"
    done
else
    skip "listings are JSON" "no python3"
fi

run passes a b
refuses "one name at a time" ch "'b'" passes '[NAME]'
run ops --seed 1
refuses "options of other commands" ch --seed ops
