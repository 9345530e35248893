/// \file
/// Puts what CMake wrote about this binary into an object, with the MPI library that it runs with.
///
/// A record should say with which code it was made. The commit and whether files differ from it are known
/// only where the program was built in a checkout with git; elsewhere they are null.

#include "description/known.h"
#include "record/provenance.h"
#include <mpi.h>
#include <string.h>

json_t *provenance_json(const char *started) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    MPI_Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    json_t *dirty = provenance_dirty < 0 ? json_null() : json_boolean(provenance_dirty);
    return json_pack("{so so ss ss ss ss ss}", "commit", known_text(provenance_commit), "dirty", dirty,
                     "compiler", provenance_compiler, "flags", provenance_flags, "mpi_library", library,
                     "version", provenance_version, "started", started);
}
