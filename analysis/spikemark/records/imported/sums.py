"""Sums of times over a whole run, which say nothing about single cycles: `imported.json` in a folder.

They allow load balance and the efficiencies of POP (waiting/sums.py). Whatever needs cycles refuses them.
"""

import shlex
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json

KIND = "imported sums"
Time = Annotated[float, Field(ge=0)]


class Summed(BaseModel):
    """Sums of one run in s, one for each rank, or a single mean over ranks (`of` says which).

    `run_s`: state propagation; `communicate_s`: the part of it in collective calls; `wait_s`: the part of
    that spent waiting, None where it was not timed. `model_s`: simulated time, None where nobody knows.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    name: str
    of: Literal["ranks", "mean"]
    ranks: Annotated[int, Field(ge=1)] | None
    run_s: Annotated[list[Time], Field(min_length=1)]
    communicate_s: list[Time]
    wait_s: list[Time] | None = None
    model_s: Annotated[float, Field(gt=0)] | None = None

    @model_validator(mode="after")
    def _fit(self) -> "Summed":
        waits = self.communicate_s if self.wait_s is None else self.wait_s
        if not len(self.run_s) == len(self.communicate_s) == len(waits):
            raise ValueError("as many times of each kind are needed")
        for run, communicate, wait in zip(self.run_s, self.communicate_s, waits, strict=True):
            if not wait <= communicate <= run:
                raise ValueError(
                    f"{self.name}: {wait:g} s of {communicate:g} s of {run:g} s; each within the next"
                )
        return self


class Sums(BaseModel):
    """imported.json of sums."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    format_version: Literal[1] = 1
    kind: Literal[KIND] = KIND
    reader: str
    files: Annotated[list[str], Field(min_length=1)]
    runs: Annotated[list[Summed], Field(min_length=1)]
    remarks: list[str] = []


def is_sums(content: object) -> bool:
    """True if this is what imported.json holds for sums."""
    return isinstance(content, dict) and content.get("kind") == KIND


def refuse(path: Path) -> BadInput:
    """Why a folder of sums does not answer a question about cycles."""
    return BadInput(
        f"{path}: holds sums over whole runs; this needs the time of every rank in every cycle"
        f" (docs/imported.md). What sums allow: spikemark budget {shlex.quote(str(path))}"
    )


def load(path: Path) -> Sums:
    """The sums in a file imported.json. Raises BadInput naming what is wrong."""
    return checked(Sums, read_json(path), path, "an import")
