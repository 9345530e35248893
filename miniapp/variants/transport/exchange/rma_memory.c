/// \file
/// Takes memory for one-sided communication in the way that MPI libraries can do without losing data.

#include "transport/exchange/rma_memory.h"

#include "transport/communicator.h"
#include <string.h>

size_t rma_memory_bytes(const struct rma_memory *memory) {
    return memory->count * sizeof *memory->words;
}

/// Says whether all ranks share memory. Collective.
static int on_one_node(MPI_Comm comm) {
    MPI_Comm node;
    MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    const int ranks = comm_size(comm), here = comm_size(node);
    MPI_Comm_free(&node);
    return ranks == here;
}

void rma_memory_open(struct rma_memory *memory, MPI_Comm comm, size_t count) {
    memory->count = count;
    const MPI_Aint bytes = (MPI_Aint)rma_memory_bytes(memory);
    const int unit = sizeof *memory->words;
    MPI_Info info;
    MPI_Info_create(&info);
    // The memory of each rank lies in pages near it. Besides, MPICH 4.0.2 loses puts into the other kind of
    // MPI_Win_allocate where the size is no multiple of 16 bytes.
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    // A put into memory that is declared shared is a copy. Besides, up to Open MPI 4.1, other memory that is
    // made at the same time over communicators without a common rank can be mixed up on a node (ompi issue
    // 9492).
    if (on_one_node(comm))
        MPI_Win_allocate_shared(bytes, unit, info, comm, &memory->words, &memory->handle);
    else
        MPI_Win_allocate(bytes, unit, info, comm, &memory->words, &memory->handle);
    MPI_Info_free(&info);
    memset(memory->words, 0, rma_memory_bytes(memory));
    MPI_Win_fence(MPI_MODE_NOPRECEDE, memory->handle);
}

void rma_memory_close(struct rma_memory *memory) {
    MPI_Win_fence(MPI_MODE_NOSUCCEED, memory->handle);
    MPI_Win_free(&memory->handle);
}
