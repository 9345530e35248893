/// \file
/// Warnings: what a reader must know about how the figures were obtained.

#ifndef RECORD_WARNINGS_H
#define RECORD_WARNINGS_H

#include "record/results.h"
#include <jansson.h>

/// Returns how many processors of the first rank's node were busy with something else during the simulation,
/// as a mean; NAN where this is unknown or the time was too short to tell.
double foreign_load(const struct results *results);

/// Returns a new list of sentences.
json_t *warnings(const struct results *results);

/// Prints the warnings about the network (silent, diverging, rates out of reach) and about counters that
/// cannot be read to standard error, one line each.
void warnings_print(const struct results *results);

#endif
