/// \file
/// Regions and counts for Score-P in a build with SPIKEMARK_SCOREP. In any other build they are nothing.
///
/// A region has the name of the phase whose time it takes, so that a profile can be checked against the cycle
/// log. REGION_BEGIN and REGION_END stand in one block, once for each name. A count is defined in a file,
/// started once by one thread before any thread adds to it, and adds up for each thread.

#ifndef MEASUREMENT_REGIONS_H
#define MEASUREMENT_REGIONS_H

#ifdef SPIKEMARK_SCOREP
#include <scorep/SCOREP_User.h>

#define REGION_BEGIN(name)                                                                                   \
    SCOREP_USER_REGION_DEFINE(region_##name)                                                                 \
    SCOREP_USER_REGION_BEGIN(region_##name, #name, SCOREP_USER_REGION_TYPE_COMMON)
#define REGION_END(name) SCOREP_USER_REGION_END(region_##name)

#define COUNT_DEFINE(name) SCOREP_USER_METRIC_LOCAL(count_##name)
#define COUNT_START(name)                                                                                    \
    SCOREP_USER_METRIC_INIT(count_##name, #name, "#", SCOREP_USER_METRIC_TYPE_UINT64,                        \
                            SCOREP_USER_METRIC_CONTEXT_GLOBAL)
#define COUNT_ADD(name, value) SCOREP_USER_METRIC_UINT64(count_##name, value)

#else
#define REGION_BEGIN(name) ((void)0)
#define REGION_END(name)   ((void)0)

#define COUNT_DEFINE(name)     struct count_##name
#define COUNT_START(name)      ((void)0)
#define COUNT_ADD(name, value) ((void)(value))
#endif

#endif
