# Fails when a committed reference page is not what TableGen generates now.
# Set by the caller: TBLGEN, OPTIONS, INCLUDES, SOURCE, COMMITTED, GENERATED.

get_filename_component(folder "${GENERATED}" DIRECTORY)
file(MAKE_DIRECTORY "${folder}")
execute_process(
  COMMAND "${TBLGEN}" ${OPTIONS} "${SOURCE}" -o "${GENERATED}" ${INCLUDES}
  RESULT_VARIABLE status ERROR_VARIABLE message)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "expected TableGen to accept ${SOURCE}, found:\n${message}")
endif()

execute_process(
  COMMAND "${CMAKE_COMMAND}" -E compare_files "${GENERATED}" "${COMMITTED}"
  RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "expected ${COMMITTED} to be what TableGen makes of "
    "${SOURCE}, found an older page. Build the target update-docs and commit "
    "the result.")
endif()
