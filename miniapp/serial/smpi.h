/// \file
/// Included first in files that have functions of these names, in the build for SimGrid: its mpi.h brings
/// unistd.h along.

#ifndef SERIAL_SMPI_H
#define SERIAL_SMPI_H

#define close unistd_close
#define read  unistd_read
#include <mpi.h>
#undef close
#undef read

#endif
