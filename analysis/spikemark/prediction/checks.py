"""Predictions held against what was published: DPSNN on three machines, NEST's multi-area model as a bound.

DPSNN (Simula et al. 2019) is another program, so that one factor per machine, on what a synapse, a neuron and
a spike from outside take, is fitted to some rows; the others are held out. Entering a list is left as it is:
it is an access to memory, in any program. NEST is a general simulator, which the mini-app should outrun; its
times are an upper bound. Run as a module, this prints the tables of docs/prediction.md.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from spikemark import machines
from spikemark.prediction import machine, rates
from spikemark.presets import dpsnn, mam
from spikemark.studies import published, simula
from spikemark.studies.table import Column, StudyTable

WITHIN = 25.0  # per cent, the goal for held-out rows
SECONDS = 10.0  # simulated in every published run of DPSNN
#: What a factor is on: the times of DPSNN's own work, and the cost of a message.
WORK, MESSAGES = "work", "interconnect.gap"
KERNELS = "kernels."
OF_WORK = [f"{KERNELS}{cores}.{time}" for cores in ("one_core", "full_node")
           for time in ("t_next", "update", "external")]  # fmt: skip
LARGEST = 1e4  # of a fitted factor, and its inverse
#: Table II: two threads on one core gain little, 16 processes on a node no more than 8: a node has 8 cores.
PHYSICAL, LOGICAL = 8, 16
NO_RING = {"node.l2": 0.0, "node.l3": 0.0}  # DPSNN queues events by neuron, so that cache.py is not for it
#: Real-time factors of NEST 3.9, multi-area model in its ground state on JURECA-DC by nodes, 2 ranks of 64
#: threads on each: digitised from the figure in doc/htmldoc/static/img of mlober/nest-simulator@ae6d107a3.
NEST_MAM = {4: 74.2, 8: 32.99, 12: 21.95, 16: 17.37, 24: 12.37, 32: 10.52}
NEST_SOURCE = "NEST 3.9 on JURECA-DC, digitised from its documentation (mlober/nest-simulator@ae6d107a3)"


@dataclass(frozen=True)
class Case:
    """A published time in s and how to predict it; `fitted`: the factor that is fitted to it, or none."""

    machine: str
    label: str
    neurons: int
    ranks: int
    each: int  # ranks on a node
    cores: int  # of a node
    published_s: float
    fitted: str = ""
    communication: float | None = None  # per cent, as published

    @property
    def crowding(self) -> float:
        """Processes on a core; each has its share of it."""
        return max(1.0, min(self.ranks, self.each) / self.cores)


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


def table_i() -> list[Case]:
    """Table I: shares of computation and communication. Servers with two Xeon E5-2630 v2 of six cores, of
    which there is no profile: the InfiniBand servers stand for them, with factors of their own."""
    fitted = {(20_480, 4): WORK, (20_480, 32): MESSAGES}
    found = []
    for row in published.rows("simula_table1"):
        ranks, neurons = int(row["procs"]), int(row["neurons_stated"])
        found.append(Case(
            "dpsnn-westmere-ib", f"{row['network']}, {ranks} processes", neurons, ranks, 12, 12,
            float(row["wallclock_s"]), fitted.get((neurons, ranks), ""), float(row["communication_pct"]),
        ))  # fmt: skip
    return found


def table_ii() -> list[Case]:
    """Table II: x86 servers, by processes; the row with two threads on one core is left out."""
    fitted = {1: WORK, 4: WORK, 32: MESSAGES}
    found = []
    for p in simula.points(simula.X86):
        if "HT" in p.label:
            continue
        name = "dpsnn-westmere-eth" if p.note == simula.ETHERNET else "dpsnn-westmere-ib"
        label = f"{p.cores} processes{f', {p.note}' if p.cards else ''}"
        found.append(Case(
            name, label, simula.NEURONS, p.cores, LOGICAL, PHYSICAL, p.time_s, fitted.get(p.cores, "")
        ))  # fmt: skip
    return found


def table_iii() -> list[Case]:
    """Table III: boards with four ARM cores."""
    return [
        Case("jetson-tx1", f"{p.cores} processes", simula.NEURONS, p.cores, 4, 4, p.time_s,
             WORK if p.cores in (1, 4) else "")
        for p in simula.points(simula.ARM)
    ]  # fmt: skip


TABLES: dict[str, Callable[[], list[Case]]] = {"I": table_i, "II": table_ii, "III": table_iii}


@lru_cache(maxsize=8)
def _network(neurons: int) -> tuple[dict, rates.Rates]:
    """DPSNN's exchange is that of `neighbor`: sizes to all partners, then spikes to those that get any."""
    description = dpsnn.describe(neurons=neurons, simulate_ms=1000.0, exchange="neighbor")
    return description, rates.of(description, None, "dpsnn", {})


def predicted(case: Case, profile, factors: dict[str, float]) -> dict[str, float]:
    """Seconds per simulated second, by part."""
    description, hz = _network(case.neurons)
    scaled = {**NO_RING, KERNELS: case.crowding, **dict.fromkeys(OF_WORK, factors[WORK])}
    scaled[MESSAGES] = factors.get(MESSAGES, 1.0)
    return machine.numbers(description, profile, case.ranks, 1, hz, min(case.each, case.ranks), scaled)


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
        one = predicted(case, profile, {WORK: work})["real_time_factor"]
        two = predicted(case, profile, factors[case.machine])
        share = 100 * two["exchange"] / two["real_time_factor"]
        found.append(Checked(case, SECONDS * one, SECONDS * two["real_time_factor"], share))
    return found, factors


def _fit(rows: list[Case], profiles: dict, factors: Callable[[float], dict[str, float]]) -> float:
    from scipy.optimize import brentq

    def deviation(logarithm: float) -> float:
        chosen = factors(float(np.exp(logarithm)))
        times = [SECONDS * predicted(c, profiles[c.machine], chosen)["real_time_factor"] for c in rows]
        return float(np.mean(np.log(times) - np.log([c.published_s for c in rows])))

    return float(np.exp(brentq(deviation, -np.log(LARGEST), np.log(LARGEST), xtol=1e-4)))


def known_profiles(names: list[str]) -> dict:
    """Profiles by name, what is unknown assumed."""
    return {name: machines.filled(machines.load(name)) for name in names}


def dpsnn_table(number: str) -> StudyTable:
    """Published and predicted times of a table of Simula et al., errors, and which rows were held out."""
    found, factors = check(TABLES[number]())
    second = any(MESSAGES in f for f in factors.values())
    rows = [
        {
            "case": c.case.label, "role": c.role, "published_s": c.case.published_s,
            "one_s": c.one_s, "one_error": c.error(c.one_s),
            **({"two_s": c.two_s, "two_error": c.error(c.two_s)} if second else {}),
            **({"published_communication": c.case.communication, "communication": c.communication}
               if c.case.communication is not None else {}),
        }
        for c in found
    ]  # fmt: skip
    columns = [
        Column("case", "run"), Column("role", "row"), Column("published_s", "published (s)", "literature"),
        Column("one_s", "one factor (s)", "modelled"), Column("one_error", "error (%)", "modelled", 2),
        Column("two_s", "two factors (s)", "modelled"), Column("two_error", "error (%)", "modelled", 2),
        Column("published_communication", "communication (%)", "literature", 2),
        Column("communication", "communication (%)", "modelled", 2),
    ]  # fmt: skip
    columns = [c for c in columns if any(c.name in row for row in rows)]
    said = [f"{name}: {_said(f)}" for name, f in factors.items()]
    name, title = f"table_{number.lower()}", f"DPSNN, Table {number}"
    return StudyTable(name, title, columns, rows, [f"Fitted: {'; '.join(said)}."])


def _said(factors: dict[str, float]) -> str:
    names = {WORK: "times of synapses, neurons and input", MESSAGES: "cost of a message"}
    return ", ".join(f"{names[name]} times {factor:.3g}" for name, factor in factors.items())


def nest_table() -> StudyTable:
    """The multi-area model on JURECA-DC: the mini-app as predicted, NEST as published."""
    description = mam.describe(full=True, schedule="conventional")  # as NEST
    hz = rates.of(description, None, "mam", {})
    profile = known_profiles(["jureca-dc"])["jureca-dc"]
    rows = []
    for nodes, factor in NEST_MAM.items():
        mine = machine.numbers(description, profile, 2 * nodes, 64, hz, 2)["real_time_factor"]
        rows.append({"nodes": nodes, "nest": factor, "predicted": mine, "ahead": factor / mine})
    columns = [
        Column("nodes", "nodes"), Column("nest", "NEST 3.9", "literature"),
        Column("predicted", "mini-app", "modelled"), Column("ahead", "NEST over mini-app", "modelled", 2),
    ]  # fmt: skip
    return StudyTable(
        "nest", "Real-time factor of the multi-area model on JURECA-DC", columns, rows, [NEST_SOURCE]
    )


def markdown(table: StudyTable) -> str:
    """As docs/prediction.md shows it."""
    shown = table.shown()
    heads = [f"{head} ({kind})" if kind else head for head, kind in shown.heads]
    lines = [f"**{table.title}.** {' '.join(table.notes)}", ""]
    lines += [f"| {' | '.join(cells)} |" for cells in (heads, ["---"] * len(heads), *shown.rows)]
    return "\n".join(lines)


if __name__ == "__main__":
    print("\n\n".join(markdown(t) for t in (*map(dpsnn_table, TABLES), nest_table())))
