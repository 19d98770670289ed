# What `cmake --install` and `cpack -G DEB` put where.
#
# Components: tool (the command), development (library, headers, CMake package), pages (manual page and completions at
# the usual places); and, only within the Debian package and in place of pages, debian (the same where Debian has them).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

install(TARGETS dtypemut COMPONENT tool)

set(cmake_package ${CMAKE_INSTALL_LIBDIR}/cmake/dtypemut)
configure_package_config_file(src/packaging/dtypemutConfig.cmake.in ${PROJECT_BINARY_DIR}/dtypemutConfig.cmake
                              INSTALL_DESTINATION ${cmake_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/dtypemutConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(TARGETS dtypemut_lib EXPORT dtypemut COMPONENT development)
install(EXPORT dtypemut NAMESPACE dtypemut:: FILE dtypemutTargets.cmake DESTINATION ${cmake_package}
        COMPONENT development)
install(FILES ${PROJECT_BINARY_DIR}/dtypemutConfig.cmake ${PROJECT_BINARY_DIR}/dtypemutConfigVersion.cmake
        DESTINATION ${cmake_package} COMPONENT development)
install(DIRECTORY include/dtypemut DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development)

set(bash_completions ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${pages}/dtypemut.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT pages)
install(FILES ${pages}/dtypemut DESTINATION ${bash_completions} COMPONENT pages)
install(FILES ${pages}/_dtypemut DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT pages)

set(debian COMPONENT debian EXCLUDE_FROM_ALL)
install(FILES ${pages}/dtypemut.1.gz DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 ${debian})
install(FILES ${pages}/dtypemut DESTINATION ${bash_completions} ${debian})
install(FILES ${pages}/_dtypemut DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions ${debian})
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/dtypemut ${debian})

set(CPACK_GENERATOR DEB)
set(CPACK_INSTALL_CMAKE_PROJECTS "")
foreach(component tool development debian)
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS ${PROJECT_BINARY_DIR} ${PROJECT_NAME} ${component} /)
endforeach()
set(CPACK_PACKAGE_CONTACT "The dtypemut authors <dtypemut@localhost>" CACHE STRING "The maintainer of the package")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, g++, libssl-dev, libtbb-dev")  # for programs that link the library
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "retypes accelerator backend IR in place and folds weight casts")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION "The dtypemut command moves a dtype through a graph of an accelerator's backend
IR by retyping the destinations of instructions, and casts the weights that
they load. The library it is made of comes with it, for passes with policies
of their own.")
include(CPack)
