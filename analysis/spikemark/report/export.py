"""Ways to hand the measurements of a results folder to another tool, and the figures of merit of a sweep.

Figures of merit are what test harnesses (ReFrame, JUBE) compare from one day or machine to the next.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from spikemark.core.errors import BadInput
from spikemark.energy import kept
from spikemark.quantities.quantity import Quantity, mean, missing
from spikemark.records.agreement import agreements, complaints
from spikemark.records.export import chosen, extra_p
from spikemark.records.gather import Measured, Sweep
from spikemark.records.phases import NOT_TIMED

NO_RANK = "one rank waits for nobody"
NO_EVENT = "no synaptic event occurred"
ALONE = "one run per network, so there is nothing to compare"


def figures_of_merit(sweep: Sweep, only: tuple[str, ...] = ()) -> tuple[str, list[str]]:
    """JSON Lines: one line for each configuration and number of ranks, and complaints.

    A line holds `configuration` (the label of its runs without seed and repetition), what was varied
    (`fields`), `ranks`, `threads`, the number of `runs`, `checksums_agree` and the FIGURES. These are means
    over the runs with their 95 % interval, or null with the reason. `checksums_agree` says whether all
    complete runs of the same networks found the same spikes; it is null where a network was run only once.
    The complaints name failed, missing and unusable runs, and checksums that differ.

    `only`: conditions `NAME=VALUE`, as for Extra-P. Raises BadInput if there is no usable record.
    """
    labels = {planned.id: planned.label for planned in sweep.planned}
    wrong = [*sweep.left_out, *(f"{labels[id]}: failed: {why}" for id, why in sweep.failed.items())]
    wrong += [f"{planned.label}: not run yet" for planned in sweep.not_run]
    if not sweep.runs:
        raise BadInput(f"{sweep.path}: no record with figures" + "".join(f"; {line}" for line in wrong[:1]))
    groups: dict[str, list[Measured]] = defaultdict(list)
    for measured in chosen(list(sweep.runs), only)[0]:
        groups[_configuration(measured)].append(measured)
    agree = {one.network: one.equal for one in agreements(sweep)}
    lines = [json.dumps(_line(name, runs, agree)) for name, runs in sorted(groups.items())]
    return "\n".join([*lines, ""]), [*wrong, *complaints(sweep)]


def _configuration(measured: Measured) -> str:
    return re.sub(r" seed=\d+(?: repetition=\d+)?$", "", measured.planned.label)


def _line(name: str, runs: list[Measured], agree: dict[str, bool | None]) -> dict[str, Any]:
    first = runs[0]
    found = {agree[measured.network] for measured in runs}
    equal = None if found == {None} else False not in found
    return {
        "configuration": name,
        "fields": first.planned.fields,
        "ranks": first.run.record.ranks,
        "threads": first.run.record.threads,
        "runs": len(runs),
        "checksums_agree": equal,
        **({"checksums_reason": ALONE} if equal is None else {}),
        **{name: _mean([of_run(m) for m in runs]).content() for name, of_run in FIGURES.items()},
    }


def _mean(found: list[Quantity]) -> Quantity:
    """The mean over runs; missing where it is missing in one of them."""
    for one in found:
        if not one:
            return one
    return mean((one.value for one in found), found[0].unit, found[0].kind)


def _real_time_factor(measured: Measured) -> Quantity:
    return Quantity(measured.real_time_factor, kind=measured.kind)


def _time_per_event(measured: Measured) -> Quantity:
    record = measured.run.record
    if not record.totals.synaptic_events:
        return missing(NO_EVENT, "ns")
    return Quantity(
        1e9 * record.timing.simulate_s / record.totals.synaptic_events, unit="ns", kind=measured.kind
    )


def _waiting_share(measured: Measured) -> Quantity:
    if measured.run.record.ranks == 1:
        return missing(NO_RANK)
    waiting = measured.run.spent_s("waiting")
    if waiting is None:
        return missing(NOT_TIMED)
    return Quantity(waiting / measured.run.record.timing.simulate_s, kind=measured.kind)


def _energy_per_event(measured: Measured) -> Quantity:
    try:
        return kept.of_run(measured.run).per_event[0].gross_uj
    except BadInput as error:
        return missing(str(error), "uJ")


#: Figures of merit by name, each of one run. Real-time factor: wall-clock time of the measured part over
#: simulated time. Time per event: the same wall-clock time over all recurrent synaptic events of all ranks.
#: Waiting share: waiting (Run.waiting_phases), mean over ranks, over the wall-clock time. Energy: gross, of
#: all nodes, over the recurrent synaptic events.
FIGURES: dict[str, Callable[[Measured], Quantity]] = {
    "real_time_factor": _real_time_factor,
    "time_per_synaptic_event": _time_per_event,
    "waiting_share": _waiting_share,
    "energy_per_synaptic_event": _energy_per_event,
}
#: Ways to export, by name: (sweep, which runs) -> (text, complaints).
FORMATS = {"figures": figures_of_merit, "extra-p": extra_p}
