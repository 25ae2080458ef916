# libmase.so as the loader sees it.
CH=readelf
run -dW "$LIBRARY"
sed -n 's/.*(NEEDED).*\[\(lib[a-z]*\).*/\1/p' "$T/out" | sort >"$T/needed"
cat >"$T/expected" <<'END'
libc
libgomp
libm
libpcre
libz
END
out_has "its name has the version of its interface" 'SONAME.*\[libmase\.so\.0\]'
out_lacks "no code is changed when it is loaded" 'TEXTREL'
out_has "addresses are known before it runs" 'FLAGS_1.* NOW'
out_lacks "it looks for libraries where the system does" 'R(UN)?PATH'
sed -e '/^ld/d' -e 's/^libomp$/libgomp/' "$T/needed" >"$T/shown" # clang's name for it
same "it needs these libraries and no other" "$T/expected" "$T/shown"
run -lW "$LIBRARY"
out_has "addresses of functions are read-only" 'GNU_RELRO'
out_has "the stack is not executed" 'GNU_STACK .* RW '

nm -D --defined-only "$LIBRARY" | grep -v ' A ' >"$T/out"
out_has "the stable part has a version of its own" ' T mase_fail@@MASE_0$'
grep -vE ' [TDRB] mase_[a-z0-9_]+@@MASE_(0|ENGINE_[0-9.]+)$' "$T/out" >"$T/others"
holds "every symbol has our prefix, and a version" test ! -s "$T/others"

# What plugins may call in ch is what the library exports: no less, and nothing that is hidden in it.
sed -n 's/.* [TDRB] \(mase_[a-z0-9_]*\)@.*/\1/p' "$T/out" | sort >"$T/expected"
nm -D --defined-only "$PROGRAM" | sed -n 's/.* [TDRB] \(mase_[a-z0-9_]*\)$/\1/p' | sort >"$T/shown"
same "ch exports the same" "$T/expected" "$T/shown"
