"""How far a data sheet carries: the kernel times of a machine, predicted from those of another one.

Each time is scaled by what a data sheet says of the two machines. Computing scales with the clock.
A synapse that is read from memory takes its time from the bandwidth as well, so delivery per
synapse has the larger one of both factors. The first synapse of a list is a cache miss, whose
latency no data sheet states: it scales with the clock, too, and with the square root of the last
cache per core, as misses do (Hartstein et al. 2006, doi:10.1145/1128022.1128064).
"""

import math
from typing import NamedTuple

from spikemark.machines.profile import Profile
from spikemark.quantities.words import number

GROUP = "kernels.full_node."


def _scale(
    kernel: str,
    source: Profile,
    target: Profile,
    sheet: bool = True,
) -> float:
    """The factor from a kernel time of `source` to that of `target`.

    Args:
        kernel: its name in a profile, such as `t_next`.
        source: the machine whose time is known.
        target: the machine whose time is predicted.
        sheet: whether bandwidth and caches count; False: the clock alone.

    Raises UnknownValue where a profile does not state what is needed.
    """

    def ratio(name: str) -> float:
        source_value = float(source.need(name, "scaling").value)
        return source_value / float(target.need(name, "scaling").value)

    factor = ratio("node.clock")
    if sheet and kernel == "t_next":
        factor = max(factor, ratio("node.bandwidth") / ratio("node.cores"))
    if sheet and kernel == "t_first":
        factor *= math.sqrt(ratio("node.l3") / ratio("node.l3_cores"))
    return factor


def _kernel_times(machine: Profile) -> dict[str, float]:
    """Times on a full node by kernel, ns, without those that are 0."""
    times = {}
    for path, value in machine.values.items():
        if path.startswith(GROUP) and value.value:
            times[path.removeprefix(GROUP)] = float(value.value)
    return times


def crossed(source: Profile, target: Profile, sheet: bool = True) -> dict[str, float]:
    """Predicted over measured time on a full node, by kernel.

    Only kernels count of which both machines have a time.

    Example:
        >>> from spikemark import machines
        >>> source, target = machines.load("epyc-vm"), machines.load("epyc-vm")
        >>> {round(factor, 6) for factor in crossed(source, target).values()}  # of itself
        {1.0}
    """
    measured_ns = _kernel_times(target)
    factors = {}
    for kernel, source_ns in _kernel_times(source).items():
        if kernel in measured_ns:
            predicted_ns = source_ns * _scale(kernel, source, target, sheet)
            factors[kernel] = predicted_ns / measured_ns[kernel]
    return factors


class Direction(NamedTuple):
    """A column of the table: the kernel times of `target`, predicted from those of `source`."""

    source: Profile
    target: Profile
    sheet: bool

    @property
    def head(self) -> str:
        how = "sheet" if self.sheet else "clock"
        return f"{self.target.name} from {self.source.name}, {how}"


def rows(first: Profile, second: Profile) -> list[str]:
    """Lines of Markdown: predicted over measured on a full node, in both directions.

    Example:
        >>> from spikemark import machines
        >>> lines = rows(machines.load("zen3-vm"), machines.load("zen4-vm"))
        >>> lines[-1].startswith("| **largest error**")
        True
    """
    directions = [
        Direction(first, second, sheet=False),
        Direction(first, second, sheet=True),
        Direction(second, first, sheet=False),
        Direction(second, first, sheet=True),
    ]
    heads = ["kernel time, full node", f"{first.name} (ns)", f"{second.name} (ns)"]
    heads += [direction.head for direction in directions]
    lines = [_line(heads), "| --- |" + " ---: |" * (len(heads) - 1)]
    columns = [crossed(*direction) for direction in directions]
    first_ns, second_ns = _kernel_times(first), _kernel_times(second)
    for kernel in columns[0]:
        cells = [f"`{kernel}`", number(first_ns[kernel]), number(second_ns[kernel])]
        cells += [f"× {column[kernel]:.2f}" for column in columns]
        lines.append(_line(cells))
    errors = [_sorted_errors(column) for column in columns]
    medians = [column_errors[len(column_errors) // 2] for column_errors in errors]
    largest = [column_errors[-1] for column_errors in errors]
    for name, column_errors in (("median", medians), ("largest", largest)):
        cells = [f"**{name} error**", "", ""]
        cells += [f"factor {error:.2f}" for error in column_errors]
        lines.append(_line(cells))
    return lines


def _sorted_errors(factors: dict[str, float]) -> list[float]:
    """How far factors are from 1, whichever way: 2 and 0.5 are equally far."""
    return sorted(max(factor, 1 / factor) for factor in factors.values())


def _line(cells: list[str]) -> str:
    """A line of a table in Markdown."""
    return f"| {' | '.join(cells)} |"
