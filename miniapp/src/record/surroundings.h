/// \file
/// What around the program may change its times.

#pragma once

#include <jansson.h>

/// Returns what of the calling process's surroundings may change times: variables of the environment, its
/// priority and limits. Null in simulated time.
json_t *surroundings_json(void);
