"""How far the clock carries: the kernel times of a machine, predicted from those of another one."""

from spikemark.machines.profile import Profile
from spikemark.quantities.words import number

START = "kernels.full_node."


def crossed(source: Profile, target: Profile) -> dict[str, float]:
    """Predicted over measured time of `target` by kernel, from those of `source` by the ratio of clocks."""
    times = [{p: v.value for p, v in of.values.items() if p.startswith(START)} for of in (source, target)]
    clocks = [of.need("node.clock", "scaling").value for of in (source, target)]
    return {
        path.removeprefix(START): ns * clocks[0] / clocks[1] / times[1][path]
        for path, ns in times[0].items()
        if path in times[1]
    }


def rows(one: Profile, other: Profile) -> list[str]:
    """Lines of Markdown: predicted over measured on a full node; the other way round, it is the inverse."""
    found = crossed(one, other)
    heads = [f"{one.name} (ns)", f"{other.name} (ns)", f"{other.name} from {one.name}"]
    lines = [f"| kernel time, full node | {' | '.join(heads)} |", "| --- | ---: | ---: | ---: |"]
    for path, factor in found.items():
        times = [number(machine.get(f"{START}{path}").value) for machine in (one, other)]
        lines.append(f"| `{path}` | {' | '.join(times)} | × {factor:.2f} |")
    off = sorted(max(factor, 1 / factor) for factor in found.values())
    lines.append(f"| **median error** |  |  | factor {off[len(off) // 2]:.2f} |")
    return [*lines, f"| **largest error** |  |  | factor {off[-1]:.2f} |"]
