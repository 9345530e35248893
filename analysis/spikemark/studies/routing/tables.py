"""Tables of the study: the fastest way, thresholds, levels, sizes of groups, sides and merging."""

import itertools
from collections.abc import Callable

from spikemark.machines.inputs import Inputs
from spikemark.prediction.collectives import Collectives
from spikemark.prediction.partition.levels import best_group, messages, worth
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table

from . import verdicts
from .loads import ABLATED, INDEGREE, MOST_LEVELS, SCATTERED, Item, Placed, Way
from .verdicts import SCHEDULES, Verdict

Loads = dict[Item, Placed]
MILLION, MEGA = 1e6, 1e-6
#: PARTITION: one microsecond for a message, two of latency, 12.5 GB/s.
EVEN = {"message_s": 1e-6, "latency_s": 2e-6, "bandwidth": 12.5e9}
NOTHING = missing("everything is hidden behind computing", mark="–")


def of_traffic(found: Loads) -> list[Placed]:
    """The brains of the map: in-degree 100, by method and ranks."""
    own = [p for item, p in found.items() if item.indegree == INDEGREE]
    return sorted(own, key=lambda p: (p.item.method != SCATTERED, p.item.method, p.item.ranks))


def verdicts_of(found: Loads) -> list[Verdict]:
    """One for each machine, brain and schedule."""
    return [
        verdicts.verdict(machine, placed, schedule)
        for machine in verdicts.profiles()
        for placed in of_traffic(found)
        for schedule in SCHEDULES
    ]


def fastest(found: list[Verdict]) -> Table:
    """One row for each verdict."""
    columns = {
        Column("machine", "machine"): lambda v: v.machine,
        Column("method", "placement"): lambda v: v.placed.item.method,
        Column("ranks", "ranks", "given"): lambda v: v.placed.item.ranks,
        Column("schedule", "D and lag"): lambda v: v.schedule.words,
        Column("mb", "MB of a rank in an exchange", "modelled"): _megabytes,
        Column("way", "fastest way"): lambda v: v.way.words,
        Column("best_s", "its exchanges (s per simulated s)", "modelled"): lambda v: v.best_s,
        Column("direct_s", "sending directly", "modelled"): lambda v: v.direct_s,
        Column("gain", "direct / fastest", "modelled"): _gain,
        Column("sure", "verdict"): lambda v: v.sure,
    }  # fmt: skip
    note = (
        "Expected traffic, p2p, ranks with a node each. Intervals: what the profile does not know. `open`:"
        " their lower end says that levels do not pay. A cycle has 0.1 ms. With lag 1, windows are half as"
        " long, and the first hop is hidden as far as computing takes time; that is assumed to be the time"
        " that is simulated."
    )
    return Table.of(columns, found, "Fastest ways", "fastest", [note])


def _megabytes(v: Verdict) -> float:
    return MEGA * v.placed.bytes(v.schedule.window)


def _gain(v: Verdict) -> Quantity:
    return v.gain if v.best_s.value > 0 else NOTHING


def thresholds(found: Loads) -> Table:
    """One row for each machine and brain: from how many cycles on more levels do not pay."""
    rows = [
        (machine, placed, verdicts.beyond(machine, placed))
        for machine in verdicts.profiles()
        for placed in of_traffic(found)
    ]

    def megabytes(levels: int) -> Callable[[tuple], Quantity | None]:
        def cell(row: tuple) -> Quantity | None:
            d = row[2].get(levels)
            return d.times(MEGA * row[1].bytes(1)) if d else d

        return cell

    columns = {
        Column("machine", "machine"): lambda row: row[0],
        Column("method", "placement"): lambda row: row[1].item.method,
        Column("ranks", "ranks", "given"): lambda row: row[1].item.ranks,
        Column("d1", "direct from D =", "modelled"): lambda row: row[2].get(1),
        Column("mb1", "that is, MB of a rank in an exchange", "modelled"): megabytes(1),
        Column("lag", "direct from D =, with lag 1", "modelled"): lambda row: verdicts.beyond(
            row[0], row[1], 1
        )[1],
        Column("d2", "at most 2 levels from D =", "modelled"): lambda row: row[2].get(2),
        Column("mb2", "MB", "modelled"): megabytes(2),
        Column("d3", "at most 3 levels from D =", "modelled"): lambda row: row[2].get(3),
        Column("mb3", "MB", "modelled"): megabytes(3),
    }
    note = "Without lag, cycles of 0.1 ms. D need not be exact: delays of the network limit it."
    return Table.of(columns, rows, "From which D on levels do not pay", "thresholds", [note])


def even(ranks: tuple[int, ...]) -> Table:
    """The closed form for even traffic, beside which the thresholds stand."""
    columns = {
        Column("ranks", "ranks", "given"): lambda row: row[0],
        Column("levels", "levels"): lambda row: f"{row[1]} to {row[1] + 1}",
        Column("messages", "messages of a rank afterwards", "modelled"): lambda row: messages(
            row[0], row[1] + 1
        ),
        Column("mb", "pays below MB of a rank in an exchange", "modelled"): lambda row: (
            MEGA * worth(*row, **EVEN)
        ),
    }
    note = (
        "Even traffic: k latencies, k (N^(1/k) - 1) messages and k times the bytes, one after another; 1 us"
        " for a message, 2 us of latency, 12.5 GB/s."
    )
    return Table.of(columns, itertools.product(ranks, (1, 2, 3)), "The closed form", "even", [note])


def by_levels(found: Loads, machine: str) -> Table:
    """A row for each brain and schedule: the fastest way with every number of levels."""
    profile = verdicts.profiles().get(machine)

    def fastest_of(levels: int) -> Callable[[tuple], float]:
        def cell(row: tuple) -> float:
            net, placed, schedule = row
            ways = (way for way in placed.sums if len(way.sizes) == levels)
            return min(verdicts.cost(net, placed, way, schedule) for way in ways)

        return cell

    columns = {
        Column("method", "placement"): lambda row: row[1].item.method,
        Column("ranks", "ranks", "given"): lambda row: row[1].item.ranks,
        Column("schedule", "D and lag"): lambda row: row[2].words,
    }
    columns |= {
        Column(f"s{k}", f"{k} levels" if k > 1 else "direct", "modelled"): fastest_of(k)
        for k in range(1, MOST_LEVELS + 1)
    }
    rows = (
        (Collectives.of(Inputs(profile), placed.item.ranks), placed, schedule)
        for placed in of_traffic(found)
        for schedule in SCHEDULES
    )
    note = "The fastest way with so many levels: its exchanges in s per simulated s, as in the table above."
    return Table.of(columns, rows, f"One to {MOST_LEVELS} levels, on {machine}", "by-levels", [note])


def groups(found: Loads, machine: str) -> Table:
    """Two levels with groups of several sizes: a row for each number of ranks and size."""
    rows = []
    net_of = verdicts.profiles().get(machine)
    for placed in of_traffic(found):
        ranks = placed.item.ranks
        net = Collectives.of(Inputs(net_of), ranks)
        ways = [w for w in placed.sums if len(w.sizes) == 2 and w.side == "sender" and not w.merged]
        least = {s: min(verdicts.cost(net, placed, w, s) for w in ways) for s in SCHEDULES}
        for way in sorted(ways, key=lambda w: w.sizes):
            row = {"method": placed.item.method, "ranks": ranks, "group": way.sizes[0]}
            row["best"] = best_group(ranks)
            for number, schedule in enumerate(SCHEDULES):
                seconds = verdicts.cost(net, placed, way, schedule)
                row[f"over{number}"] = seconds / least[schedule] if least[schedule] else NOTHING
            rows.append(row)
    columns = [
        Column("method", "placement"),
        Column("ranks", "ranks", "given"),
        Column("group", "ranks of a group", "given"),
        Column("best", "square root of the ranks", "modelled"),
        *(Column(f"over{n}", f"{s.words}: time over the best of these", "modelled")
          for n, s in enumerate(SCHEDULES)),
    ]  # fmt: skip
    return Table(columns, rows, f"Sizes of groups, two levels, on {machine}", "groups")


def ablation(found: Loads, machine: str) -> Table:
    """Side of the bridges, merging and in-degree on ABLATED ranks."""
    rows = []
    profile = verdicts.profiles().get(machine)
    own = [p for item, p in found.items() if item.ranks == ABLATED]
    for placed in sorted(own, key=lambda p: (p.item.method, p.item.indegree)):
        net = Collectives.of(Inputs(profile), ABLATED)
        plain = [w for w in placed.sums if len(w.sizes) == 2 and not w.merged and w.side == "sender"]
        sizes = min(plain, key=lambda w: sum(w.sizes)).sizes
        base = placed.sums[Way(sizes)]
        for way in (w for w in placed.sums if w.sizes == sizes):
            hops = placed.sums[way]
            row = {
                "method": placed.item.method, "indegree": placed.item.indegree, "side": way.side,
                "merged": way.merged, "first": hops[0].sent / MILLION,
                "less": 100 * (hops[0].sent / base[0].sent - 1),
                "forwarded": placed.forwarded[way] / MILLION,
                "total": sum(hop.sent for hop in hops) / placed.peak,
            }  # fmt: skip
            for number, schedule in enumerate(SCHEDULES):
                row[f"s{number}"] = verdicts.cost(net, placed, way, schedule)
            rows.append(row)
    columns = [
        Column("method", "placement"),
        Column("indegree", "in-degree", "given"),
        Column("side", "bridges"),
        Column("merged", "merged"),
        Column("first", "level-1 peak (million routes)", "modelled", 4),
        Column("less", "against the sender's side, unmerged (%)", "modelled"),
        Column("forwarded", "sent on, peak (million routes)", "modelled", 4),
        Column("total", "peaks of both levels over that without", "modelled"),
        *(Column(f"s{n}", f"{s.words}: exchanges on {machine} (s per simulated s)", "modelled")
          for n, s in enumerate(SCHEDULES)),
    ]  # fmt: skip
    return Table(columns, rows, f"Side of the bridges and merging, {ABLATED} ranks", "ablation")
