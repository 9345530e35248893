#include "record/gather.h"

#include "base/alloc.h"
#include <stdlib.h>

bool gather_blocks(MPI_Comm comm, const void *own, size_t count, size_t size,
                   bool (*take)(const void *block, size_t count, void *context), void *context) {
    enum { piece = 1 << 28 }; // bytes per message, which an int can count
    int rank, ranks;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    unsigned long long bytes = count * size;
    bool taken = rank != 0 || take(own, count, context);
    if (rank != 0) {
        MPI_Send(&bytes, 1, MPI_UNSIGNED_LONG_LONG, 0, 0, comm);
        for (size_t at = 0; at < bytes; at += piece)
            MPI_Send((const char *)own + at, (int)(bytes - at < piece ? bytes - at : piece), MPI_BYTE, 0, 0,
                     comm);
    }
    for (int other = 1; rank == 0 && other < ranks; other++) {
        MPI_Recv(&bytes, 1, MPI_UNSIGNED_LONG_LONG, other, 0, comm, MPI_STATUS_IGNORE);
        char *block = alloc(bytes, 1);
        for (size_t at = 0; at < bytes; at += piece)
            MPI_Recv(block + at, (int)(bytes - at < piece ? bytes - at : piece), MPI_BYTE, other, 0, comm,
                     MPI_STATUS_IGNORE);
        taken = take(block, bytes / size, context) && taken;
        free(block);
    }
    return taken;
}
