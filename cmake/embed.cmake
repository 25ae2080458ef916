# Joins FILES into one C array NAME in OUT, which HEADER declares:
#     cmake -DOUT=x.c -DNAME=x -DHEADER=x.h "-DFILES=a;b" -P embed.cmake
set(hex "")
foreach(file ${FILES})
    file(READ ${file} part HEX)
    string(APPEND hex ${part})
endforeach()
string(REGEX REPLACE "(................................)" "\\1\n" hex ${hex})
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," hex ${hex})
file(WRITE ${OUT} "#include \"${HEADER}\"\n\nconst char ${NAME}[] = {\n${hex}0\n};\n")
