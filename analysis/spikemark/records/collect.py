"""Tables for other tools, made from a gathered sweep: one row per run, and one row per run and phase.

`summary.parquet` and `phases.parquet` are an export: nothing in Spikemark reads them, since pages and studies
are made from the records themselves.
"""

import json
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pandera.pandas as pa

from spikemark.core.files import write_atomically

from .agreement import complaints
from .gather import Measured, Sweep
from .record_fields import Totals
from .results import Results


@dataclass
class Collection:
    """`runs`: one row per run; `phases`: one row per run and phase.

    `complaints`: what is wrong with the runs.
    """

    runs: pd.DataFrame
    phases: pd.DataFrame
    complaints: list[str]


def runs_contract():
    """The pandera contract of summary.parquet.

    Times in seconds, `began_s` since the Unix epoch. `node_of_rank` is a JSON list of names.
    `phase_<name>_mean_s` and `_max_s` follow for every phase; missing where not measured.
    """
    positive, not_negative = pa.Check.ge(1), pa.Check.ge(0)
    checksum = pa.Check.str_matches("^[0-9a-f]{16}$")
    text, time = pa.Column("str"), pa.Column("float64", not_negative)
    phase = pa.Column("float64", not_negative, nullable=True, regex=True, required=False)
    return pa.DataFrameSchema(
        {
            "id": pa.Column("str", unique=True),
            **dict.fromkeys(("label", "schedule", "placement", "exchange", "fields", "network"), text),
            **dict.fromkeys(("ranks", "threads", "repetition", "delay_ratio"), pa.Column("int64", positive)),
            "seed": pa.Column("int64", not_negative),
            "cycles": pa.Column("int64", positive),
            **{
                f"total_{name}": pa.Column("int64", not_negative)
                if field.is_required()
                else pa.Column("Int64", not_negative, nullable=True)  # older records lack it
                for name, field in Totals.model_fields.items()
            },
            **dict.fromkeys(("build_s", "simulate_s", "real_time_factor"), time),
            "model_s": pa.Column("float64", pa.Check.gt(0)),
            "timer_overhead": time,
            r"^phase_.+_(mean|max)_s$": phase,
            "peak_bytes": pa.Column("Int64", not_negative, nullable=True),
            **dict.fromkeys(("checksum", "spike_checksum"), pa.Column("str", checksum)),
            "commit": pa.Column("str", nullable=True),
            **dict.fromkeys(("started", "host"), text),
            "nodes": pa.Column("int64", positive),
            **dict.fromkeys(("node_of_rank", "cluster", "job"), pa.Column("str", nullable=True)),
            "began_s": pa.Column("float64", nullable=True),
        },
        coerce=True,
        strict=True,
    )


def phases_contract():
    """The pandera contract of phases.parquet; `reason` says why a time is missing."""
    seconds = pa.Column("float64", pa.Check.ge(0), nullable=True)
    columns = {"id": pa.Column("str"), "phase": pa.Column("str"), "mean_s": seconds, "max_s": seconds}
    return pa.DataFrameSchema(
        {**columns, "reason": pa.Column("str", nullable=True)},
        coerce=True,
        strict=True,
        unique=["id", "phase"],
    )


def collect(sweep: Sweep) -> Collection:
    """Write `summary.parquet` and `phases.parquet` of a sweep into its results folder.

    The complaints name the records that were left out, and networks whose runs differ in their checksums: all
    ways to simulate a network must give the same spikes.
    """
    rows = [_row(measured) for measured in sweep.runs]
    phases = [
        [measured.planned.id, name, times.mean_s, times.max_s, times.reason]
        for measured in sweep.runs
        for name, times in measured.run.record.timing.phases.items()
    ]
    columns = [name for name, column in runs_contract().columns.items() if not column.regex]
    runs_table = pd.DataFrame(rows, columns=None if rows else columns)
    phases_table = pd.DataFrame(phases, columns=list(phases_contract().columns))
    collection = Collection(
        runs_contract().validate(runs_table),
        phases_contract().validate(phases_table),
        [*sweep.left_out, *complaints(sweep)],
    )
    results = Results(sweep.path)
    write_atomically(results.summary, collection.runs.to_parquet(index=False))
    write_atomically(results.phases, collection.phases.to_parquet(index=False))
    return collection


def _row(measured: Measured) -> dict[str, Any]:
    planned, run = measured.planned, measured.run
    found = run.record
    exchange = found.description.get("exchange")
    allocation = run.launched.allocation if run.launched else None
    row = {
        "id": planned.id,
        "label": planned.label,
        "schedule": run.schedule,
        "placement": run.placement,
        "exchange": exchange if isinstance(exchange, str) else json.dumps(exchange, sort_keys=True),
        "fields": json.dumps(planned.fields, sort_keys=True),
        "network": measured.network,
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
        "nodes": found.host.nodes,
        "node_of_rank": None if run.node_of_rank is None else json.dumps(run.node_of_rank),
        "cluster": run.cluster,
        "job": allocation.job if allocation else None,
        "began_s": run.launched.began_s if run.launched else None,
    }
