# Functions that every folder of the tree uses to declare libraries, tools and
# tests, so that flags, warnings and link rules stand in one place.

add_library(netra_options INTERFACE)
target_compile_options(netra_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter
  # GCC 12 reports "literal" + std::string as copies that overlap, overflow or
  # leave their bounds, more of them at -O3 (its PR 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-stringop-overflow>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds>
  $<$<BOOL:${NETRA_WERROR}>:-Werror>)
if(NETRA_SANITIZE)
  target_compile_options(netra_options INTERFACE
    -fsanitize=${NETRA_SANITIZE} -fno-omit-frame-pointer
    # LLVM's classes have no run-time type information to compare with.
    -fno-sanitize=vptr -fno-sanitize-recover=all
    # With sanitizers, GCC's manual says, this warning is often wrong.
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
  target_link_options(netra_options INTERFACE -fsanitize=${NETRA_SANITIZE})
  if(NETRA_SANITIZE MATCHES "address")
    target_sources(netra_options INTERFACE
      "${PROJECT_SOURCE_DIR}/cmake/SanitizerOptions.cpp")
  endif()
endif()

# LLVM's and MLIR's headers are not ours to warn about, hence SYSTEM.
function(netra_use_llvm target)
  target_include_directories(${target} SYSTEM PUBLIC
    $<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}> $<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>)
  target_compile_definitions(${target} PUBLIC ${NETRA_LLVM_DEFINITIONS})
endfunction()

# netra_add_library(NetraFoo SOURCES... USES llvm|mlir [OWN_FLAGS]
#                   [LINK libs...] [DEPENDS tablegen-targets...])
# A compiler-side library, static, with include/ as its public interface.
# OWN_FLAGS: it is compiled with options of its own, so that it cannot share
# precompiled headers.
function(netra_add_library name)
  cmake_parse_arguments(ARG "OWN_FLAGS" "USES" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  add_library(Netra::${name} ALIAS ${name})
  target_include_directories(${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${name} PRIVATE $<BUILD_INTERFACE:netra_options>)
  if(ARG_USES STREQUAL "mlir")
    netra_use_llvm(${name})
    target_link_libraries(${name} PUBLIC MLIR LLVM)
    set(headers MLIRHeaders.h)
    set(owner NetraIR)
  elseif(ARG_USES STREQUAL "llvm")
    netra_use_llvm(${name})
    target_link_libraries(${name} PUBLIC LLVM)
    set(headers CatalogHeaders.h)
    set(owner NetraCatalog)
  endif()
  # Headers, and what their templates become, take most of a compilation.
  # Sources are compiled four at a time, and libraries of one kind share one
  # precompiled set of headers.
  if(NOT ARG_OWN_FLAGS)
    set_target_properties(${name} PROPERTIES
      UNITY_BUILD ${NETRA_UNITY_BUILD} UNITY_BUILD_BATCH_SIZE 4)
  endif()
  if(name STREQUAL owner)
    target_precompile_headers(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/${headers}")
  elseif(NOT ARG_OWN_FLAGS)
    target_precompile_headers(${name} REUSE_FROM ${owner})
  else()
    target_precompile_headers(${name} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/LLVMHeaders.h")
  endif()
  if(ARG_LINK)
    target_link_libraries(${name} PUBLIC ${ARG_LINK})
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  set_property(GLOBAL APPEND PROPERTY NETRA_COMPILER_LIBRARIES ${name})
endfunction()

# Reuses the precompiled headers of a library in an executable. CMake would
# compile it with -fPIE, with which GCC does not take headers compiled with
# -fPIC.
function(netra_reuse_headers target owner)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

# netra_add_tool(netra-foo SOURCES... [USES llvm|mlir] [LINK libs...])
function(netra_add_tool name)
  cmake_parse_arguments(ARG "" "USES" "LINK;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE netra_options ${ARG_LINK})
  if(ARG_USES STREQUAL "mlir")
    netra_use_llvm(${name})
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    netra_reuse_headers(${name} NetraIR)
  elseif(ARG_USES STREQUAL "llvm")
    netra_use_llvm(${name})
    target_link_libraries(${name} PRIVATE LLVM)
    netra_reuse_headers(${name} NetraCatalog)
  endif()
  # Installed tools find the libraries beside them wherever the tree is moved,
  # and MLIR's, which lie outside the loader's path.
  set_target_properties(${name} PROPERTIES
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR};${LLVM_LIBRARY_DIR}")
  set_property(GLOBAL APPEND PROPERTY NETRA_TOOLS ${name})
endfunction()

# netra_add_unittest(FooTests SOURCES... [USES llvm|mlir] [LINK libs...])
# One GoogleTest executable, registered with CTest test by test and built by
# check-netra-unit.
function(netra_add_unittest name)
  cmake_parse_arguments(ARG "" "USES" "LINK;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE
    netra_options ${ARG_LINK} GTest::gmock GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE
    NETRA_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
    NETRA_TEST_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/unittests")
  if(ARG_USES STREQUAL "mlir")
    netra_use_llvm(${name})
    target_link_libraries(${name} PRIVATE MLIR LLVM)
    netra_reuse_headers(${name} NetraIR)
  elseif(ARG_USES STREQUAL "llvm")
    netra_use_llvm(${name})
    target_link_libraries(${name} PRIVATE LLVM)
    netra_reuse_headers(${name} netra_test_headers)
  endif()
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 900)
  set_property(GLOBAL APPEND PROPERTY NETRA_UNITTESTS ${name})
endfunction()

# netra_add_benchmark(foo-benchmark SOURCES... [USES llvm|mlir] [LINK libs...])
function(netra_add_benchmark name)
  cmake_parse_arguments(ARG "" "USES" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE
    netra_options ${ARG_LINK} benchmark::benchmark)
  if(ARG_USES STREQUAL "mlir")
    netra_use_llvm(${name})
    target_link_libraries(${name} PRIVATE MLIR LLVM)
  elseif(ARG_USES STREQUAL "llvm")
    netra_use_llvm(${name})
    target_link_libraries(${name} PRIVATE LLVM)
  endif()
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/benchmarks")
  set_property(GLOBAL APPEND PROPERTY NETRA_BENCHMARKS ${name})
endfunction()
