/// \file
/// How ranks and threads wait for each other.
///
/// OpenMP and MPI libraries let waiting threads spin, since these then go on at once. Where a node has fewer
/// hardware threads than its ranks have threads, a spinning thread keeps another one from the work that it
/// waits for, and a cycle takes milliseconds instead of microseconds. There the mini-app asks the libraries
/// to wait passively. They read environment variables when they are loaded, so the program sets these and
/// starts itself again. What the user has set stays as it is.

#ifndef MEASUREMENT_WAITING_H
#define MEASUREMENT_WAITING_H

#include <stdbool.h>

/// Makes the process wait passively if its node is crowded, as far as the launcher tells before MPI_Init:
/// sets the variables that are not set, and replaces the program by itself if OMP_WAIT_POLICY is one of them.
/// Call it first, with the arguments of main(). It returns where nothing is to be done, or where that fails.
void waiting_choose(char **argv);

/// What a process does, by its environment.
struct waiting {
    bool passive;          ///< whether threads sleep while they wait (OMP_WAIT_POLICY)
    const char *chosen_by; ///< "miniapp", "environment", or NULL where nobody has chosen
};

struct waiting waiting_read(void);

/// The variables by which OpenMP and MPI libraries are told to wait passively.
enum { waiting_variables = 5 };
extern const struct waiting_variable {
    const char *name, *passive; ///< and the value with which the library waits passively
} waiting_variable[waiting_variables];

#endif
