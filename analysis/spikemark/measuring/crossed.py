"""How far a data sheet carries: the kernel times of a machine, predicted from those of another one.

Each time is scaled by what a data sheet says of the two machines. Computing scales with the clock. A synapse
that is read from memory takes its time from the bandwidth as well, so delivery per synapse has the larger
one of both factors. The first synapse of a list is a cache miss, whose latency no data sheet states: it
scales with the clock, too, and with the square root of the last cache per core, as misses do (Hartstein et
al. 2006, doi:10.1145/1128022.1128064).
"""

import math

from spikemark.machines.profile import Profile
from spikemark.quantities.words import number

GROUP = "kernels.full_node."


def scale(kernel: str, source: Profile, target: Profile, sheet: bool = True) -> float:
    """The factor from a kernel time of `source` to that of `target`; without `sheet`, by the clock alone."""

    def ratio(name: str) -> float:
        return source.need(name, "scaling").value / target.need(name, "scaling").value

    factor = ratio("node.clock")
    if sheet and kernel == "t_next":
        factor = max(factor, ratio("node.bandwidth") / ratio("node.cores"))
    if sheet and kernel == "t_first":
        factor *= math.sqrt(ratio("node.l3") / ratio("node.l3_cores"))
    return factor


def crossed(source: Profile, target: Profile, sheet: bool = True) -> dict[str, float]:
    """Predicted over measured time on a full node for the kernels of which both machines have a time."""
    found = {}
    for path in (path for path in source.values if path.startswith(GROUP)):
        a, b, kernel = source.get(path), target.get(path), path.removeprefix(GROUP)
        if b and a.value and b.value:
            found[kernel] = a.value * scale(kernel, source, target, sheet) / b.value
    return found


def rows(one: Profile, other: Profile) -> list[str]:
    """Lines of Markdown: predicted over measured on a full node, in both directions."""
    ways = [(one, other, False), (one, other, True), (other, one, False), (other, one, True)]
    heads = [f"{b.name} from {a.name}, {'sheet' if sheet else 'clock'}" for a, b, sheet in ways]
    heads = ["kernel time, full node", f"{one.name} (ns)", f"{other.name} (ns)", *heads]
    lines = [f"| {' | '.join(heads)} |", "| --- |" + " ---: |" * (len(heads) - 1)]
    columns = [crossed(a, b, sheet=sheet) for a, b, sheet in ways]
    for kernel in columns[0]:
        cells = [f"`{kernel}`", *(number(each.get(GROUP + kernel).value) for each in (one, other))]
        lines.append(f"| {' | '.join([*cells, *(f'× {column[kernel]:.2f}' for column in columns)])} |")
    off = [sorted(max(factor, 1 / factor) for factor in column.values()) for column in columns]
    for word, place in (("median", len(off[0]) // 2), ("largest", -1)):
        cells = [f"**{word} error**", "", "", *(f"factor {each[place]:.2f}" for each in off)]
        lines.append(f"| {' | '.join(cells)} |")
    return lines
