# What the library can change behind its caller's back: the list of ARCHITECTURE.md, and no more.
nm -f sysv "$LIBRARY" 2>/dev/null | awk -F'|' '
    /^Symbols from/ { sub(/.*\[/, ""); sub(/\.o\]:.*/, ""); file = $0; next }
    { gsub(/ /, "") }
    $1 ~ /gomp_critical|^__(asan|odr|ubsan|tsan)|^\.L/ { next } # of compilers
    $7 ~ /^(\.data(\.rel(\.local)?)?|\.bss|\.tdata|\.tbss|\*COM\*)$/ {
        sub(/\.[0-9]+$/, "", $1) # gcc: serial.0, clang: open_temp.serial
        sub(/^.*\./, "", $1)
        print file, $1
    }' | sort -u >"$T/out"
out_is "the library's variables" <<'END'
counters.c counted
fault.c mase_fault
fault.c mase_fault_user
fault.c mase_fault_write_max
host.c current_guard
host.c process
intern_format.c pool
log.c logger
number.c plain
ops.c lock
ops.c made
ops.c tables
pass_table.c added
pass_table.c added_count
swap.c number
writer.c serial
END
