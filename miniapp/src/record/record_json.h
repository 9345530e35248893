/// \file
/// record.json, as miniapp/FORMAT.md states it.

#ifndef RECORD_RECORD_JSON_H
#define RECORD_RECORD_JSON_H

#include "record/results.h"
#include <stdio.h>

/// Version of the run record, that is of record.json and the files beside it.
enum { record_format_version = 2 };

/// Writes record.json on rank 0. \return false if it could not be written.
bool record_json_write(const struct results *results, FILE *file);

#endif
