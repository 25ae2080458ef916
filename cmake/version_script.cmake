# Writes the linker's version script. What MASE_API marks in the headers of the stable part is MASE_0 and
# keeps its meaning while the library is libmase.so.0. The engine's functions, which the headers of
# include/mase declare, carry the version they were compiled with: a program that calls them is refused
# by another library, not broken by it.
#     cmake "-DHEADERS=include/mase.h;include/mase/err.h" -DENGINE=0.2 -DOUT=libmase.map -P version_script.cmake
set(names "")
foreach(header ${HEADERS})
    file(READ ${header} text)
    string(REGEX REPLACE "/\\*([^*]|\\*+[^*/])*\\*+/" " " text "${text}") # comments
    string(REGEX REPLACE "\\\\\n" " " text "${text}")
    string(REGEX REPLACE "#[^\n]*" "" text "${text}") # directives
    string(REGEX REPLACE "[][]" " " text "${text}")
    string(REPLACE ";" "@" text "${text}") # which would part CMake's lists
    string(REGEX MATCHALL "MASE_API[ \n][^@{]*" declarations "${text}")
    foreach(declaration ${declarations})
        if(NOT declaration MATCHES "(mase_[a-z0-9_]+)[ \n]*\\(")
            message(FATAL_ERROR "${header}: MASE_API marks no function: ${declaration}")
        endif()
        list(APPEND names ${CMAKE_MATCH_1})
    endforeach()
endforeach()
list(SORT names)
list(JOIN names ";\n    " lines)
file(WRITE ${OUT} "MASE_0 {\nglobal:\n    ${lines};\n};\n\n"
    "MASE_ENGINE_${ENGINE} {\nglobal:\n    mase_*;\nlocal:\n    *;\n};\n")
