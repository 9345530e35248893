/// \file
/// The end of a program that cannot go on: out of memory, or a count beyond what MPI takes.
///
/// What a user can mend is not fatal: that is a struct error (base/error.h), on which all ranks agree before
/// they end together with status 2. Here one rank alone has found that it cannot go on, and the others may be
/// waiting for it in a call of MPI.

#pragma once

/// Prints one line (printf style) after "miniapp: rank N: " and ends all ranks of the run with status 1.
/// Other ranks may wait for this one, so that its own end would leave them waiting. Any thread may call it.
/// Where MPI lets the thread, MPI_Abort ends the others. Other threads than the first may not call it at
/// the level MPI_THREAD_FUNNELED; then the process ends without finalising MPI, and the launcher ends the job
/// (mpirun and mpiexec always do; srun with --kill-on-bad-exit).
_Noreturn void fatal(const char *format, ...) __attribute__((format(printf, 1, 2)));
