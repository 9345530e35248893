/// \file
/// What the tests of invariance share: `eight_areas` run in some way, against delivery by brute force.

#ifndef TESTS_INVARIANCE_H
#define TESTS_INVARIANCE_H

#include "support.h"

/// Weights without a common unit need wide cells of the ring buffer; for the others, narrow ones will do.
extern const char *const narrow_weight, *const wide_weight, *const own_weights;

/// Returns what brute force brings with that weight.
struct outcome expect(const char *weight, bool narrow);

/// Runs with the overrides, of which there are at least three, on all ranks. Fails the test unless the
/// outcome is the expected one.
void check(const char *const *overrides, int threads, const struct outcome *expected);

#endif
