/// \file
/// Runs the tests of a program (TEST in support.h), between MPI_Init and MPI_Finalize where they need MPI.

#include "support.h"

enum { tests_max = 64 };

static struct CMUnitTest tests[tests_max];
static size_t n_tests;
static bool need_mpi;

void register_test(const char *name, CMUnitTestFunction run) {
    tests[n_tests++] = (struct CMUnitTest){.name = name, .test_func = run};
}

void register_mpi(void) {
    need_mpi = true;
}

int main(int argc, char **argv) {
    int provided;
    if (need_mpi) MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    const int failed = _cmocka_run_group_tests("tests", tests, n_tests, NULL, NULL);
    if (need_mpi) MPI_Finalize();
    return failed;
}
