# Installs the build into a folder of its own, then builds two programs against
# it as a user would: a C program against the runtime alone, once through CMake
# and once through pkg-config, and a C++ program against the compiler libraries.
#
#   cmake -DBUILD=... -DSOURCE=... -DWORK=... -P CheckPackages.cmake

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "failed: ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
set(prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${prefix}")

foreach(package runtime compiler)
  run("${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}/${package}" -B "${WORK}/${package}"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Debug)
  run("${CMAKE_COMMAND}" --build "${WORK}/${package}")
  run("${WORK}/${package}/consumer")
  message(STATUS "${package}: ${output}")
endforeach()

find_program(PKG_CONFIG NAMES pkg-config pkgconf)
if(PKG_CONFIG)
  file(GLOB_RECURSE description "${prefix}/*/netra-engine.pc")
  get_filename_component(folder "${description}" DIRECTORY)
  set(ENV{PKG_CONFIG_PATH} "${folder}")
  run("${PKG_CONFIG}" --define-prefix --cflags --libs netra-engine)
  string(STRIP "${output}" flags)
  separate_arguments(flags)
  run(cc "${SOURCE}/runtime/consumer.c" -o "${WORK}/by-pkg-config" ${flags})
endif()
