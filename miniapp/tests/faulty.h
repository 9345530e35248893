/// \file
/// Which calls on files fail, as the variables SPIKEMARK_FAULT… say (faulty_files.c).

#pragma once

#include <stdbool.h>

/// Counts a call on the file that is open as `file`. \return 0, or the error with which the call fails; -1:
/// the process is to end.
int fault_of(const char *kind, int file);

/// The same for `name` in the folder that is open as `at`.
int fault_at(const char *kind, int at, const char *name);

/// Ends the process by SIGKILL.
void end_here(void);

/// Says whether calls on `name` are counted, seen from the working folder.
bool fault_watches(const char *name);
