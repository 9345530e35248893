"""Did anything go wrong: checksums, disturbed runs, failures, and where the numbers come from."""

import json
from collections.abc import Iterable, Sequence
from pathlib import PurePath
from typing import Any

import numpy as np
import pandas as pd

from spikemark.quantities.elements import Box, Section
from spikemark.quantities.quantity import FEWEST
from spikemark.quantities.words import counted, listed, number, percent
from spikemark.records.collect import differing_checksums
from spikemark.records.frames import Frames
from spikemark.records.results import Results
from spikemark.report import plots
from spikemark.report.answer import SweepAnswer, agreement, taken
from spikemark.report.comparison import SPEED
from spikemark.report.facts import few
from spikemark.report.measured_by import planned_experiment

LINKS = "Links lead to the files of a run as long as this page lies in its results folder."
TITLE = "Checks: did anything go wrong?"
COSTLY_TIMERS = 0.02  # share of a run spent reading the clock that deserves a line
#: Columns of runs that something is to be said of, and what.
REMARKS = {
    "oversubscribed": "had more threads than cores: the times are no evidence of speed",
    "disturbed": "lost processors to other programs or to a quota",
    "dirty": "ran code that was changed after its commit",
}
ODD_LEVEL = 0.99  # at which a run differs from its siblings by more than chance
LEAST_ODD = 0.01  # share of its time by which a run has to differ to be named
MAX_ODD = 3  # runs that are named
MAX_GROUPS = 6  # of disturbed runs that have a line
MIN_DRAWS = 400  # that the largest distance by chance rests on
MAX_DRAWN = 400_000  # numbers, as long as there are so many draws
LOST_CORES = ["foreign_load", "throttled_load"]
MAX_DISTINCT = 4  # values that are shown of what runs share
#: What is shown of simulation.json, by its fields.
SIMULATED = {
    "machine": "simulated machine",
    "compute": "compute times",
    "facts": "simulated network",
    "simgrid": "SimGrid",
}
SHOWN_OF_RUNS = ("real_time_factor", "foreign_load", "checksum")
#: Starts of warnings that the page says in other words.
SAID_ELSEWHERE = ("oversubscribed", "foreign load", "virtual machine")
MIXED = {"commit": "commits", "host": "hosts", "cpu": "models of processors", "machine": "machines"}


def section(sweep: SweepAnswer) -> Section:
    """One sentence, the cautions, the runs, provenance.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> section(sweep).text[0]
        'Nothing wrong in the results (3 runs have 1 checksum); 1 caution.'
    """
    frames = sweep.frames
    if not frames.planned and frames.runs.empty:
        return Section("checks", TITLE, missing=["Checks: no run is complete."])
    differing = differing_checksums(frames)
    boxes = [Box("bad", line) for line in differing]
    odd, farthest = odd_runs(sweep)
    wary = (*_cautions(frames), *disturbed_groups(sweep), *odd)
    boxes += [Box("wary", line) for line in wary]
    tables = [
        plots.tabulated(_runs_table(frames), "Runs", [LINKS]),
        plots.tabulated(_provenance(frames), "Provenance"),
    ]
    text = [_sentence(frames, len(differing), len(boxes))]
    if farthest:
        text.append(farthest)
    filled = [table for table in tables if table.rows]
    return Section("checks", TITLE, text, boxes=boxes, tables=filled)


def _sentence(frames: Frames, differing: int, remarks: int) -> str:
    """Whether anything went wrong.

    `differing`: networks whose checksums differ. `remarks`: what stands below the sentence.
    """
    if differing:
        networks = counted(differing, "network")
        return f"Yes: {networks} gave different checksums; do not use the times."
    if remarks:
        return (
            f"Nothing wrong in the results ({agreement(frames.runs)});"
            f" {counted(remarks, 'caution')}."
        )
    return f"No: {agreement(frames.runs)}, and nothing disturbed the runs."


def odd_runs(sweep: SweepAnswer) -> tuple[list[str], str]:
    """Runs that differ from their siblings by more than chance, a line each; else the farthest.

    Siblings are the undisturbed runs of one configuration, case and number of ranks. A run is
    compared with the median of its group; the scatter is the median of the absolute differences of
    all runs, so that neither follows the odd ones. The limit is what the farthest of as many normal
    draws in groups of these sizes exceeds in 1 of 100 (drawn, from a fixed seed). Too short runs,
    and those with fewer than FEWEST siblings, have nothing to be compared with.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> odd_runs(answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))))
        ([], '')
    """
    runs = _beside_siblings(sweep)
    size = runs["above"].abs()
    if runs.empty or size.max() < LEAST_ODD:
        return [], ""
    sizes = runs.groupby("siblings").size().tolist()
    limit = max(size.median() * farthest_of_normal(sizes), LEAST_ODD)
    odd = runs[size > limit]
    if len(odd):
        lines = odd.sort_values("above", key=abs, ascending=False).apply(_beside, axis=1)
        more = "more than chance explains"
        return [f"{line}, {more}." for line in lines[:MAX_ODD]], ""
    farthest = _beside(runs.iloc[int(size.to_numpy().argmax())])
    return [], f"{farthest}: the most of all undisturbed runs, but no more than chance."


def farthest_of_normal(sizes: Sequence[int]) -> float:
    """How far the farthest of normal draws in groups lies from the median of its group.

    In multiples of the median of these distances, at ODD_LEVEL. `sizes`: draws of each group.

    Example:
        >>> round(farthest_of_normal([1000]))
        6
    """
    rng = np.random.default_rng(1)
    draws = max(MIN_DRAWS, MAX_DRAWN // sum(sizes))
    distances = []
    for size in sizes:
        drawn = rng.standard_normal((draws, size))
        distances.append(np.abs(drawn - np.median(drawn, axis=1, keepdims=True)))
    together = np.concatenate(distances, axis=1)
    scatter = np.median(together, axis=1)
    return float(np.quantile(together.max(axis=1) / scatter, ODD_LEVEL))


def _beside_siblings(sweep: SweepAnswer) -> pd.DataFrame:
    """The undisturbed runs with enough siblings: id, number and size of their group, and by how
    much the logarithm of their time is above the median of the group.
    """
    rows = []
    groups = 0
    for comparison in sweep.comparisons:
        if comparison.too_short:
            continue
        calm = comparison.complete[~comparison.complete["disturbed"]]
        for _, siblings in calm.groupby("configuration", sort=False):
            if len(siblings) <= FEWEST:
                continue
            logs = np.log(siblings[SPEED].to_numpy(dtype=float))
            above = logs - np.median(logs)
            for id, difference in zip(siblings["id"], above, strict=True):
                row = {"id": id, "siblings": groups, "size": len(logs), "above": difference}
                rows.append(row)
            groups += 1
    return pd.DataFrame(rows, columns=["id", "siblings", "size", "above"])


def _beside(run: pd.Series) -> str:
    """By how much a run, of `_beside_siblings`, was above or below its group."""
    factor = float(np.exp(run["above"]))
    more = "longer" if factor > 1 else "less"
    return (
        f"Run `{run['id']}` took {percent(abs(factor - 1), 1)} {more} than the median of"
        f" {run['size']} undisturbed runs like it"
    )


def disturbed_groups(sweep: SweepAnswer) -> list[str]:
    """Which runs of a configuration were disturbed, by how much, and what the others took.

    A line for each case, number of ranks and configuration of which other runs were not disturbed,
    the largest load first; of more than MAX_GROUPS, the rest is counted. A last line has those of
    which every run was.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> disturbed_groups(answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))))
        []
    """
    lines = []
    wholly = []
    for comparison in sweep.comparisons:
        for name, runs in comparison.complete.groupby("configuration", sort=False):
            group = f"{name} on {comparison.where}"
            disturbed = runs[runs["disturbed"]]
            if len(disturbed) == len(runs):
                wholly.append(group)
            elif len(disturbed):
                load = _lost_cores(disturbed).max()
                lines.append((load, _disturbed_line(group, runs)))
    lines.sort(key=lambda line: -line[0])
    shown = [text for _, text in lines[:MAX_GROUPS]]
    more = len(lines) - len(shown)
    if more:
        groups = counted(more, "more configuration", "more configurations")
        shown.append(f"Some runs of {groups} were disturbed: see the loads in the table of runs.")
    if wholly:
        shown.append(f"Every run was disturbed of {few(wholly)}.")
    return shown


def _lost_cores(disturbed: pd.DataFrame) -> pd.Series:
    """Cores that other programs or quotas took from each of these runs."""
    return disturbed[LOST_CORES].max(axis=1).fillna(0.0)


def _disturbed_line(group: str, runs: pd.DataFrame) -> str:
    """How many of the runs of a group were disturbed, which, and what the others took."""
    disturbed = runs[runs["disturbed"]]
    loads = disturbed.assign(cores=_lost_cores(disturbed))
    worst_first = loads.sort_values("cores", ascending=False, kind="stable")
    named = []
    for run in worst_first[:MAX_ODD].to_dict("records"):
        load = f" ({number(run['cores'], 2)} cores)" if run["cores"] else ""
        named.append(f"`{run['id']}`{load}")
    if len(worst_first) > MAX_ODD:
        named.append(f"{len(worst_first) - MAX_ODD} more")
    were = "was" if len(disturbed) == 1 else "were"
    what = f"{len(disturbed)} of {counted(len(runs), 'run')} of {group} {were} disturbed"
    calm = runs[~runs["disturbed"]]
    factor = number(float(calm[SPEED].median()))
    slowest = number(float(disturbed[SPEED].max()))
    clean = "the other has" if len(calm) == 1 else "the others have, in the median,"
    return (
        f"{what}, as {taken(disturbed)}: {listed(named)}; {clean} a real-time factor of {factor},"
        f" disturbed ones up to {slowest}."
    )


def _cautions(frames: Frames) -> list[str]:
    """What to be wary of, one line each, the most severe first."""
    runs = frames.runs
    return [
        *_incomplete(frames),
        *_remarked_runs(runs),
        *_lost_starts(frames),
        *_costly_clocks(runs),
        *_mixed_origins(runs),
        *_warnings(frames),
    ]


def _incomplete(frames: Frames) -> list[str]:
    """Failed and unreadable runs."""
    labels = {run.id: run.label for run in frames.planned}
    reasons = frames.failed | frames.unreadable
    return [f"{labels.get(id, id)}: {reason}" for id, reason in reasons.items()]


def _remarked_runs(runs: pd.DataFrame) -> list[str]:
    """How many runs something is to be said of."""
    lines = []
    for column, words in REMARKS.items():
        count = int(runs[column].fillna(False).sum())
        if not count:
            continue
        line = f"{counted(count, 'run')} {words}"
        if column == "disturbed":
            lost_cores = runs[LOST_CORES].max().max()
            line += f" (up to {number(lost_cores, 2)} cores)"
        lines.append(f"{line}.")
    return lines


def _lost_starts(frames: Frames) -> list[str]:
    """Planned runs of which nobody knows when they began."""
    if not frames.planned:
        return []
    lost = [run for run in frames.records.values() if run.launched is None]
    if not lost:
        return []
    return [f"launch.json of {counted(len(lost), 'run')} is lost: when they began is unknown."]


def _costly_clocks(runs: pd.DataFrame) -> list[str]:
    """Reading the clock, where it took much of a run."""
    if runs.empty:
        return []
    share = runs["timer_overhead"].max()
    if not share > COSTLY_TIMERS:
        return []
    return [f"Reading the clock took up to {percent(share, 1)} of a run."]


def _mixed_origins(runs: pd.DataFrame) -> list[str]:
    """Measured runs of several commits or machines."""
    if not (runs["kind"] == "measured").all():
        return []
    several = {words: runs[column].nunique() for column, words in MIXED.items()}
    return [f"The runs come from {count} {words}." for words, count in several.items() if count > 1]


def _warnings(frames: Frames) -> list[str]:
    """What the mini-app warned of and nothing else says, the last one of each kind."""
    by_kind = {}
    for run in frames.records.values():
        for text in run.record.warnings:
            if not text.startswith(SAID_ELSEWHERE):
                kind = text.split(":")[0].split(",")[0]
                by_kind[kind] = text
    return [f"A run warns: {text}" for text in by_kind.values()]


def _runs_table(frames: Frames) -> pd.DataFrame:
    """Every planned run, where it lies, and what became of it."""
    by_id = frames.runs.set_index("id")
    not_complete = frames.failed | frames.unreadable
    rows = []
    for planned in frames.planned:
        row: dict[str, object] = {"label": planned.label}
        row |= {"id": planned.id, "folder": None}
        if planned.id in by_id.index:
            run = by_id.loc[planned.id]
            row["state"] = "complete"
            row["folder"] = _folder(frames, planned.id)
            row |= {name: run[name] for name in SHOWN_OF_RUNS}
        else:
            row["state"] = not_complete.get(planned.id, "not run yet").splitlines()[0]
            row["folder"] = _log(frames, planned.id)
            row |= dict.fromkeys(SHOWN_OF_RUNS)
        rows.append(row)
    return pd.DataFrame(rows)


def _folder(frames: Frames, id: str) -> str:
    """Where a run lies, from the results folder."""
    path = frames.records[id].path
    return str(path.relative_to(frames.path)) if path.is_relative_to(frames.path) else str(path)


def _log(frames: Frames, id: str) -> str | None:
    """Where the log of a failed run lies, from the results folder; None for other runs."""
    if id not in frames.failed:
        return None
    return str(Results(frames.path).failure(id).relative_to(frames.path))


def _provenance(frames: Frames) -> pd.DataFrame:
    """Where the numbers come from: what all runs share, or up to four values."""
    if frames.runs.empty:
        return pd.DataFrame()
    runs = frames.runs
    records = [run.record for run in frames.records.values()]
    host = records[0].host
    first = records[0].provenance
    sizes = {"node": host.nodes, "socket": host.sockets, "core": host.cores}
    topology = [counted(count, name) for name, count in sizes.items() if count]
    commit = _distinct(runs["commit"])
    if runs["dirty"].fillna(False).any():
        commit += " with changes"
    launched = [run.launched for run in frames.records.values() if run.launched]
    starts = sorted({runs["started"].min(), runs["started"].max()})
    facts = {
        "commit": commit,
        "mini-app": _distinct(record.provenance.version for record in records),
        "compiler": f"{first.compiler} {first.flags}",
        "MPI library": first.mpi_library,
        "host": _distinct(runs["host"]),
        "system": host.system,
        "processor": _distinct(runs["cpu"]),
        "topology": ", ".join(topology) or "unknown",
        "virtual machine": {True: "yes", False: "no", None: "unknown"}[host.virtual_machine],
        "started by": _distinct(launch.launcher for launch in launched),
        "command of the first run": _command(launched[0].command) if launched else "unknown",
        "first and last start": " and ".join(starts),
        "results": frames.path.name,
    }
    experiment = planned_experiment(frames.path)
    if experiment is not None:
        facts["experiment"] = _fields(experiment.model_dump(mode="json"))
    if runs["job"].notna().any():
        facts["Slurm"] = f"{_distinct(runs['cluster'])}, jobs {_distinct(runs['job'])}"
    facts |= _simulation([run.simulation for run in frames.records.values() if run.simulation])
    return pd.DataFrame([{"item": name, "value": value} for name, value in facts.items()])


def _fields(experiment: dict[str, Any]) -> str:
    """The fields of an experiment as its file has them, without those that are empty."""
    given = {name: value for name, value in experiment.items() if value not in (None, [], {})}
    return json.dumps(given, ensure_ascii=False)


def _command(words: Sequence[str]) -> str:
    """A command that started a run, with the names of its files instead of their paths."""
    return " ".join(PurePath(word).name if word.startswith("/") else word for word in words)


def _simulation(simulations: list[dict[str, Any]]) -> dict[str, str]:
    """What was simulated, on what assumptions, and what it cost, from the simulation.json of
    runs.
    """
    if not simulations:
        return {}
    facts = {}
    for name, head in SIMULATED.items():
        facts[head] = _distinct(content.get(name) for content in simulations)
    ranks_by_part = [_ranks_by_part(content) for content in simulations]
    if any(ranks_by_part):
        facts["ranks by part"] = "; ".join(dict.fromkeys(filter(None, ranks_by_part)))
    assumed: dict[str, None] = {}
    for content in simulations:
        for assumption in content.get("assumptions", []):
            assumed[_assumption(assumption)] = None
    facts["assumed, since the profile does not say"] = "; ".join(assumed) or "nothing"
    costs = [content["cost_s"] for content in simulations if content.get("cost_s")]
    if costs:
        facts["cost of simulating"] = f"{number(sum(costs))} s for {counted(len(costs), 'run')}"
    return facts


def _ranks_by_part(content: dict[str, Any]) -> str:
    """How many ranks were on each part of a simulated machine."""
    parts = content.get("parts", {})
    return ", ".join(f"{part['ranks']} ranks on {name}" for name, part in parts.items())


def _assumption(assumption: str | dict[str, Any]) -> str:
    """An assumption in words: a text, or the values of its fields."""
    if isinstance(assumption, str):
        return assumption
    return ", ".join(map(str, dict(assumption).values()))


def _distinct(values: Iterable[Any]) -> str:
    """Up to MAX_DISTINCT different values, in their order."""
    texts = list(dict.fromkeys(str(value) for value in values if not pd.isna(value)))
    if not texts:
        return "unknown"
    shown = ", ".join(texts[:MAX_DISTINCT])
    return f"{shown} …" if len(texts) > MAX_DISTINCT else shown
