/// \file
/// The start-up self-test of an exchange.

#ifndef TRANSPORT_EXCHANGE_CHECK_H
#define TRANSPORT_EXCHANGE_CHECK_H

#include "transport/exchange.h"

bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error);

#endif
