/// \file
/// Tests whether an exchange moves data with this MPI library. Some releases lose one-sided puts without an
/// error, and a simulation would then only be wrong.

#ifndef TRANSPORT_EXCHANGE_CHECK_H
#define TRANSPORT_EXCHANGE_CHECK_H

#include "base/error.h"
#include "transport/exchange.h"

/// Returns the back-end with, where it is composed, two levels of alltoallv in a grid as square as can be.
struct exchange_spec exchange_plain(const struct exchange_backend *backend);

/// Moves some windows of known words through a fresh exchange between all ranks of `comm`. Collective.
/// \return false, with the same error on all ranks, if any rank did not receive exactly what was sent to it.
///
/// All ranks agree on a window before the next one begins, and small windows come first, so most losses are
/// found where no rank waits for what is lost.
bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error);

#endif
