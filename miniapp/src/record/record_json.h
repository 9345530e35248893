/// \file
/// record.json: everything that is known of a run, as one object (miniapp/FORMAT.md).
///
/// It holds the description with all choices filled in, so that the run can be repeated from it, and every
/// number with which an analysis begins. What is unknown is null, with a reason beside it.

#pragma once

#include "record/results.h"

/// Writes it on the first rank. \return false if it could not be written.
bool record_json_write(const struct results *results, FILE *file);
