/// \file
/// The table of exchanges without variants; with them it is variants/transport/exchanges.c.

#include "transport/exchange.h"

CORE_EXCHANGES(EXCHANGE_DECLARE)
const struct exchange_backend *const exchange_backends[] = {CORE_EXCHANGES(EXCHANGE_ADDRESS) NULL};
