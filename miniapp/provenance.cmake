# Writes OUTPUT with what record/record.h declares; runs at every build, changes the file only if it differs.
# The commit is that of the checkout SOURCE, or else what .source-commit says, which archives of sources hold.
# A checkout of something else in which SOURCE merely lies says nothing about it.
execute_process(COMMAND git rev-parse --show-prefix WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE inside
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_git)
set(commit "")
set(dirty -1)
if(NOT no_git AND inside STREQUAL "")
  execute_process(COMMAND git rev-parse HEAD WORKING_DIRECTORY ${SOURCE} OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE no_commit)
  execute_process(COMMAND git status --porcelain --untracked-files=no WORKING_DIRECTORY ${SOURCE}
                  OUTPUT_VARIABLE changes ERROR_QUIET)
  if(no_commit)
    set(commit "")
  elseif(changes)
    set(dirty 1)
  else()
    set(dirty 0)
  endif()
elseif(EXISTS ${SOURCE}/.source-commit)
  file(STRINGS ${SOURCE}/.source-commit commit LIMIT_COUNT 1 REGEX "^[0-9a-f]+$")
endif()
set(text "#include \"record/record.h\"

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
