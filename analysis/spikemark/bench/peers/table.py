"""peers.parquet: one row per trial of a comparison."""

from dataclasses import dataclass
from typing import Any

import pandas as pd
import pandera.pandas as pa

from spikemark.running.quiet import Conditions

from .store import Attempt, Store
from .trials import Plan, Trial, events_per_spike


@dataclass(frozen=True)
class Compared:
    """A quantity that is compared; `name` is its column. Factors above 1 mean that the mini-app is ahead."""

    name: str
    title: str
    unit: str
    larger_is_better: bool


#: The ways in which users compare simulators.
COMPARED = (
    Compared("speed", "speed", "simulated s / s", True),
    Compared("events_per_s_core", "synaptic events", "1 / s / core", True),
    Compared("bytes_per_synapse", "memory", "B / synapse", False),
    Compared("build_s", "build time", "s", False),
)


def contract():
    """The pandera contract of the table, in seconds and bytes.

    Missing where a program does not report a value.

    `synaptic_events` are counted by the program or, where `events_counted` is false, expected for its spikes.
    Memory per synapse is all that was resident at the peak; of it, `baseline_bytes` before the network was
    built.
    `foreign_load`: cores that others kept busy; `disturbed`: more than allowed, in each attempt.
    """
    text, truth, not_negative = pa.Column("str"), pa.Column("bool"), pa.Check.ge(0)
    number, unknown = (pa.Column("float64", not_negative, nullable=missing) for missing in (False, True))
    nullable_count = pa.Column("Int64", not_negative, nullable=True)
    return pa.DataFrameSchema(
        {
            **dict.fromkeys(("id", "program", "title", "version", "model"), text),
            **dict.fromkeys(("threads", "round", "attempts", "neurons"), pa.Column("int64", pa.Check.ge(1))),
            **dict.fromkeys(("synapses", "spikes"), pa.Column("int64", not_negative)),
            **dict.fromkeys(("mean_rate_hz", "build_s", "synaptic_events"), number),
            **dict.fromkeys(("simulate_s", "model_s", "speed"), pa.Column("float64", pa.Check.gt(0))),
            "events_counted": truth,
            "events_per_s_core": number,
            **dict.fromkeys(("peak_bytes", "baseline_bytes"), nullable_count),
            **dict.fromkeys(("bytes_per_synapse", "foreign_load"), unknown),
            "waited_s": number,
            "disturbed": truth,
            **dict.fromkeys(("started", "host"), text),
        },
        coerce=True,
        strict=True,
        unique=["program", "threads", "round"],
    )


def table(plan: Plan, store: Store, conditions: Conditions) -> pd.DataFrame:
    """The trials that have a result, in the order of measuring."""
    rows, titles = [], {program.name: program.title for program in plan.programs}
    for trial in plan.trials:
        attempt = store.result(trial, conditions)
        if attempt is not None:
            attempts = len(store.attempts(trial))
            expected = events_per_spike(plan.description)
            row = _row(trial, attempt, expected)
            row |= {"title": titles[trial.program], "attempts": attempts}
            rows.append(row | {"disturbed": attempt.disturbed(conditions)})
    frame = pd.DataFrame(rows, columns=list(contract().columns))
    return contract().validate(frame)


def _row(trial: Trial, attempt: Attempt, expected_events: float) -> dict[str, Any]:
    figures = attempt.figures
    counted = figures.synaptic_events is not None
    events = figures.synaptic_events if counted else figures.spikes * expected_events
    shared = (
        "neurons",
        "synapses",
        "spikes",
        "build_s",
        "simulate_s",
        "model_s",
        "peak_bytes",
        "baseline_bytes",
    )
    memory = None
    if figures.peak_bytes is not None and figures.synapses:
        memory = figures.peak_bytes / figures.synapses
    return {
        "id": trial.id,
        "program": trial.program,
        "threads": trial.threads,
        "round": trial.round,
        "version": figures.version,
        "model": figures.model,
        **{name: getattr(figures, name) for name in shared},
        "mean_rate_hz": figures.mean_rate_hz,
        "synaptic_events": float(events),
        "events_counted": counted,
        "speed": figures.model_s / figures.simulate_s,
        "events_per_s_core": events / figures.simulate_s / trial.threads,
        "bytes_per_synapse": memory,
        "foreign_load": attempt.foreign_load,
        "waited_s": attempt.content["waited_s"],
        "started": attempt.content["started"],
        "host": attempt.content["host"],
    }
