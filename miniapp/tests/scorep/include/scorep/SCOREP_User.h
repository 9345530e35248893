/// \file
/// Stand-in for the header of Score-P: the macros that Spikemark uses write a line each, `thread what name
/// value`, to $SCOREP_EVENTS.<process>. As with Score-P, a macro may end in a semicolon of its own.

#ifndef SCOREP_USER_H
#define SCOREP_USER_H

#ifndef SCOREP_USER_ENABLE
#error "the option --user of scorep is missing"
#endif

#include <omp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void scorep_write(const char *what, const char *name, uint64_t value) {
    static FILE *events;
#pragma omp critical(scorep)
    {
        if (!events) {
            char path[4096];
            snprintf(path, sizeof path, "%s.%d", getenv("SCOREP_EVENTS"), (int)getpid());
            events = fopen(path, "w");
        }
        fprintf(events, "%d %s %s %lu\n", omp_get_thread_num(), what, name, (unsigned long)value);
    }
}

#define SCOREP_USER_REGION_TYPE_COMMON    0
#define SCOREP_USER_REGION_DEFINE(handle) static const char *handle = NULL;
#define SCOREP_USER_REGION_BEGIN(handle, name, type)                                                         \
    handle = name;                                                                                           \
    scorep_write("enter", handle, type);
#define SCOREP_USER_REGION_END(handle) scorep_write("leave", handle, 0);

#endif
