# The page of reports: web/ bundled into one HTML file, which becomes a C file. Takes Node.js and npm
# (Debian: nodejs npm) and, the first time, npm's registry; without them reports are text only.
# Packages are installed below the build directory, again only when their list changes; the page is
# bundled again only when one of its sources changes. Adds to study_sources.
list(FILTER study_sources EXCLUDE REGEX "/template_none\\.c$")
set(page_source ${PROJECT_SOURCE_DIR}/web)
set(page_build ${PROJECT_BINARY_DIR}/web)
set(page_lack "")
if(NOT study_libraries)
  set(page_lack "there is no SQLite")
elseif(SELVAGE_PAGE STREQUAL "OFF")
  set(page_lack "it is switched off")
else()
  find_program(NODE_PROGRAM NAMES node nodejs)
  find_program(NPM_PROGRAM npm)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page_source}/package.json
                                                                 ${page_source}/package-lock.json)
  file(SHA256 ${page_source}/package-lock.json page_packages)
  set(page_installed "")
  if(EXISTS ${page_build}/installed)
    file(READ ${page_build}/installed page_installed)
  endif()
  if(NOT NODE_PROGRAM OR NOT NPM_PROGRAM)
    set(page_lack "Node.js or npm is missing (Debian: nodejs npm)")
  elseif(NOT page_installed STREQUAL page_packages)
    message(STATUS "Installing the packages of the page")
    file(COPY ${page_source}/package.json ${page_source}/package-lock.json ${page_source}/.npmrc
         DESTINATION ${page_build})
    execute_process(COMMAND ${NPM_PROGRAM} ci --ignore-scripts --prefer-offline --fetch-retries=1
                            --loglevel=error
                    WORKING_DIRECTORY ${page_build} RESULT_VARIABLE page_failed
                    OUTPUT_VARIABLE page_words ERROR_VARIABLE page_words)
    if(page_failed)
      set(page_lack "npm ci failed: ${page_words}")
    else()
      file(WRITE ${page_build}/installed "${page_packages}")
    endif()
  endif()
endif()
if(page_lack AND SELVAGE_PAGE STREQUAL "ON")
  message(FATAL_ERROR "no page of reports: ${page_lack}")
elseif(page_lack)
  message(STATUS "Reports are text only: ${page_lack}")
  if(study_libraries)
    list(APPEND study_sources src/report/template_none.c)
  endif()
else()
  file(GLOB page_files CONFIGURE_DEPENDS ${page_source}/src/*.js ${page_source}/src/*.css
       ${page_source}/src/*.html)
  add_custom_command(
    OUTPUT ${page_build}/template.c
    COMMAND ${CMAKE_COMMAND} -E env NODE_PATH=${page_build}/node_modules
            ${NODE_PROGRAM} ${page_source}/build.mjs ${page_build}
    DEPENDS ${page_files} ${page_source}/build.mjs ${page_build}/installed
    COMMENT "Bundling the page of reports" VERBATIM)
  list(APPEND study_sources ${page_build}/template.c)
endif()
