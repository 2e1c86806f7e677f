# Optional parts: which are in, which are not, and why. CMakeLists.txt looks for what each needs;
# the answers are in parts.txt of the build directory, which `make` shows when it changes, and in
# what CMake says.
#
# An option is ON (the part must be there), OFF (it is not looked for) or AUTO (it is taken if what
# it needs is found).

# The value of an option, as ON, OFF or AUTO.
macro(selvage_option option)
  if(NOT ${option})
    set(${option} OFF)
  elseif(${option} MATCHES "^([Oo][Nn]|[Yy][Ee][Ss]|[Tt][Rr][Uu][Ee]|1)$")
    set(${option} ON)
  elseif(NOT ${option} STREQUAL "AUTO")
    message(FATAL_ERROR "${option} is ON, OFF or AUTO, not '${${option}}'")
  endif()
endmacro()

# selvage_part(NAME PURPOSE OPTION FOUND PACKAGES): notes whether a part is in. FOUND names a
# variable that is true if what it needs was found, PACKAGES are Debian's that have it.
function(selvage_part name purpose option found packages)
  set(state "")
  if(${option} STREQUAL "OFF")
    set(state "switched off (${option}=OFF)")
  elseif(NOT ${found})
    set(state "not found (Debian: ${packages})")
    if(${option} STREQUAL "ON")
      message(FATAL_ERROR "${name} (${purpose}): ${state}")
    endif()
  endif()
  selvage_note_part("${name}" "${purpose}" "${state}")
endfunction()

# selvage_part_of(NAME PURPOSE WHOLE THERE): a part that is in whenever another one is.
function(selvage_part_of name purpose whole there)
  set(state "")
  if(NOT ${there})
    set(state "needs ${whole}")
  endif()
  selvage_note_part("${name}" "${purpose}" "${state}")
endfunction()

function(selvage_note_part name purpose state)
  if("${state}" STREQUAL "")
    set_property(GLOBAL APPEND PROPERTY selvage_in "${name}")
  else()
    set_property(GLOBAL APPEND_STRING PROPERTY selvage_out
                 "  out  ${name} (${purpose}): ${state}\n")
  endif()
endfunction()

# Writes parts.txt. Call it when all are noted.
function(selvage_write_parts)
  get_property(in GLOBAL PROPERTY selvage_in)
  get_property(out GLOBAL PROPERTY selvage_out)
  list(JOIN in ", " in)
  if("${in}" STREQUAL "")
    set(in none)
  endif()
  if("${out}" STREQUAL "")
    set(text "selvage ${PROJECT_VERSION}: all optional parts are in: ${in}\n")
  else()
    set(text "selvage ${PROJECT_VERSION}, optional parts:\n  in   ${in}\n${out}")
  endif()
  file(WRITE ${PROJECT_BINARY_DIR}/parts.txt "${text}")
  string(STRIP "${text}" text)
  message(STATUS "${text}")
endfunction()
