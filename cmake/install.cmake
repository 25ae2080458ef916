# What `make install` puts under its prefix. The manual page and the completion come from ch itself,
# so they always tell what this ch can do.
set(share ${PROJECT_BINARY_DIR}/share)
file(MAKE_DIRECTORY ${share})
add_custom_command(OUTPUT ${share}/ch.1 ${share}/ch.bash
    COMMAND ch man > ${share}/ch.1
    COMMAND ch completion bash > ${share}/ch.bash
    DEPENDS ch VERBATIM)
add_custom_target(manual ALL DEPENDS ${share}/ch.1 ${share}/ch.bash)

# pkg-config finds the prefix from where the file lies, so an installed tree can be moved.
file(CONFIGURE OUTPUT ${share}/mase.pc @ONLY CONTENT [=[
prefix=${pcfiledir}/../..
Name: mase
Description: @PROJECT_DESCRIPTION@
Version: @PROJECT_VERSION@
Requires.private: libpcre2-8 zlib libpng libjpeg
Cflags: -I${prefix}/include
Libs: -L${prefix}/lib -lmase
Libs.private: -fopenmp -lm
]=])

install(TARGETS ch RUNTIME DESTINATION bin)
install(TARGETS mase ARCHIVE DESTINATION lib)
install(DIRECTORY include/mase DESTINATION include FILES_MATCHING PATTERN "*.h" PATTERN "*.def")
install(FILES ${share}/mase.pc DESTINATION lib/pkgconfig)
install(FILES ${share}/ch.1 DESTINATION share/man/man1)
install(FILES ${share}/ch.bash DESTINATION share/bash-completion/completions RENAME ch)
