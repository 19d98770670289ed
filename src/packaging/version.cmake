# cmake -DSOURCE=<folder> -DVERSION=<project version> -DOUTPUT=<header> -P version.cmake
#
# Writes the header when its content changes: the version and, where SOURCE is a git work tree of its own, what
# `git describe` calls the commit.
cmake_minimum_required(VERSION 3.25)

set(DTYPEMUT_VERSION "${VERSION}")
find_program(GIT git)
if(GIT)
  set(git ${GIT} --no-optional-locks -C ${SOURCE})
  execute_process(COMMAND ${git} rev-parse --show-toplevel
                  OUTPUT_VARIABLE top OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  file(REAL_PATH "${SOURCE}" source)
  if(top STREQUAL source)
    execute_process(COMMAND ${git} describe --tags --always --dirty
                    OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(commit)
      string(APPEND DTYPEMUT_VERSION " (${commit})")
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT "${OUTPUT}" CONTENT "#define DTYPEMUT_VERSION \"@DTYPEMUT_VERSION@\"\n" @ONLY)
