# Installs the build, moves the installed tree to another place, runs its tools
# there, then builds two programs against it as a user would: a C program against
# the runtime alone, once through CMake and once through pkg-config, and a C++
# program against the compiler libraries.
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
set(prefix "${WORK}/moved here")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
file(RENAME "${WORK}/prefix" "${prefix}")

unset(ENV{LD_LIBRARY_PATH})
unset(ENV{NETRA_LIBRARY_ROOT})
file(GLOB tools "${prefix}/bin/*")
list(LENGTH tools count)
if(count LESS 4)
  message(FATAL_ERROR "expected the four tools in ${prefix}/bin, found ${tools}")
endif()
foreach(tool ${tools})
  run("${tool}" --help)
endforeach()
# The data is found beside the program.
run("${prefix}/bin/netra-translate" --list-profiles)
if(NOT output MATCHES "decode_m1")
  message(FATAL_ERROR "expected the profile decode_m1, found:\n${output}")
endif()
run("${prefix}/bin/netra-translate" --netra-to-engine "${MODEL}"
  --profile=decode_m1 -o "${WORK}/engine")
run("${prefix}/bin/netra-engine" validate "${WORK}/engine")

# A program must start with the sanitizers of the libraries it links.
set(sanitizer "")
if(SANITIZE)
  set(sanitizer "-fsanitize=${SANITIZE}")
endif()
foreach(package runtime compiler)
  run("${CMAKE_COMMAND}" -G Ninja -S "${SOURCE}/${package}" -B "${WORK}/${package}"
    "-DCMAKE_PREFIX_PATH=${prefix}" -DCMAKE_BUILD_TYPE=Debug
    "-DCMAKE_C_FLAGS=${sanitizer}" "-DCMAKE_CXX_FLAGS=${sanitizer}")
  run("${CMAKE_COMMAND}" --build "${WORK}/${package}")
  run("${WORK}/${package}/consumer")
  message(STATUS "${package}: ${output}")
endforeach()

find_program(PKG_CONFIG NAMES pkg-config pkgconf REQUIRED)
file(GLOB_RECURSE description "${prefix}/*/netra-engine.pc")
get_filename_component(folder "${description}" DIRECTORY)
set(ENV{PKG_CONFIG_PATH} "${folder}")
run("${PKG_CONFIG}" --cflags --libs netra-engine)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(cc ${sanitizer} "${SOURCE}/runtime/consumer.c" -o "${WORK}/by-pkg-config" ${flags})
