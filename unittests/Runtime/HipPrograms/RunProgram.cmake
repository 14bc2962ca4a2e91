# Compiles the kernels, runs a HIP program on the simulator, and expects: that it
# succeeds under each name of the library; that the dynamic linker has nothing to
# say; that it computed on the simulator; and that it fails when it computes
# something else.
file(MAKE_DIRECTORY "${WORK}")
set(object "${WORK}/kernels.hsaco")
execute_process(
  COMMAND "${CLANG}" -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa
    -mcpu=gfx950 -nogpulib -O2 -w "${SOURCE}" -o "${object}"
  COMMAND_ERROR_IS_FATAL ANY)

function(run version expected)
  # The program asks for the version it was linked with. Another one has a name
  # of the same length.
  set(program "${WORK}/program.${version}")
  execute_process(
    COMMAND python3 -c
      "import re, sys
data = open(sys.argv[1], 'rb').read()
data, count = re.subn(rb'libamdhip64\\.so\\.\\d\\0', b'libamdhip64.so.' + sys.argv[3].encode() + b'\\0', data)
assert count, 'the program does not ask for libamdhip64'
open(sys.argv[2], 'wb').write(data)"
      "${PROGRAM}" "${program}" ${version}
    COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD "${program}" PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${LIBRARIES}"
      "NETRA_SIM_CHECK=all" "${program}" "${object}" ${ARGN}
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  if(NOT result EQUAL expected)
    message(FATAL_ERROR "HIP ${version} ${ARGN}: expected exit code ${expected}, found ${result}\n${output}${errors}")
  endif()
  if(NOT output MATCHES "device Netra simulator[^\n]*gfx950[^\n]*HIP ${version}")
    message(FATAL_ERROR "HIP ${version}: expected the simulator to speak HIP ${version}, found\n${output}")
  endif()
  # Warnings of the dynamic linker, and findings of the checkers.
  if(NOT errors STREQUAL "")
    message(FATAL_ERROR "HIP ${version}: expected nothing on stderr, found\n${errors}")
  endif()
endfunction()

foreach(version 5 6 7)
  run(${version} 0)
endforeach()
run(5 1 --break)
