# The lab's profile: weights of the linear layer, inputs of the relus, 32 samples in batches of 8.
config=$SOURCE/configs/examples/jsc_tiny_profile.toml
run transform --config "$config"
succeeds "the lab's profile"
grep -o "'count': [0-9]*" "$T/out" >"$T/got"
printf "'count': %d\n" 512 5 80 160 >"$T/expected"
same "the counts of the lab's table" "$T/expected" "$T/got"
err_has "the batches it runs" 'Profiling act statistics: 32/32'
holds "the table is a file too" grep -q "range_quantile" mase_output/jsc-tiny-profile/software/transform/report
meta=mase_output/jsc-tiny-profile/software/transform/transformed_ckpt/node_meta_param.toml
holds "and the metadata" grep -q '^\[seq_blocks_1.software.args.data_in_0.stat.range_quantile\]$' "$meta"
cp "$meta" "$T/first"
run transform --config "$config" --batch-size 32
same "the batch size changes nothing" "$T/first" "$meta"
run transform --config "$config" --set passes.profile_statistics.num_samples=900000
succeeds "more samples than there are"
err_has "says so" 'WARNING +num_samples = 900000, but the train split has [0-9]+: all of them are used'
rm -r mase_output

run transform --config "$SOURCE/configs/examples/jsc_toy_profile.toml" --log-level error
succeeds "every weight and activation of jsc-toy"
meta=mase_output/jsc-toy-profile/software/transform/transformed_ckpt/node_meta_param.toml
for stat in range_min_max variance_precise histogram sparsity saturation sqnr; do
    holds "$stat of an output" grep -q "^\[seq_blocks_5.software.results.data_out_0.stat.$stat\]\$" "$meta"
done
rm -r mase_output

wrong()
{
    sed "$2" "$config" >wrong.toml
    run transform --config wrong.toml
    fails "$1"
}
wrong "an unknown statistic" 's/variance_precise/variance_precize/' <<'END'
wrong.toml:21:46: pass profile_statistics: no statistic is called 'variance_precize', did you mean 'variance_precise'? there are record, variance_online, variance_precise, range_n_sigma, range_min_max, range_quantile, abs_mean, histogram, sparsity, saturation, underflow, sqnr
   21 | [passes.profile_statistics.weight_statistics.variance_precize]
      |                                              ^~~~~~~~~~~~~~~~
END
sed 's/0.97/97/' "$config" >wrong.toml
run transform --config wrong.toml
refuses "a quantile outside 0 to 1" wrong.toml:28:12 quantile 97 0.0..1.0
wrong "an unknown operation" 's/"relu"/"rela"/' <<'END'
wrong.toml:18:28: pass profile_statistics: no operation is called 'rela': did you mean 'relu'?
   18 | target_activation_nodes = ["rela"]
      |                            ^~~~~~
END
