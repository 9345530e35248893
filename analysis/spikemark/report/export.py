"""Ways to hand the measurements of a results folder to another tool, and the figures of merit of a
sweep.

Figures of merit are what test harnesses (ReFrame, JUBE) compare from one day or machine to the
next.
"""

import json
from collections.abc import Callable
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import of_run
from spikemark.quantities.quantity import Quantity, mean, missing
from spikemark.records.collect import differing_checksums
from spikemark.records.columns import RESULT_TABLES, csv_text
from spikemark.records.export import extra_p, runs_that_meet
from spikemark.records.frames import Frames
from spikemark.records.phases import NOT_TIMED
from spikemark.records.plan import Planned
from spikemark.records.record import Run

NO_RANK = "one rank waits for nobody"
NO_EVENT = "no synaptic event occurred"
#: What tells the runs of one configuration apart, at the end of their labels.
SEED_AND_REPETITION = r" seed=\d+(?: repetition=\d+)?$"
ALONE = "one run per network, so there is nothing to compare"


def _figures_of_merit(frames: Frames, only: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """JSON Lines: one line for each configuration and number of ranks, and complaints.

    A line holds `configuration` (the label of its runs without seed and repetition), what was
    varied (`fields`), `ranks`, `threads`, the number of `runs`, `checksums_agree` and the FIGURES.
    These are means over the runs with their 95 % interval, or null with the reason.
    `checksums_agree` says whether all complete runs of the same networks found the same spikes; it
    is null where a network was run only once. The complaints name failed, missing and unusable
    runs, and checksums that differ.

    `only`: conditions `NAME=VALUE`, as for Extra-P. Raises BadInput if there is no usable record.
    """
    complaints = _complaints(frames)
    if frames.runs.empty:
        reason = "; ".join(["no record with figures", *complaints[:1]])
        raise BadInput(reason=reason, file=frames.path, code="file")
    networks = frames.runs.groupby("network")["checksum"]
    agree = (networks.nunique() == 1).where(networks.size() > 1, None)  # by network
    planned = {run.id: run for run in frames.planned}
    selected = runs_that_meet(frames, only)
    setups = selected.runs["label"].str.replace(SEED_AND_REPETITION, "", regex=True)
    lines = []
    for name, group in sorted(selected.runs.groupby(setups)):
        runs = [selected.records[id] for id in group["id"]]
        checksums = _agreement([agree[network] for network in group["network"]])
        line = _line(str(name), planned[group["id"].iloc[0]], runs, checksums)
        lines.append(json.dumps(line))
    return "\n".join([*lines, ""]), [*complaints, *differing_checksums(frames)]


def _runs_csv(frames: Frames, only: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """All columns of `Frames.runs` as CSV below a line on each with its unit, and complaints.

    `only`: conditions `NAME=VALUE`, as for Extra-P. Raises BadInput if there is no usable record.
    """
    complaints = _complaints(frames)
    if frames.runs.empty:
        reason = "; ".join(["no record that can be exported", *complaints[:1]])
        raise BadInput(reason=reason, file=frames.path, code="file")
    runs = runs_that_meet(frames, only).runs
    return csv_text(runs, RESULT_TABLES["runs"]), complaints


def _complaints(frames: Frames) -> list[str]:
    """Unusable, failed and missing runs, one line each."""
    labels = {run.id: run.label for run in frames.planned}
    failed = [f"{labels[id]}: failed: {reason}" for id, reason in frames.failed.items()]
    missing_runs = [f"{run.label}: not run yet" for run in frames.missing]
    return [*frames.left_out, *failed, *missing_runs]


def _agreement(of_networks: list[bool | None]) -> bool | None:
    """Whether the checksums of several networks agree; None where each was run only once."""
    if all(agree is None for agree in of_networks):
        return None
    return False not in of_networks


def _line(
    name: str, first: Planned, runs: list[Run], checksums_agree: bool | None
) -> dict[str, Any]:
    """A line of figures of merit: a configuration, its `first` planned run, and all its runs."""
    line: dict[str, Any] = {
        "configuration": name,
        "fields": first.fields,
        "ranks": first.ranks,
        "threads": first.threads,
        "runs": len(runs),
        "checksums_agree": checksums_agree,
    }
    if checksums_agree is None:
        line["checksums_reason"] = ALONE
    for figure, of_one_run in FIGURES.items():
        line[figure] = _mean([of_one_run(run) for run in runs]).content()
    return line


def _mean(figures: list[Quantity]) -> Quantity:
    """The mean over runs; missing where it is missing in one of them."""
    values = []
    for figure in figures:
        if figure.value is None:
            return figure
        values.append(figure.value)
    return mean(values, figures[0].unit, figures[0].kind)


def _real_time_factor(run: Run) -> Quantity:
    return Quantity(run.record.timing.real_time_factor, kind=run.record.kind)


def _time_per_event(run: Run) -> Quantity:
    record = run.record
    if not record.totals.synaptic_events:
        return missing(NO_EVENT, "ns")
    return Quantity(
        1e9 * record.timing.simulate_s / record.totals.synaptic_events,
        unit="ns",
        kind=run.record.kind,
    )


def _waiting_share(run: Run) -> Quantity:
    if run.record.ranks == 1:
        return missing(NO_RANK)
    waiting = run.spent_s("waiting")
    if waiting is None:
        return missing(NOT_TIMED)
    return Quantity(waiting / run.record.timing.simulate_s, kind=run.record.kind)


def _energy_per_event(run: Run) -> Quantity:
    try:
        return of_run(run).per_event[-1].gross_uj
    except BadInput as error:
        return missing(str(error), "uJ")


#: Figures of merit by name, each of one run. Real-time factor: wall-clock time of the measured part
#: over simulated time. Time per event: the same wall-clock time over all recurrent synaptic events
#: of all ranks. Waiting share: waiting (Run.waiting_phases), mean over ranks, over the wall-clock
#: time. Energy: gross, of all nodes, over recurrent and external synaptic events, as on pages.
FIGURES: dict[str, Callable[[Run], Quantity]] = {
    "real_time_factor": _real_time_factor,
    "time_per_synaptic_event": _time_per_event,
    "waiting_share": _waiting_share,
    "energy_per_synaptic_event": _energy_per_event,
}
#: Ways to export, by name: (frames, which runs) -> (text, complaints).
FORMATS = {"figures": _figures_of_merit, "extra-p": extra_p, "csv": _runs_csv}
