/// \file
/// MPI_Alltoall, MPI_Alltoallv and MPI_Allgather. In the build for SimGrid (SPIKEMARK_SIMULATED) the
/// algorithm is the one that the environment variable SPIKEMARK_ALL_TO_ALL names for the ranks and bytes of
/// the call, since SimGrid's own take minutes per call where all messages leave at once, and what it calls a
/// ring is not one. Elsewhere the MPI library chooses.
///
/// The variable has words CALL:RANKS:BYTES:AHEAD, where the last one that fits counts. CALL is c for
/// MPI_Alltoall, v for MPI_Alltoallv and g for MPI_Allgather; RANKS and BYTES (of a pair) are the least for
/// which the word holds. AHEAD is the number of messages that a rank has on their way at a time: 1 takes one
/// partner after another, as a ring does; 0 leaves the choice to SimGrid.

#ifndef TRANSPORT_ALL_TO_ALL_H
#define TRANSPORT_ALL_TO_ALL_H

#include <mpi.h>

/// Exchanges `count` 32-bit words with each rank, as MPI_Alltoall does. Collective.
void all_to_all(const void *send, int count, void *receive, MPI_Comm comm);

/// The words that leave or arrive: `count[r]` of them from `start[r]` on belong to rank r.
struct parts {
    const int *count, *start;
};

/// Exchanges parts of 32-bit words with each rank, as MPI_Alltoallv does. Collective.
void all_to_all_v(const void *send, struct parts out, void *receive, struct parts in, MPI_Comm comm);

/// Does the same while a network is built, where many parts are empty and no time is measured. In the build
/// for SimGrid it sends no empty ones, since each message costs time and memory there.
void all_to_all_few(const void *send, struct parts out, void *receive, struct parts in, MPI_Comm comm);

/// Brings `count` 32-bit words of each rank to all, as MPI_Allgather does. Collective.
void all_gather(const void *send, int count, void *receive, MPI_Comm comm);

#endif
