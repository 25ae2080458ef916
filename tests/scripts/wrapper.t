# ./ch builds when it must and only then, and passes its arguments on untouched.
unset MASE_BUILD || :
mkdir -p tree/src/base tree/include/mase tree/scripts
cp "$SOURCE/ch" tree/
touch tree/CMakeLists.txt tree/src/base/a.c tree/include/mase/a.h
# A stand-in for the build: counts its calls, makes a program that shows its arguments.
cat >tree/scripts/build <<'END'
#!/bin/sh
root=${0%/*}/..
echo built >>"$root/calls"
[ -e "$root/broken" ] && { echo "no luck" >&2; exit 2; }
build=${MASE_BUILD:-$root/build}
mkdir -p "$build"
printf '#!/bin/sh\nprintf "[%%s]" "$@"\necho\n' >"$build/ch"
chmod +x "$build/ch"
touch "$build/.stamp"
END
chmod +x tree/scripts/build
builds()
{
    [ "$(grep -c . tree/calls)" -eq "$1" ]
}

CH=tree/ch
run a 'b  c' '*' ''
succeeds "a first run"
out_is "arguments arrive as they were given" <<'END'
[a][b  c][*][]
END
holds "a first run builds" builds 1
run
holds "a second run does not" builds 1

sleep 0.02
touch tree/src/base/a.c
run
holds "a changed source is built" builds 2
sleep 0.02
touch tree/include/mase/a.h
run
holds "a changed header is built" builds 3
sleep 0.02
rm tree/src/base/a.c
run
holds "a removed source is noticed" builds 4

mkdir bin
ln -s ../tree/ch bin/ch
ln -s "$PWD/bin/ch" again
CH=./again
run x
out_is "through links, relative and absolute" <<'END'
[x]
END
cd bin || exit 2
PATH=$PWD:$PATH
CH=ch
run y
out_is "through the PATH" <<'END'
[y]
END
cd ..
holds "links do not build again" builds 4

CH=tree/ch
export MASE_BUILD="$PWD/elsewhere"
run z
unset MASE_BUILD
out_is "MASE_BUILD names another folder" <<'END'
[z]
END
holds "which has its own program" test -x elsewhere/ch

sleep 0.02
touch tree/CMakeLists.txt tree/broken
run q
refused "a failing build is status 2" '^no luck$'
out_is "and the old program is not run" <<'END'
END
