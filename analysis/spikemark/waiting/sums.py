"""The answer for a program of which only sums over whole runs are known: its efficiencies."""

from dataclasses import dataclass
from typing import Any

import pandas as pd

from spikemark.quantities.answer import Answer, Screen
from spikemark.records.imported import Sums


@dataclass(frozen=True, repr=False)
class SumsAnswer(Answer):
    """Efficiencies of POP, from sums over whole runs.

    `table` has a row for each run: its ranks, its run time in s, and efficiencies from 0 to 1.
    """

    verb = "waiting"

    sums: Sums

    @property
    def sentence(self) -> str:
        """What is known, in words."""
        return "Without times of cycles, only efficiencies over whole runs are known."

    @property
    def table(self) -> pd.DataFrame:
        """Run times in s, and efficiencies."""
        rows = []
        for run in self.sums.runs:
            row: dict[str, Any] = {"run": run.name, "ranks": run.ranks, "run_s": max(run.run_s)}
            for name, efficiency in run.efficiency.items():
                row[name] = efficiency.value
            rows.append(row)
        return pd.DataFrame(rows)

    def content(self) -> dict[str, Any]:
        """The sums and the efficiencies of each run."""
        return self.sums.content

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark waiting` prints."""
        return Screen([], [self.sums.table], warnings=list(self.sums.remarks))
