# Installation: the runtime as a package of its own (CMake and pkg-config), and
# the compiler libraries, tools, kernels and manifests as another.
#
#   find_package(NetraRuntime)  ->  Netra::Engine     (C ABI, needs nothing else)
#   find_package(Netra)         ->  Netra::NetraIR, Netra::NetraTarget, ...
#   pkg-config netra-engine

include(CMakePackageConfigHelpers)

set(runtime_package "${CMAKE_INSTALL_LIBDIR}/cmake/NetraRuntime")
install(TARGETS netra_engine
  EXPORT NetraRuntimeTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES "${PROJECT_SOURCE_DIR}/runtime/include/netra/engine.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/netra" COMPONENT runtime)
set_target_properties(netra_engine PROPERTIES EXPORT_NAME Engine)
install(EXPORT NetraRuntimeTargets NAMESPACE Netra::
  DESTINATION ${runtime_package} COMPONENT runtime)
file(WRITE "${PROJECT_BINARY_DIR}/NetraRuntimeConfig.cmake"
  "include(\"\${CMAKE_CURRENT_LIST_DIR}/NetraRuntimeTargets.cmake\")\n")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/NetraRuntimeConfigVersion.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/NetraRuntimeConfig.cmake"
  "${PROJECT_BINARY_DIR}/NetraRuntimeConfigVersion.cmake"
  DESTINATION ${runtime_package} COMPONENT runtime)
# The installed tree may be moved, so that the file may not name its place.
file(RELATIVE_PATH netra_prefix_from_pc
  "/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/")
string(REGEX REPLACE "/$" "" netra_prefix_from_pc "${netra_prefix_from_pc}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/netra-engine.pc.in"
  "${PROJECT_BINARY_DIR}/netra-engine.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/netra-engine.pc"
  DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT runtime)

if(NETRA_RUNTIME_ONLY)
  return()
endif()

set(compiler_package "${CMAKE_INSTALL_LIBDIR}/cmake/Netra")
get_property(libraries GLOBAL PROPERTY NETRA_COMPILER_LIBRARIES)
install(TARGETS ${libraries}
  EXPORT NetraTargets
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT compiler
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT NetraTargets NAMESPACE Netra::
  DESTINATION ${compiler_package} COMPONENT compiler)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/NetraConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/NetraConfig.cmake"
  INSTALL_DESTINATION ${compiler_package})
write_basic_package_version_file("${PROJECT_BINARY_DIR}/NetraConfigVersion.cmake"
  COMPATIBILITY SameMajorVersion)
install(FILES
  "${PROJECT_BINARY_DIR}/NetraConfig.cmake"
  "${PROJECT_BINARY_DIR}/NetraConfigVersion.cmake"
  DESTINATION ${compiler_package} COMPONENT compiler)
foreach(tree "${PROJECT_SOURCE_DIR}/include/" "${PROJECT_BINARY_DIR}/include/")
  install(DIRECTORY "${tree}" DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    COMPONENT compiler
    FILES_MATCHING PATTERN "*.h" PATTERN "*.td" PATTERN "*.inc"
    PATTERN "CMakeFiles" EXCLUDE)
endforeach()
get_property(tools GLOBAL PROPERTY NETRA_TOOLS)
install(TARGETS ${tools} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT compiler)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/kernels" "${PROJECT_SOURCE_DIR}/manifests"
  DESTINATION "${CMAKE_INSTALL_DATADIR}/netra" COMPONENT compiler)

if(TARGET netra_hipsim)
  install(TARGETS netra_hipsim
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT simulator)
  get_property(names GLOBAL PROPERTY NETRA_HIP_NAMES)
  install(FILES ${names}
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/netra/hip" COMPONENT simulator)
  install(FILES "${PROJECT_SOURCE_DIR}/runtime/hipsim/include/netra/hipsim.h"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/netra" COMPONENT simulator)
endif()
