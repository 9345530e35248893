# Sets `variable` to whether the MPI library has a call.
include(CheckSymbolExists)

function(mpi_call call variable)
  set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
  check_symbol_exists(${call} mpi.h ${variable})
  if(${variable} AND SPIKEMARK_SIMULATED AND NOT DEFINED ${variable}_TRIED)
    is_stub(${call} stub)
    set(${variable}_TRIED TRUE CACHE INTERNAL "not a stub of SMPI alone")
    if(stub)
      message(STATUS "${call}: SMPI does not implement it")
      set(${variable} FALSE CACHE INTERNAL "" FORCE)
    endif()
  endif()
endfunction()

# SMPI has stubs for calls that it lacks, which say so and abort; a program makes the call without arguments that
# mean anything, so nothing follows from how it ends otherwise.
function(is_stub call result)
  set(probe ${CMAKE_CURRENT_BINARY_DIR}/probe)
  file(WRITE ${probe}/hosts "host-0\n")
  file(WRITE ${probe}/platform.xml "<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">
<platform version=\"4.1\"><zone id=\"all\" routing=\"None\"><host id=\"host-0\" speed=\"1Gf\"/></zone></platform>
")
  file(WRITE ${probe}/${call}.c "#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
    typedef int any(void *, void *, void *, void *, void *, void *, void *, void *, void *, void *);
    any *volatile call = (any *)(void *)${call};
    MPI_Init(&argc, &argv);
    fprintf(stderr, \"begun\\n\");
    call(0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    MPI_Finalize();
    return 0;
}
")
  find_program(SMPIRUN smpirun REQUIRED)
  set(in_earnest ${CMAKE_COMMAND} -E env --unset=SMPI_PRETEND_CC)
  execute_process(COMMAND ${in_earnest} ${CMAKE_C_COMPILER} ${probe}/${call}.c -o ${probe}/${call}
                  COMMAND_ERROR_IS_FATAL ANY)
  # The paths are relative and lie in the folder: smpirun takes none with spaces.
  execute_process(COMMAND ${in_earnest} TMPDIR=. ${SMPIRUN} -np 1 -platform platform.xml -hostfile hosts ./${call}
                  WORKING_DIRECTORY ${probe} OUTPUT_VARIABLE said ERROR_VARIABLE complained)
  if(NOT complained MATCHES begun)
    message(FATAL_ERROR "smpirun cannot run ${probe}/${call}: ${said}${complained}")
  endif()
  string(FIND "${said}${complained}" "Not yet implemented" place)
  if(place GREATER -1)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()
