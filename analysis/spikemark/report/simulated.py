"""Pages over runs on a simulated machine: nothing there was measured, and every number says so."""

import re

from spikemark.quantities.words import counted, number, span
from spikemark.records.gather import Measured, Sweep

SIMULATED = "simulated"  # beginning of the caution
HERE = "On this machine"


def reworded(text: str) -> str:
    """Text, HTML or JSON with `simulated` where pages say `measured`; parts of names stay as they are."""
    text = re.sub(r"\b([Mm])easured\b", lambda found: "simulated" if found[1] == "m" else "Simulated", text)
    return text.replace(HERE, "On the simulated machine")


def worded(sweep: Sweep, text: str) -> str:
    """`text` as it may stand on a page over `sweep`."""
    return reworded(text) if sweep.simulated else text


def caution(sweep: Sweep) -> str:
    """The first thing a reader must know."""
    machines = sorted({m.planned.machine.name for m in sweep.runs if m.simulated}) or [sweep.machine]
    return (
        f"{SIMULATED}: spikes and messages are those of the real program, times are those of a machine that "
        f"SimGrid simulates after the profile {', '.join(machines)}; no time on this page was read from a "
        "clock of that machine"
    )


def terms(runs: list[Measured]) -> list[tuple[str, str]]:
    """What was simulated, on what assumptions, and what it cost."""
    found = [m.simulation for m in runs if m.simulation]
    if not found:
        return []
    rows = [
        (head, _distinct([str(entry.get(name, "unknown")) for entry in found]))
        for head, name in (
            ("simulated machine (profile)", "machine"),
            ("compute times", "compute"),
            ("ranks per node", "ranks_per_node"),
            ("threads of a rank", "threads"),
            ("simulated network", "facts"),
            ("SimGrid", "simgrid"),
        )
    ]
    assumed = dict.fromkeys(_line(text) for entry in found for text in entry.get("assumptions", []))
    rows.append(("assumed, since the profile does not tell", "; ".join(assumed) or "nothing"))
    costs = [(m, m.simulation["cost_s"]) for m in runs if m.simulation and m.simulation.get("cost_s")]
    if costs:
        each = [1e6 * cost / (m.run.record.ranks * m.run.record.timing.cycles) for m, cost in costs]
        rows.append((
            "cost of simulating",
            f"{number(sum(cost for _, cost in costs))} s for {counted(len(costs), 'run')}, "
            f"{span([cost for _, cost in costs])} s each, {span(each)} µs per rank and cycle",
        ))  # fmt: skip
    return rows


def _line(assumption) -> str:
    return assumption if isinstance(assumption, str) else ", ".join(map(str, dict(assumption).values()))


def _distinct(values: list[str]) -> str:
    return "; ".join(dict.fromkeys(values))
