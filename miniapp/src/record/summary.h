/// \file
/// The summary that the program prints when a run has ended.

#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "record/results.h"
#include "record/run_directory.h"

/// Prints what came out and where it lies to standard output, and warnings about the network to standard
/// error.
void summary_print(const struct results *results, const struct run_directory *directory);

#endif
