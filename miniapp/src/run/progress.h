/// \file
/// How far a run has come, for another process to see while it lasts: in a file that rank 0 maps into its
/// memory. A cycle costs one store.

#pragma once

#include "description/description.h"
#include <stdbool.h>
#include <stdint.h>

/// The file, mapped into the memory of rank 0.
struct progress {
    const char *path;          ///< borrowed
    volatile uint32_t *cycles; ///< [2] done, and how many there are, the warm-up included; NULL: nobody asked
};

/// Makes the file, which must not exist yet. Ranks other than 0 make none. \param path NULL: there is no
/// file.
bool progress_open(struct progress *progress, const char *path, int rank, const struct description *run,
                   struct error *error);

/// Counts a cycle as done.
static inline void progress_count(const struct progress *progress) {
    if (progress->cycles) progress->cycles[0]++;
}

/// Closes the file. \param keep false: also removes it.
void progress_close(struct progress *progress, bool keep);
