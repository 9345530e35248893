/* Half the time of a round trip from rank 0 to the rank and with the bytes of each pair of arguments, in us.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 10 };

int main(int count, char **arguments) {
    int rank;

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i + 1 < count; i += 2) {
        int other = atoi(arguments[i]), bytes = atoi(arguments[i + 1]);
        char *message = calloc((size_t)bytes + 1, 1);

        /* the first round brings both together */
        double began = 0;
        for (int k = 0; k <= ROUNDS; k++) {
            if (k == 1) began = MPI_Wtime();
            if (rank == 0) {
                MPI_Send(message, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD);
                MPI_Recv(message, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            } else if (rank == other) {
                MPI_Recv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                MPI_Send(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
            }
        }
        if (rank == 0) printf("time %d %d %.6f\n", other, bytes, 1e6 * (MPI_Wtime() - began) / (2 * ROUNDS));
        free(message);
    }
    MPI_Finalize();
    return 0;
}
