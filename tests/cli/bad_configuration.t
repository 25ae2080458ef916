# Mistakes in a configuration file: the place, the cause and what is allowed; status 2, nothing
# written.
bad()
{
    cat >c.toml
    run transform --config c.toml
}

bad <<'END'
bach_size = 4
END
fails "a typo in a key" <<'END'
c.toml:1:1: unknown key 'bach_size', did you mean 'batch_size'?
    1 | bach_size = 4
      | ^~~~~~~~~
END

bad <<'END'
x = 1
END
fails "a key unlike any" <<'END'
c.toml:1:1: unknown key 'x'; ch transform --help lists the options, and the sections are passes, search, cf_args, transform
    1 | x = 1
      | ^
END

bad <<'END'
config = "c.toml"
END
fails "an option that a file cannot set" <<'END'
c.toml:1:1: unknown key 'config'; ch transform --help lists the options, and the sections are passes, search, cf_args, transform
    1 | config = "c.toml"
      | ^~~~~~
END

bad <<'END'
seed = 1
batch_size = "512"
END
refuses "a wrong type" c.toml:2:14 batch_size 1..16777216 512

bad <<'END'
batch_size = 0
END
refuses "a value out of range" c.toml:1:14 batch_size 0 1..16777216

bad <<'END'
task = "guess"
END
refuses "a value that is not a choice" c.toml:1:8 task guess classification

bad <<'END'
to_debug = 1
END
refuses "a number for a flag" c.toml:1:12 to_debug boolean 1

bad <<'END'
batch_size = "NA"
END
refuses "no value where one is needed" c.toml:1:14 batch_size 1..16777216 none

bad <<'END'
quant_config = "none.toml"
END
fails "a missing file" <<'END'
c.toml:1:16: quant_config: file not found: 'none.toml'
    1 | quant_config = "none.toml"
      |                ^~~~~~~~~~~
END

bad <<'END'
quant_config = "."
END
fails "a directory in place of a file" <<'END'
c.toml:1:16: quant_config: expected path to file, got directory '.'
    1 | quant_config = "."
      |                ^~~
END

bad <<'END'
project_dir = "c.toml"
END
fails "a file in place of a directory" <<'END'
c.toml:1:15: project_dir: expected path to directory, got file 'c.toml'
    1 | project_dir = "c.toml"
      |               ^~~~~~~~
END

bad <<'END'
passes = 3
END
fails "a section that is none" <<'END'
c.toml:1:10: passes must be a section [passes], got integer
    1 | passes = 3
      |          ^
END

bad <<'END'
seed = 1
seed = 2
END
refuses "malformed: a key twice" c.toml:2:1 key seed set 1

bad <<'END'
seed =
END
refuses "malformed: no value" c.toml:1:7 value

bad <<'END'
model = "jsc-tiny
END
refuses "malformed: an open string" c.toml:1:9 string

bad <<'END'
[passes
END
refuses "malformed: an open header" c.toml:1:8 "']'"

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantise]
by = "type"
END
fails "a pass that is not there" <<'END'
c.toml:4:9: no pass is called 'quantise': did you mean 'quantize'?
    4 | [passes.quantise]
      |         ^~~~~~~~
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.report_graph]
file = "x"
END
fails "an option a pass does not have" <<'END'
c.toml:5:1: pass report_graph: unknown option 'file', did you mean 'file_name'? allowed: file_name
    5 | file = "x"
      | ^~~~
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.report_graph]
file_name = 3
END
refuses "an option of a wrong type" c.toml:5:13 file_name path 3

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
END
refuses "an option that is missing" c.toml:4:9 by

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "type"
[passes.quantize.liner.config]
name = "integer"
END
refused "an operation that is not there" \
    "^c\.toml:6:18: pass quantize: 'liner' is no operation that can be quantised, did you mean 'linear'\? allowed: linear, bilinear, .*, stack$"
err_has "with its place" '^ +\|                  \^~~~~$'

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "type"
[passes.quantize.linear.config]
name = "intger"
END
formats=$("$CH" formats --format csv | sed '1,2d; s/,.*//' | paste -sd, | sed 's/,/, /g')
fails "a format that is not there" <<END
c.toml:7:8: pass quantize: no number format is called 'intger', did you mean 'integer'? allowed: $formats, or NA to leave the node alone
    7 | name = "intger"
      |        ^~~~~~~~
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "type"
[passes.quantize.linear.config]
name = "None"
END
fails "None, as Python says it: NA is what to write" <<END
c.toml:7:8: pass quantize: no number format is called 'None'; allowed: $formats, or NA to leave the node alone
    7 | name = "None"
      |        ^~~~~~
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.report_graph]
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 99
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
END
refuses "a width out of range" c.toml:13:16 weight_width 99 1..32

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.report_graph]
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = "8"
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
END
refuses "a width of a wrong type" c.toml:13:16 weight_width 1..32 8

# What no parameter is wrong in alone: the operand is named, at the first of its parameters.
bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "fp8_e4m3"
weight_name = "minifloat"
weight_width = 8
weight_exponent_width = 8
weight_exponent_bias = "NA"
END
fails "widths that do not go together" <<'END'
c.toml:11:16: pass quantize: weight: a width of 8 leaves -1 bits of mantissa beside the sign and exponent_width = 8: 0..23 are allowed
   11 | weight_width = 8
      |                ^
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "mx"
data_in_element = "fp8_e4m3"
weight_element = "fp9"
bias_element = "fp8_e4m3"
END
refuses "an element that is not there" c.toml:11:18 weight_element fp9 fp8_e4m3

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "mx"
data_in_element = "fp8_e4m3"
data_in_block_dim = 0
weight_element = "fp8_e4m3"
bias_element = "fp8_e4m3"
END
fails "blocks along the samples" <<'END'
c.toml:8:25: pass quantize: seq_blocks_2 (linear): data_in: blocks along dimension 0 do not fit samples of [16]: block_dim must not be that of samples
    8 | [passes.quantize.linear.config]
      |                         ^~~~~~
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.report_graph]
[passes.quantize]
by = "type"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
END
refuses "a width that is missing" c.toml:9:25 seq_blocks_2 linear integer weight_width

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.report_graph]
[passes.quantize]
by = "name"
[passes.quantize.default.config]
name = "NA"
[passes.quantize.seq_block_2.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
END
succeeds "a node that is not there is passed over"
err_has "and warned of" "^WARNING +c\\.toml:9:18: quantize: no node is called 'seq_block_2', did you mean 'seq_blocks_2'\\? those that can be quantised: seq_blocks_0, seq_blocks_1, seq_blocks_2, seq_blocks_3$"
rm -rf mase_output

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.quantize]
by = "regex_name"
[passes.quantize.default.config]
name = "NA"
[passes.quantize."seq_(".config]
name = "integer"
END
fails "a bad regular expression" <<'END'
c.toml:8:18: pass quantize: 'seq_(' is no regular expression: missing closing parenthesis at character 6 of the pattern
    8 | [passes.quantize."seq_(".config]
      |                  ^~~~~~~
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[passes.report_graph]
[passes.quantize]
by = "type"
[passes.quantize.linear.config]
name = "integer"
data_in_width = 8
data_in_frac_width = 4
weight_width = 8
weight_frac_width = 4
bias_width = 8
bias_frac_width = 4
END
refuses "no default for a node that needs one" c.toml:5:9 seq_blocks_1 relu

bad <<'END'
model = "jsc-tny"
dataset = "jsc"
[passes.report_graph]
END
fails "a model that is not there" <<'END'
c.toml:1:9: 'jsc-tny' is no file or folder: there is no model 'jsc-tny'; is 'jsc-tiny' meant? known are jsc-tiny, jsc-tiny-127, jsc-toy, jsc-s, jsc-test, jsc-three-linear, toy, toy_tiny, toy_convnet, vgg7, lfc, cnv, resnet18, resnet34, resnet50
    1 | model = "jsc-tny"
      |         ^~~~~~~~~
END

bad <<'END'
model = "jsc-tiny"
dataset = "jsc"
project = "p"
[transform]
style = "module"
END
refuses "a style that is not there" c.toml:5:9 style module graph
holds "nothing is written" test ! -e mase_output
