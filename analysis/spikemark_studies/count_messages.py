"""Messages that a collective call of MPI consists of, counted in the library that is installed.

Open MPI counts the messages between ranks itself (its monitoring of point-to-point messages), also
those that its collective calls send. Counts do not depend on the machine, so that many more ranks
than cores may run. published/data/openmpi_messages.csv holds what was counted in Open MPI 4.1.4.

    python -m spikemark_studies.count_messages > openmpi_messages.csv

Open MPI starts nothing for root but with OMPI_ALLOW_RUN_AS_ROOT=1 and
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1.
"""

import csv
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CALLS = 10  #: of each collective
RANKS = (2, 4, 8, 16, 32, 64, 128)
#: Bytes of a block, by call: what a rank sends to another in an exchange of the benchmark with
#: D = 1 and 10, and between; and buffers of spikes.
BLOCK_BYTES = {
    "alltoall": (256, 512, 1024, 2560),
    "allgather": (64, 1024),
    "gather_bcast": (64,),
    "fence_rdma": (0,),
    "fence_pt2pt": (0,),
}
MOST_RANKS_WITH_FENCES = 32
FENCE = "fence_"  #: before the component of Open MPI that has one-sided communication
COLUMNS = ("call", "ranks", "block_bytes", "messages_of_all", "most_of_a_rank")
SECONDS = 300  #: until a run is given up
PROGRAM = """
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int ranks;
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const int bytes = atoi(argv[2]), calls = atoi(argv[3]);
    char *sent = calloc((size_t)ranks, (size_t)bytes);
    char *received = calloc((size_t)ranks, (size_t)bytes);
    int *memory;
    MPI_Win window;
    const int fences = !strncmp(argv[1], "fence", 5);
    if (fences) MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    for (int i = 0; i < calls; i++) {
        if (fences) {
            MPI_Win_fence(0, window);
            continue;
        }
        if (!strcmp(argv[1], "alltoall"))
            MPI_Alltoall(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
        else if (!strcmp(argv[1], "allgather"))
            MPI_Allgather(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, MPI_COMM_WORLD);
        else {
            MPI_Gather(sent, bytes, MPI_BYTE, received, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
            MPI_Bcast(received, ranks * bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
        }
    }
    if (fences) MPI_Win_free(&window);
    MPI_Finalize();
}
"""
_SENT = re.compile(r"[EI]\s+\d+\s+\d+\s+\d+ bytes\s+(\d+) msgs sent")


def _counted(program: Path, call: str, ranks: int, block_bytes: int) -> tuple[int, int]:
    """Messages of all ranks in one call, and the most that one of them sends.

    `program`: compiled from PROGRAM; `call`: a key of BLOCK_BYTES. What a window takes to be made
    does not count. Raises RuntimeError where the run fails, or Open MPI has no monitoring.
    """
    of_ranks = _of_ranks(program, call, ranks, block_bytes, 2 * CALLS)
    fewer = _of_ranks(program, call, ranks, block_bytes, CALLS)
    of_calls = [more - less for more, less in zip(of_ranks, fewer, strict=True)]
    return sum(of_calls) // CALLS, max(of_calls) // CALLS


def _of_ranks(program: Path, call: str, ranks: int, block_bytes: int, calls: int) -> list[int]:
    """Messages of each rank in a run with so many calls."""
    with tempfile.TemporaryDirectory() as folder:
        options = {
            "mpi_yield_when_idle": "1",
            "pml_monitoring_enable": "2",
            "pml_monitoring_enable_output": "3",
            "pml_monitoring_filename": f"{folder}/sent",
        }
        if call.startswith(FENCE):
            options["osc"] = call.removeprefix(FENCE)
        words = ["mpirun", "-np", str(ranks), "--oversubscribe"]
        for name, value in options.items():
            words += ["--mca", name, value]
        words += [str(program), call, str(block_bytes), str(calls)]
        run = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=False)
        files = [Path(folder, f"sent.{rank}.prof") for rank in range(ranks)]
        if run.returncode != 0 or not all(file.is_file() for file in files):
            raise RuntimeError(f"{' '.join(words)}: {run.stderr.strip() or 'nothing was counted'}")
        return [messages_in(file.read_text(encoding="utf-8")) for file in files]


def messages_in(report: str) -> int:
    """Messages that a rank sent, by the report of Open MPI's monitoring.

    Example:
        >>> messages_in("I\\t0\\t1\\t2560 bytes\\t10 msgs sent\\t0,10")
        10
    """
    return sum(int(found) for found in _SENT.findall(report))


def main() -> int:
    """Counts all calls of BLOCK_BYTES, and prints a table with COLUMNS."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        source, program = Path(folder, "calls.c"), Path(folder, "calls")
        source.write_text(PROGRAM, encoding="utf-8")
        subprocess.run(["mpicc", "-o", str(program), str(source)], check=True)
        for call, sizes in BLOCK_BYTES.items():
            for ranks in RANKS:
                if call.startswith(FENCE) and ranks > MOST_RANKS_WITH_FENCES:
                    continue
                for block_bytes in sizes:
                    numbers = _counted(program, call, ranks, block_bytes)
                    writer.writerow([call, ranks, block_bytes, *numbers])
                    sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
