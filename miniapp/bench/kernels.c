#include "kernels.h"

size_t kernels_list(struct kernel *kernels, size_t capacity) {
    size_t (*const families[])(struct kernel *,
                               size_t) = {kernels_deliver, kernels_neurons,   kernels_network, kernels_drawn,
                                          kernels_between, kernels_collocate, kernels_machine};
    size_t n = 0;
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        n += families[f](kernels + n, capacity - n);
    return n;
}
