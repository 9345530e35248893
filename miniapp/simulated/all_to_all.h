/// \file
/// MPI_Alltoall, MPI_Alltoallv and MPI_Allgather of the mini-app in the build for SimGrid, whose compiler
/// includes this file before all others. The algorithm is the one that the environment variable
/// SPIKEMARK_ALL_TO_ALL names for the ranks and bytes of the call, since SimGrid's own take minutes per call
/// where all messages leave at once, and what it calls a ring is not one.
///
/// The variable has words CALL:RANKS:BYTES:AHEAD, where the last one that fits counts. CALL is c for
/// MPI_Alltoall, v for MPI_Alltoallv and g for MPI_Allgather; RANKS and BYTES (of a pair) are the least for
/// which the word holds. AHEAD is the number of messages that a rank has on their way at a time: 1 takes one
/// partner after another, as a ring does; 0 leaves the choice to SimGrid.

#pragma once

#include <mpi.h>

#undef MPI_Alltoall
#undef MPI_Alltoallv
#undef MPI_Allgather
#define MPI_Alltoall(...)  simulated_all_to_all(__VA_ARGS__)
#define MPI_Alltoallv(...) simulated_all_to_all_v(__VA_ARGS__)
#define MPI_Allgather(...) simulated_all_gather(__VA_ARGS__)

/// They take what the calls of MPI take. What is sent and received has one type.
int simulated_all_to_all(const void *send, int count, MPI_Datatype type, void *receive, int received,
                         MPI_Datatype same, MPI_Comm comm);
int simulated_all_to_all_v(const void *send, const int *out, const int *out_at, MPI_Datatype type,
                           void *receive, const int *in, const int *in_at, MPI_Datatype same, MPI_Comm comm);
int simulated_all_gather(const void *send, int count, MPI_Datatype type, void *receive, int received,
                         MPI_Datatype same, MPI_Comm comm);
