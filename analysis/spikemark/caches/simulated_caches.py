"""The kept results of simulated caches for the runs of a results folder: RESULTS/cachesim/ID.json."""

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from spikemark.core.fields import checked
from spikemark.core.reading import read_json

Count = Annotated[int, Field(ge=0)]


class Cache(BaseModel):
    """`size` and `line` in bytes, `ways`: lines of a set."""

    size: Count
    ways: Count
    line: Count


class SimulatedCaches(BaseModel):
    """What `cachesim.Outcome.content` writes, as far as the report shows it; other fields are kept out."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False)

    kind: Literal["simulated caches"]
    d1: Cache
    ll: Cache
    threads: Annotated[int, Field(ge=1)]
    simulate_ms: Annotated[float, Field(gt=0)]
    synaptic_events: Count
    first_accesses: Count
    misses: Count
    predicted: Annotated[float, Field(ge=0)]
    ranks: Annotated[list[dict], Field(min_length=1)]


def read(path: Path) -> SimulatedCaches | None:
    """The content of a file; None where there is none. Raises BadInput for one that cannot be used."""
    if not path.is_file():
        return None
    return checked(SimulatedCaches, read_json(path), path, "result")
