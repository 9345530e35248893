"""Predictions compared with published times: DPSNN on four machines, and NEST's multi-area model as a bound.

DPSNN is another program. So one factor per machine, on the time of a synapse, a neuron and a spike from
outside, is fitted to some rows, and the others are held out. Entering a list is left as it is, because it is
an access to memory in any program. NEST is a general simulator, which the mini-app should outrun, so its
times are an upper bound. The tables stand in docs/published-runs.md
(`python -m spikemark.documents prediction`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from spikemark import machines
from spikemark.network.description import read
from spikemark.prediction import predict, rates
from spikemark.prediction.loads import Counting, Loads
from spikemark.presets import dpsnn, mam
from spikemark.quantities.table import Column, Table

from .published_runs import MESSAGES, TABLES, WORK, Case, Network

WITHIN = 25.0  # per cent, the goal for held-out rows
GAP = "interconnect.gap"  # what a message costs
KERNELS = "kernels."
OF_WORK = [f"{KERNELS}{cores}.{time}" for cores in ("one_core", "full_node")
           for time in ("t_next", "update", "external")]  # fmt: skip
LARGEST = 1e4  # of a fitted factor, and its inverse
NO_RING = {"node.l2": 0.0, "node.l3": 0.0}  # DPSNN queues events by neuron, so cache.py does not apply to it
#: Real-time factors of NEST 3.9, multi-area model in its ground state on JURECA-DC by nodes, 2 ranks of 64
#: threads on each: digitised from the figure in doc/htmldoc/static/img of mlober/nest-simulator@ae6d107a3.
NEST_MAM = {4: 74.2, 8: 32.99, 12: 21.95, 16: 17.37, 24: 12.37, 32: 10.52}
NEST_SOURCE = "NEST 3.9 on JURECA-DC, digitised from its documentation (mlober/nest-simulator@ae6d107a3)."


@dataclass(frozen=True)
class Checked:
    """A case with its prediction in s with one factor, and with a second one on the cost of a message."""

    case: Case
    one_s: float
    two_s: float
    communication: float  # per cent of the latter

    def error(self, predicted_s: float) -> float:
        """Predicted over published, minus 1, per cent."""
        return round(100 * (predicted_s / self.case.published_s - 1), 1)

    @property
    def role(self) -> str:
        named = {WORK: "work fitted", MESSAGES: "message fitted", "": "held out"}
        return named[self.case.fitted]


@lru_cache(maxsize=4)
def _counting(network: Network) -> Counting:
    """DPSNN's exchange is that of `neighbor`: sizes to all partners, then spikes to those that get any."""
    given = {"neurons": network.neurons, "columns": network.columns, "state": network.state}
    description = read(dpsnn.describe(**given, simulate_ms=1000.0, exchange="neighbor"))
    return Counting(description, rates.of(description, network.hz, "dpsnn", {}).hz)


@lru_cache(maxsize=16)
def _loads(network: Network, ranks: int) -> Loads:
    return _counting(network).loads(ranks, 1)


def predicted(case: Case, profile, factors: dict[str, float]) -> dict[str, float]:
    """Seconds per simulated second, by part."""
    scaled = {**NO_RING, KERNELS: case.crowding, **dict.fromkeys(OF_WORK, factors[WORK])}
    scaled[GAP] = factors.get(MESSAGES, 1.0)
    return predict.numbers(_loads(case.network, case.ranks), profile, min(case.each, case.ranks), scaled)


def check(cases: list[Case]) -> tuple[list[Checked], dict[str, dict[str, float]]]:
    """Predictions of all cases of a table, and the factors by machine.

    One factor on the work, the same for machines that have the same nodes; then a second one, of each
    machine, on what a message costs. A factor makes the mean of log(predicted / published) of its rows 0.
    """
    profiles = known_profiles(sorted({case.machine for case in cases}))
    work = _fit([c for c in cases if c.fitted == WORK], profiles, lambda f: {WORK: f})
    factors = {}
    for name in dict.fromkeys(case.machine for case in cases):
        factors[name] = {WORK: work}
        rows = [c for c in cases if c.machine == name and c.fitted == MESSAGES]
        if rows:
            factors[name][MESSAGES] = _fit(rows, profiles, lambda f: {WORK: work, MESSAGES: f})
    found = []
    for case in cases:
        profile = profiles[case.machine]
        one, two = (predicted(case, profile, f) for f in ({WORK: work}, factors[case.machine]))
        share = 100 * two["exchange"] / two["real_time_factor"]
        found.append(Checked(case, *(case.simulated_s * p["real_time_factor"] for p in (one, two)), share))
    return found, factors


def _fit(rows: list[Case], profiles: dict, factors: Callable[[float], dict[str, float]]) -> float:
    def deviation(logarithm: float) -> float:
        chosen = factors(float(np.exp(logarithm)))
        found = [predicted(c, profiles[c.machine], chosen)["real_time_factor"] for c in rows]
        return float(np.mean(np.log(found) - np.log([c.published_s / c.simulated_s for c in rows])))

    return float(np.exp(brentq(deviation, -np.log(LARGEST), np.log(LARGEST), xtol=1e-4)))


def known_profiles(names: list[str]) -> dict:
    """Profiles by name, what is unknown assumed."""
    return {name: machines.filled(machines.load(name)) for name in names}


def dpsnn_table(name: str, cases: list[Case] | None = None) -> Table:
    """Published and predicted times of one of TABLES, errors, and which rows were held out."""
    found, factors = check(TABLES[name]() if cases is None else cases)
    second = any(MESSAGES in f for f in factors.values())
    columns = {
        Column("case", "run"): lambda c: c.case.label,
        Column("role", "row"): lambda c: c.role,
        Column("published_s", "published (s)", "literature"): lambda c: c.case.published_s,
        Column("one_s", "one factor (s)", "modelled"): lambda c: c.one_s,
        Column("one_error", "error (%)", "modelled", 2): lambda c: c.error(c.one_s),
    }
    if second:
        columns |= {
            Column("two_s", "two factors (s)", "modelled"): lambda c: c.two_s,
            Column("two_error", "error (%)", "modelled", 2): lambda c: c.error(c.two_s),
        }
    if any(c.case.communication is not None for c in found):
        published = Column("published_communication", "communication (%)", "literature", 2)
        columns |= {
            published: lambda c: c.case.communication,
            Column("communication", "communication (%)", "modelled", 2): lambda c: (
                None if c.case.communication is None else c.communication
            ),
        }
    notes = [f"Fitted for {profile}: {_said(f)}." for profile, f in factors.items()]
    return Table.of(columns, found, f"DPSNN, {name}", name.lower().replace(" ", "_"), notes)


def _said(factors: dict[str, float]) -> str:
    names = {WORK: "times of synapses, neurons and input", MESSAGES: "cost of a message"}
    return "; ".join(f"{names[name]} times {factor:.3g}" for name, factor in factors.items())


def nest_table() -> Table:
    """The multi-area model on JURECA-DC: the mini-app as predicted, NEST as published."""
    description = read(mam.describe(full=True, schedule="conventional"))  # as NEST
    counting = Counting(description, rates.of(description, None, "mam", {}).hz)
    profile = known_profiles(["jureca-dc"])["jureca-dc"]
    mine = {
        nodes: predict.numbers(counting.loads(2 * nodes, 64), profile, 2)["real_time_factor"]
        for nodes in NEST_MAM
    }
    columns = {
        Column("nodes", "nodes"): lambda nodes: nodes,
        Column("nest", "NEST 3.9", "literature"): NEST_MAM.get,
        Column("predicted", "mini-app", "modelled"): mine.get,
        Column("ahead", "NEST over mini-app", "modelled", 2): lambda nodes: NEST_MAM[nodes] / mine[nodes],
    }
    title = "Real-time factor of the multi-area model on JURECA-DC"
    return Table.of(columns, NEST_MAM, title, "nest", [NEST_SOURCE])


def markdown(table: Table) -> str:
    """The table as docs/published-runs.md shows it: the title, a line for each note, then the cells."""
    notes = "\n".join(f"- {note}" for note in table.notes)
    return f"**{table.title}.**\n\n{notes}\n\n{table.markdown()}"


def tables() -> Iterator[Table]:
    """All tables of docs/published-runs.md, in order. The largest grids of the last but one take minutes."""
    yield from map(dpsnn_table, TABLES)
    yield nest_table()
