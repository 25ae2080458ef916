# scripts/check_layers finds an include that goes up, and names its place.
mkdir -p tree/scripts tree/src/base tree/src/ir tree/include/mase
cp "$SOURCE/scripts/check_layers" tree/scripts/
cp "$SOURCE/CMakeLists.txt" tree/
for h in api arena err rng str value; do
    cp "$SOURCE/include/mase/$h.h" tree/include/mase/
done
CH=tree/scripts/check_layers
run
succeeds "headers in order"

printf '#include <stdio.h>\n#include "base/x.h"\n#include "y.h"\n' >tree/src/ir/down.c
run
succeeds "down and beside is allowed"

printf '#include <stdio.h>\n#include <mase/graph.h>\n' >tree/src/base/up.c
run
out_has "a public header of a later layer" \
    '^src/base/up.c:2: base must not include mase/graph.h of the later layer ir$'
holds "is a failure" test "$status" -eq 1
printf '  #  include "ir/graph/node_names.h"\n' >tree/src/base/up.c
run
out_has "a private header of a later layer" \
    '^src/base/up.c:1: base must not include ir/graph/node_names.h of the later layer ir$'
rm tree/src/base/up.c

cp tree/include/mase/rng.h tree/include/mase/rng.saved
printf '#include "base/alloc.h"\n' >tree/include/mase/rng.h
run
out_has "a public header that needs a private one" \
    '^include/mase/rng.h:1: a public header includes the private base/alloc.h$'
printf 'size_t f(void);\n' >tree/include/mase/rng.h
run
out_has "a header that does not stand alone" '^include/mase/rng.h:1: does not compile alone$'
mv tree/include/mase/rng.saved tree/include/mase/rng.h

echo >tree/include/mase/brand_new.h
run
out_has "a header without a layer" '^include/mase/brand_new.h:1: no layer'
rm tree/include/mase/brand_new.h

sed 's/ALL_LAYERS base value/ALL_LAYERS value base/' "$SOURCE/CMakeLists.txt" >tree/CMakeLists.txt
run
out_has "another order in CMakeLists.txt" '^CMakeLists.txt:1: MASE_ALL_LAYERS must be: base value'
