/* How long a message takes from rank 0 to the rank and with the bytes of each pair of arguments, in us: half
 * a round trip, and until it is sent to a rank that receives LATE_US later.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROUNDS = 10, LATE_US = 1000 };

/* As the exchanges do: SimGrid gives a blocking send of many bytes no cost of its own. */
static void send_to(int other, char *message, int bytes) {
    MPI_Request request;
    MPI_Isend(message, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static double half_round_trip(int rank, int other, char *message, int bytes) {
    double began = 0;
    for (int k = 0; k <= ROUNDS; k++) { /* the first round brings both together */
        if (k == 1) began = MPI_Wtime();
        if (rank == 0) {
            send_to(other, message, bytes);
            MPI_Recv(message, bytes, MPI_BYTE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        } else if (rank == other) {
            MPI_Recv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            send_to(0, message, bytes);
        }
    }
    return (MPI_Wtime() - began) / (2 * ROUNDS);
}

static double sent_to_late(int rank, int other, char *message, int bytes) {
    MPI_Barrier(MPI_COMM_WORLD);
    double began = MPI_Wtime();
    if (rank == 0) {
        send_to(other, message, bytes);
    } else if (rank == other) {
        usleep(LATE_US); /* simulated: smpicc sees to that */
        MPI_Recv(message, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return MPI_Wtime() - began;
}

int main(int count, char **arguments) {
    int rank;

    MPI_Init(&count, &arguments);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i + 1 < count; i += 2) {
        int other = atoi(arguments[i]), bytes = atoi(arguments[i + 1]);
        char *message = calloc((size_t)bytes + 1, 1);

        double half = half_round_trip(rank, other, message, bytes);
        double late = sent_to_late(rank, other, message, bytes);
        if (rank == 0) printf("time %d %d %.6f %.6f\n", other, bytes, 1e6 * half, 1e6 * late);
        free(message);
    }
    MPI_Finalize();
    return 0;
}
