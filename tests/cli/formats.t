# ch formats NAME --apply quantises a NumPy file. The array: 0.3 -0.3 7.99 100 -100 0.03125, which
# in 8 bits with 4 of fraction are 0.3125 -0.3125 7.9375 7.9375 -8 and, a tie, 0.
header="{'descr': '<f4', 'fortran_order': False, 'shape': (6,), }"
npy_head()
{
    printf '\223NUMPY\001\000v\000%-117s\n' "$header"
}
{
    npy_head
    printf '\232\231\231\076\232\231\231\276\024\256\377\100\000\000\310\102\000\000\310\302\000\000\000\075'
} >in.npy
{
    npy_head
    printf '\000\000\240\076\000\000\240\276\000\000\376\100\000\000\376\100\000\000\000\301\000\000\000\000'
} >expected.npy

values()
{
    od -An -t f4 -v -j 128 "$1"
}

run formats integer --apply in.npy out.npy width=8 frac_width=4
succeeds "apply"
err_is "it says what it did" <<'END'
INFO     6 values in integer(8, 4) written to out.npy
END
out_is "and prints no result" </dev/null
values expected.npy >"$T/want"
values out.npy >"$T/got"
same "values" "$T/want" "$T/got"
holds "and its header reads back" "$CH" formats integer --apply out.npy again.npy
holds "quantising twice changes nothing" cmp out.npy again.npy

run formats integer --apply in.npy out.npy width=8 frac_width=4 --unsigned
succeeds "unsigned"
values out.npy >"$T/got"
printf '%s\n' "          0.3125               0               8         15.9375" \
    "               0               0" >"$T/want"
same "negative values become zero, and twice as much fits" "$T/want" "$T/got"

rm -f out.npy
run formats integer --apply in.npy out.npy width=99
refuses "a width out of range" ch width 99 1..32
run formats integer --apply in.npy out.npy widht=8
fails "a parameter that is not there" <<'END'
ch: widht=8: not a parameter of integer; it takes width=, frac_width=, rounding=
END
run formats mxint --apply in.npy out.npy block_size=4 element_bits=8
refuses "blocks that do not fill the tensor" ch 4 -1 '[6]' block_size
run formats mxfp --apply in.npy out.npy block_size=6 element_exp_bits=4 element_frac_bits=1
fails "a pair that is none" <<'END'
ch: element_exp_bits = 4 with element_frac_bits = 1 is none of 4 with 3, 5 with 2, 2 with 3, 3 with 2, 2 with 1, 1 with 2
END
run formats integer --apply in.npy
fails "no file to write" <<'END'
ch: --apply needs two files: ch formats integer --apply IN.npy OUT.npy [PARAMETER=VALUE]...
END
run formats --apply
fails "no format" <<'END'
ch: --apply needs a format: ch formats NAME --apply IN.npy OUT.npy
END
run formats integer --apply none.npy out.npy
refused "a file that is not there" '^none\.npy: '
printf 'not an array' >bad.npy
run formats integer --apply bad.npy out.npy
refused "a file that is no array" '^bad\.npy'
holds "and nothing is written" [ ! -e out.npy ]

# Every value of the array in formats of standards, worked out by hand: 0.3 -0.3 7.99 100 -100 0.03125.
applied()
{
    name=$1
    shift
    run formats "$name" --apply in.npy out.npy "$@"
    succeeds "$name $*"
    echo "$(values out.npy | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" >"$T/got"
    cat >"$T/want"
    same "$name $*: values" "$T/want" "$T/got"
}
applied fp8_e4m3 <<'END'
0.3125 -0.3125 8 96 -96 0.03125
END
applied fp8_e4m3 rounding=floor <<'END'
0.28125 -0.3125 7.5 96 -104 0.03125
END
applied fp4_e2m1 <<'END'
0.5 -0.5 6 6 -6 0
END
applied minifloat width=6 exponent_width=2 exponent_bias=NA specials=fn rounding=toward_zero <<'END'
0.25 -0.25 7 7 -7 0
END
applied minifloat width=6 exponent_width=2 exponent_bias=0 overflow=infinity <<'END'
0.25 -0.25 inf inf -inf 0
END
applied half <<'END'
0.30004883 -0.30004883 7.9882812 100 -100 0.03125
END
applied mx element=fp4_e2m1 block_size=3 <<'END'
0.5 -0.5 6 96 -96 0
END
applied mx element=int8 block_size=2 <<'END'
0.30078125 -0.30078125 8 100 -100 0
END
applied nvfp4 tensor_scale=1 block_size=3 <<'END'
0 -0 8.25 96 -96 0
END
applied posit width=8 <<'END'
0.3125 -0.3125 8 96 -96 0.03125
END
applied integer width=8 frac_width=1 rounding=nearest_away <<'END'
0.5 -0.5 8 63.5 -64 0
END
applied block_fp "block_size=[1,2]" width=4 exponent_width=8 exponent_bias=NA <<'END'
0.3125 -0.3125 0 96 -96 0
END

rm -f out.npy
while IFS='|' read -r name params message; do
    # shellcheck disable=SC2086 # words
    run formats "$name" --apply in.npy out.npy $params
    fails "$name $params" <<END
ch: $message
END
done <<'END'
minifloat|width=8 exponent_width=8|a width of 8 leaves -1 bits of mantissa beside the sign and exponent_width = 8: 0..23 are allowed
minifloat|exponent_bias=200|exponent_bias = 200 with exponent_width = 4 has values that float32 lacks: its normal numbers must lie within 2^-126 and 2^128
minifloat|width=2 exponent_width=1|width = 2 with exponent_width = 1 and specials = ieee has no value but zero: a wider format, or specials = none, is needed
minifloat|specials=none overflow=infinity|overflow = infinity needs specials = ieee, fn or fnuz: without codes for infinity or NaN only saturate is allowed
fp8_e4m3|width=8|width=8: not a parameter of fp8_e4m3; it takes overflow=, rounding=
mx|block_dim=1|blocks along dimension 1 do not fit a tensor [6]: block_dim must be one of the tensor's dimensions
nvfp4|tensor_scale=1e-40|tensor_scale = 1e-40 is neither 0 nor within 2^-126 .. 2^115
posit|width=20 es=4|width = 20 with es = 4 has values that float32 lacks: (width - 2) * 2^es may be at most 126
block_fp|block_size=[1,0]|block_size = 0 is neither -1 nor within 1..1073741824
fp8||no number format is called 'fp8', did you mean 'fp8_e4m3'? ch formats lists them
END
while IFS='|' read -r name param words; do
    run formats "$name" --apply in.npy out.npy "$param"
    # shellcheck disable=SC2086 # words
    refuses "$name $param" ch ${param%=*} $words
done <<'END'
integer|width=0|0 1..32
minifloat|width=40|40 2..32
integer|frac_width=half|"half" -32..64
integer|frac_width=1.5|1.5 -32..64
integer|rounding=up|"up" nearest_even stochastic
mx|element=fp5|"fp5" fp8_e4m3 int8
mx|block_size=[1,16]|1..1073741824
binary|bipolar=yes|"yes" boolean
END
holds "and nothing is written" [ ! -e out.npy ]

# --values says which values a format has, in numbers and on a line.
run formats fp4_e2m1 --values
succeeds "values"
out_is "of a small format" <<'END'
Format      Bits  Block      Lowest    Highest  Step        Values  Standard    Preset of
--------  ------  -------  --------  ---------  --------  --------  ----------  -------------------------
fp4_e2m1       4  -              -6          6  0.5 .. 2        15  OCP MX 1.0  minifloat(4, 2, NA, none)

fp4_e2m1

|-----------|-----|-----|--|--|--|--|--|--|--|--|-----|-----|-----------|
-6                                  0                                   6
END
run formats posit --values width=16 --format csv
succeeds "values for programs"
out_is "of parameters that are said" <<'END'
Format,Bits,Block,Lowest,Highest,Step,Values,Standard,Preset of
posit(16),16,-,-7.20576e+16,7.20576e+16,2.082e-16 .. 6.755e+16,65535,Posit Standard 2022,-
END
run formats --values --format csv
succeeds "values of all"
"$CH" formats --format csv | sed '1,2d; s/,.*//' >"$T/want"
sed '1d; s/"//; s/[,(].*//' "$T/out" | uniq >"$T/got"
same "every format has a line" "$T/want" "$T/got"
run formats float --values
fails "float" <<'END'
ch: float has every value of 32 bits: nothing to show
END
run formats mx --values width=3
fails "a parameter that is not there" <<'END'
ch: width=3: not a parameter of mx; it takes element=, block_size=, block_dim=, rounding=
END
