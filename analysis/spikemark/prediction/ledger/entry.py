"""One line of a ledger: what was predicted, of which run, by what, and when."""

import hashlib
import json
import math
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from spikemark.quantities.quantity import KINDS

VERSION = 1
ORIGIN = "0" * 64  # stands for the digest of the line before the first
STAMP = "%Y-%m-%dT%H:%M:%SZ"
#: What a prediction is about, by name: what a reader may want to know the hit rate of.
ASKED = {
    "network": "a network that the machine had not run",
    "schedule": "another schedule",
    "delay_ratio": "another D",
    "ranks": "another number of ranks",
    "whatif": "a change to a run",
    "dry_run": "ranks of a larger machine, measured one by one",
    "simulation": "a run that was simulated before",
}
#: What predicted, by name.
METHODS = {
    "profile": "kernel times and messages of a profile (`predict --machine`)",
    "dry_run+profile": "computing from a dry run, the rest from a profile (`predict --compute-from`)",
    "dry_run": "computing of the sampled ranks (`dryrun`)",
    "simulation": "a simulated run (`simulate`)",
    "iid": "independent normal cycle times (`predict RUN_DIR`, `whatif`)",
    "correlated": "parts of the cycle times of a run (`predict RUN_DIR`, `whatif`)",
    "replay": "the cycle times of a run, replayed (`predict RUN_DIR`, `whatif`)",
}

Digest = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
Text = Annotated[str, Field(min_length=1, max_length=300)]
Count = Annotated[int, Field(ge=1, le=10**9)]


class Strict(BaseModel):
    """A line is written by us alone, so nothing else may stand in it."""

    model_config = ConfigDict(strict=True, allow_inf_nan=False, extra="forbid", frozen=True)


class Figure(Strict):
    """A predicted number with its 95 % interval. `kind` is a key of quantity.KINDS."""

    value: float
    low: float
    high: float
    unit: str
    kind: Annotated[str, Field(pattern=f"^({'|'.join(KINDS)})$")]

    @model_validator(mode="after")
    def _in_order(self) -> "Figure":
        if not self.low <= self.value <= self.high:
            raise ValueError(f"value={self.value:g} is not between low={self.low:g} and high={self.high:g}")
        return self


class Lane(Strict):
    """A lane of the run; `exchange` is None if no rank meets another one in it."""

    name: Text
    period: Count
    lag: Annotated[int, Field(ge=0)]
    exchange: Text | None


class About(Strict):
    """The run that is predicted. `machine`: on which machine it is simulated; None for a measured run."""

    kind: Literal["measured", "simulated"]
    machine: Text | None
    ranks: Count
    threads: Count
    lanes: Annotated[list[Lane], Field(min_length=1)]
    placement: Text
    description: dict[str, Any]


class Profile(Strict):
    """The profile that the prediction rests on, and the digest of its values (machines/digest.py)."""

    name: Text
    digest: Annotated[str, Field(pattern=r"^[0-9a-f]{16}$")]


class Software(Strict):
    """The version of Spikemark, and the commit of its checkout where that is known."""

    version: Text
    commit: Text | None


class Entry(Strict):
    """One frozen prediction. `limits` says where the intervals come from."""

    format_version: Literal[1]
    kind: Literal["prediction"]
    number: Count
    frozen: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")]
    asked: Annotated[str, Field(pattern=f"^({'|'.join(ASKED)})$")]
    method: Text
    figures: Annotated[dict[str, Figure], Field(min_length=1)]
    limits: Text
    run: About
    run_sha256: Digest
    profile: Profile | None
    source: Text
    source_sha256: Digest
    spikemark: Software
    previous: Digest
    sha256: Digest

    @model_validator(mode="after")
    def _method_known(self) -> "Entry":
        if self.method not in METHODS:
            raise ValueError(f"method={self.method!r}; allowed: {', '.join(METHODS)}")
        return self

    @property
    def when(self) -> datetime:
        """The time at which it was frozen."""
        return moment(self.frozen)

    @property
    def label(self) -> str:
        """The run in a few words."""
        run, description = self.run, self.run.description
        periods = [lane.period for lane in run.lanes if lane.exchange is not None]
        words = [str(description["schedule"]) if isinstance(description["schedule"], str) else "lanes"]
        words += [f"D = {max(periods)}"] if periods and max(periods) > 1 else []
        sizes = [p.get("size", 0) for p in description["network"].get("populations", [])]
        where = f" on {run.machine}" if run.machine else ""
        return f"{sum(sizes):,} neurons, {', '.join(words)}, {run.ranks} x {run.threads}{where}".replace(
            ",", "\N{NARROW NO-BREAK SPACE}", 1 if sum(sizes) >= 1000 else 0
        )


def digest(content: Any) -> str:
    """SHA-256 of JSON, whatever the order of its keys."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def own_digest(content: dict[str, Any]) -> str:
    """The digest that a line should have: of all that it says besides."""
    return digest({name: value for name, value in content.items() if name != "sha256"})


def line(content: dict[str, Any]) -> str:
    """A line of the file."""
    return json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n"


def moment(stamp: str) -> datetime:
    """The time of a stamp as in records, UTC. Raises ValueError for none, such as 30 February."""
    return datetime.strptime(stamp, STAMP).replace(tzinfo=UTC)


def now() -> datetime:
    """The present time, to the second, as stamps have it."""
    return datetime.now(UTC).replace(microsecond=0)


def figure(value: float, limits: tuple[float, float], unit: str, kind: str) -> dict[str, float | str] | None:
    """The fields of a Figure; None where a number or a limit is infinite, since that could not fail."""
    if not all(map(math.isfinite, (value, *limits))):
        return None
    low, high = (float(x) for x in limits)
    return {
        "value": float(value), "low": min(low, float(value)), "high": max(high, float(value)),
        "unit": unit, "kind": kind,
    }  # fmt: skip
