/// \file
/// What the tests of schedules share: the plan of `eight_areas` with overrides, or why there is none.

#ifndef TESTS_PLAN_H
#define TESTS_PLAN_H

#include "support.h"

/// A description and its plan on some ranks.
struct planned {
    struct description d;
    struct placement placement;
    struct schedule schedule;
    struct error refused; ///< stands if there is no plan
};

/// Overrides ("path=value") as a list.
#define OVERRIDES(...) ((const char *const[]){__VA_ARGS__, NULL})

/// Plans. Fails the test if the plan is refused. The plan is valid until the next call and must be finished.
struct planned *accept(const char *const *overrides, int ranks);

void finish(struct planned *planned);

/// Fails the test unless the plan is refused with a message that holds `message`.
void assert_refused(const char *const *overrides, int ranks, const char *message);

#endif
