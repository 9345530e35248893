"""NEST's stopwatches of each rank: text files `logfile_<rank>` of the kernel's status.

A line is `key value`. The values are sums over a run. `time_simulate` is the propagation of the state,
`time_communicate_spike_data` the part in collective calls, `time_mpi_synchronization` the part of that at a
barrier before them (NEST built `with-mpi-sync-timer`). Of one number for each thread, the largest counts.
"""

import re
from pathlib import Path

from spikemark.core.errors import BadInput

from .found import Asked
from .join import in_order, missing, processes_of, ranks_of
from .sums import Summed, Sums
from .tables import contents

NAME, SUMMARY = "nest-sums", "NEST's stopwatches, logfile_<rank> with a `key value` per line: sums only"
LOG = "logfile_"
RUN, COMMUNICATED, SYNCHRONISED = "time_simulate", "time_communicate_spike_data", "time_mpi_synchronization"
LINE = re.compile(r"([A-Za-z_]\w*) (.*)")
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|nan|inf")


def recognises(path: Path) -> bool:
    """True if the file is called as beNNch's models call it."""
    return path.name.startswith(LOG)


def read(files: list[Path], asked: Asked) -> Sums:
    """What the files say. Raises BadInput naming the file and what is wrong."""
    files = in_order(files)
    kernels = [key_values(path) for path in files]
    for path, kernel in zip(files, kernels, strict=True):
        for name in (RUN, COMMUNICATED):
            if name not in kernel:
                raise BadInput(f"{path}: no {name}; needed: NEST built with-detailed-timers")
    waits = [max(kernel[SYNCHRONISED]) for kernel in kernels if SYNCHRONISED in kernel]
    (processes,) = kernels[0].get("num_processes", [None])[:1]
    lacking = missing(ranks_of(files), processes_of(files[0], processes))
    remarks = (
        [f"missing: {', '.join(map(str, lacking))} of the ranks; a mean is that of the others"]
        if lacking
        else []
    )
    run = {
        "name": files[0].parent.resolve().name, "of": "ranks", "ranks": len(files) + len(lacking),
        "run_s": [max(kernel[RUN]) for kernel in kernels],
        "communicate_s": [max(kernel[COMMUNICATED]) for kernel in kernels],
        "wait_s": waits if len(waits) == len(kernels) and any(waits) else None,
    }  # fmt: skip
    return made(files, NAME, [run], remarks)


def made(files: list[Path], reader: str, runs: list[dict], remarks: list[str] = ()) -> Sums:
    """Checked sums. Raises BadInput for impossible ones."""
    try:
        found = [Summed(**run) for run in runs]
    except ValueError as error:
        raise BadInput(f"{files[0]}: {error.errors()[0]['msg']}") from None
    return Sums(reader=reader, files=[str(path) for path in files], runs=found, remarks=list(remarks))


def key_values(path: Path) -> dict[str, list[float]]:
    """Numbers by key; lines without one are left out. A list of numbers may go on over several lines."""
    found, name = {}, None
    for line in contents(path, lambda file: file.read_text(errors="replace")).splitlines():
        begins = LINE.match(line)
        if begins:
            name, line = begins.groups()
            found.pop(name, None)  # later lines of a key count
        text = line.strip(" []()\t")
        if name and text and all(NUMBER.fullmatch(word.strip(",")) for word in text.split()):
            found.setdefault(name, []).extend(float(word.strip(",")) for word in text.split())
        else:
            name = None
    return found
