# What `make install` puts under its prefix. The manual page and the completion come from ch itself,
# so they always tell what this ch can do.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(share ${PROJECT_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${share})
add_custom_command(OUTPUT ${share}/ch.1 ${share}/ch.bash
    COMMAND ch man > ${share}/ch.1
    COMMAND ch completion bash > ${share}/ch.bash
    DEPENDS ch VERBATIM)
add_custom_target(manual ALL DEPENDS ${share}/ch.1 ${share}/ch.bash)

# pkg-config finds the prefix from where the file lies, so an installed tree can be moved.
file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" up ${up})
file(CONFIGURE OUTPUT ${share}/mase.pc @ONLY CONTENT [=[
prefix=${pcfiledir}/@up@
includedir=${prefix}/@CMAKE_INSTALL_INCLUDEDIR@
libdir=${prefix}/@CMAKE_INSTALL_LIBDIR@

Name: mase
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires.private: libpcre2-8 >= 10.40, zlib
Cflags: -I${includedir}
Libs: -L${libdir} -lmase
Libs.private: -fopenmp -lm
]=])

# CMake: find_package(mase) gives mase::mase, the shared library, and mase::mase_static where what that
# links is found as well; COMPONENTS static asks for it.
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/mase)
configure_package_config_file(cmake/maseConfig.cmake.in ${share}/maseConfig.cmake
    INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${share}/maseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
set_target_properties(mase PROPERTIES EXPORT_NAME mase_static)

install(TARGETS ch)
install(TARGETS mase_shared EXPORT mase_shared INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS mase EXPORT mase_static INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT mase_shared FILE maseShared.cmake NAMESPACE mase:: DESTINATION ${package})
install(EXPORT mase_static FILE maseStatic.cmake NAMESPACE mase:: DESTINATION ${package})
install(FILES ${share}/maseConfig.cmake ${share}/maseConfigVersion.cmake DESTINATION ${package})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${share}/mase.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${share}/ch.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${share}/ch.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ch)
