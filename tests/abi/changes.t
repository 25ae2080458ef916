# scripts/abi notices what breaks programs: in a copy of the headers, one change at a time.
if ! command -v abidw >/dev/null; then
    echo "abi: changes of types are not tried: no abidw here (Debian: abigail-tools)"
    exit 77
fi
CH=tree/scripts/abi

# changed NAME FILE SED-COMMAND: a tree in which one line of FILE is another
changed()
{
    rm -rf tree
    mkdir -p tree/scripts tree/tests
    cp "$SOURCE/scripts/abi" tree/scripts/
    cp -r "$SOURCE/include" tree/
    cp -r "$SOURCE/tests/abi" tree/tests/
    sed -i "$3" "tree/include/$2"
    run types "$LIBRARY"
    ! cmp -s "tree/include/$2" "$SOURCE/include/$2" && [ "$status" = 1 ]
    report $? "$1"
}
changed "a member of another type" mase/err.h 's/^    int line, col;/    long line, col;/'
out_has "is named" "mase_loc"
err_has "and what to do about it" "'make abi' writes it anew"
changed "a member more" mase/err.h 's/^    char msg\[1024\];/&\n    int more;/'
changed "a parameter more" mase/err.h 's/mase_place(struct mase_err \*err, /&int more, /'
changed "another result" mase/err.h 's/^MASE_API enum mase_status mase_wrap(/MASE_API int mase_wrap(/'
changed "a member of a struct of options" mase.h 's/^    double seconds; .*that capturing.*/    float seconds;/'
out_has "is named, too" "mase_open"
changed "members in another order" mase.h 's/^    int64_t outputs, differ;/    int64_t differ, outputs;/'
changed "another parameter of a callback" mase.h 's/bool (\*on_epoch)(void \*user, /&int more, /'
changed "another value of an enumeration" mase/err.h 's/^    MASE_EPARSE,/    MASE_EPARSE = 7,/'

rm -rf tree
mkdir -p tree/scripts tree/tests
cp "$SOURCE/scripts/abi" tree/scripts/
cp -r "$SOURCE/include" tree/
cp -r "$SOURCE/tests/abi" tree/tests/
run types "$LIBRARY"
succeeds "nothing changed"
sed -i '3d' tree/tests/abi/libmase.symbols
run symbols "$LIBRARY"
holds "a symbol that the list does not have" test "$status" = 1
out_has "is named" '^\+mase_.*@@'
