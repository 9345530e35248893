/// \file
/// Where this binary comes from. CMake writes provenance.c at every build (miniapp/provenance.cmake).

#pragma once

#include <jansson.h>

extern const char *const provenance_version;  ///< of the project
extern const char *const provenance_commit;   ///< "" where git does not tell
extern const int provenance_dirty;            ///< 1, 0, or -1 where git does not tell
extern const char *const provenance_compiler; ///< name and version
extern const char *const provenance_flags;

/// Returns all of it as a new object, with the MPI library and when the program was started (ISO 8601, UTC).
json_t *provenance_json(const char *started);
