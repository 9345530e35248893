# What `cmake --install` puts where, in the folders that GNUInstallDirs names:
#
#     bin/                         the mini-app and the benchmarks that `spikemark calibrate` starts
#     share/man/man1/              miniapp(1)
#     share/spikemark/             machine profiles, an example of a run description
#     share/doc/spikemark/         the formats of descriptions and records, the licence
#     lib/cmake/spikemark/         for find_package(spikemark): programs as targets, SPIKEMARK_MACHINES
#     lib/pkgconfig/               the same for pkg-config: its variables miniapp and machines
#
# Nothing that is installed names the folder that it was built in, and the prefix may be moved afterwards.
# Tests and the program with checks stay in the build folder.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Builds for other purposes have another name, by which `spikemark` finds them in the PATH; there are no benchmarks.
if(SPIKEMARK_SCOREP)
  install(PROGRAMS $<TARGET_FILE:miniapp> TYPE BIN RENAME miniapp_scorep)
  return()
elseif(SPIKEMARK_SIMULATED)
  install(PROGRAMS $<TARGET_FILE:miniapp> TYPE BIN RENAME miniapp_smpi)
  install(PROGRAMS $<TARGET_FILE:replay> TYPE BIN RENAME replay_smpi)
  return()
elseif(SPIKEMARK_FUZZ)
  return()
endif()

set(programs miniapp)
foreach(benchmark bench_exchange bench_host bench_kernels bench_messages)
  if(TARGET ${benchmark})
    list(APPEND programs ${benchmark})
  endif()
endforeach()
install(TARGETS ${programs} EXPORT programs RUNTIME)

set(machines_folder ${CMAKE_INSTALL_DATADIR}/spikemark/machines)
install(DIRECTORY machines/ DESTINATION ${machines_folder} FILES_MATCHING PATTERN "*.yaml")
install(DIRECTORY miniapp/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/spikemark)
install(FILES miniapp/FORMAT.md LICENSE CITATION.cff TYPE DOC)
configure_file(setup/miniapp.1.in setup/miniapp.1 @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/setup/miniapp.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/spikemark)
install(EXPORT programs FILE programs.cmake NAMESPACE spikemark:: DESTINATION ${package_folder})
configure_package_config_file(setup/spikemark-config.cmake.in setup/spikemark-config.cmake
                              INSTALL_DESTINATION ${package_folder} PATH_VARS machines_folder)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/setup/spikemark-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_BINARY_DIR}/setup/spikemark-config.cmake ${CMAKE_BINARY_DIR}/setup/spikemark-config-version.cmake
        DESTINATION ${package_folder})
# From the folder of the .pc file to the prefix: ../.. for lib/pkgconfig, one more level for lib/x86_64-linux-gnu.
file(RELATIVE_PATH to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
configure_file(setup/spikemark.pc.in setup/spikemark.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/setup/spikemark.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
