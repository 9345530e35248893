#include "transport/exchange/rma_window.h"

#include <string.h>

static int on_one_node(MPI_Comm comm) {
    MPI_Comm node;
    int ranks, here;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_size(node, &here);
    MPI_Comm_free(&node);
    return ranks == here;
}

void rma_window_open(struct rma_window *window, MPI_Comm comm, size_t count) {
    window->count = count;
    const MPI_Aint bytes = (MPI_Aint)rma_window_bytes(window);
    const int unit = sizeof *window->words;
    MPI_Info info;
    MPI_Info_create(&info);
    // Each rank's memory in pages near it. Besides, MPICH 4.0.2 loses puts into the other kind of
    // MPI_Win_allocate where it is no multiple of 16 bytes.
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    // A window that is said to be shared puts by a copy. Besides, up to Open MPI 4.1 others that are made at
    // the same time over communicators without a common rank can be mixed up on a node (ompi issue 9492).
    if (on_one_node(comm))
        MPI_Win_allocate_shared(bytes, unit, info, comm, &window->words, &window->handle);
    else
        MPI_Win_allocate(bytes, unit, info, comm, &window->words, &window->handle);
    MPI_Info_free(&info);
    memset(window->words, 0, rma_window_bytes(window));
    MPI_Win_fence(MPI_MODE_NOPRECEDE, window->handle);
}

void rma_window_close(struct rma_window *window) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, window->handle);
    MPI_Win_free(&window->handle);
}
