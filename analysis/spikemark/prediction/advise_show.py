"""Advice as one sentence, a table, lines and JSON. All words follow from the numbers."""

from typing import Any

from spikemark.machines.plain import named
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number

from . import advise_commands, model_error, show, simulators
from .advise import Advice, Ranked
from .advise_option import FACTOR, Option
from .compare_show import LIMITS
from .decisions import MEMORY
from .node_range import EXCLUDED, LIKELY, MOST_NODES, OPEN, SURE, reached, vague
from .node_words import open_still

_NODES = " (--nodes says how many there are)"
COLUMNS = (FACTOR, "energy_j", "power_w", "memory_gb")
FOREIGN = (
    "The intervals cover what is not known about the machine and the factor of the simulator, but not errors"
    " of the model (docs/prediction.md)."
)
TRY = "Try the first two options in a short run, or with `spikemark simulate`."
CLOSER = "Two options share most errors, so the ratio of their times is more certain than either time."


PLACED = {
    "round_robin": "deals all neurons to all ranks in turn",
    "area": "keeps each area on one rank",
    "area_group": "lets several ranks share a large area, and small areas share a rank",
}


def sentence(made: Advice) -> str:
    """The answer in at most thirty words, for a machine whose name is one of a few."""
    best = made.best
    on = f"On {called(made)}, {_way(made, best)}: real-time factor {_time(best)}"
    if made.target is None:
        return f"{on}, probably the fastest way{_published(made)}."
    wanted = number(made.target)
    if best.reached == EXCLUDED:
        return f"{on}, which comes closest; {wanted} is excluded."
    if vague(best.prediction, made.target):
        return f"{on}; {wanted}: {OPEN}."
    reaches = {SURE: "surely reaches", LIKELY: "is likely to reach"}.get(best.reached, "may reach")
    return f"{on}, which {reaches} {wanted}."


def _published(made: Advice) -> str:
    """Says among which options the best one is: other versions of the simulator may be faster."""
    return f" of {made.best.version}" if made.foreign and made.released else ""


def called(made: Advice) -> str:
    """The machine's title up to a comma or colon."""
    return made.title.split(":")[0].split(",")[0]


def _way(made: Advice, r: Ranked) -> str:
    p = r.prediction
    ratio = f" (D = {p.loads.delay_ratio})" if p.loads.delay_ratio else ""
    way = f"the {p.loads.schedule.label} schedule{ratio}"
    whose = made.label if made.released else f"{made.label}'s branch"
    way = f"{whose} with {way} and" if made.foreign else f"{way} with"
    return f"run {way} placement {p.placement} on {counted(p.nodes, 'node')}"


def _time(r: Ranked) -> str:
    f = r.prediction.figures[FACTOR]
    return f"{number(f.value, 2)} ({number(f.low, 2)} to {number(f.high, 2)})"


def explained(made: Advice) -> list[str]:
    """Explains the words of the answer, for the best option."""
    p = made.best.prediction
    found = [show.ODD.format(line) for line in p.odd]
    found.append("A real-time factor of 1 is real time; smaller is faster.")
    found += open_still(p, made.target) if made.target is not None else []
    cycle = p.loads.cycle_s * 1e3
    for lane in p.loads.lanes:
        if not lane.alone:
            every = "every cycle" if lane.period == 1 else f"every {lane.period} cycles"
            line = f"Lane {lane.name}: ranks exchange spikes {every} ({number(lane.period * cycle)} ms)"
            if lane.lag:
                line += f"; an exchange may take {counted(lane.lag, 'such window')} (the lag)"
                line += f", so D = {lane.period} × {lane.lag + 1} = {lane.period * (lane.lag + 1)}"
            found.append(f"{line}.")
    found.append(f"Placement {p.placement} {PLACED.get(p.placement, 'puts neurons where its file says')}.")
    if not made.released:
        found.append(f"Only {made.best.version} runs {made.label} this way, not released {made.label}.")
    how = advise_commands.how_to(made)
    return found + (how.notes if how else [])


def described(made: Advice) -> str | None:
    """How what the description states compares with the best option; None if it states nothing."""
    found = made.described
    if found is None:
        return None
    if isinstance(found, str):
        stated = ", ".join(f"{name} {value}" for name, value in made.network.own.items())
        return f"As described ({stated}), it cannot be run {found}."
    p, best = found.prediction, made.best.prediction
    if _same(found.option, made.best.option):
        return "The description itself states the best way that was tried."
    ratio = f"D = {p.loads.delay_ratio}, " if p.loads.delay_ratio else ""
    how = f"{p.loads.schedule.label}, {ratio}placement {p.placement}, {counted(p.ranks, 'rank')}"
    times = found.ratio
    line = f"As described ({how}), it would take {number(times.value, 3)} ({number(times.low, 3)} to"
    line += f" {number(times.high, 3)}) times as long on the same nodes"
    own = made.network.own.get("delay_ratio")
    if isinstance(own, int) and best.loads.delay_ratio and p.loads.delay_ratio:
        is_best = "is the best of those tried" if own == best.loads.delay_ratio else "is not the best"
        line += f"; its D = {own} {is_best}"
    return f"{line}."


def _same(one: Option, other: Option) -> bool:
    def of(option: Option) -> tuple:
        lanes = [(lane.name, lane.period, lane.lag, lane.exchange) for lane in option.loads.lanes]
        return option.schedule.name, option.loads.placement, option.node, lanes

    return of(one) == of(other)


#: Above the command with `--oversubscribe`.
FEWER = "Try it where there are fewer cores (the spikes are the same; the times say nothing about speed):"


def repeated(made: Advice) -> list[str]:
    """How to repeat the prediction, and how to run the simulator this way."""
    nodes = counted(made.best.prediction.nodes, "node")
    script = [f"    {line}    # in your script" for line in advise_commands.in_script(made)]
    more = "Open MPI" if made.foreign else "Open MPI, docs/running.md"
    return [
        "Predict the best option again:", f"    {advise_commands.predicting(made)}",
        f"Run it with {made.label}, in an allocation of {nodes} ({more}):",
        *script, *(f"    {line}" for line in advise_commands.running(made)),
        FEWER, f"    {advise_commands.on_fewer_cores(made)}",
    ]  # fmt: skip


def table(made: Advice) -> Table:
    """One row for the best option of every schedule, the best of all first."""
    predicted = {
        Column("nodes", "nodes"): lambda p: p.nodes,
        Column("ranks", "ranks"): lambda p: p.ranks,
        Column("threads", "threads of a rank"): lambda p: p.threads,
        Column("placement", "placement"): lambda p: p.placement,
        **{c: cell for c, cell in show.WAYS.items() if c.name != "exchanges" or not made.foreign},
        **show.figures(COLUMNS),
    }
    columns = {
        Column("schedule", "schedule"): lambda r: r.prediction.loads.schedule.label,
        Column("verdict", "verdict"): lambda r: verdict(made, r),
        **{c: lambda r, cell=cell: cell(r.prediction) for c, cell in predicted.items()},
        Column("ratio", "time over that of the best", each=True): lambda r: (
            "best" if r is made.best else r.ratio
        ),
        Column("limited_by", "limited by"): lambda r: LIMITS[r.prediction.slowest],
    }
    title = f"{made.network.title} on {made.title}: times of {made.label}; modelled"
    return Table.of(columns, made.ranked, title, "options", [CLOSER])


def verdict(made: Advice, r: Ranked) -> str:
    """Where an option stands: best, the same, tied or slower; and whether it reaches the target."""
    if r is made.best:
        place = f"best{_published(made)}"
    elif r.same:
        place = "the same"
    elif r.tied:
        place = "tied"
    elif r.ratio.value > 1:
        place = "slower"
    else:
        place = "faster, on more nodes" if r.prediction.nodes > made.best.prediction.nodes else "faster"
    if r.version != simulators.find(made.simulator).released:
        place += f", only in {r.version}"
    return f"{place}, target {reached(r.prediction, made.target)}" if r.reached else place


def lines(made: Advice) -> list[str]:
    """Ties, what limits and what to measure, what was refused, then what the numbers depend on."""
    found = [line for line in [described(made), _longer_cycle(made)] if line]
    if made.sames:
        found.append(f"These take exactly as long as the best option here: {_labels(made.sames)}.")
    if made.ties:
        found.append(
            "The best option is tied with these, since the difference is within its error:"
            f" {_labels(made.ties)}."
        )
    if made.best.prediction.fits is None and made.best.prediction.slowest:
        found.append(
            f"Whether the network fits into memory is not known: ask the vendor for {named(MEMORY)}."
        )
    if made.best.prediction.slowest:
        found.append(f"The best option is limited by {LIMITS[made.best.prediction.slowest]}.")
    if made.unlike:
        found.append(
            f"How {made.label} compares with the mini-app is known least: time {made.label} itself in a short"
            " run of this network."
        )
    elif made.measure:
        what = "narrow the interval of the real-time factor"
        if made.closest:
            what = f"tell which is faster, {_labels([made.best])} or {_labels([made.closest])}"
        found.append(f"Measure {named(made.measure)} next, or ask for it, to {what}.")
    found += [
        FOREIGN if made.foreign else f"{model_error.SAID} {TRY}",
        f"{counted(made.tried, 'way')} to run the network were tried, on up to"
        f" {counted(made.most_nodes or MOST_NODES, 'node')}{_NODES if made.most_nodes is None else ''}.",
    ]
    found += [f"refused: {line}" for line in made.refused]
    return found + show.lines([made.best.prediction], made.network.sources)


def _longer_cycle(made: Advice) -> str | None:
    """Which longer cycle the description may state; None where there is none."""
    if made.longer is None:
        return None
    line = f"cycle_ms is {1e3 * made.best.prediction.loads.cycle_s:g}; {made.longer.cycle_ms:g} is exact, too"
    times = made.longer.ratio
    if times is None:
        return f"{line}."
    return (
        f"{line}: the best option would take {number(times.value, 3)} ({number(times.low, 3)} to"
        f" {number(times.high, 3)}) times as long with it."
    )


def _longer_content(made: Advice) -> dict[str, Any] | None:
    if made.longer is None:
        return None
    cycle_ms, ratio = made.longer
    return {"cycle_ms": cycle_ms, "ratio_to_best": ratio and ratio.content()}


def _labels(options: list[Ranked]) -> str:
    return ", ".join(r.prediction.loads.schedule.label for r in options)


def content(made: Advice) -> dict[str, Any]:
    """The advice for JSON."""
    return {
        "simulator": made.simulator, "times_of": made.times_of,
        "network": made.network.title, "rates": made.network.rates.source, "machine": made.machine,
        "kind": "modelled", "target_rtf": made.target, "sentence": sentence(made),
        "explained": explained(made), "as_described": described(made),
        "longer_cycle": _longer_content(made),
        "commands": {"predict": advise_commands.predicting(made), "run": advise_commands.running(made),
                     "in_script": advise_commands.in_script(made),
                     "on_fewer_cores": advise_commands.on_fewer_cores(made)},
        "options": [
            {**show.content([r.prediction])[0], "verdict": verdict(made, r), "tied": r.tied, "same": r.same,
             "version": r.version, "target": r.reached or None, "ratio_to_best": r.ratio.content()}
            for r in made.ranked
        ],
        "limited_by": LIMITS[made.best.prediction.slowest], "measure_next": made.measure,
        "refused": made.refused, "tried": made.tried, "most_nodes": made.most_nodes,
        "table": table(made).content(),
    }  # fmt: skip
