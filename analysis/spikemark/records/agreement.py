"""Which runs simulated the same network, and whether they computed the same thing."""

from collections import defaultdict
from dataclasses import dataclass

from spikemark.quantities.words import counted

from .gather import Measured, Sweep


@dataclass(frozen=True)
class Agreement:
    """All complete runs of one network."""

    network: str
    seed: int
    runs: list[Measured]

    @property
    def checksums(self) -> dict[str, list[str]]:
        """Labels of the runs that gave each checksum."""
        found = defaultdict(list)
        for m in self.runs:
            found[m.run.record.checksum].append(m.planned.label)
        return dict(found)

    @property
    def equal(self) -> bool | None:
        """Says whether all runs gave one checksum; None for a single run, which has no other beside it."""
        return None if len(self.runs) == 1 else len(self.checksums) == 1


def agreements(sweep: Sweep) -> list[Agreement]:
    """The complete runs by network, sorted by seed."""
    networks = defaultdict(list)
    for m in sweep.runs:
        networks[m.network].append(m)
    found = [Agreement(key, members[0].planned.seed, members) for key, members in networks.items()]
    return sorted(found, key=lambda a: (a.seed, a.network))


def complaints(sweep: Sweep) -> list[str]:
    """One line for each network whose runs gave more than one checksum."""
    lines = []
    for one in broken(sweep):
        named = [
            f"{checksum} in {counted(len(labels), 'run')} such as {labels[0]!r}"
            for checksum, labels in one.checksums.items()
        ]
        said = "CHECKSUMS DIFFER for one network, a schedule or exchange is wrong"
        lines.append(f"{said}: {'; '.join(named)}")
    return lines


def broken(sweep: Sweep) -> list[Agreement]:
    """The networks whose runs gave more than one checksum."""
    return [a for a in agreements(sweep) if a.equal is False]
