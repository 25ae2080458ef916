# The program that reads HDF5, PNG and JPEG for the library (src/data/reader.h), which has it as bytes: it is
# linked before libmase.a and never installed. It is small: base, and what calls those libraries.
get_target_property(reader_sources mase SOURCES)
list(FILTER reader_sources INCLUDE REGEX "/src/base/")
list(FILTER reader_sources EXCLUDE REGEX "/ranks")
set(data ${PROJECT_SOURCE_DIR}/src/data)
add_executable(mase_reader ${reader_sources} ${data}/hdf5.c ${data}/lzf.c ${data}/picture.c
    ${data}/reader_main.c ${data}/reader_socket.c ${data}/resample.c)
set_target_properties(mase_reader PROPERTIES OUTPUT_NAME mase-reader
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(mase_reader PRIVATE src include)
target_compile_options(mase_reader PRIVATE -ffunction-sections -fdata-sections)
if(MASE_SANITIZE OR MASE_FUZZ)
    target_link_options(mase_reader PRIVATE -Wl,--gc-sections)
else()
    target_link_options(mase_reader PRIVATE -Wl,--gc-sections -s)
endif()
target_link_libraries(mase_reader PRIVATE PkgConfig::PNG PkgConfig::JPEG m ${CMAKE_DL_LIBS})

set(image ${PROJECT_BINARY_DIR}/mase-reader)
set_source_files_properties(${data}/reader_image.c TARGET_DIRECTORY mase PROPERTIES
    COMPILE_DEFINITIONS "MASE_READER_FILE=\"${image}\"" OBJECT_DEPENDS ${image})
add_dependencies(mase mase_reader)

# HDF5 is loaded at run time (hdf5.c says why), by the name that a program linked to it would use.
find_library(MASE_HDF5 hdf5 HINTS ${HDF5_LIBRARY_DIRS} REQUIRED)
file(REAL_PATH ${MASE_HDF5} hdf5_file)
get_filename_component(hdf5_name ${hdf5_file} NAME)
string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" hdf5_name ${hdf5_name})
set_source_files_properties(${data}/hdf5.c PROPERTIES INCLUDE_DIRECTORIES "${HDF5_INCLUDE_DIRS}"
    COMPILE_DEFINITIONS "MASE_HDF5_LIBRARY=\"${hdf5_name}\"")
