# libmase.so: the objects of libmase.a behind a version script. It needs nothing that it does not name,
# has no relocations in its code, and calls its own functions without asking who else has them.
add_library(mase_shared SHARED $<TARGET_OBJECTS:mase>)
set_target_properties(mase_shared PROPERTIES OUTPUT_NAME mase EXPORT_NAME mase LINKER_LANGUAGE C
    VERSION ${PROJECT_VERSION} SOVERSION 0)
target_include_directories(mase_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>)
target_link_libraries(mase_shared PRIVATE PkgConfig::PCRE2 PkgConfig::ZLIB
    OpenMP::OpenMP_C m ${CMAKE_DL_LIBS})

set(map ${PROJECT_BINARY_DIR}/libmase.map)
set(stable include/mase.h include/mase/err.h) # whose functions keep their meaning
list(TRANSFORM stable PREPEND ${PROJECT_SOURCE_DIR}/)
set(write_map ${PROJECT_SOURCE_DIR}/cmake/version_script.cmake)
add_custom_command(OUTPUT ${map}
    COMMAND ${CMAKE_COMMAND} "-DHEADERS=${stable}" -DOUT=${map}
        -DENGINE=${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} -P ${write_map}
    DEPENDS ${stable} ${write_map} VERBATIM)
add_custom_target(mase_map DEPENDS ${map})
add_dependencies(mase_shared mase_map)
set_target_properties(mase_shared PROPERTIES LINK_DEPENDS ${map})
target_link_options(mase_shared PRIVATE -Wl,--version-script=${map} -Wl,-Bsymbolic-functions -Wl,-z,text)
if(NOT MASE_SANITIZE AND NOT MASE_FUZZ) # whose runtime is the program's
    target_link_options(mase_shared PRIVATE -Wl,--no-undefined)
endif()
