"""The content of a results folder as tidy pandas frames, from which pages, studies and diffs are made.

`runs` has a row per complete run, `phases` one per run and phase, `ranks` one per run and rank. Cycle logs
stay on disk: `Frames.records` has the record of each run with its memory-mapped arrays.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, reduce
from pathlib import Path
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.network.description import Description, read
from spikemark.network.schedules import SCHEDULES

from .experiment_fields import LAYOUT, MACHINE, PRESET
from .judged import OVERSUBSCRIBED
from .phases import PARTS
from .plan import Plan, Planned
from .record import Run
from .results import Results, load_planned

#: Cores that other programs kept busy on a node of the run. From here on its times are no evidence of speed.
DISTURBED_CORES = 0.2
#: Columns of `runs` that tell configurations apart: how a network was run, apart from where and how often.
CONFIGURATION = ("schedule", "placement", "delay_ratio", "lag", "exchange", "wire")
SWEPT = "swept."  # prefix of the columns that hold the fields of the experiment's grid
PART = "part."  # prefix of the columns that hold the time of the parts of a cycle

TEXT, WHOLE, REAL, TRUTH = "string", "Int64", "float64", "boolean"
#: The columns of `runs` by dtype, in order. `name=path`: taken from a Run as it is; the others in `_row`.
#: Runs that share `network` must share a checksum. Times of parts are in s per simulated second, so they add
#: up to the real-time factor; other times are in s, sizes in bytes, energy in J. Missing values are NA.
COLUMNS = (
    (TEXT, "id label title kind=record.kind machine preset network schedule=schedule placement=placement"),
    (TEXT, "exchange wire"),
    (WHOLE, "delay_ratio lag ranks=record.ranks threads=record.threads nodes=record.host.nodes seed"),
    (WHOLE, "repetition neurons=. synapses=. spikes=. synaptic_events=. external_events=."),
    (WHOLE, "first_accesses=. lookups=. messages=. bytes_sent=. cycles=record.timing.cycles"),
    (REAL, "mean_indegree model_s=record.timing.model_s build_s=record.timing.build_s"),
    (REAL, "simulate_s=record.timing.simulate_s real_time_factor=record.timing.real_time_factor"),
    (REAL, " ".join(PART + part for part in PARTS)),
    (REAL, "timer_overhead=record.timing.timer_overhead foreign_load"),
    (TRUTH, "oversubscribed disturbed counting"),
    (WHOLE, "peak_bytes=record.memory.peak_bytes"),
    (REAL, "bytes_per_synapse=record.memory.bytes_per_synapse energy_j=record.energy.gross_j"),
    (REAL, "energy_per_event_uj"),
    (TEXT, "checksum=record.checksum spike_checksum=record.spike_checksum commit=record.provenance.commit"),
    (TEXT, "started=record.provenance.started host=record.host.name cpu=record.host.cpu"),
    (TEXT, "cluster=launched.allocation.cluster job=launched.allocation.job"),
    (TRUTH, "dirty=record.provenance.dirty"),
    (REAL, "began_s=launched.began_s wall_s=launched.wall_s"),
)
_SPLIT = [(dtype, *one.split("=")) for dtype, names in COLUMNS for one in names.split()]
RUNS: dict[str, str] = {name: dtype for dtype, name, *_ in _SPLIT}
_PATHS = {
    name: f"record.totals.{name}" if path == "." else path for _, name, *paths in _SPLIT for path in paths
}
PHASES = {"id": TEXT, "phase": TEXT, "mean_s": REAL, "max_s": REAL, "reason": TEXT}


@dataclass(frozen=True)
class Frames:
    """`runs`: columns RUNS, then `swept.FIELD` for each field of the grid; `phases`: columns PHASES.

    `failed` and `unreadable`: run id -> why there is no row. `planned`: all runs of the plan, empty for a
    single run.
    """

    path: Path
    name: str
    title: str
    machine: str
    runs: pd.DataFrame
    phases: pd.DataFrame
    records: dict[str, Run] = field(repr=False)
    planned: list[Planned] = field(default_factory=list, repr=False)
    failed: dict[str, str] = field(default_factory=dict)
    unreadable: dict[str, str] = field(default_factory=dict)

    @cached_property
    def ranks(self) -> pd.DataFrame:
        """ranks.csv of all runs, with the run's id in front."""
        tables = [run.ranks.assign(id=id) for id, run in self.records.items()]
        return pd.concat(tables, ignore_index=True) if tables else pd.DataFrame({"id": [], "rank": []})

    @property
    def missing(self) -> list[Planned]:
        """Runs of the plan that have neither a record nor a reason why not."""
        known = {*self.records, *self.failed, *self.unreadable}
        return [one for one in self.planned if one.id not in known]

    @property
    def left_out(self) -> list[str]:
        """One line for every record that cannot be used, with the reason."""
        labels = {planned.id: planned.label for planned in self.planned}
        return [f"{labels[id]}: left out: {why}" for id, why in self.unreadable.items()]

    @property
    def swept(self) -> list[str]:
        """Columns that differ between runs: fields of the grid, ranks and threads; not seed or repetition."""
        grid = [name for name in self.runs if name.startswith(SWEPT)]
        columns = dict.fromkeys(("ranks", "threads", *CONFIGURATION, *grid))
        doubled = {SWEPT + name for name in columns}
        return [name for name in columns if name not in doubled and self.runs[name].nunique(dropna=False) > 1]

    def with_runs(self, runs: pd.DataFrame) -> "Frames":
        """The same folder with fewer runs."""
        kept = {id: self.records[id] for id in runs["id"]}
        return replace(self, runs=runs, phases=self.phases[self.phases["id"].isin(list(kept))], records=kept)


def load_folder(folder: Path) -> Frames:
    """The results folder of a sweep. Raises BadInput if it has no plan.json, or another file than a plan.

    A record that cannot be used has a reason in `unreadable`.
    """
    results = Results(Path(folder))
    plan = results.read_plan()
    rows, phases, records, failed, unreadable = [], [], {}, {}, {}
    fields = dict.fromkeys(field for one in plan.runs for field in one.fields)
    for planned in plan.runs:
        log = results.failure(planned.id)
        if not results.measured(planned.id):
            if log.is_file():
                lines = log.read_text(errors="replace").split("\n")
                failed[planned.id] = next(filter(None, map(str.strip, lines)), "no reason given")
            continue
        try:
            run = load_planned(results, planned, verified=True)
            rows.append(_row(run, planned, plan, fields))
        except BadInput as error:
            unreadable[planned.id] = str(error)
            continue
        records[planned.id] = run
        phases += [
            {"id": planned.id, "phase": name, "mean_s": one.mean_s, "max_s": one.max_s, "reason": one.reason}
            for name, one in run.record.timing.phases.items()
        ]
    return Frames(
        results.path.resolve(), plan.experiment.name, plan.experiment.title, plan.machine,
        _typed(rows, RUNS), _typed(phases, PHASES), records, plan.runs, failed, unreadable,
    )  # fmt: skip


def configurations(runs: pd.DataFrame) -> pd.Series:
    """What to call the configuration of each run: its schedule, with what else tells it from the others."""
    alike = runs.groupby(["schedule", "placement", "delay_ratio", "lag"], observed=True, dropna=False)
    further = [name for name in ("exchange", "wire") if (alike[name].nunique() > 1).any()]

    def named(row: Any) -> str:
        known = SCHEDULES.get(row["schedule"])
        schedule = known.label if known else row["schedule"].replace("_", " ")
        words = {
            f"D\u00a0=\u00a0{row['delay_ratio']}": known is None or known.uses_delay_ratio,
            f"lag\u00a0{row['lag']}": row["lag"] > 1,
            f"placement {row['placement']}": row["placement"] != (known.placement if known else "area"),
            **{f"{name} {row[name]}": bool(row[name]) for name in further},
        }
        shown = ", ".join(word for word, is_so in words.items() if is_so)
        return f"{schedule} ({shown})" if shown else schedule

    return runs.apply(named, axis=1).astype(TEXT)


def _at(value: Any, path: str) -> Any:
    """What lies at a path of attributes; None where there is none on the way."""
    return reduce(lambda at, name: None if at is None else getattr(at, name), path.split("."), value)


def _row(run: Run, planned: Planned, plan: Plan, fields: Iterable[str]) -> dict[str, Any]:
    """The row of `runs`; `fields`: of the grid. Raises BadInput for an impossible description."""
    record, description, model_s = run.record, run.record.description, run.record.timing.model_s
    known = SCHEDULES.get(run.schedule)
    described = _described(json.dumps(description | {"seed": 0}, sort_keys=True))
    network = [description.get(key) for key in ("seed", "network", "time")]
    measured = record.kind == "measured"
    load_cores = record.host.foreign_load if measured else None
    row = {name: _at(run, path) for name, path in _PATHS.items()}
    events = record.totals.synaptic_events + record.totals.external_events
    name, options = preset_of(plan, planned)
    options = options | {"name": name}
    swept = {column: field for field in fields if (column := column_of(field)).startswith(SWEPT)}
    return row | {
        "id": planned.id,
        "label": planned.label,
        "title": plan.experiment.title,
        "machine": planned.machine.name if planned.machine else plan.machine,
        "preset": name,
        "network": hashlib.sha256(json.dumps(network, sort_keys=True).encode()).hexdigest()[:12],
        "exchange": by_lane(description["exchange"]),
        "wire": by_lane(description.get("wire", "")),
        "delay_ratio": 1 if known and not known.uses_delay_ratio else run.delay_ratio,
        "lag": described.lag if known and known.lagged else 1,
        "seed": description.get("seed"),
        "repetition": planned.repetition,
        "mean_indegree": described.network.synapses / described.neurons if described.neurons else 0,
        **{PART + part: None if (s := run.spent_s(part)) is None else s / model_s for part in PARTS},
        "foreign_load": load_cores,
        "oversubscribed": measured and any(text.startswith(OVERSUBSCRIBED) for text in record.warnings),
        "disturbed": load_cores is not None and load_cores >= DISTURBED_CORES,
        "counting": description["record"].get("counters") is True,
        "energy_per_event_uj": 1e6 * row["energy_j"] / events if row["energy_j"] and events else None,
        **{column: _swept(field, planned, options, description) for column, field in swept.items()},
    }


@lru_cache(256)
def _described(text: str) -> Description:
    """A description as an object; most runs of a sweep differ in the seed alone."""
    return read(json.loads(text))


def _short(field: str) -> str:
    """A field of the grid without its prefix."""
    return field.removeprefix(PRESET).removeprefix(MACHINE)


def column_of(field: str) -> str:
    """The column of `runs` that holds a field of the grid."""
    return _short(field) if _short(field) in RUNS else SWEPT + _short(field)


def _swept(field: str, planned: Planned, options: dict[str, Any], description: dict[str, Any]) -> Any:
    """The value of a field of the grid in a run, even where its own entry lacks it; lists as text."""
    value: Any = description
    if field in planned.fields or field in LAYOUT:
        value = planned.fields.get(field)
    elif field.startswith(MACHINE):
        value = getattr(planned.machine, _short(field), None)
    elif field.startswith(PRESET):
        value = options.get(_short(field))
    else:
        for step in field.split("."):
            value = dict(enumerate(value)) if isinstance(value, list) else value
            value = value.get(int(step) if step.isdecimal() else step) if isinstance(value, dict) else None
    return json.dumps(value, sort_keys=True) if isinstance(value, list | dict) else value


def by_lane(value: str | dict[str, str]) -> str:
    """What a description gives for all lanes, or lane by lane: each name once."""
    if isinstance(value, str):
        return value
    return " and ".join(dict.fromkeys(name for _, name in sorted(value.items(), key=str)))


def preset_of(plan: Plan, planned: Planned) -> tuple[str | None, dict[str, Any]]:
    """The name of a run's preset, and the options that it was given."""
    source = plan.experiment.preset
    own = source and source.name
    name = planned.fields.get(f"{PRESET}name", own)
    varied = {f.removeprefix(PRESET): v for f, v in planned.fields.items() if f.startswith(PRESET)}
    return name, {**(source.options if source and name == own else {}), **varied}


def _typed(rows: list[dict[str, Any]], dtypes: dict[str, str]) -> pd.DataFrame:
    frame = pd.DataFrame(rows)
    return frame.reindex(columns=[*dtypes, *frame.columns.difference(dtypes, sort=False)]).astype(dtypes)
