#include "transport/agree.h"

bool agree(MPI_Comm comm, struct error *error) {
    int rank, ranks, first;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    int mine = error_stands(error) ? rank : ranks;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    if (first < ranks) MPI_Bcast(error->text, sizeof error->text, MPI_CHAR, first, comm);
    return first == ranks;
}
