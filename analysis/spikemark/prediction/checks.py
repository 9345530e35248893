"""Predictions held against what was published: DPSNN on three machines, NEST's multi-area model as a bound.

DPSNN (Simula et al. 2019) is another program, so that one factor per machine, on all kernel times, is fitted
to some rows; the others are held out. NEST is a general simulator, which the mini-app should outrun; its
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
KERNELS = "kernels."
LARGEST = 1e4  # of a fitted factor, and its inverse
#: Real-time factors of NEST 3.9, multi-area model in its ground state on JURECA-DC by nodes, 2 ranks of 64
#: threads on each: digitised from the figure in doc/htmldoc/static/img of mlober/nest-simulator@ae6d107a3.
NEST_MAM = {4: 74.2, 8: 32.99, 12: 21.95, 16: 17.37, 24: 12.37, 32: 10.52}
NEST_SOURCE = "NEST 3.9 on JURECA-DC, digitised from its documentation (mlober/nest-simulator@ae6d107a3)"


@dataclass(frozen=True)
class Case:
    """A published time in s and how to predict it; `fitted`: the factor of its machine is fitted to it."""

    machine: str
    label: str
    neurons: int
    ranks: int
    each: int  # ranks on a node
    published_s: float
    fitted: bool = False
    parts: tuple[float, float, float] | None = None  # per cent: computation, communication, barrier


@dataclass(frozen=True)
class Checked:
    """A case with its prediction in s, and parts as the case has them."""

    case: Case
    predicted_s: float
    parts: tuple[float, float, float]

    @property
    def error(self) -> float:
        """Predicted over published, minus 1, per cent."""
        return 100 * (self.predicted_s / self.case.published_s - 1)

    @property
    def role(self) -> str:
        return "fitted" if self.case.fitted else "held out"


def table_i() -> list[Case]:
    """Table I: shares of computation and communication. Servers with Xeon E5-2630 v2 (two of six cores), of
    which there is no profile: the InfiniBand servers stand for them, with a factor of their own."""
    found = []
    for row in published.rows("simula_table1"):
        parts = tuple(float(row[f"{name}_pct"]) for name in ("computation", "communication", "barrier"))
        ranks, neurons = int(row["procs"]), int(row["neurons_stated"])
        label = f"{row['network']}, {ranks} processes"
        fitted = (neurons, ranks) == (20_480, 4)
        found.append(
            Case("dpsnn-westmere-ib", label, neurons, ranks, 16, float(row["wallclock_s"]), fitted, parts)
        )
    return found


def table_ii() -> list[Case]:
    """Table II: x86 servers, by cores; the row with two threads on one core is left out."""
    found = []
    for p in simula.points(simula.X86):
        if "HT" in p.label:
            continue
        name = "dpsnn-westmere-eth" if p.note == simula.ETHERNET else "dpsnn-westmere-ib"
        found.append(Case(name, f"{p.label} cores {p.note}".strip(), simula.NEURONS, p.cores, 16, p.time_s,
                          p.cores in (1, 4, 16)))  # fmt: skip
    return found


def table_iii() -> list[Case]:
    """Table III: boards with four ARM cores."""
    return [
        Case("jetson-tx1", f"{p.label} cores", simula.NEURONS, p.cores, 4, p.time_s, p.cores in (1, 4))
        for p in simula.points(simula.ARM)
    ]


TABLES: dict[str, Callable[[], list[Case]]] = {"I": table_i, "II": table_ii, "III": table_iii}


@lru_cache(maxsize=8)
def _network(neurons: int) -> tuple[dict, rates.Rates]:
    description = dpsnn.describe(neurons=neurons, simulate_ms=1000.0)
    return description, rates.of(description, None, "dpsnn", {})


def predicted(case: Case, profile, factor: float) -> tuple[float, tuple[float, float, float]]:
    """Seconds, and the shares of computation, communication and barrier in per cent."""
    description, hz = _network(case.neurons)
    found = machine.numbers(
        description, profile, case.ranks, 1, hz, min(case.each, case.ranks), {KERNELS: factor}
    )
    total = found["real_time_factor"]
    computing = sum(found[part] for part in ("deliver", "update", "collocate"))
    return SECONDS * total, tuple(100 * x / total for x in (computing, found["exchange"], found["waiting"]))


def check(cases: list[Case], profiles: dict) -> tuple[list[Checked], float]:
    """Predictions of all cases with the one factor that fits the fitted ones, and that factor.

    Machines of one table that have the same nodes share the factor. The factor makes the mean of the
    logarithms of predicted over published times of the fitted rows 0.
    """
    fitted = [case for case in cases if case.fitted]

    def deviation(log_factor: float) -> float:
        return float(np.mean([
            np.log(predicted(c, profiles[c.machine], np.exp(log_factor))[0] / c.published_s) for c in fitted
        ]))  # fmt: skip

    from scipy.optimize import brentq

    factor = float(np.exp(brentq(deviation, -np.log(LARGEST), np.log(LARGEST), xtol=1e-4)))
    return [Checked(case, *predicted(case, profiles[case.machine], factor)) for case in cases], factor


def known_profiles(names: list[str] | None = None) -> dict:
    """Profiles by name, what is unknown assumed."""
    return {name: machines.filled(machines.load(name)) for name in names or machines.names()}


def dpsnn_table(number: str) -> StudyTable:
    """Published and predicted times of a table of Simula et al., errors, and which rows were held out."""
    cases = TABLES[number]()
    found, factor = check(cases, known_profiles(sorted({case.machine for case in cases})))
    rows = [
        {
            "case": c.case.label, "role": c.role, "published_s": c.case.published_s,
            "predicted_s": c.predicted_s, "error": c.error,
            "within": "yes" if abs(c.error) <= WITHIN else "no",
            "communication": c.parts[1],
            **({"published_communication": c.case.parts[1]} if c.case.parts else {}),
        }
        for c in found
    ]  # fmt: skip
    columns = [
        Column("case", "run"), Column("role", "row"), Column("published_s", "published (s)", "literature"),
        Column("predicted_s", "predicted (s)", "modelled"), Column("error", "error (%)", "modelled", 2),
        Column("within", "within 25 %"),
        Column("published_communication", "communication (%)", "literature", 2),
        Column("communication", "communication (%)", "modelled", 2),
    ]  # fmt: skip
    if not cases[0].parts:
        columns = [c for c in columns if c.name != "published_communication"]
    note = f"Kernel times of the profile times {factor:.3g}, fitted."
    return StudyTable(f"table_{number.lower()}", f"DPSNN, Table {number}", columns, rows, [note])


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
