"""What a balanced placement is predicted to take, as tables, lines and JSON."""

from spikemark.machines.inputs import Inputs
from spikemark.network.placement_file import Placement
from spikemark.prediction import model_error, phases
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, microseconds

from .balance import ENOUGH, Balanced, Task
from .least_energy import Mix, Search, words_of

KIND = "modelled"
EMPTY = 0.02  # of the mean rank's neurons
MEANS = "Compute times are means. Fluctuations from cycle to cycle and the exchange of spikes come on top."


def table(task: Task, found: Balanced) -> Table:
    """One row for each part with ranks."""
    columns = [
        Column("part", "part"),
        Column("ranks", "ranks", "counted"),
        Column("neurons", "neurons of a rank", "counted"),
        Column("synapses", "synapses of a rank", "counted"),
        Column("before_us", "µs per cycle, before", KIND),
        Column("compute_us", "µs per cycle", KIND),
        Column("memory_gb", "GB of a node", KIND),
    ]
    title = f"Compute time of ranks on {task.machine.name}"
    return Table(columns, parts(found), title, "parts", [MEANS])


def parts(found: Balanced) -> list[dict]:
    """Means over the ranks of each part; memory of its fullest node."""
    best, rows = found.best, []
    for share in best.layout.shares:
        of = share.slice
        rows.append({
            "part": share.part or "all nodes",
            "ranks": share.ranks,
            "neurons": float(best.placement.per_rank[of].mean()),
            "synapses": float(best.loads.synapses[of].mean()),
            "before_us": 1e6 * float(found.equal.compute_s[of].mean()),
            "compute_us": 1e6 * float(best.compute_s[of].mean()),
            "memory_gb": 1e-9 * float(best.node_bytes[of].max()),
        })  # fmt: skip
    return rows


def lines(task: Task, found: Balanced) -> list[str]:
    """How far the search came, and what limited it."""
    before, best = found.equal, found.best
    made = [
        f"slowest rank over the mean: {best.uneven:.3f} (before: {before.uneven:.3f}), after"
        f" {counted(found.rounds, 'round')} (modelled)",
        f"waiting for ranks that take longer on the mean: {microseconds(best.unequal_s)} per cycle"
        f" (before: {microseconds(before.unequal_s)}) (modelled)",
    ]
    made += _useless(found)
    if not found.done and not _useless(found):
        made.append(
            f"The slowest rank is not within {100 * ENOUGH:.0f} % of the mean. Methods that cut areas or deal"
            " neurons, such as round_robin, come closer."
        )
    return made + limits(task, found)


def _useless(found: Balanced) -> list[str]:
    """Parts whose ranks take longest though they hold next to nothing."""
    best, said = found.best, []
    held, mean = best.placement.per_rank, best.placement.neurons / len(best.want)
    for share in best.layout.shares:
        slowest = best.compute_s[share.slice].max()
        if share.part and held[share.slice].max() < EMPTY * mean and slowest == best.slowest_s:
            said.append(
                f"part {share.part}: its ranks take {microseconds(slowest)} per cycle with next to no"
                " neurons; without them, by --on, the others are faster"
            )
    return said


def limits(task: Task, found: Balanced) -> list[str]:
    """Names ranks that memory limits, and parts whose memory is not known."""
    said = []
    layout = found.best.layout
    for share in layout.shares:
        room, own = layout.profile(task.machine, share).get("node.memory"), layout.prefix(share)
        capped = int(found.capped[share.slice].sum())
        if capped:
            said.append(f"{own}{counted(capped, 'rank')} limited to what {room.value:g} GB of a node hold")
        if room is None:
            said.append(f"{own}the memory of a node is unknown, so it limits nothing here")
    return said


def assumed(task: Task, found: Balanced) -> list[str]:
    """What the compute times assume."""
    inputs, layout, loads = Inputs(task.machine), found.best.layout, found.best.loads
    phases.of_ranks(loads, inputs, layout)
    said = f"rates: {task.rates.source}", *phases.assumptions(inputs, layout, loads)
    return [f"assumed: {line}" for line in said]


def content(task: Task, found: Balanced) -> dict:
    """The content for JSON."""
    best, before = found.best, found.equal
    return {
        "kind": KIND,
        "machine": task.machine.name,
        "threads": task.threads,
        "rounds": found.rounds,
        "done": found.done,
        "slowest_over_mean": best.uneven,
        "slowest_over_mean_before": before.uneven,
        "unequal_s": best.unequal_s,
        "unequal_before_s": before.unequal_s,
        "compute_s": best.compute_s.tolist(),
        "compute_before_s": before.compute_s.tolist(),
        "weights": weights_of(best.placement),
        "parts": parts(found),
        "limits": limits(task, found),
    }


def weights_of(placed: Placement) -> list[float]:
    """[rank] what each rank shall have, of mean 1."""
    return [1.0] * placed.ranks if placed.weights is None else placed.weights.tolist()


def mixes(found: Search) -> Table:
    """The chosen mix, its neighbours, the fastest one, and each part alone with most ranks."""
    columns = [
        Column("on", "ranks by part"),
        Column("nodes", "nodes"),
        Column("real_time_factor", "real-time factor", KIND),
        Column("power_w", "power (W)", KIND),
        Column("energy_j", "J per simulated s", KIND),
        Column("within", "within the limit"),
    ]
    alone: dict[str, Mix] = {}
    for mix in found.tried:
        if len(mix.on) == 1:
            (name,) = mix.on
            alone[name] = max(alone.get(name, mix), mix, key=lambda one: sum(one.counts))
    shown = {mix.counts: mix for mix in (found.chosen, *found.neighbours, found.fastest, *alone.values())}
    notes = [
        f"First the chosen mix, then its neighbours, the fastest one, and parts alone. {how_many(found)}",
        "Nodes that are on take power all the time; nodes that are off take none.",
    ]
    rows = [row(mix, found) for mix in shown.values()]
    return Table(columns, rows, "Mixes of nodes, each balanced by compute time", "mixes", notes)


def how_many(found: Search) -> str:
    """How many mixes were compared, of how many."""
    said = f"Compared: {len(found.tried)} of {found.of} mixes of whole nodes."
    if found.too_large:
        said += f" Into the memory of {found.too_large} the network does not fit."
    return said


def row(mix: Mix, found: Search) -> dict:
    """A mix in the table, and in JSON."""
    return {
        "on": words_of(mix),
        "nodes": ", ".join(f"{name} {nodes}" for name, nodes in mix.nodes.items()),
        "real_time_factor": mix.real_time_factor,
        "power_w": mix.power_w,
        "energy_j": mix.energy_j,
        "within": mix.real_time_factor <= found.limit,
    }


def search_lines(found: Search) -> list[str]:
    """Time and energy of the chosen mix with their intervals, and what they assume."""
    figures, said = found.prediction.figures, []
    for name, words in (("real_time_factor", "real-time factor"), ("energy_j", "J per simulated s")):
        column = Column(name, words, each=True)
        said.append(f"{words} of {words_of(found.chosen)}: {column.text(figures[name])}")
    if figures["real_time_factor"].high > found.limit:
        said.append(f"The interval reaches beyond the limit, {found.limit:.3g}: the run may miss it.")
    said += [model_error.SAID, *(f"extrapolated: {line}" for line in found.prediction.outside)]
    return said + [f"assumed: {line}" for line in found.prediction.assumptions]


def search_content(found: Search) -> dict:
    """The content for JSON: all mixes that were tried."""
    return {
        "kind": KIND,
        "limit_real_time_factor": found.limit,
        "chosen": row(found.chosen, found) | {"ranks": found.chosen.on},
        "fastest": row(found.fastest, found),
        "mixes": [row(mix, found) for mix in found.tried],
        "too_large": found.too_large,
        "of": found.of,
    }
