# Writes the page of the schemes of arithmetic from the file that lists them.
# Set by the caller: NUMERICS, the file; PAGE, what to write; COMMITTED, a page
# that has to be the same, if any.

file(READ "${NUMERICS}" document)

# Appends a table of all schemes of one kind to `page`.
function(append_table kind title head)
  set(table "\n## ${title}\n\n| scheme | ${head} |\n|---|---|\n")
  string(JSON count LENGTH "${document}" schemes)
  math(EXPR last "${count} - 1")
  foreach(index RANGE ${last})
    string(JSON found GET "${document}" schemes ${index} kind)
    if(NOT found STREQUAL kind)
      continue()
    endif()
    string(JSON spelling GET "${document}" schemes ${index} name)
    string(JSON version ERROR_VARIABLE none GET "${document}" schemes ${index} version)
    if(NOT none)
      string(APPEND spelling ".v${version}")
    endif()
    string(JSON parameters LENGTH "${document}" schemes ${index} parameters)
    set(separator "(")
    set(place 0)
    while(place LESS parameters)
      string(JSON parameter GET "${document}" schemes ${index} parameters ${place})
      string(APPEND spelling "${separator}${parameter}")
      set(separator ", ")
      math(EXPR place "${place} + 1")
    endwhile()
    if(parameters GREATER 0)
      string(APPEND spelling ")")
    endif()
    string(JSON text GET "${document}" schemes ${index} text)
    string(REPLACE "|" "\\|" text "${text}")
    string(APPEND table "| `${spelling}` | ${text} |\n")
  endforeach()
  set(page "${page}${table}" PARENT_SCOPE)
endfunction()

set(page "<!-- Generated from manifests/gfx950/numerics.json; do not edit. -->\n
# Schemes of arithmetic on gfx950\n
[numerics.md](../numerics.md) says how to read them, and what is computed between the sums and the store.\n")
append_table(reduction_order "Orders of sums" "order")
append_table(rounding "Roundings" "where, to nearest, ties to even")
file(WRITE "${PAGE}" "${page}")

if(DEFINED COMMITTED)
  file(READ "${PAGE}" page)
  file(READ "${COMMITTED}" committed)
  if(NOT page STREQUAL committed)
    message(FATAL_ERROR "expected ${COMMITTED} to be what ${NUMERICS} gives, "
      "found an older page. Build the target update-docs and commit the result.")
  endif()
endif()
