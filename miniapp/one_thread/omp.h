/// \file
/// Stands in for OpenMP's header in the builds whose ranks have one thread: for SimGrid, where all ranks are
/// actors of one process (SPIKEMARK_SIMULATED), and for libFuzzer (SPIKEMARK_FUZZ). They are compiled without
/// OpenMP, so its pragmas do nothing, and these are the only functions of it that the mini-app calls.

#pragma once

/// The only thread has number 0.
static inline int omp_get_thread_num(void) {
    return 0;
}

/// There is never a second one, whatever OMP_NUM_THREADS asks for.
static inline int omp_get_max_threads(void) {
    return 1;
}

/// The number of threads cannot change, so there is nothing to forbid.
static inline void omp_set_dynamic(int dynamic) {
    (void)dynamic;
}
