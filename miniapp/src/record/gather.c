/// \file
/// Sends blocks in pieces that an int can count.
///
/// Ranks send one after the other, when rank 0 asks the next one by receiving; so rank 0 holds one block at a
/// time, and others keep theirs. MPI_Gatherv would need room for all blocks on rank 0, counts that fit an
/// int, and in some libraries buffers on other ranks as well. Cost: the blocks, one after the other, after
/// the run.

#include "record/gather.h"

#include "base/alloc.h"
#include "transport/communicator.h"
#include <stdlib.h>
#include <string.h>

/// Bytes of a message: less than what an int counts, 2^31. A shorter message, which may be empty, ends a
/// block. Half as many would need twice the messages, which nobody would notice; 2^31 would not fit an int.
enum { piece = 1 << 28 };

/// Sends a block to rank 0: full pieces, and a shorter one, which may be empty, as the end. It blocks until
/// rank 0 receives.
static void send_block(MPI_Comm comm, const char *own, size_t bytes) {
    for (size_t at = 0;; at += piece) {
        const size_t left = bytes - at;
        MPI_Send(own + at, (int)(left < piece ? left : piece), MPI_BYTE, 0, 0, comm);
        if (left < piece) return;
    }
}

/// Receives a block. \return it, owned by the caller, and its size in `bytes`.
static char *receive_block(MPI_Comm comm, int from, size_t *bytes) {
    char *block = NULL;
    int count = piece;
    for (*bytes = 0; count == piece; *bytes += (size_t)count) {
        // How long the next piece is, before there is room for it.
        MPI_Status status;
        MPI_Probe(from, 0, comm, &status);
        MPI_Get_count(&status, MPI_BYTE, &count);
        block = alloc_more(block, *bytes + (size_t)count, 1);
        MPI_Recv(block + *bytes, count, MPI_BYTE, from, 0, comm, MPI_STATUS_IGNORE);
    }
    return block;
}

bool gather_blocks(MPI_Comm comm, const void *own, size_t count, size_t size,
                   bool (*take)(const void *block, size_t count, void *context), void *context) {
    const int rank = comm_rank(comm), ranks = comm_size(comm);
    // The block of rank 0 is taken where it lies.
    if (rank != 0) {
        send_block(comm, own, count * size);
        return true;
    }
    bool taken = take(own, count, context);
    for (int other = 1; other < ranks; other++) {
        size_t bytes;
        char *block = receive_block(comm, other, &bytes);
        taken = take(block, bytes / size, context) && taken;
        free(block);
    }
    return taken;
}

// The items have room for all blocks: whoever calls gather_blocks() with this knows their number beforehand.
bool gather_append(const void *block, size_t count, void *context) {
    struct gathered *gathered = context;
    if (count) memcpy(gathered->items + gathered->count * gathered->size, block, count * gathered->size);
    gathered->count += count;
    return true;
}
