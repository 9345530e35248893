/* How long rank 0 takes to send to the rank and with the bytes of each pair of arguments, in us; that rank begins to
 * receive a millisecond later.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { LATE_US = 1000 };

int main(int count, char **arguments) {
    int rank;

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i + 1 < count; i += 2) {
        int other = atoi(arguments[i]), bytes = atoi(arguments[i + 1]);
        char *message = calloc((size_t)bytes + 1, 1);

        MPI_Barrier(MPI_COMM_WORLD);
        double began = MPI_Wtime();
        if (rank == 0) {
            MPI_Send(message, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
            printf("time %d %d %.6f\n", other, bytes, 1e6 * (MPI_Wtime() - began));
        } else if (rank == other) {
            usleep(LATE_US); /* simulated: smpicc sees to that */
            MPI_Recv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        free(message);
    }
    MPI_Finalize();
    return 0;
}
