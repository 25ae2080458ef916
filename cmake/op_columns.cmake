# Columns of ops.def that headers read, each a file of its own in FOLDER/ops. A file is written only when its
# column changed, so that a row's other columns compile their readers and nothing else.
#
#     cmake -DTABLE=include/mase/ops.def -DFOLDER=build/columns -P op_columns.cmake
file(READ ${TABLE} text)
string(FIND "${text}" "#endif" head REVERSE) # the defaults of the columns end there
string(SUBSTRING "${text}" ${head} -1 rows)

function(column file macro pattern row)
    string(REGEX MATCHALL "${pattern}" found "${rows}")
    list(REMOVE_DUPLICATES found)
    list(TRANSFORM found REPLACE "${pattern}" "${row}" OUTPUT_VARIABLE lines)
    list(REMOVE_DUPLICATES lines)
    list(JOIN lines "\n" body)
    set(body "${body}\n#undef ${macro}\n")
    set(old "")
    if(EXISTS ${FOLDER}/ops/${file}.def)
        file(READ ${FOLDER}/ops/${file}.def old)
    endif()
    if(NOT body STREQUAL old)
        file(WRITE ${FOLDER}/ops/${file}.def "${body}")
    endif()
endfunction()

set(name "([a-z0-9_]+|NONE)")
column(names OP "OP\\(${name}," "OP(\\1, )")
column(shapes SHAPE "OP\\([a-z0-9_]+, [A-Z_]+, ${name}," "SHAPE(\\1)")
column(references RUN "RUN\\(${name}\\)" "RUN(\\1)")
column(steps STEP "STEP\\(${name}\\)" "STEP(\\1)")
column(lowerings LOWER "LOWER\\([a-z0-9_]+, ${name}\\)" "LOWER(\\1)")
column(gradients GRAD "GRAD\\(${name}\\)" "GRAD(\\1)")
