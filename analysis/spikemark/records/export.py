"""Measurements of a results folder for Extra-P, which fits scaling models to them.

Format: JSON Lines, as the documentation of Extra-P has it (docs/file-formats.md, version 4): each
line is one measurement {"params": {name: number}, "callpath": text, "metric": text, "value":
number}, `->` separates the levels of a call path, every line has the same parameters, and lines
that agree in all but the value are repetitions. Its reader refuses a file in which a metric of a
call path lacks one of the points (combinations of parameters) that another has.
"""

import json
from collections.abc import Iterator
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput

from .experiment_fields import PRESET
from .frames import Frames
from .record import Run
from .runs_table import column_of

ROOT_OF_CALLS = "simulate"
#: Name of a parameter -> column of `runs`.
PARAMETERS = {
    "ranks": "ranks",
    "threads": "threads",
    "D": "delay_ratio",
    "neurons": "neurons",
    "indegree": "mean_indegree",
}
#: Parameters that say which network it is.
NETWORK_PARAMETERS = ["neurons", "indegree"]


def extra_p(frames: Frames, only: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """The lines of all usable records of a results folder, and complaints about the others.

    Parameters are `ranks`, `threads`, `D`, `neurons` and `indegree` (synapses per neuron, as
    described), and other numbers of the grid that do not follow from these two, as far as they vary
    (`ranks` where nothing does); other fields of the grid stand in the call path, before
    `simulate`. Metrics: `time` (s, mean over ranks) and `time_max` (s, slowest rank) of the whole
    run and of each phase; `real_time_factor` of the run. A phase that was not measured at every
    point has no line.

    Args:
        frames: the results folder.
        only: conditions `NAME=VALUE` on what the grid varies; other runs are left out.

    Raises BadInput if there is no usable record, and if the call paths were measured at different
    points.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> lines, complaints = extra_p(frames, only=("schedule=structure_aware",))
        >>> json.loads(lines.splitlines()[0])["params"]
        {'D': 5}
    """
    complaints = frames.left_out
    if frames.runs.empty:
        reason = "; ".join(["no record that can be exported", *complaints[:1]])
        raise BadInput(reason=reason, file=frames.path, code="file")
    frames = runs_that_meet(frames, only)
    rows = _measurements(frames)
    points = rows.groupby(["callpath", "metric"])["point"].transform("nunique")
    partly = rows[points < rows["point"].nunique()]
    for path in partly["callpath"]:
        if path.endswith(ROOT_OF_CALLS):
            raise BadInput(
                f"Extra-P needs all call paths to be measured at the same points; {path} lacks"
                " some; expected only=NAME=VALUE for one of them, or a grid without gaps",
                field="only",
            )
    for path, metric in partly[["callpath", "metric"]].drop_duplicates().to_numpy():
        complaints.append(f"{path}, {metric}: not measured at every point; left out")
    exported = rows.drop(index=partly.index, columns="point").to_dict("records")
    lines = [json.dumps(measurement) for measurement in exported]
    return "\n".join([*lines, ""]), complaints


def _measurements(frames: Frames) -> pd.DataFrame:
    """A row per value: the fields of a line of Extra-P, and `point`, its parameters as text."""
    table = _described(frames)
    names = [str(name) for name in table.columns]
    numeric = [name for name in names if all(map(_is_number, table[name]))]
    parameters = []
    for name in numeric:
        if table[name].nunique() > 1 and not _follows_from_network(table, name):
            parameters.append(name)
    numbers = table[parameters or ["ranks"]].to_dict("records")
    words = [
        name for name in names if name not in numeric and table[name].nunique(dropna=False) > 1
    ]
    contexts = [_path_of(line) for line in table[words].to_dict("records")]
    rows = []
    for id, params, context in zip(frames.runs["id"], numbers, contexts, strict=True):
        for path, metric, value in _values(frames.records[id]):
            rows.append(
                {
                    "point": str(params),
                    "params": params,
                    "callpath": context + path,
                    "metric": metric,
                    "value": value,
                }
            )
    return pd.DataFrame(rows)


def _follows_from_network(table: pd.DataFrame, name: str) -> bool:
    """Says whether a parameter is an option of the preset that says no more than the network."""
    if not name.startswith(PRESET):
        return False
    values_of_network = table.groupby(NETWORK_PARAMETERS)[name].nunique()
    return not values_of_network.gt(1).any()


def _path_of(fields: dict[Any, Any]) -> str:
    """The levels of a call path for fields that are no numbers: `schedule=conventional->`."""
    return "".join(f"{name}={value}->" for name, value in fields.items())


def _described(frames: Frames) -> pd.DataFrame:
    """What describes each run: PARAMETERS, then the fields that the plan varies.

    Fields have their names in the plan. D is as run, also where the schedule does not use it.
    """
    fields: set[str] = set()
    for planned in frames.planned:
        fields.update(planned.fields)
    columns = dict(PARAMETERS)
    for field in sorted(fields - {"delay_ratio", *PARAMETERS}):
        columns[field] = column_of(field)
    table = pd.DataFrame(
        {name: frames.runs[column].astype(object) for name, column in columns.items()}
    )
    table["D"] = [frames.records[id].delay_ratio for id in frames.runs["id"]]
    return table


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def runs_that_meet(frames: Frames, only: tuple[str, ...]) -> Frames:
    """The runs that meet all conditions `NAME=VALUE` on what describes them.

    Raises BadInput for a condition that no run meets.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> len(frames.runs), len(runs_that_meet(frames, ("D=10",)).runs)
        (3, 2)
    """
    for condition in only:
        table = _described(frames)
        name, _, value = condition.partition("=")
        if name not in table:
            expected = f"NAME=VALUE, with one of {', '.join(table.columns)}"
            raise BadInput(f"only: {condition!r}; expected {expected}", field="only")
        values = table[name].map(_as_text)
        meets = values == _as_text(value)
        if not meets.any():
            possible = [str(text) for text in values.unique()]
            expected = f"{name}={' or '.join(possible)}"
            raise BadInput(f"only: {condition!r}; expected {expected}", field="only")
        frames = frames.with_runs(frames.runs[meets.to_numpy()])
    return frames


def _as_text(value: Any) -> str:
    """A value as text; numbers in one way, since 20 and 20.0 are the same."""
    try:
        return f"{float(value):.15g}"
    except (TypeError, ValueError):
        return str(value)


def _values(run: Run) -> Iterator[tuple[str, str, float | None]]:
    """Call path, metric and value of everything that is exported of a run."""
    timing = run.record.timing
    yield ROOT_OF_CALLS, "time", float(run.ranks["simulate_s"].mean())
    yield ROOT_OF_CALLS, "time_max", timing.simulate_s
    yield ROOT_OF_CALLS, "real_time_factor", timing.real_time_factor
    for name, phase in timing.phases.items():
        if phase.mean_s is not None:
            yield f"{ROOT_OF_CALLS}->{name}", "time", phase.mean_s
            yield f"{ROOT_OF_CALLS}->{name}", "time_max", phase.max_s
