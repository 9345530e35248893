/// \file
/// What a receive costs in simulated time that is posted long after its message has arrived. Rank 0 receives
/// one message from each other rank, in every way in which the mini-app and SMPI's collectives receive.
/// Prints lines `time WAY SENDER us`.

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

enum { ways = 5, LATE_US = 10000 };
static const char *const names[ways] = {"recv", "any", "irecv", "waitall", "waitany"};

/// Receives one message from `sender` in a way.
static void receive(int way, int sender) {
    char byte;
    int which;
    MPI_Request request;
    if (way == 0) MPI_Recv(&byte, 1, MPI_CHAR, sender, way, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way == 1) MPI_Recv(&byte, 1, MPI_CHAR, MPI_ANY_SOURCE, sender, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (way < 2) return;
    MPI_Irecv(&byte, 1, MPI_CHAR, sender, way, MPI_COMM_WORLD, &request);
    if (way == 2) MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (way == 3) MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
    if (way == 4) MPI_Waitany(1, &request, &which, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int way = 0; way < ways; way++) {
        char byte = 0;
        if (rank) MPI_Send(&byte, 1, MPI_CHAR, 0, way == 1 ? rank : way, MPI_COMM_WORLD);
        for (int sender = 1; !rank && sender < ranks; sender++) {
            usleep(LATE_US); /* simulated: smpicc sees to that */
            const double begin = MPI_Wtime();
            receive(way, sender);
            printf("time %s %d %.3f\n", names[way], sender, 1e6 * (MPI_Wtime() - begin));
        }
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
    return 0;
}
