# What makes a fault in reading a file harder to exploit, as Debian builds its own programs: canaries
# on the stack, checked string and memory calls, a relocated program whose table of addresses is
# read-only before main. Sanitizers bring checks of their own, which these would only hide.
if(MASE_SANITIZE OR MASE_FUZZ)
    return()
endif()

set(program $<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>)
set(shared $<BOOL:$<TARGET_PROPERTY:POSITION_INDEPENDENT_CODE>>) # compiled for any place already
add_compile_options(-fstack-protector-strong -Wformat-security $<$<NOT:${shared}>:-fPIE>)
add_link_options(-Wl,-z,relro -Wl,-z,now $<${program}:-pie>)

# The C library checks calls only in code that is optimised, and warns where it is not.
string(TOUPPER "${CMAKE_BUILD_TYPE}" config)
string(REGEX MATCHALL "-O[^ ]*" levels "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${config}}")
list(POP_BACK levels level) # the last one counts
if(level AND NOT level STREQUAL "-O0")
    add_compile_options(-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
