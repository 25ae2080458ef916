# The files a transform leaves behind.
config=$SOURCE/configs/examples/jsc_toy_by_type.toml
run transform --config "$config" --task cls --cpu=0
succeeds "transform"
project=mase_output/jsc-tiny
ckpt=$project/software/transform/transformed_ckpt

find mase_output -type f | sort >"$T/got"
cat >"$T/expected" <<'END'
mase_output/jsc-tiny/run.json
mase_output/jsc-tiny/software/transform/quantize/quantize_histogram.csv
mase_output/jsc-tiny/software/transform/quantize/quantize_table.csv
mase_output/jsc-tiny/software/transform/report_graph.txt
mase_output/jsc-tiny/software/transform/transformed_ckpt/SHA256SUMS
mase_output/jsc-tiny/software/transform/transformed_ckpt/graph_module.mg
mase_output/jsc-tiny/software/transform/transformed_ckpt/node_meta_param.toml
mase_output/jsc-tiny/software/transform/transformed_ckpt/state_dict.safetensors
END
same "the files and no other" "$T/expected" "$T/got"
holds "the folder of hardware" [ -d $project/hardware ]

file_is "quantize_table.csv" $project/software/transform/quantize/quantize_table.csv <<'END'
,Ori name,New name,MASE_TYPE,Mase_OP,Original type,Quantized type,Changed
0,x,x,placeholder,placeholder,x,x,False
1,seq_blocks_0,seq_blocks_0,module,batch_norm1d,BatchNorm1d,BatchNorm1d,False
2,seq_blocks_1,seq_blocks_1,module_related_func,relu,ReLU,ReLU,False
3,seq_blocks_2,seq_blocks_2,module_related_func,linear,Linear,LinearInteger,True
4,seq_blocks_3,seq_blocks_3,module_related_func,relu,ReLU,ReLU,False
5,output,output,output,output,output,output,False
END
file_is "quantize_histogram.csv" $project/software/transform/quantize/quantize_histogram.csv <<'END'
Original type,OP,Total,Changed,Unchanged
BatchNorm1d,batch_norm1d,1,0,1
Linear,linear,1,1,0
ReLU,relu,2,0,2
output,output,1,0,1
x,placeholder,1,0,1
END

cp $ckpt/graph_module.mg "$T/out"
out_has "the saved graph carries the formats" '^module seq_blocks\.2 = .*integer.*weight_width: 8, weight_frac_width: 4'

if command -v python3 >/dev/null; then
    cat >"$T/check.py" <<'END'
import hashlib, json, os, sys
project, config = sys.argv[1:]
r = json.load(open(project + "/run.json"))
assert r["command"][1:3] == ["transform", "--config"], r["command"]
assert r["version"] and r["action"] == "transform"
assert r["seed"] == 42 and r["threads"] == 1
assert r["model"]["name"] == "jsc-tiny" and r["model"]["parameters"] == 117
assert r["dataset"] == {"name": "jsc", "sample": [16], "classes": 5, "rows_read": 0}
c = r["configuration"]
assert c["file"]["path"] == config
assert c["file"]["sha256"] == hashlib.sha256(open(config, "rb").read()).hexdigest()
assert c["options"]["batch_size"] == 512 and c["options"]["num_workers"] == 0
assert c["options"]["learning_rate"] == 0.01 and c["options"]["load_name"] is None
assert c["passes"]["quantize"]["by"] == "type"
assert c["passes"]["quantize"]["default"]["config"]["name"] is None
names = [p["pass"] for p in r["passes"]]
assert names.index("report_graph") < names.index("quantize") < names.index("summarize_quantization")
assert all(p["seconds"] >= 0 for p in r["passes"]) and r["seconds"] > 0
written = {os.path.relpath(os.path.join(d, f), project)
           for d, _, fs in os.walk(project) for f in fs} - {"run.json"}
assert {f["path"] for f in r["files"]} == written, (r["files"], written)
for f in r["files"]:
    data = open(os.path.join(project, f["path"]), "rb").read()
    assert len(data) == f["bytes"] and hashlib.sha256(data).hexdigest() == f["sha256"], f
END
    holds "run.json says what was run and written" python3 "$T/check.py" "$project" "$config"
else
    skip "run.json says what was run and written" "no python3"
fi

rm -r mase_output
run transform --config "$config" --dump-after report_graph,quantize --dump-after all
succeeds "dumps"
holds "after a pass" sh -c 'ls mase_output/jsc-tiny/software/transform/dump/*_quantize.mg'
holds "and after all" sh -c 'ls mase_output/jsc-tiny/software/transform/dump/*_init_metadata.mg'

rm -r mase_output
printf 'model = "jsc-tiny"\ndataset = "jsc"\nproject = "p"\n' >empty.toml
run transform --config empty.toml
succeeds "no pass at all"
err_has "is worth a warning" '^WARNING  the configuration has no pass'
holds "and saves the network" [ -f mase_output/p/software/transform/transformed_ckpt/graph_module.mg ]

# A folder that cannot be written.
rm -r mase_output
: >mase_output
run transform --config empty.toml
refused "a file in the place of the output folder" 'mase_output'
