/// \file
/// The table of exchanges: those of the core (transport/exchange.h), then those of the variants.

#include "transport/exchange.h"

/// The names of the back-ends of the variants, each of which is exchange_NAME.
// clang-format off
#define VARIANT_EXCHANGES(E)                                                                                 \
    E(persistent) E(rma_doubling) E(rma_bruck) E(rma_put) E(shared) E(two_level) E(multi_level)
// clang-format on

CORE_EXCHANGES(EXCHANGE_DECLARE)
VARIANT_EXCHANGES(EXCHANGE_DECLARE)
const struct exchange_backend *const exchange_backends[] = {CORE_EXCHANGES(EXCHANGE_ADDRESS)
                                                                VARIANT_EXCHANGES(EXCHANGE_ADDRESS) NULL};
