/// \file
/// What the program prints instead of running: all that can be chosen (--list), and what a description
/// would run (--explain).

#pragma once

#include "description/description.h"
#include "description/placement.h"
#include "schedule/lane_plan.h"

/// --list (miniapp/FORMAT.md): prints all registered variants, with what is known of each, and the files of a
/// run.
void list_print(void);

/// --explain (miniapp/FORMAT.md): prints what would run, and the memory of each rank.
void explain_print(const struct description *description, const struct placement *placement,
                   const struct schedule *schedule);
