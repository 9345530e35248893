"""Ways to hand the measurements of a results folder to another tool, and the figures of merit of a sweep.

Figures of merit are what test harnesses (ReFrame, JUBE) compare from one day or machine to the next.
"""

import json
from collections.abc import Callable

from spikemark.core.errors import BadInput
from spikemark.measuring.energy import of_run
from spikemark.quantities.quantity import Quantity, mean, missing
from spikemark.records.collect import differing_checksums
from spikemark.records.export import chosen, extra_p
from spikemark.records.frames import Frames
from spikemark.records.phases import NOT_TIMED
from spikemark.records.record import Run

NO_RANK = "one rank waits for nobody"
NO_EVENT = "no synaptic event occurred"
ALONE = "one run per network, so there is nothing to compare"


def figures_of_merit(frames: Frames, only: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """JSON Lines: one line for each configuration and number of ranks, and complaints.

    A line holds `configuration` (the label of its runs without seed and repetition), what was varied
    (`fields`), `ranks`, `threads`, the number of `runs`, `checksums_agree` and the FIGURES. These are means
    over the runs with their 95 % interval, or null with the reason. `checksums_agree` says whether all
    complete runs of the same networks found the same spikes; it is null where a network was run only once.
    The complaints name failed, missing and unusable runs, and checksums that differ.

    `only`: conditions `NAME=VALUE`, as for Extra-P. Raises BadInput if there is no usable record.
    """
    labels = {planned.id: planned.label for planned in frames.planned}
    wrong = [*frames.left_out, *(f"{labels[id]}: failed: {why}" for id, why in frames.failed.items())]
    wrong += [f"{planned.label}: not run yet" for planned in frames.missing]
    if frames.runs.empty:
        raise BadInput(f"{frames.path}: no record with figures" + "".join(f"; {line}" for line in wrong[:1]))
    networks = frames.runs.groupby("network")["checksum"]
    agree = dict((networks.nunique() == 1).where(networks.size() > 1, None))
    planned = {one.id: one for one in frames.planned}
    kept = chosen(frames, only)
    setups = kept.runs["label"].str.replace(r" seed=\d+(?: repetition=\d+)?$", "", regex=True)
    lines = []
    for name, own in sorted(kept.runs.groupby(setups)):
        found, runs = {agree[network] for network in own["network"]}, [kept.records[id] for id in own["id"]]
        equal, first = None if found == {None} else False not in found, planned[own["id"].iloc[0]]
        lines.append(json.dumps({
            "configuration": name, "fields": first.fields, "ranks": first.ranks, "threads": first.threads,
            "runs": len(runs), "checksums_agree": equal,
            **({"checksums_reason": ALONE} if equal is None else {}),
            **{name: _mean(list(map(of_run, runs))).content() for name, of_run in FIGURES.items()},
        }))  # fmt: skip
    return "\n".join([*lines, ""]), [*wrong, *differing_checksums(frames)]


def _mean(found: list[Quantity]) -> Quantity:
    """The mean over runs; missing where it is missing in one of them."""
    for one in found:
        if not one:
            return one
    return mean((one.value for one in found), found[0].unit, found[0].kind)


def _real_time_factor(run: Run) -> Quantity:
    return Quantity(run.record.timing.real_time_factor, kind=run.record.kind)


def _time_per_event(run: Run) -> Quantity:
    record = run.record
    if not record.totals.synaptic_events:
        return missing(NO_EVENT, "ns")
    return Quantity(
        1e9 * record.timing.simulate_s / record.totals.synaptic_events, unit="ns", kind=run.record.kind
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
        return of_run(run).per_event[0].gross_uj
    except BadInput as error:
        return missing(str(error), "uJ")


#: Figures of merit by name, each of one run. Real-time factor: wall-clock time of the measured part over
#: simulated time. Time per event: the same wall-clock time over all recurrent synaptic events of all ranks.
#: Waiting share: waiting (Run.waiting_phases), mean over ranks, over the wall-clock time. Energy: gross, of
#: all nodes, over the recurrent synaptic events.
FIGURES: dict[str, Callable[[Run], Quantity]] = {
    "real_time_factor": _real_time_factor,
    "time_per_synaptic_event": _time_per_event,
    "waiting_share": _waiting_share,
    "energy_per_synaptic_event": _energy_per_event,
}
#: Ways to export, by name: (frames, which runs) -> (text, complaints).
FORMATS = {"figures": figures_of_merit, "extra-p": extra_p}
