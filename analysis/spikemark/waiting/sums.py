"""What sums of times over whole runs allow: load balance and the efficiencies of POP."""

from dataclasses import replace
from typing import Any

import numpy as np

from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.records.imported import Summed, Sums

MEANS = "the files have means over ranks"
UNTIMED = "waiting was not timed apart from the exchange; NEST does so built with-mpi-sync-timer"
ONE = "there is one rank"
UNKNOWN = "the files do not say how much time was simulated"
NOTE = (
    "Sums say how much ranks differ over the whole run. What fluctuates from cycle to cycle, and what another"
    " schedule or D would change, needs the times of single cycles."
)
EFFICIENCIES = ("load_balance", "serialisation", "transfer", "communication", "parallel")


def efficiency(run: Summed) -> dict[str, Quantity]:
    """The efficiencies of POP from the sums of a run, 0 to 1, as in `budget.efficiency`.

    Run time: that of the slowest rank. Computing: run time less communication. Communication efficiency: the
    most that a rank computes over the run time, the product of serialisation and transfer. These two come
    apart only where waiting was timed.
    """
    runtime = max(run.run_s)
    compute = np.subtract(run.run_s, run.communicate_s)
    if not runtime > 0:
        return dict.fromkeys(EFFICIENCIES, missing("the run took no time"))
    found = {"parallel": _known(compute.mean() / runtime)}
    found["load_balance"] = found["communication"] = missing(MEANS)
    found["serialisation"] = found["transfer"] = missing(UNTIMED if run.of == "ranks" else MEANS)
    if run.of == "ranks":
        found["communication"] = _known(compute.max() / runtime)
        found["load_balance"] = missing(ONE)
        if len(compute) > 1 and compute.max() > 0:
            found["load_balance"] = _known(compute.mean() / compute.max())
    if run.wait_s is not None:
        ideal = runtime - float(np.mean(np.subtract(run.communicate_s, run.wait_s)))
        found["transfer"] = _known(ideal / runtime)
        if run.of == "ranks" and ideal > 0:
            found["serialisation"] = _known(min(1.0, compute.max() / ideal))
    return {name: found[name] for name in EFFICIENCIES}


def _known(value: float) -> Quantity:
    return Quantity(float(value), kind="measured")


def table(sums: Sums) -> Table:
    """One line per run: how long it took, and its efficiencies."""

    def real_time(run: Summed) -> Quantity:
        return _known(max(run.run_s) / run.model_s) if run.model_s else missing(UNKNOWN)

    def of(name: str):
        return lambda run: efficiency(run)[name]

    columns = {
        Column("run", "run"): lambda run: run.name,
        Column("ranks", "ranks"): lambda run: run.ranks,
        Column("run_s", "run time (s)", "measured"): lambda run: max(run.run_s),
        Column("communicate_s", "communication (s)", "measured"): lambda run: float(
            np.mean(run.communicate_s)
        ),
        Column("real_time_factor", "real-time factor", "measured"): real_time,
        **{Column(name, name.replace("_", " "), "measured"): of(name) for name in EFFICIENCIES},
    }
    made = Table.of(columns, sums.runs, "Efficiencies of POP, from sums over whole runs")
    return replace(made, notes=[*made.reasons(), NOTE])


def content(sums: Sums) -> dict[str, Any]:
    """The content for JSON."""
    runs = [
        one.model_dump() | {"efficiency": {name: q.content() for name, q in efficiency(one).items()}}
        for one in sums.runs
    ]
    return {"kind": sums.kind, "reader": sums.reader, "remarks": sums.remarks, "runs": runs}
