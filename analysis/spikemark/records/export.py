"""Measurements of a results folder for Extra-P, which fits scaling models to them.

Format: JSON Lines, as the documentation of Extra-P has it (docs/file-formats.md, version 4): each line is one
measurement {"params": {name: number}, "callpath": text, "metric": text, "value": number}, `->` separates the
levels of a call path, every line has the same parameters, and lines that agree in all but the value are
repetitions. Its reader refuses a file in which a metric of a call path lacks one of the points (combinations
of parameters) that another has.
"""

import json
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from spikemark.core.errors import BadInput

from .experiment_fields import LAYOUT, MACHINE, PRESET, PRESET_NAME
from .gather import Measured, Sweep
from .record import Run

ROOT = "simulate"


def extra_p(sweep: Sweep, only: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """The lines of all usable records of a sweep, and complaints about the others.

    Parameters are `ranks`, `threads`, `D`, `neurons` and `indegree` (synapses per neuron, as described), and
    other numbers of the grid that do not follow from these two, as far as they vary (`ranks` where nothing
    does); other fields of the grid stand in the call path, before `simulate`. Metrics: `time` (s, mean over
    ranks) and `time_max` (s, slowest rank) of the whole run and of each phase; `real_time_factor` of the run.
    A phase that was not measured at every point has no line.

    `only`: conditions `NAME=VALUE` on what the grid varies; other runs are left out. Raises BadInput if there
    is no usable record, and if the call paths were measured at different points.
    """
    runs, complaints = list(sweep.runs), list(sweep.left_out)
    if not runs:
        raise BadInput(
            f"{sweep.path}: no record that can be exported" + "".join(f"; {c}" for c in complaints[:1])
        )
    runs, numbers, words = chosen(runs, only)
    parameters = _varying(numbers) or ["ranks"]
    named = _varying(words)
    lines, points = [], defaultdict(set)
    for measured, number, word in zip(runs, numbers, words, strict=True):
        params = {name: number[name] for name in parameters}
        root = "->".join([*(f"{name}={word[name]}" for name in named), ROOT])
        for callpath, metric, value in _values(measured.run, root):
            lines.append({"params": params, "callpath": callpath, "metric": metric, "value": value})
            points[callpath, metric].add(tuple(params.values()))
    every = set().union(*points.values())
    _check_points(points, every)
    partly = [key for key, own in points.items() if own != every]
    complaints += [f"{path}, {metric}: not measured at every point; left out" for path, metric in partly]
    kept = [json.dumps(line) for line in lines if (line["callpath"], line["metric"]) not in partly]
    return "\n".join([*kept, ""]), complaints


def chosen(runs: list[Measured], only: tuple[str, ...]) -> tuple[list, list[dict], list[dict]]:
    """The runs that meet all conditions `NAME=VALUE`, their numbers and their words (see `extra_p`).

    Raises BadInput for a condition that no run meets.
    """
    numbers, words = _described(runs)
    for wanted in only:
        runs, numbers, words = _chosen(wanted, runs, numbers, words)
    return runs, numbers, words


def _chosen(wanted: str, runs: list, numbers: list[dict], words: list[dict]) -> tuple[list, list, list]:
    """The runs whose NAME is VALUE, and their descriptions."""
    name, _, value = wanted.partition("=")
    values = [_said({**number, **word}.get(name)) for number, word in zip(numbers, words, strict=True)]
    value = _said(value)
    if value not in values or name not in {**numbers[0], **words[0]}:
        known = f"{name}={' or '.join(dict.fromkeys(values))}" if values[0] != "None" else ""
        allowed = known or f"NAME=VALUE, with one of {', '.join({**numbers[0], **words[0]})}"
        raise BadInput(f"--only: {wanted!r}; allowed: {allowed}")
    rows = [
        row for row, own in zip(zip(runs, numbers, words, strict=True), values, strict=True) if own == value
    ]
    return tuple(map(list, zip(*rows, strict=True)))


def _said(value: Any) -> str:
    """A value as a condition has it; numbers in one way, since 20 and 20.0 are the same."""
    try:
        return f"{float(value):.15g}"
    except (TypeError, ValueError):
        return str(value)


def _check_points(points: dict[tuple[str, str], set], every: set) -> None:
    """Raises BadInput if call paths that differ before ROOT were measured at different points."""
    groups = {path.removesuffix(f"->{ROOT}"): own for (path, _), own in points.items() if path.endswith(ROOT)}
    if any(own != every for own in groups.values()):
        said = ", ".join(f"{name} at {len(own)}" for name, own in groups.items())
        raise BadInput(
            f"Extra-P needs all call paths to be measured at the same points; of {len(every)} points: "
            f"{said}; allowed: --only NAME=VALUE for one of them, or a grid without gaps"
        )


def _described(runs: list[Measured]) -> tuple[list[dict], list[dict]]:
    """The numbers of each run, and its words: what the grid varies that is not a number in every run."""
    numbers = [_numbers(measured.run) for measured in runs]
    words: list[dict[str, str]] = [{} for _ in runs]
    network = [(one["neurons"], one["indegree"]) for one in numbers]
    fields = {field for measured in runs for field in measured.planned.fields} - {"delay_ratio"}
    for field in sorted(fields):
        values = [_value(measured, field) for measured in runs]
        if not all(isinstance(value, int | float) and not isinstance(value, bool) for value in values):
            for word, value in zip(words, values, strict=True):
                word[field] = value if isinstance(value, str) else json.dumps(value)
        elif len(set(zip(network, values, strict=True))) > len(set(network)) or not field.startswith(PRESET):
            for number, value in zip(numbers, values, strict=True):
                number[field] = value
    return numbers, words


def _numbers(run: Run) -> dict[str, float]:
    neurons, synapses = run.record.described.neurons, run.record.described.network.synapses
    return {
        "ranks": run.record.ranks,
        "threads": run.record.threads,
        "D": run.delay_ratio,
        "neurons": neurons,
        "indegree": synapses / neurons if neurons else 0,
    }


def _value(measured: Measured, field: str) -> Any:
    """The value of a field of the grid in a run, even if the run's own entry lacks it.

    None if it is unknown.
    """
    if field == PRESET_NAME:
        return measured.preset
    if field in LAYOUT:
        return measured.planned.fields.get(field)
    if field.startswith(MACHINE):
        return getattr(measured.planned.machine, field.removeprefix(MACHINE), None)
    if field.startswith(PRESET):
        return measured.options.get(field.removeprefix(PRESET))
    at: Any = measured.description
    for step in field.split("."):
        at = at[int(step)] if isinstance(at, list) else at.get(step) if isinstance(at, dict) else None
    return at


def _varying(described: list[dict[str, Any]]) -> list[str]:
    """The names whose values are not the same in all runs."""
    return [name for name in described[0] if len({one[name] for one in described}) > 1]


def _values(run: Run, root: str) -> Iterator[tuple[str, str, float]]:
    """Yields call path, metric and value."""
    timing = run.record.timing
    yield root, "time", float(run.ranks["simulate_s"].mean())
    yield root, "time_max", timing.simulate_s
    yield root, "real_time_factor", timing.real_time_factor
    for name in timing.phases:
        phase = timing.phases[name]
        if phase.mean_s is not None:
            yield f"{root}->{name}", "time", phase.mean_s
            yield f"{root}->{name}", "time_max", phase.max_s
