# scripts/interop fails where a comparison fails, and where one is skipped that Debian has a peer for.
# ctest is a stand-in that prints a file.
mkdir fake
printf '#!/bin/sh\ncat said\nexit "$(cat status)"\n' >fake/ctest
chmod +x fake/ctest
PATH=$PWD/fake:$PATH
CH=$SOURCE/scripts/interop

cat >said <<'END'
1/3 Test #1: interop_metrics ..................   Passed    0.80 sec
2/3 Test #2: interop_convert ..................   Passed    5.02 sec
3/3 Test #3: interop_qonnx_costs ..............***Skipped   0.10 sec
END
echo 0 >status
run build
succeeds "all that can run"
out_has "are counted" '^interop: 2 comparisons with other programs ran, 1 skipped$'
out_has "and what cannot is named" '^interop: interop_qonnx_costs is skipped: '

cp said before
sed 's/_metrics \.*   Passed/_metrics ......***Skipped/' before >said
run build
holds "a peer that was not installed is a failure" test "$status" -eq 1
err_has "by name" '^interop: interop_metrics is skipped though '

cp before said
echo 8 >status
run build
holds "a comparison that fails is one" test "$status" -eq 8
