"""From run records to tables: one row per run, and one row per run and phase."""

import hashlib
import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spikemark.core.errors import BadInput, shown
from spikemark.core.files import write_atomically

from . import record
from .plan import Planned
from .record_fields import Totals
from .results import Results

if TYPE_CHECKING:
    import pandas as pd

#: The mini-app writes numbers with 15 digits.
DIGITS = 1e-14

#: Parts of a description that decide which spikes a network fires; the rest decides how they travel.
DECISIVE = ("seed", "time", "network")


@dataclass
class Collection:
    """`runs`: one row per run; `phases`: one row per run and phase; `complaints`: what is wrong with them."""

    runs: "pd.DataFrame"
    phases: "pd.DataFrame"
    complaints: list[str]


def runs_contract():
    """The pandera contract of summary.parquet.

    Times in seconds. `phase_<name>_mean_s` and `_max_s` follow for every phase; missing where not measured.
    """
    import pandera.pandas as pa

    positive, not_negative = pa.Check.ge(1), pa.Check.ge(0)
    checksum = pa.Check.str_matches("^[0-9a-f]{16}$")
    text = {
        name: pa.Column("str") for name in ("label", "schedule", "placement", "exchange", "fields", "network")
    }
    counts = {f"total_{name}": pa.Column("int64", not_negative) for name in Totals.model_fields}
    seconds = {
        name: pa.Column("float64", not_negative) for name in ("build_s", "simulate_s", "real_time_factor")
    }
    phases = {
        r"^phase_.+_(mean|max)_s$": pa.Column(
            "float64", not_negative, nullable=True, regex=True, required=False
        )
    }
    return pa.DataFrameSchema(
        {
            "id": pa.Column("str", unique=True),
            **text,
            **{
                name: pa.Column("int64", positive)
                for name in ("ranks", "threads", "repetition", "delay_ratio")
            },
            "seed": pa.Column("int64", not_negative),
            "cycles": pa.Column("int64", positive),
            **counts,
            **seconds,
            "model_s": pa.Column("float64", pa.Check.gt(0)),
            "timer_overhead": pa.Column("float64", not_negative),
            **phases,
            "peak_bytes": pa.Column("Int64", not_negative, nullable=True),
            "checksum": pa.Column("str", checksum),
            "spike_checksum": pa.Column("str", checksum),
            "commit": pa.Column("str", nullable=True),
            "started": pa.Column("str"),
            "host": pa.Column("str"),
        },
        coerce=True,
        strict=True,
    )


def phases_contract():
    """The pandera contract of phases.parquet; `reason` says why a time is missing."""
    import pandera.pandas as pa

    seconds = pa.Column("float64", pa.Check.ge(0), nullable=True)
    columns = {"id": pa.Column("str"), "phase": pa.Column("str"), "mean_s": seconds, "max_s": seconds}
    return pa.DataFrameSchema(
        {**columns, "reason": pa.Column("str", nullable=True)},
        coerce=True,
        strict=True,
        unique=["id", "phase"],
    )


def collect(results: Results) -> Collection:
    """Read every record of the plan that is there and write `summary.parquet` and `phases.parquet`.

    A record that cannot be read, or that is of another run than planned, is left out and named in the
    complaints; so are runs of one network whose checksums differ: all ways to simulate it must give the same
    spikes. Raises BadInput if the folder has no plan.
    """
    import pandas as pd

    rows, phases, complaints = [], [], []
    for planned in results.read_plan().runs:
        if not results.measured(planned.id):
            continue
        try:
            run = load(results, planned)
        except BadInput as error:
            complaints.append(f"{planned.label}: left out: {error}")
            continue
        rows.append(_row(planned, run))
        for name, times in run.record.timing.phases.items():
            phases.append([planned.id, name, times.mean_s, times.max_s, times.reason])
    runs_table = pd.DataFrame(rows, columns=None if rows else list(_plain_columns()))
    phases_table = pd.DataFrame(phases, columns=list(phases_contract().columns))
    collection = Collection(
        runs_contract().validate(runs_table), phases_contract().validate(phases_table), complaints
    )
    complaints += checksum_complaints(collection.runs)
    write_atomically(results.summary, collection.runs.to_parquet(index=False))
    write_atomically(results.phases, collection.phases.to_parquet(index=False))
    return collection


def checksum_complaints(runs: "pd.DataFrame") -> list[str]:
    """One line per network whose runs do not all have one checksum."""
    complaints = []
    for _, group in runs.groupby("network", sort=False):
        found = {checksum: list(part["label"]) for checksum, part in group.groupby("checksum")}
        if len(found) > 1:
            named = "; ".join(f"{c} in {len(names)} runs such as {names[0]!r}" for c, names in found.items())
            complaints.append(f"CHECKSUMS DIFFER for one network, a schedule or exchange is wrong: {named}")
    return complaints


def load(results: Results, planned: Planned) -> record.Run:
    """The record of a planned run.

    Raises BadInput if it cannot be read, or is of another run than planned: simulated and not measured or
    the other way round, of other ranks or threads, or of a description that lacks or changes a field of the
    one written with the plan.
    """
    description = results.read_description(planned.id)
    if description.get("delay_ratio") == "auto":  # the record has the number it stood for
        del description["delay_ratio"]
    wanted = {"ranks": planned.ranks, "threads": planned.threads, "description": description}
    kind = "measured" if planned.machine is None else "simulated"
    try:
        run = record.load(results.run(planned.id))
        if run.record.kind != kind:  # one page never mixes them
            raise BadInput(f"{run.path}: record.kind={run.record.kind!r}; the plan says {kind!r}")
        for what, value in wanted.items():
            if complaint := difference(value, getattr(run.record, what), what):
                raise BadInput(f"{run.path}: {complaint}")
    except BadInput as error:
        raise BadInput(f"{error}; delete the folder of the run to measure it again") from None
    return run


def difference(planned: Any, found: Any, where: str) -> str | None:
    """What `found` lacks of `planned`, or has otherwise; None if it has all. Further fields do not matter."""
    if isinstance(planned, dict) and isinstance(found, dict):
        for name, value in planned.items():
            if name not in found:
                return f"{where}.{name} is missing; the plan says {shown(value)}"
            if complaint := difference(value, found[name], f"{where}.{name}"):
                return complaint
        return None
    if isinstance(planned, list) and isinstance(found, list) and len(planned) == len(found):
        parts = enumerate(zip(planned, found, strict=True))
        return next((text for i, (p, f) in parts if (text := difference(p, f, f"{where}.{i}"))), None)
    return None if _equal(planned, found) else f"{where}={shown(found)}; the plan says {shown(planned)}"


def _equal(planned: Any, found: Any) -> bool:
    numbers = [isinstance(value, int | float) and not isinstance(value, bool) for value in (planned, found)]
    if not all(numbers) or (isinstance(planned, int) and isinstance(found, int)):
        return type(planned) is type(found) and planned == found
    try:
        return math.isclose(planned, found, rel_tol=DIGITS)
    except OverflowError:  # an integer beyond all floating-point numbers
        return False


def _plain_columns() -> list[str]:
    return [name for name, column in runs_contract().columns.items() if not column.regex]


def _row(planned: Planned, run: record.Run) -> dict[str, Any]:
    found = run.record
    exchange = found.description.get("exchange")
    decisive = json.dumps([found.description.get(part) for part in DECISIVE], sort_keys=True)
    row = {
        "id": planned.id,
        "label": planned.label,
        "schedule": run.schedule,
        "placement": run.placement,
        "exchange": exchange if isinstance(exchange, str) else json.dumps(exchange, sort_keys=True),
        "fields": json.dumps(planned.fields, sort_keys=True),
        "network": hashlib.sha256(decisive.encode()).hexdigest()[:12],
        "ranks": found.ranks,
        "threads": found.threads,
        "repetition": planned.repetition,
        "delay_ratio": run.delay_ratio,
        "seed": planned.seed,
        "cycles": found.timing.cycles,
        **{f"total_{name}": getattr(found.totals, name) for name in Totals.model_fields},
        "build_s": found.timing.build_s,
        "simulate_s": found.timing.simulate_s,
        "real_time_factor": found.timing.real_time_factor,
        "model_s": found.timing.model_s,
        "timer_overhead": found.timing.timer_overhead,
    }
    for name, times in found.timing.phases.items():
        row[f"phase_{name}_mean_s"] = times.mean_s
        row[f"phase_{name}_max_s"] = times.max_s
    return row | {
        "peak_bytes": found.memory.peak_bytes,
        "checksum": found.checksum,
        "spike_checksum": found.spike_checksum,
        "commit": found.provenance.commit,
        "started": found.provenance.started,
        "host": found.host.name,
    }
