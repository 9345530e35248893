"""Parts of a calibration, which are started again if a program fails on nodes of an allocation."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from spikemark.bench.kept import BenchFailed
from spikemark.running.carry_out import RunFailed

#: Failures that a calibration on an allocation survives. (Open MPI 4.1 over TCP crashed in MPI_Init in 8 of
#: 352 starts with two ranks on each of two nodes of a private Slurm; with one rank it does so more rarely.)
FAILURES = 3
Part = TypeVar("Part")


class Parts:
    """Carries parts out, each in a new folder below `workspace`; `spare` of all starts may fail.

    `failed`: the reasons of the starts that failed.
    """

    def __init__(self, workspace: Path, spare: int):
        self._workspace, self._spare = workspace, spare
        self.failed: list[str] = []

    def __call__(self, part: Callable[[Path], Part]) -> Part:
        """Returns what `part` returns. Raises BenchFailed or RunFailed once too many have failed."""
        while True:
            try:
                return part(Path(tempfile.mkdtemp(dir=self._workspace)))
            except (BenchFailed, RunFailed) as reason:
                if len(self.failed) == self._spare:
                    raise
                self.failed.append(str(reason))
