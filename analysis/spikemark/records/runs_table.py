"""The tables of a results folder: their columns, and how a row is made of a run.

To add a column to the table of runs, add it to RUN_COLUMNS with its dtype and fill it in the
function that makes rows of its kind (`_how_it_ran`, `_counts`, `_times`, `_origin`). Its entry in
quantities/terms.yaml has the heading, unit and meaning that pages and docs/columns.md show; the
latter is made from it (`.venv/bin/cog -r docs/columns.md docs/glossary.md`).
"""

import json
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from spikemark.core import digests
from spikemark.network.description import Description, read_description
from spikemark.network.presets import PRESETS
from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.terms import term

from .experiment_fields import LAYOUT, MACHINE_PREFIX, PRESET
from .judged import FOREIGN_CORES, OVERSUBSCRIBED
from .phases import PARTS
from .plan import Planned, SweepPlan
from .record import Run
from .schema import TotalCounts

if TYPE_CHECKING:
    import pandas as pd

#: Cores that other programs keep busy on a node of a run, from where its times are no evidence of
#: speed.
DISTURBED_CORES = FOREIGN_CORES
SWEPT = "swept."  # prefix of the columns that hold the fields of the experiment's grid
PART = "part."  # prefix of the columns that hold the time of the parts of a cycle
UNIT_OF_PARTS = "s / s"  #: wall-clock time per simulated time
MICROJOULE = 1e6  # in a joule

#: Dtypes of columns, each of which allows missing values.
TEXT: Literal["string"] = "string"
INTEGER: Literal["Int64"] = "Int64"
REAL: Literal["float64"] = "float64"
TRUTH: Literal["boolean"] = "boolean"
#: The columns of the table of runs and their dtypes, in order. Runs that share `network` must share
#: a checksum. Times of parts are in s per simulated second, so they add up to the real-time factor;
#: other times are in s, sizes in bytes, energy in J. Missing values are NA.
RUN_COLUMNS: dict[str, str] = {
    "id": TEXT,
    "label": TEXT,
    "title": TEXT,
    "kind": TEXT,
    "machine": TEXT,
    "preset": TEXT,
    "network": TEXT,
    "schedule": TEXT,
    "placement": TEXT,
    "exchange": TEXT,
    "wire": TEXT,
    "delay_ratio": INTEGER,
    "lag": INTEGER,
    "ranks": INTEGER,
    "threads": INTEGER,
    "nodes": INTEGER,
    "seed": INTEGER,
    "repetition": INTEGER,
    "neurons": INTEGER,
    "synapses": INTEGER,
    "spikes": INTEGER,
    "synaptic_events": INTEGER,
    "external_events": INTEGER,
    "first_accesses": INTEGER,
    "lookups": INTEGER,
    "messages": INTEGER,
    "bytes_sent": INTEGER,
    "cycles": INTEGER,
    "mean_indegree": REAL,
    "model_s": REAL,
    "build_s": REAL,
    "simulate_s": REAL,
    "real_time_factor": REAL,
    **{PART + part: REAL for part in PARTS},
    "timer_overhead": REAL,
    "foreign_load": REAL,
    "throttled_load": REAL,
    "oversubscribed": TRUTH,
    "disturbed": TRUTH,
    "counting": TRUTH,
    "too_short": TRUTH,
    "peak_bytes": INTEGER,
    "bytes_per_synapse": REAL,
    "energy_j": REAL,
    "energy_per_event_uj": REAL,
    "checksum": TEXT,
    "spike_checksum": TEXT,
    "commit": TEXT,
    "started": TEXT,
    "host": TEXT,
    "cpu": TEXT,
    "cluster": TEXT,
    "job": TEXT,
    "dirty": TRUTH,
    "began_s": REAL,
    "wall_s": REAL,
}
#: The columns of the table of phases, which has a row per run and phase; times in s.
PHASE_COLUMNS: dict[str, str] = {
    "id": TEXT,
    "phase": TEXT,
    "mean_s": REAL,
    "max_s": REAL,
    "reason": TEXT,
}


def unit_of(column: str) -> str:
    """The unit of a column of results; empty for a count, a ratio, or no number.

    Example:
        >>> unit_of("simulate_s"), unit_of("part.deliver"), unit_of("schedule")
        ('s', 's / s', '')
    """
    if column.startswith(PART):
        return UNIT_OF_PARTS
    return term(column).unit


def units_of(frame: "pd.DataFrame") -> dict[str, str]:
    """Units by column, of those that have one.

    Example:
        >>> import pandas as pd
        >>> units_of(pd.DataFrame({"id": ["a"], "mean_s": [1.5]}))
        {'mean_s': 's'}
    """
    units = {str(column): unit_of(str(column)) for column in frame.columns}
    return {column: unit for column, unit in units.items() if unit}


def typed(rows: list[dict[str, Any]], dtypes: dict[str, str]) -> "pd.DataFrame":
    """A frame of rows; columns and dtypes are RUN_COLUMNS or PHASE_COLUMNS, then all others.

    Example:
        >>> typed([{"id": "a", "mean_s": 1.0}], PHASE_COLUMNS).dtypes["mean_s"].name
        'float64'
    """
    import pandas as pd  # takes a third of the time to import of a sweep

    frame = pd.DataFrame(rows)
    others = frame.columns.difference([*dtypes], sort=False)
    typed_frame: pd.DataFrame = frame.reindex(columns=[*dtypes, *others]).astype(dtypes)
    for column in others:
        typed_frame[column] = _of_one_type(typed_frame[column])
    return typed_frame


def _of_one_type(values: "pd.Series") -> "pd.Series":
    """Values of a field of a grid; where some are text, such as lists, all of them become text."""
    is_text = values.map(lambda value: isinstance(value, str))
    if not is_text.any() or is_text[values.notna()].all():
        return values
    return values.map(
        lambda value: value if isinstance(value, str) else json.dumps(value), na_action="ignore"
    )


def row_of(
    run: Run,
    planned: Planned,
    plan: SweepPlan,
    fields: Iterable[str],
) -> dict[str, Any]:
    """The row of a run in the table of runs.

    Args:
        run: the record.
        planned: the run as planned in `plan`.
        plan: of the sweep.
        fields: fields of the grid, over all runs of the plan.

    Raises BadInput for an impossible description.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.results import Results, load_planned
        >>> results = Results(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> plan = results.read_plan()
        >>> row = row_of(load_planned(results, plan.runs[0]), plan.runs[0], plan, fields=())
        >>> row["schedule"], row["ranks"]
        ('structure_aware', 4)
    """
    preset, options = preset_of(plan, planned)
    row = {
        "id": planned.id,
        "label": planned.label,
        "title": plan.experiment.title,
        "machine": planned.machine.name if planned.machine else plan.machine,
        "preset": preset,
        "repetition": planned.repetition,
    }
    row |= _how_it_ran(run) | _counts(run.record.totals) | _times(run) | _origin(run)
    for field in fields:
        column = column_of(field)
        if column.startswith(SWEPT):
            value = _swept(field, planned, options | {"name": preset}, run.record.description)
            row[column] = value
    return row


def rows_of_phases(run: Run, id: str) -> list[dict[str, Any]]:
    """The rows of a run in the table of phases.

    Example:
        >>> from spikemark.records.record import load_run
        >>> rows = rows_of_phases(load_run("tests/golden/analysis/records/aware-4"), "aware-4")
        >>> [row["phase"] for row in rows][:3]
        ['deliver', 'update', 'thread_wait']
    """
    return [
        {
            "id": id,
            "phase": name,
            "mean_s": time.mean_s,
            "max_s": time.max_s,
            "reason": time.reason,
        }
        for name, time in run.record.timing.phases.items()
    ]


def _how_it_ran(run: Run) -> dict[str, Any]:
    """The network and the configuration of a run."""
    record = run.record
    description = record.description
    described = _described(json.dumps(description | {"seed": 0}, sort_keys=True))
    schedule = SCHEDULES.get(run.schedule)
    delay_ratio = run.delay_ratio
    if schedule and not schedule.uses_delay_ratio:
        delay_ratio = 1
    lag = 1
    if schedule and schedule.lagged:
        lag = described.lag
    mean_indegree = 0.0
    if described.neurons:
        mean_indegree = described.network.synapses / described.neurons
    return {
        "kind": record.kind,
        "network": _digest_of_network(description),
        "schedule": run.schedule,
        "placement": run.placement,
        "exchange": by_lane(description["exchange"]),
        "wire": by_lane(description.get("wire", "")),
        "delay_ratio": delay_ratio,
        "lag": lag,
        "ranks": record.ranks,
        "threads": record.threads,
        "nodes": record.host.nodes,
        "seed": description.get("seed"),
        "mean_indegree": mean_indegree,
        "counting": description["record"].get("counters") is True,
    }


def _digest_of_network(description: dict[str, Any]) -> str:
    """A hash of all that decides the spikes: seed, network and times."""
    network = [description.get(key) for key in ("seed", "network", "time")]
    return digests.digest(network)[:12]


def _counts(totals: TotalCounts) -> dict[str, int | None]:
    """Counts of the measured part, over all ranks."""
    return {
        "neurons": totals.neurons,
        "synapses": totals.synapses,
        "spikes": totals.spikes,
        "synaptic_events": totals.synaptic_events,
        "external_events": totals.external_events,
        "first_accesses": totals.first_accesses,
        "lookups": totals.lookups,
        "messages": totals.messages,
        "bytes_sent": totals.bytes_sent,
    }


def _times(run: Run) -> dict[str, Any]:
    """Times, memory and energy of a run, and whether its times are evidence of speed."""
    record = run.record
    timing = record.timing
    measured = record.kind == "measured"
    foreign_load = record.host.foreign_load if measured else None
    throttled_load = record.host.throttled_load if measured else None
    events = record.totals.synaptic_events + record.totals.external_events
    energy_j = record.energy.gross_j if record.energy else None
    energy_per_event_uj = None
    if energy_j and events:
        energy_per_event_uj = MICROJOULE * energy_j / events
    oversubscribed = any(text.startswith(OVERSUBSCRIBED) for text in record.warnings)
    parts: dict[str, float | None] = {}
    for part in PARTS:
        seconds = run.spent_s(part)
        parts[PART + part] = None if seconds is None else seconds / timing.model_s
    return {
        "cycles": timing.cycles,
        "model_s": timing.model_s,
        "build_s": timing.build_s,
        "simulate_s": timing.simulate_s,
        "real_time_factor": timing.real_time_factor,
        **parts,
        "timer_overhead": timing.timer_overhead,
        "foreign_load": foreign_load,
        "throttled_load": throttled_load,
        "oversubscribed": measured and oversubscribed,
        "disturbed": bool(run.disturbed(shared=False)),
        "too_short": bool(run.too_short),
        "peak_bytes": record.memory.peak_bytes,
        "bytes_per_synapse": record.memory.bytes_per_synapse,
        "energy_j": energy_j,
        "energy_per_event_uj": energy_per_event_uj,
    }


def _origin(run: Run) -> dict[str, Any]:
    """Checksums, and which program made the record, where and when."""
    record = run.record
    launch = run.launched
    allocation = launch.allocation if launch else None
    cluster = job = None
    if allocation:
        cluster = allocation.cluster
        job = allocation.job
    return {
        "checksum": record.checksum,
        "spike_checksum": record.spike_checksum,
        "commit": record.provenance.commit,
        "dirty": record.provenance.dirty,
        "started": record.provenance.started,
        "host": record.host.name,
        "cpu": record.host.cpu,
        "cluster": cluster,
        "job": job,
        "began_s": launch.began_s if launch else None,
        "wall_s": launch.wall_s if launch else None,
    }


@lru_cache(256)
def _described(text: str) -> Description:
    """A description as an object; most runs of a sweep differ in the seed alone."""
    return read_description(json.loads(text))


def _short(field: str) -> str:
    """A field of the grid without its prefix."""
    return field.removeprefix(PRESET).removeprefix(MACHINE_PREFIX)


def column_of(field: str) -> str:
    """The column of the table of runs that holds a field of the grid.

    Example:
        >>> column_of("ranks"), column_of("preset.areas")
        ('ranks', 'swept.areas')
    """
    name = _short(field)
    return name if name in RUN_COLUMNS else SWEPT + name


def _swept(
    field: str,
    planned: Planned,
    options: dict[str, Any],
    description: dict[str, Any],
) -> Any:
    """The value of a field of the grid in a run, even where its own entry lacks it.

    Lists and mappings are JSON text.

    Args:
        field: of the grid.
        planned: the run as planned.
        options: of its preset, and its `name`.
        description: as run.
    """
    if field in planned.fields or field in LAYOUT:
        value = planned.fields.get(field)
    elif field.startswith(MACHINE_PREFIX):
        value = getattr(planned.machine, _short(field), None)
    elif field.startswith(PRESET):
        value = options.get(_short(field), _default(options["name"], _short(field)))
    else:
        value = _value_at(description, field)
    if isinstance(value, list | dict):
        return json.dumps(value, sort_keys=True)
    return value


def _default(preset: str | None, option: str) -> Any:
    """What a preset takes for an option that it is not given; None where nobody knows."""
    if preset not in PRESETS:
        return None
    field = PRESETS[preset].options.model_fields.get(option)
    return None if field is None or field.is_required() else field.default


def _value_at(description: dict[str, Any], path: str) -> Any:
    """The value of `path.to.field` in a description, list items by number; None where none is."""
    value: Any = description
    for step in path.split("."):
        if isinstance(value, list):
            in_list = step.isdecimal() and int(step) < len(value)
            value = value[int(step)] if in_list else None
        elif isinstance(value, dict):
            value = value.get(step)
        else:
            return None
    return value


def by_lane(value: str | dict[str, str]) -> str:
    """What a description gives for all lanes, or lane by lane: each name once.

    Example:
        >>> by_lane({"local": "neighbor", "global": "alltoallv"})
        'alltoallv and neighbor'
    """
    if isinstance(value, str):
        return value
    names = [name for _, name in sorted(value.items(), key=str)]
    return " and ".join(dict.fromkeys(names))


def preset_of(plan: SweepPlan, planned: Planned) -> tuple[str | None, dict[str, Any]]:
    """The name of a run's preset, and the options that it was given.

    Options of the experiment hold for its own preset only, not for another one in the grid.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.results import Results
        >>> plan = Results(Path("docs/notebooks/data/waiting/jureca-dc")).read_plan()
        >>> name, options = preset_of(plan, plan.runs[0])
        >>> name, options["delay_ratio"]
        ('mam-benchmark', 10)
    """
    source = plan.experiment.preset
    source_name = source.name if source else None
    name = planned.fields.get(f"{PRESET}name", source_name)
    options: dict[str, Any] = {}
    if source and name == source_name:
        options |= source.options
    for field, value in planned.fields.items():
        if field.startswith(PRESET):
            options[field.removeprefix(PRESET)] = value
    return name, options
