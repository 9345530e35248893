"""The figures of merit of one run, and of its repetitions."""

from statistics import median
from typing import Any

from spikemark.energy import analysis, kept, outside
from spikemark.energy.analysis import Energy
from spikemark.records.record import Run

UJ = 1e-6
RANGE = "smallest and largest of the repetitions"


def energy_of(run: Run, power: dict[str, Any] | None) -> Energy:
    """The energy of a run: from a meter outside (arguments of outside.source), or else its own readings."""
    return kept.of_run(run) if power is None else analysis.measured(run, outside.source(run, **power))


def of_run(run: Run, energy: Energy) -> dict[str, Any]:
    """What answer.json says of one repetition."""
    timing = run.record.timing
    recurrent = energy.per_event[0].gross_uj
    found: dict[str, Any] = {
        "started": run.record.provenance.started,
        "simulate_s": timing.simulate_s,
        "real_time_factor": timing.real_time_factor,
        "joules_per_synaptic_event": UJ * recurrent.value if recurrent else None,
    }
    if not recurrent:
        return {**found, "reason": recurrent.reason}
    return {**found, "source": energy.source.name} if energy.source else found


def of_repetitions(repetitions: list[dict[str, Any]]) -> dict[str, Any]:
    """The figures of a run: the median, and the smallest and the largest value, of all repetitions.

    A figure that one repetition lacks is null, with its reason.
    """
    found: dict[str, Any] = {}
    for name in ("real_time_factor", "joules_per_synaptic_event"):
        values = [one[name] for one in repetitions]
        if None in values:
            found[name] = None
            found["reason"] = next(one["reason"] for one in repetitions if one[name] is None)
        else:
            limits = {"low": min(values), "high": max(values), "limits": RANGE}
            found[name] = {"value": median(values), **limits, "kind": "measured"}
    return found
