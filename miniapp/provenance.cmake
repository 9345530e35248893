# Writes OUTPUT with what record/provenance.h declares; runs at every build, changes the file only if it differs.
execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_git)
set(dirty -1)
if(no_git)
  set(commit "")
else()
  execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(dirty 1)
  else()
    set(dirty 0)
  endif()
endif()
set(text "#include \"record/provenance.h\"

const char *const provenance_version = \"${VERSION}\";
const char *const provenance_commit = \"${commit}\";
const int provenance_dirty = ${dirty};
const char *const provenance_compiler = \"${COMPILER}\";
const char *const provenance_flags = \"${FLAGS}\";
")
set(old "")
if(EXISTS ${OUTPUT})
  file(READ ${OUTPUT} old)
endif()
if(NOT text STREQUAL old)
  file(WRITE ${OUTPUT} "${text}")
endif()
