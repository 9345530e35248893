// Simulated time of collective calls: `calls REPEATS CALL:BYTES ...`, CALL one of v (MPI_Alltoallv), c
// (MPI_Alltoall), b (MPI_Barrier), g (MPI_Allgather), w (MPI_Allgatherv). Prints `time CALL BYTES US`: of a
// call, the mean of all ranks, which begin together.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void call(char name, int *out, int *in, int words, const int *counts, const int *starts) {
    const MPI_Comm world = MPI_COMM_WORLD;
    if (name == 'v') MPI_Alltoallv(out, counts, starts, MPI_INT, in, counts, starts, MPI_INT, world);
    if (name == 'c') MPI_Alltoall(out, words, MPI_INT, in, words, MPI_INT, world);
    if (name == 'b') MPI_Barrier(world);
    if (name == 'g') MPI_Allgather(out, words, MPI_INT, in, words, MPI_INT, world);
    if (name == 'w') MPI_Allgatherv(out, words, MPI_INT, in, counts, starts, MPI_INT, world);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int rank, ranks, repeats = atoi(argv[1]);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 2; i < argc; i++) {
        char name;
        int words, bytes, *count = malloc(sizeof(int) * ranks), *start = malloc(sizeof(int) * ranks);
        if (sscanf(argv[i], "%c:%d", &name, &bytes) != 2) return 1;
        words = bytes / 4;
        for (int r = 0; r < ranks; r++) count[r] = words, start[r] = r * words;
        int *out = calloc((size_t)ranks * words + 1, 4), *in = calloc((size_t)ranks * words + 1, 4);
        double sum = 0, mean;
        for (int k = 0; k < repeats; k++) {
            double latest, now = MPI_Wtime();
            MPI_Allreduce(&now, &latest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            const long left = (long)((latest + 1e-3 - MPI_Wtime()) * 1e9);
            const struct timespec pause = {0, left}; /* usleep would scatter ranks over a microsecond */
            nanosleep(&pause, NULL);
            const double began = MPI_Wtime();
            call(name, out, in, words, count, start);
            sum += MPI_Wtime() - began;
        }
        MPI_Allreduce(&sum, &mean, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        if (rank == 0) printf("time %c %d %.6g\n", name, bytes, 1e6 * mean / repeats / ranks);
        free(count), free(start), free(out), free(in);
    }
    MPI_Finalize();
    return 0;
}
