/// \file
/// The directory DIR, which is written as DIR.partial-XXXXXX and renamed when it is whole. A directory
/// that holds a file of any other name is not a run's, and is never replaced.

#pragma once

#include "base/error.h"
#include <stdbool.h>
#include <stdio.h>

/// A file that a record may hold. Others make a directory something else than a record.
struct run_file {
    const char *name;    ///< in the directory
    const char *writer;  ///< which program writes it: "miniapp", "spikemark" or "snakemake"
    const char *summary; ///< one line for --list
};

extern const struct run_file *const run_files[]; ///< all, ended by NULL

/// The directory while it is written.
struct run_directory {
    char *path;    ///< DIR
    char *partial; ///< where it is written; NULL unless open
    bool replaces; ///< an earlier record stands at DIR until the commit
};

/// Makes the partial directory and those above it. Fails where DIR exists and is neither an empty directory
/// nor the record of an earlier run with nothing else in it, and where it cannot be written.
bool run_directory_open(struct run_directory *directory, const char *path, struct error *error);

/// Opens a file of the record for writing; NULL after an error.
FILE *run_directory_file(const struct run_directory *directory, const char *name, struct error *error);
/// Flushes a file to the disk and closes it. It is an error if that fails or `written` is false.
bool run_directory_close_file(const char *name, FILE *file, bool written, struct error *error);

/// Puts the partial directory in the place of DIR. An earlier record is removed after that, never before.
/// Anything else that has appeared there is left alone, and is an error.
bool run_directory_commit(struct run_directory *directory, struct error *error);

/// Removes the partial directory if it is still there, and forgets the paths.
void run_directory_close(struct run_directory *directory);
