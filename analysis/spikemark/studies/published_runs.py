"""Published times of DPSNN, each with what is needed to predict it.

Simula et al. (2019), Tables I to III: a homogeneous network on servers and boards; Pastorelli et al. (2019),
figure 6: grids of columns on up to 64 nodes of GALILEO, in the asynchronous awake and the slow-wave state.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from spikemark.models.published import papers, simula

#: What a row is fitted to: the factor on DPSNN's own work, or that on the cost of a message.
WORK, MESSAGES = "work", "messages"
#: Table II: two threads on one core gain little, 16 processes on a node no more than 8: a node has 8 cores.
PHYSICAL, LOGICAL = 8, 16
#: Seconds per simulated second, (awake, slow waves), by grid and processes, 16 on a node: digitised from
#: figures 6F and 6E of Pastorelli et al. 2019 (doi.org/10.3389/fnsys.2019.00033), to about 3 %.
GRIDS = {
    "24x24": {
        1: (1466, 667.9), 2: (742.9, 346.9), 4: (393.3, 185.9), 8: (212.2, 103.4), 16: (100.4, 49.54),
        32: (49.03, 24.5), 64: (22.91, 12.26),
    },
    "48x48": {
        4: (1620, 719.3), 8: (879.1, 399.9), 16: (413.5, 190.5), 32: (210.9, 105.9), 64: (109.6, 55.03),
        128: (54.17, 28.06), 256: (26.61, 14.05),
    },
    "96x96": {
        64: (451.2, 207.7), 128: (234.4, 116.2), 256: (121.1, 62.66), 512: (62.13, 34.84),
        1024: (31.1, 24.05),
    },
}  # fmt: skip
STATES = {"aw": ("awake", 8.8), "sw": ("slow waves", 3.1)}  # their mean rates there, Hz


@dataclass(frozen=True)
class Network:
    """A homogeneous network of some neurons, or a grid of columns.

    `hz` is its mean rate, None the published one.
    """

    neurons: int | None = None
    columns: str | None = None
    state: str = "aw"
    hz: float | None = None


@dataclass(frozen=True)
class Case:
    """A published time in s and how to predict it; `fitted`: the factor that is fitted to it, or none."""

    machine: str
    label: str
    network: Network
    ranks: int
    each: int  # ranks on a node
    cores: int  # of a node
    published_s: float
    fitted: str = ""
    communication: float | None = None  # per cent, as published
    simulated_s: float = 10.0

    @property
    def crowding(self) -> float:
        """Processes on a core; each has its share of it."""
        return max(1.0, min(self.ranks, self.each) / self.cores)


def table_i() -> list[Case]:
    """Shares of computation and communication. The servers have two Xeon E5-2630 v2 of six cores, for which
    there is no profile: the InfiniBand servers stand in for them, with their own factors."""
    fitted = {(20_480, 4): WORK, (20_480, 32): MESSAGES}
    found = []
    for row in papers.rows("simula_table1"):
        ranks, neurons = int(row["procs"]), int(row["neurons_stated"])
        found.append(Case(
            "dpsnn-westmere-ib", f"{row['network']}, {ranks} processes", Network(neurons), ranks, 12, 12,
            float(row["wallclock_s"]), fitted.get((neurons, ranks), ""), float(row["communication_pct"]),
        ))  # fmt: skip
    return found


def table_ii() -> list[Case]:
    """x86 servers, by processes; the row with two threads on one core is left out."""
    fitted = {1: WORK, 4: WORK, 32: MESSAGES}
    found = []
    for p in simula.points(simula.X86):
        if "HT" in p.label:
            continue
        name = "dpsnn-westmere-eth" if p.note == simula.ETHERNET else "dpsnn-westmere-ib"
        label = f"{_processes(p.cores)}{f', {p.note}' if p.cards else ''}"
        found.append(Case(
            name, label, Network(simula.NEURONS), p.cores, LOGICAL, PHYSICAL, p.time_s,
            fitted.get(p.cores, ""),
        ))  # fmt: skip
    return found


def table_iii() -> list[Case]:
    """Boards with four ARM cores."""
    return [
        Case("jetson-tx1", _processes(p.cores), Network(simula.NEURONS), p.cores, 4, 4, p.time_s,
             WORK if p.cores in (1, 4) else "")
        for p in simula.points(simula.ARM)
    ]  # fmt: skip


def figure_6(grids: Iterable[str] = tuple(GRIDS)) -> list[Case]:
    """Grids of columns. The factor is fitted to one network in one state, on one core and on a full node."""
    fitted = {("24x24", "aw", 1): WORK, ("24x24", "aw", 16): WORK}
    return [
        Case(
            "galileo", f"{grid} {name}, {_processes(ranks)}", Network(columns=grid, state=state, hz=hz),
            ranks, 16, 16, times[at], fitted.get((grid, state, ranks), ""), simulated_s=1.0,
        )
        for at, (state, (name, hz)) in enumerate(STATES.items())
        for grid in grids
        for ranks, times in GRIDS[grid].items()
    ]  # fmt: skip


def _processes(number: int) -> str:
    return f"{number} process{'es' * (number > 1)}"


#: What is on the page, by the title of its table.
TABLES: dict[str, Callable[[], list[Case]]] = {
    "Table I": table_i,
    "Table II": table_ii,
    "Table III": table_iii,
    "figure 6 of Pastorelli et al. 2019": figure_6,
}
