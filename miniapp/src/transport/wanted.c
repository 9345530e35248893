#include "transport/wanted.h"

#include "base/alloc.h"
#include <stdlib.h>

void wanted_open(struct wanted *wanted, const struct placement *placement, const int *place, int ranks,
                 unsigned bits) {
    *wanted = (struct wanted){.placement = placement, .place = place};
    wanted->per_owner = ALLOC_ZERO(uint32_t, (size_t)ranks);
    id_set_open(&wanted->sources, placement->network->n_neurons, bits);
}

void wanted_close(struct wanted *wanted) {
    id_set_close(&wanted->sources);
    free(wanted->per_owner);
    wanted->per_owner = NULL;
}

void wanted_number(struct wanted *wanted) {
    wanted->lists = id_set_number(&wanted->sources);
    struct wanted_cursor cursor = wanted_from(wanted, 0);
    for (uint64_t list = 0; list < wanted->lists; list++) {
        int owner;
        wanted_next(&cursor, &owner);
        wanted->per_owner[owner]++;
    }
}
