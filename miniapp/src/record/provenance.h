/// \file
/// Where this binary comes from. CMake writes provenance.c at every build (miniapp/provenance.cmake).

#ifndef RECORD_PROVENANCE_H
#define RECORD_PROVENANCE_H

extern const char *const provenance_version;  ///< of the project
extern const char *const provenance_commit;   ///< "" where git does not tell
extern const int provenance_dirty;            ///< 1, 0, or -1 where git does not tell
extern const char *const provenance_compiler; ///< name and version
extern const char *const provenance_flags;

#endif
