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
fails "a width out of range" <<'END'
ch: width = 99 is outside 1..32
END
run formats integer --apply in.npy out.npy widht=8
fails "a parameter that is not there" <<'END'
ch: widht=8: not a parameter of integer; it takes width=, frac_width=
END
run formats mxint --apply in.npy out.npy block_size=4 element_bits=8
fails "blocks that do not fill the tensor" <<'END'
ch: blocks of 4 values along dimension -1 do not fill a tensor [6]: block_size must divide that dimension, or hold it whole and divide the others
END
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
