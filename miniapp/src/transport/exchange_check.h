/// \file
/// A self-test of an exchange: does it move data with this MPI library? Some releases lose one-sided puts
/// without an error, and a simulation would then only be wrong.

#pragma once

#include "transport/exchange.h"

/// Returns the back-end with, where it is composed, two levels of alltoallv in a grid as square as can be:
/// for tests and benchmarks, which name no levels.
struct exchange_spec exchange_plain(const struct exchange_backend *backend);

/// Refuses a back-end between ranks of several nodes where it needs shared memory. Collective over `comm`.
void exchange_check_node(const struct exchange_backend *backend, const char *lane, MPI_Comm comm,
                         struct error *error);

/// Moves some windows of known words through a fresh exchange of `comm`, from each rank to those 1, 2, 4, ...
/// further on. Collective. All ranks agree on a window before the next one begins, and small windows come
/// first, so most losses are found where no rank waits for what is lost.
/// \return false, with the same error on all ranks, if any rank did not receive exactly what was sent to it.
bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error);
