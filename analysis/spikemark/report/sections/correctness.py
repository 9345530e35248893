"""Did every run of a network compute the same thing? One checksum per network says so."""

from spikemark.quantities.elements import Box, Section, Table
from spikemark.quantities.words import counted, integer
from spikemark.records.agreement import Agreement, agreements
from spikemark.records.cases import View

TITLE = "Correctness"
EXPLAINED = (
    "The checksum is an order-free sum over all spikes and the final state of all neurons. A network (seed, "
    "populations, projections, simulated time) must give the same one for every number of ranks and threads, "
    "schedule, placement and exchange."
)


def section(view: View) -> Section:
    """The verdict on all runs, loud where checksums differ, and the checksums."""
    found = agreements(view.sweep)
    if not found:
        return Section("correctness", TITLE, missing=["Correctness: no run is complete."])
    rows = [
        [
            str(a.seed),
            ", ".join(a.checksums),
            str(len(a.runs)),
            integer(a.runs[0].run.record.totals.neurons),
            a.network,
        ]
        for a in found
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
        boxes=_boxes(found),
        tables=[("Checksums by network", table)],
    )


def _boxes(found: list[Agreement]) -> list[Box]:
    different = [a for a in found if len(a.checksums) > 1]
    if different:
        return [Box("bad", _complaint(a)) for a in different]
    runs = sum(len(a.runs) for a in found)
    alone = sum(len(a.runs) == 1 for a in found)
    if alone == len(found):
        return [Box("plain", "Nothing to compare yet: every network has one complete run only.")]
    networks = counted(len(found), "network")
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
