/// \file
/// Regions for Score-P, in a build with SPIKEMARK_SCOREP. In any other build they are nothing.
///
/// A region has the name of the phase whose time it takes, so that a profile can be checked against the cycle
/// log. REGION_BEGIN and REGION_END stand in one block, once for each name.

#pragma once

#ifdef SPIKEMARK_SCOREP
#include <scorep/SCOREP_User.h>

#define REGION_BEGIN(name)                                                                                   \
    SCOREP_USER_REGION_DEFINE(region_##name)                                                                 \
    SCOREP_USER_REGION_BEGIN(region_##name, #name, SCOREP_USER_REGION_TYPE_COMMON)
#define REGION_END(name) SCOREP_USER_REGION_END(region_##name)

#else
#define REGION_BEGIN(name) ((void)0)
#define REGION_END(name)   ((void)0)
#endif
