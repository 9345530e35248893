/// \file
/// Stands in for OpenMP's header where ranks have one thread (SPIKEMARK_SIMULATED) and the pragmas do
/// nothing.

#pragma once

static inline int omp_get_thread_num(void) {
    return 0;
}

static inline int omp_get_max_threads(void) {
    return 1;
}

static inline void omp_set_dynamic(int dynamic) {
    (void)dynamic;
}
