"""Did every run of a network compute the same thing? One checksum per network says so."""

from collections import defaultdict
from dataclasses import dataclass

from ..cases import View
from ..elements import Box, Section, Table
from ..gather import Measured, Sweep
from ..values import counted, integer

TITLE = "Correctness"
EXPLAINED = (
    "The checksum is an order-free sum over all spikes and the final state of all neurons. A network (seed, "
    "populations, projections, simulated time) must give the same one for every number of ranks and threads, "
    "schedule, placement and exchange."
)


@dataclass(frozen=True)
class Agreement:
    """All whole runs of one network."""

    network: str
    seed: int
    runs: list[Measured]

    @property
    def checksums(self) -> dict[str, list[str]]:
        """Checksum -> labels of the runs that gave it."""
        found = defaultdict(list)
        for m in self.runs:
            found[m.run.record.checksum].append(m.planned.label)
        return dict(found)


def prepare(sweep: Sweep) -> list[Agreement]:
    """One entry per network, by seed."""
    networks = defaultdict(list)
    for m in sweep.runs:
        networks[m.network].append(m)
    agreements = [Agreement(key, members[0].planned.seed, members) for key, members in networks.items()]
    return sorted(agreements, key=lambda a: (a.seed, a.network))


def broken(sweep: Sweep) -> list[Agreement]:
    """The networks whose runs gave more than one checksum."""
    return [a for a in prepare(sweep) if len(a.checksums) > 1]


def section(view: View) -> Section:
    """The verdict on all runs, loud where checksums differ, and the checksums."""
    agreements = prepare(view.sweep)
    if not agreements:
        return Section("correctness", TITLE, missing=["Correctness: no run is complete."])
    rows = [
        [
            str(a.seed),
            ", ".join(a.checksums),
            str(len(a.runs)),
            integer(a.runs[0].run.record.totals.neurons),
            a.network,
        ]
        for a in agreements
    ]
    table = Table(
        ["seed", "checksum", "runs", "neurons", "network"],
        rows,
        ["given", "counted", "counted", "counted", ""],
        words=(0, 1, 4),
    )
    return Section(
        "correctness",
        TITLE,
        text=[EXPLAINED],
        boxes=_boxes(agreements),
        tables=[("Checksums by network", table)],
    )


def _boxes(agreements: list[Agreement]) -> list[Box]:
    different = [a for a in agreements if len(a.checksums) > 1]
    if different:
        return [Box("bad", _complaint(a)) for a in different]
    runs = sum(len(a.runs) for a in agreements)
    alone = sum(len(a.runs) == 1 for a in agreements)
    if alone == len(agreements):
        return [Box("plain", "Nothing to compare yet: every network has one complete run only.")]
    networks = counted(len(agreements), "network")
    words = f"Equal: {counted(runs, 'run')} of {networks} gave one checksum per network."
    if alone:
        words += (
            f" {counted(alone, 'network has', 'networks have')} one run only: nothing to compare it with."
        )
    return [Box("good", words)]


def _complaint(agreement: Agreement) -> str:
    parts = [f"{checksum}: {'; '.join(labels)}" for checksum, labels in agreement.checksums.items()]
    return (
        f"NOT EQUAL: the runs of the network with seed {agreement.seed} ({agreement.network}) gave "
        f"{len(parts)} different checksums. At least one of them computed something else, so the times on "
        f"this page must not be compared. {' — '.join(parts)}"
    )
