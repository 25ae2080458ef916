# Open MPI, if it is there: the one source that talks to it (ranks_mpi.c) gets its headers and the name by which
# it loads the library when it is started by mpirun. Nothing is linked to it.
option(MASE_MPI "share training among processes by Open MPI, if that is installed" ON)
pkg_check_modules(OMPI QUIET ompi-c>=4)
find_library(MASE_MPI_LIBRARY mpi HINTS ${OMPI_LIBRARY_DIRS})
mark_as_advanced(MASE_MPI_LIBRARY)
if(MASE_MPI AND OMPI_FOUND AND MASE_MPI_LIBRARY)
    file(REAL_PATH ${MASE_MPI_LIBRARY} mpi_file)
    get_filename_component(mpi_name ${mpi_file} NAME)
    string(REGEX REPLACE "(\\.so\\.[0-9]+).*" "\\1" mpi_name ${mpi_name})
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/ranks_mpi.c TARGET_DIRECTORY mase PROPERTIES
        COMPILE_DEFINITIONS "MASE_MPI_LIBRARY=\"${mpi_name}\"")
    # mpi.h is not of the quality that our warnings ask for
    set(mpi_flags "")
    foreach(folder ${OMPI_INCLUDE_DIRS})
        list(APPEND mpi_flags -isystem ${folder})
    endforeach()
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/ranks_mpi.c TARGET_DIRECTORY mase PROPERTIES
        COMPILE_OPTIONS "${mpi_flags}")
elseif(MASE_MPI)
    message(STATUS "Open MPI is not installed (libopenmpi-dev): mpirun -n N ch train is left out")
endif()
