"""Measurements of a results folder for Extra-P, which fits scaling models to them.

Format: JSON Lines, as the documentation of Extra-P has it (docs/file-formats.md, version 4): each line is one
measurement {"params": {name: number}, "callpath": text, "metric": text, "value": number}, `->` separates the
levels of a call path, every line has the same parameters, and lines that agree in all but the value are
repetitions. Its reader refuses a file in which a metric of a call path lacks one of the points (combinations
of parameters) that another has.
"""

import json
from typing import Any

import pandas as pd

from spikemark.core.errors import BadInput

from .experiment_fields import PRESET
from .frames import Frames, column_of

ROOT = "simulate"
#: Name of a parameter -> column of `runs`.
NUMBERS = {
    "ranks": "ranks", "threads": "threads", "D": "delay_ratio", "neurons": "neurons",
    "indegree": "mean_indegree",
}  # fmt: skip


def extra_p(frames: Frames, only: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """The lines of all usable records of a results folder, and complaints about the others.

    Parameters are `ranks`, `threads`, `D`, `neurons` and `indegree` (synapses per neuron, as described), and
    other numbers of the grid that do not follow from these two, as far as they vary (`ranks` where nothing
    does); other fields of the grid stand in the call path, before `simulate`. Metrics: `time` (s, mean over
    ranks) and `time_max` (s, slowest rank) of the whole run and of each phase; `real_time_factor` of the run.
    A phase that was not measured at every point has no line.

    `only`: conditions `NAME=VALUE` on what the grid varies; other runs are left out. Raises BadInput if there
    is no usable record, and if the call paths were measured at different points.
    """
    complaints = frames.left_out
    if frames.runs.empty:
        more = "".join(f"; {c}" for c in complaints[:1])
        raise BadInput(f"{frames.path}: no record that can be exported{more}")
    frames = chosen(frames, only)
    table = described(frames)
    numeric = [name for name in table if all(map(_is_number, table[name]))]
    network = ["neurons", "indegree"]

    def follows(name: str) -> bool:
        """An option of the preset that says no more than the network that it makes."""
        return name.startswith(PRESET) and not table.groupby(network)[name].nunique().gt(1).any()

    own = [name for name in numeric if name in NUMBERS or not follows(name)]
    numbers = table[[name for name in own if table[name].nunique() > 1] or ["ranks"]].to_dict("records")
    words = table[[n for n in table if n not in numeric and table[n].nunique(dropna=False) > 1]]
    above = ["".join(f"{name}={word}->" for name, word in line.items()) for line in words.to_dict("records")]
    rows = pd.DataFrame([
        {"point": str(params), "params": params, "callpath": before + path, "metric": metric, "value": value}
        for id, params, before in zip(frames.runs["id"], numbers, above, strict=True)
        for path, metric, value in _values(frames, id)
    ])  # fmt: skip
    points = rows.groupby(["callpath", "metric"])["point"].transform("nunique")
    partly = rows[points < rows["point"].nunique()]
    if gaps := [path for path in partly["callpath"] if path.endswith(ROOT)]:
        raise BadInput(
            f"Extra-P needs all call paths to be measured at the same points; {gaps[0]} lacks some; expected"
            " --only NAME=VALUE for one of them, or a grid without gaps"
        )
    for path, metric in partly[["callpath", "metric"]].drop_duplicates().to_numpy():
        complaints.append(f"{path}, {metric}: not measured at every point; left out")
    kept = rows.drop(index=partly.index, columns="point").to_dict("records")
    return "\n".join([*map(json.dumps, kept), ""]), complaints


def described(frames: Frames) -> pd.DataFrame:
    """What describes each run: NUMBERS, then the fields that the plan varies, by their names there."""
    fields = sorted({field for one in frames.planned for field in one.fields} - {"delay_ratio", *NUMBERS})
    columns = NUMBERS | {field: column_of(field) for field in fields}
    table = pd.DataFrame({name: frames.runs[column].astype(object) for name, column in columns.items()})
    return table.assign(D=[frames.records[id].delay_ratio for id in frames.runs["id"]])  # also where unused


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def chosen(frames: Frames, only: tuple[str, ...]) -> Frames:
    """The runs that meet all conditions `NAME=VALUE` on what describes them.

    Raises BadInput for a condition that no run meets.
    """

    def said(value: Any) -> str:
        """Numbers in one way, since 20 and 20.0 are the same."""
        try:
            return f"{float(value):.15g}"
        except (TypeError, ValueError):
            return str(value)

    for wanted in only:
        table, (name, _, value) = described(frames), wanted.partition("=")
        if name not in table:
            raise BadInput(f"--only: {wanted!r}; expected NAME=VALUE, with one of {', '.join(table)}")
        values = table[name].map(said)
        if not (values == said(value)).any():
            raise BadInput(f"--only: {wanted!r}; expected {name}={' or '.join(values.unique())}")
        frames = frames.with_runs(frames.runs[(values == said(value)).to_numpy()])
    return frames


def _values(frames: Frames, id: str):
    """Yields call path, metric and value."""
    run = frames.records[id]
    timing = run.record.timing
    yield ROOT, "time", float(run.ranks["simulate_s"].mean())
    yield ROOT, "time_max", timing.simulate_s
    yield ROOT, "real_time_factor", timing.real_time_factor
    for name, phase in timing.phases.items():
        if phase.mean_s is not None:
            yield f"{ROOT}->{name}", "time", phase.mean_s
            yield f"{ROOT}->{name}", "time_max", phase.max_s
