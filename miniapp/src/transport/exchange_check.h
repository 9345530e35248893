/// \file
/// Does an exchange move data with this MPI library? Some releases lose one-sided puts without an error, and
/// a simulation would only be wrong then.

#ifndef TRANSPORT_EXCHANGE_CHECK_H
#define TRANSPORT_EXCHANGE_CHECK_H

#include "base/error.h"
#include "transport/exchange.h"

/// Moves some windows of known words through a fresh exchange between all ranks of `comm`. Collective.
/// \return false, with the same error on all ranks, if any rank did not receive exactly what was sent to it.
/// A window is agreed on before the next, small ones come first: most losses are found where no rank waits
/// for what is lost.
bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error);

#endif
