# The program that the build makes is hardened, and what a user tells the compiler reaches it.
PROGRAM=$CH
CH=readelf
run -hW "$PROGRAM"
out_has "it can lie anywhere in memory" 'Type: *DYN'
run -lW "$PROGRAM"
out_has "addresses of functions are read-only" 'GNU_RELRO'
out_has "the stack is not executed" 'GNU_STACK .* RW '
run -dW "$PROGRAM"
out_has "and known before main" 'FLAGS_1.* NOW'
out_has "as a program of its own" 'FLAGS_1.* PIE'
run -sW --dyn-syms "$PROGRAM"
out_has "the stack has canaries" ' __stack_chk_fail@'
out_has "calls that write memory are checked" ' __(memcpy|snprintf|vsnprintf|read)_chk@'

# configured FOLDER FLAGS...: what the compiler is told for one source file
configured()
{
    folder=$1
    shift
    CH=cmake
    run -S "$SOURCE" -B "$folder" -DMASE_ONLY=base "$@"
    succeeds "configuring $folder"
    grep '"command".*/src/base/str\.c' "$folder/compile_commands.json" >"$T/out"
}
configured plain -DCMAKE_BUILD_TYPE=Release
out_has "a release build is optimised" ' -O2 '
out_has "and keeps its assertions" ' -UNDEBUG '
configured own "-DCMAKE_C_FLAGS_RELEASE=-Og -g -DFROM_A_USER -DNDEBUG"
out_has "flags that a user gives reach the compiler" ' -Og -g -DFROM_A_USER '
out_lacks "instead of the usual ones" ' -O[23] '
out_has "the checks stay" ' -D_FORTIFY_SOURCE=2 '
out_has "and so do assertions" ' -DNDEBUG .* -UNDEBUG '
run -S "$SOURCE" -B own
grep '"command".*/src/base/str\.c' own/compile_commands.json >"$T/out"
out_has "again, when it is configured again" ' -Og -g -DFROM_A_USER '
configured slow "-DCMAKE_C_FLAGS_RELEASE=-O2 -O0"
out_lacks "checks that need an optimiser stay away without one" '_FORTIFY_SOURCE'
