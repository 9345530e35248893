/// \file
/// The output directory: written as DIR.partial, renamed to DIR when it is whole.

#ifndef ASSEMBLY_RUN_DIRECTORY_H
#define ASSEMBLY_RUN_DIRECTORY_H

#include "base/error.h"
#include <stdio.h>

struct run_directory {
    char *path;    ///< DIR
    char *partial; ///< DIR.partial
    bool replaces; ///< an earlier record stands at DIR until the commit
};

/// Makes DIR.partial afresh (and the directories above it). Fails where DIR exists and is neither empty nor
/// an earlier run's record, or cannot be written.
bool run_directory_open(struct run_directory *directory, const char *path, struct error *error);

/// Opens a file in the partial directory for writing.
FILE *run_directory_file(const struct run_directory *directory, const char *name, struct error *error);

/// Flushes a file to the disk and closes it; `written` false, or a failure here, is an error.
bool run_directory_close_file(const char *name, FILE *file, bool written, struct error *error);

/// Puts the partial directory in the place of DIR.
bool run_directory_commit(struct run_directory *directory, struct error *error);

/// Removes the partial directory, and forgets the paths. Allowed at any time after opening.
void run_directory_close(struct run_directory *directory);

#endif
