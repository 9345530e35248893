"""The comparison as a table for the terminal."""

from typing import Any, TextIO

from .table import QUANTITIES

HEADING = "Medians; below them by what factor the mini-app is ahead, with its interval (*: disturbed)."


def show(content: dict[str, Any], stream: TextIO | None = None) -> None:
    """Print what peers.json holds: one table per number of threads, scaling, and what to know about it."""
    from rich.console import Console
    from rich.table import Table

    console = Console(file=stream, highlight=False, soft_wrap=stream is not None)
    programs = content["programs"]
    medians = {(e["program"], e["threads"], e["quantity"]): e for e in content["medians"]}
    factors = {(e["peer"], e["threads"], e["quantity"]): e for e in content["factors"]}
    scaling = {(e["program"], e["threads"]): e for e in content["scaling"]}
    over = {e["threads"]: e["over"] for e in content["scaling"]}
    console.print(HEADING, markup=False)
    for threads in sorted({e["threads"] for e in content["factors"]}):
        table = Table(title=f"{threads} thread{'s' if threads > 1 else ''}", title_justify="left")
        table.add_column("")
        for program in programs:
            table.add_column(program["title"], justify="right")
        for quantity in QUANTITIES:
            cells = [
                _cell(
                    medians.get((p["name"], threads, quantity.name)),
                    factors.get((p["name"], threads, quantity.name)),
                )
                for p in programs
            ]
            table.add_row(f"{quantity.title}\n{quantity.unit}", *cells)
        if threads in over:
            cells = [_interval(scaling.get((p["name"], threads))) for p in programs]
            table.add_row(f"speed, over {over[threads]} thread{'s' if over[threads] > 1 else ''}", *cells)
        console.print(table)
    for line in notes(content):
        console.print(line, markup=False)


def notes(content: dict[str, Any]) -> list[str]:
    """What a reader of the figures must know, one line each."""
    lines = []
    for program in content["programs"]:
        title = program["title"]
        if program["version"] is not None:
            lines.append(f"{title}: version {program['version']}, {program['mean_rate_hz']:.4g} spikes/s")
        if program["note"]:
            lines.append(f"{title}: {program['note']}")
        if program["baseline_bytes"] and program["synapses"]:
            share = program["baseline_bytes"] / program["synapses"]
            lines.append(f"{title}: {share:.3g} B / synapse of its memory is there before the network is")
    levels = [e["confidence"] for e in content["factors"] if e["confidence"]]
    if levels:
        lines.append(f"intervals hold the median with a confidence of at least {100 * min(levels):.0f} %")
    else:
        lines.append("no intervals: that takes two rounds")
    if content["disturbed"]:
        limit, attempts = (content["conditions"][name] for name in ("foreign_limit", "attempts"))
        lines.append(
            f"DISTURBED: {content['disturbed']} of {content['measured']} runs, in each of {attempts} attempts"
            f" others kept more than {limit:g} cores busy"
        )
    return lines


def _cell(median: dict | None, factor: dict | None) -> str:
    text = "–" if median is None or median["median"] is None else f"{median['median']:.3g}"
    return text if factor is None else f"{text}\n{_interval(factor)}"


def _interval(entry: dict | None) -> str:
    if entry is None or entry["median"] is None:
        return "–"
    spread = f" ({entry['low']:.3g}–{entry['high']:.3g})" if entry["confidence"] else ""
    return f"{entry['median']:.3g}x{spread}{'*' if entry['disturbed'] else ''}"
