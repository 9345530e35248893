"""Did every run of a network compute the same thing? One checksum per network says so."""

from spikemark.quantities.elements import Box, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted
from spikemark.records.agreement import Agreement, agreements
from spikemark.records.cases import View
from spikemark.report.columns import RUNS, SEED

TITLE = "Correctness"
EXPLAINED = (
    "Did all runs of a network compute the same thing? The checksum tells. It is a sum over all spikes and "
    "the final state of all neurons in which order does not matter. A network (seed, populations, "
    "projections, simulated time) "
    "must give the same checksum for every number of ranks and threads, schedule, placement and exchange."
)
COLUMNS = {
    SEED: lambda a: a.seed,
    Column("checksum", "checksum", "counted"): lambda a: ", ".join(a.checksums),
    RUNS: lambda a: len(a.runs),
    Column("neurons", "neurons", "counted"): lambda a: a.runs[0].run.record.totals.neurons,
    Column("network", "network"): lambda a: a.network,
}


def section(view: View) -> Section:
    """Shows the verdict on all runs, as an alarm if checksums differ, and the checksums."""
    found = agreements(view.sweep)
    if not found:
        return Section("correctness", TITLE, missing=["Correctness: no run is complete."])
    table = Table.of(COLUMNS, found, "Checksums by network")
    return Section("correctness", TITLE, text=[EXPLAINED], boxes=_boxes(found), tables=[table])


def _boxes(found: list[Agreement]) -> list[Box]:
    different = [a for a in found if len(a.checksums) > 1]
    if different:
        return [Box("bad", _complaint(a)) for a in different]
    runs = sum(len(a.runs) for a in found)
    alone = sum(len(a.runs) == 1 for a in found)
    if alone == len(found):
        return [Box("plain", "There is nothing to compare yet: every network has only one complete run.")]
    networks = counted(len(found), "network")
    words = f"Equal: {counted(runs, 'run')} of {networks} gave one checksum per network."
    if alone:
        has = counted(alone, "network has", "networks have")
        words += f" {has} only one run, which cannot be compared with any other."
    return [Box("good", words)]


def _complaint(agreement: Agreement) -> str:
    parts = [f"{checksum}: {'; '.join(labels)}" for checksum, labels in agreement.checksums.items()]
    return (
        f"NOT EQUAL: the runs of the network with seed {agreement.seed} ({agreement.network}) gave "
        f"{len(parts)} different checksums. At least one of them computed something else, so the times on "
        f"this page must not be compared. {' — '.join(parts)}"
    )
