#include "transport/exchange_check.h"
bool exchange_check(const struct exchange_spec *spec, MPI_Comm comm, struct error *error) {
    (void)spec, (void)comm, (void)error;
    return true;
}
