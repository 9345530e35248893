/// \file
/// What a reader of the figures must know about how they came about.

#ifndef RECORD_WARNINGS_H
#define RECORD_WARNINGS_H

#include "record/results.h"
#include <jansson.h>

/// Processors of the first rank's node that were busy with something else during the simulation, as a mean;
/// NAN where unknown or too short to tell.
double foreign_load(const struct results *results);

/// A new list of sentences.
json_t *warnings(const struct results *results);

/// Those about the network (silent, diverging, rates out of reach) to standard error, one line each.
void warnings_print(const struct results *results);

#endif
