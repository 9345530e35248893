"""When does routing spikes in levels pay? A map over ranks and bytes, confirmed on SimGrid and by counts."""

from functools import partial

from spikemark.quantities.elements import Box, KeyFigure, Section
from spikemark.quantities.words import number
from spikemark.records.gather import Sweep
from spikemark.studies.study import Findings, Full, Study

from . import counted, loads, replays, tables, verdicts
from .figures import figure
from .loads import ABLATED, SCATTERED

EXPLAINED = (
    "Words can travel through other ranks, their bridges, so that a rank sends fewer and larger messages."
    " Every level adds a latency and the bytes of one more hop. So levels pay where messages are small: with"
    " many ranks, and few cycles between two exchanges. A longer window (a larger D) also makes messages"
    " fewer and larger, at no cost of bytes."
)
SOURCE = (
    "The traffic is that of the parametric brain of Du et al.'s size, 5 million neurons on each rank, as an"
    " expectation over all networks. Times are modelled for machines whose profile states latency and"
    " bandwidth."
)


def read(sweep: Sweep) -> Findings:
    """What has been computed, replayed and counted so far."""
    found, replayed = loads.load(sweep.path), replays.load(sweep.path)
    machine = replays.MACHINE
    ways = tables.verdicts_of(found)
    ends = tables.thresholds(found)
    brains = [p for p in tables.of_traffic(found) if p.item.method == SCATTERED]
    parts = [
        Section("map", "When levels pay", [EXPLAINED, SOURCE], boxes=_boxes(replayed),
                figures=figure(ends, machine, brains), tables=[ends, tables.fastest(ways)]),
        Section("even", "Even traffic", tables=[tables.even(loads.RANKS)]),
        Section("levels", "One to four levels", tables=[tables.by_levels(found, machine)]),
        Section("groups", "Sizes of groups", tables=[tables.groups(found, machine)]),
        Section("ablation", "Sides and merging", tables=[tables.ablation(found, machine)]),
        Section("replayed", "Simulated messages", tables=[replays.table(replayed), replays.counts(replayed)]),
        Section("counted", "Small brains, run", tables=[counted.table(sweep.runs)]),
    ]  # fmt: skip
    return Findings(_sentence(ends, machine), _key_figures(ends), parts)


def _at(table, machine: str) -> dict | None:
    """The thresholds of a machine on ABLATED ranks."""
    own = [r for r in table.rows if (r["machine"], r["ranks"], r["method"]) == (machine, ABLATED, SCATTERED)]
    return own[0] if own else None


def _sentence(table, machine: str) -> str:
    row = _at(table, machine)
    if row is None or not row["d1"]:
        return "Nothing to compare yet: no traffic of the full brain has been computed."
    return (
        f"On {ABLATED} ranks of {machine}, sending directly is fastest from D = {number(row['d1'].value)}"
        f" cycles of 0.1 ms on, that is from {number(row['mb1'].value)} MB of a rank in an"
        " exchange (modelled)."
    )


def _boxes(replayed: dict) -> list[Box]:
    if not replayed:
        return []

    def ends(of: str) -> str:
        ratios = [sum(r[of]) / r["last_s"][-1] for r in replayed.values()]
        return f"{number(min(ratios))} to {number(max(ratios))}"

    most = max(case.ranks for case in replayed)
    return [Box("plain", (
        f"The model takes {ends('least_s')} times as long as {len(replayed)} exchanges of up to {most} ranks"
        " replayed on SimGrid if links have their whole bandwidth, and"
        f" {ends('modelled_s')} times with the congestion that is assumed."
    ))]  # fmt: skip


def _key_figures(table) -> list[KeyFigure]:
    found = []
    for machine in verdicts.profiles():
        row, head = _at(table, machine), f"Direct is fastest on {ABLATED} ranks of {machine}"
        if row is None or not row["mb1"]:
            reason = "not computed yet" if row is None else row["mb1"].reason
            found.append(KeyFigure.lacking(head, reason))
        else:
            found.append(KeyFigure(head, row["mb1"], "modelled", words=lambda x: f"from {number(x)} MB"))
    return found


def prepare(sweep: Sweep, full: bool = False) -> list[str]:
    """Compute and replay what is missing, and say what cannot be."""
    return [*loads.compute(sweep.path, full), *replays.compute(sweep.path, full)]


STUDY = Study(
    "routing",
    "when routing in levels pays, over ranks, bytes, D and lag, by model, on SimGrid and by counts",
    "routing",
    read,
    prepare,
    "about six minutes of a core",
    Full(partial(prepare, full=True), "hours"),
)
