"""The page of a comparison of machines, for a buyer: answer, table, picture, what to ask, then the rest."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from textwrap import shorten
from types import SimpleNamespace

from spikemark.core.files import write_output
from spikemark.machines import plain
from spikemark.prediction import (
    compare_beside,
    compare_offers,
    compare_sentence,
    compare_show,
    decisions,
    sensitivity,
    show,
    simulators,
)
from spikemark.prediction.compare import Comparison
from spikemark.prediction.node_range import TELLING, WORDS, Candidate, factor, interval
from spikemark.prediction.times import PARTS
from spikemark.quantities.elements import Box, Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, number

from . import machines_drawing, offers_page, page
from .machines_drawing import WIDE
from .sections import glossary

ASKED = (
    "No run was made for this page: every number is computed from the profiles of the machines. Its "
    "interval is found by moving every value that it depends on to its limits, one at a time. Its kind is "
    "the worst kind among these values: measured, literature (published by others), assumed, or "
    "extrapolated (outside the range in which predictions were validated)."
)
#: Columns of the table of ranges.
FIRST = (
    *("machine", "target", *list(WORDS)[1:]),
    *("life_cost", "life_nodes", "life_energy", "energy_j", "limited_by", "schedule"),
)
OVER = "Energy and costs are intervals over the whole range of nodes, from possible to sure."
LIMITS = (
    "An assumed value may be anywhere in its interval. The table shows the real-time factor with each value"
    " at both of its limits, and the fewest nodes whose middle then reaches the target; the value with the"
    " strongest effect comes first. A vendor can run `spikemark calibrate` on a node that you do not have"
    " yet."
)
SOME = 12  # characters of a title that stay before a long name
LONG = 40  # characters of a machine's name, from which on it ends at a comma
LACKING = (
    "A cost is unknown if the price of a node, its power or the price of a kWh is unknown. Give `--price`"
    " and `--price-kwh`, and see below what to ask."
)
TRIED = "These numbers of nodes were tried. Each rank uses all cores of its share of a node."


def write(made: Comparison, path: Path) -> None:
    """Write the page whole or not at all."""
    write_output(Path(path), render(made))


def render(made: Comparison) -> str:
    """The page as one HTML document that loads nothing."""
    named = labels(made)

    def call(c: Candidate) -> str:
        return named[c.name]

    figure = compare_offers.DECIDING[compare_sentence.of_effects(made)]
    sections = [
        _nodes(made, named),
        offers_page.numbers(compare_offers.bases(made, call)),
        offers_page.decides(compare_sentence.effects(made, call), figure),
        _asked(made, named),
        _published(made, call),
    ]
    sections += [_where(made, named), _picture(made, named), _tried(made, named), _assumed(made)]
    sections.append(glossary.of(glossary.PREDICTED))
    return page.document(
        what="comparison of machines for",
        sweep=SimpleNamespace(
            name=made.network.title,
            machine=", ".join(named.values()),
            title=_title(made),
        ),
        sentence=compare_sentence.sentence(made, call),
        not_nest=_whose(made),
        top=offers_page.first_screen(
            compare_offers.first(made, call), "What each machine needs", _ranges(made, named)
        ),
        broken=False,
        sections=[s for s in sections if s],
    )


def _title(made: Comparison) -> str:
    whose = simulators.find(made.simulator).heading
    if not made.candidates:
        return f"Published times: real-time factor {number(made.target)}"
    return f"Times of {whose}: real-time factor {number(made.target)}, {compare_show.schedule(made)}"


def _whose(made: Comparison) -> str:
    """Whose times these are."""
    if not made.candidates:
        return compare_beside.NOTE
    return simulators.find(made.simulator, made.network.description).said()[0]


def _published(made: Comparison, call) -> Section | None:
    """Known values of machines with accelerators, and published runs."""
    if not made.accelerated:
        return None
    lines, table = compare_beside.lines(made, call), compare_beside.published(made, call)
    return Section("published", table.title, lines, tables=[table] if table.rows else [])


def labels(made: Comparison) -> dict[str, str]:
    """What each machine is called on the page, by its name: its title up to a colon, if that is its own.

    Else it is the whole title, if that is its own and drawings do not cut it; else 'title (name)'.
    """
    every = [*made.candidates, *made.accelerated]
    short, whole = ({c.name: title(c) for c in every} for title in (_short, lambda c: c.title))
    found = {name: label if _alone(label, short) else whole[name] for name, label in short.items()}
    own = {
        n for n, label in found.items() if _alone(label, found) and (label == short[n] or len(label) <= WIDE)
    }
    return {n: label if n in own else _with_name(n, short[n]) for n, label in found.items()}


def _with_name(name: str, label: str) -> str:
    """'title (name)', as short as drawings show it."""
    return f"{shorten(label, max(WIDE - len(name) - 3, SOME), placeholder=' …')} ({name})"


def _short(c: Candidate) -> str:
    before = c.title.partition(":")[0]
    return before if len(before) <= LONG else before.partition(", ")[0]


def _alone(label: str, labels: dict[str, str]) -> bool:
    return Counter(labels.values())[label] == 1


def _first(made: Comparison, named: dict[str, str]) -> Table:
    whole = compare_show.table(made, lambda c: named[c.name])
    columns = sorted((c for c in whole.columns if c.name in FIRST), key=lambda c: FIRST.index(c.name))
    notes = whole.notes[len(compare_show.NOTES) :]
    title = f"Ranges of nodes, and costs over {made.life.said()}"
    return replace(whole, columns=columns, title=title, notes=notes)


def _nodes(made: Comparison, named: dict[str, str]) -> Section:
    """The whole ranges of nodes and all costs, in words, too."""
    first = _first(made, named)
    lacking = [LACKING] if len(first.columns) < len(FIRST) or first.reasons() else []
    usable = [c for c in made.candidates if c.usable]
    lines = [compare_show.of_machine(c, lambda c: named[c.name]) for c in usable]
    words = [*compare_show.chosen_schedules(made), compare_show.MEANING, OVER, *lacking, *lines]
    more = simulators.find(made.simulator, made.network.description).said()[1:]
    boxes = [Box("wary", line) for line in more]
    return Section("nodes", "How many nodes", words, boxes=boxes, tables=[first])


def _ranges(made: Comparison, named: dict[str, str]) -> Figure | None:
    """The real-time factor over the nodes of each machine, with its interval."""
    usable = [c for c in made.candidates if c.usable]
    if not usable:
        return None
    curves = {
        named[c.name]: [(p.nodes, interval(p).low, factor(p), interval(p).high) for p in c.usable]
        for c in usable
    }
    alt = " ".join(compare_show.of_machine(c, lambda c: named[c.name]) for c in usable)
    columns = {
        Column("machine", "machine"): lambda row: named[row[0].name],
        Column("nodes", "nodes"): lambda row: compare_show.nodes(row[1]),
        Column("word", "target"): lambda row: row[0].word(row[1]),
        Column("real_time_factor", "real-time factor", each=True): lambda row: interval(row[1]),
        Column("speed_up", "times as fast as the fewest nodes", "modelled"): lambda row: row[2],
    }
    table = Table.of(columns, [(c, p, faster) for c in usable for p, faster in c.speed_ups])
    return Figure(
        "ranges", "Time against nodes", machines_drawing.ranges(curves, made.target, "ranges", alt), alt,
        "Each line is the middle of the interval, which is drawn as a band. The dashed line is the target. It"
        " is possible where the band reaches it, likely where the middle does and the band spans at most a"
        f" factor of {TELLING:g}, and sure where all of the band does.", table,
    )  # fmt: skip


def _asked(made: Comparison, named: dict[str, str]) -> Section:
    """What decides, by how much it moves times; then what is missing altogether."""
    asked = [
        (c, d)
        for c in made.candidates
        for d in sorted(decisions.worth_asking(c), key=lambda d: -d.strength)[: decisions.SHOWN]
    ]
    columns = {
        Column("machine", "machine"): lambda row: named[row[0].name],
        Column("value", "assumed value"): lambda row: plain.named(row[1].path),
        Column("how", "how to find out"): lambda row: sensitivity.HOW[row[1].of_vendor],
        Column("factor", "real-time factor", "modelled"): lambda row: tuple(sorted(row[1].factors)),
        Column("nodes", "nodes"): lambda row: row[1].nodes_said,
    }
    lines = [
        compare_show.of_figure(made, name, lambda c: named[c.name]) for name in compare_sentence.figures(made)
    ]
    lacking = [f"{line}." for line in decisions.lacking(made.candidates, lambda c: named[c.name])]
    lacking = [line[0].upper() + line[1:] for line in lacking]
    return Section(
        "ask", "What to ask before buying", [*lines, LIMITS], missing=lacking,
        tables=[Table.of(columns, asked, "Assumed values that decide")] if asked else [],
    )  # fmt: skip


def _place(c: Candidate, named: dict[str, str]) -> str:
    return f"{named[c.name]}, {counted(c.chosen.nodes, 'node')}"


def _where(made: Comparison, named: dict[str, str]) -> Section | None:
    figures = _parts(made, named)
    return Section("where", "Where the time goes", figures=figures) if figures else None


def _parts(made: Comparison, named: dict[str, str]) -> list[Figure]:
    bars = {
        _place(c, named): {part: c.chosen.figures[part].value for part in PARTS}
        for c in made.candidates
        if c.usable
    }
    if not all(time is not None for bar in bars.values() for time in bar.values()) or not bars:
        return []  # of another simulator, the parts are not known
    alt = "; ".join(f"{name}: longest is {max(bar, key=bar.get)}" for name, bar in bars.items())
    columns = {Column("machine", "machine, nodes"): lambda c: _place(c, named)} | {
        Column(part, part, each=True): lambda c, part=part: c.chosen.figures[part] for part in PARTS
    }
    return [Figure(
        "parts", "Time by part", machines_drawing.parts(bars, made.target, "parts", alt), alt,
        "Seconds per simulated second. Each machine is shown on its fewest likely nodes, or else on those"
        " where the target is most likely.",
        Table.of(columns, [c for c in made.candidates if c.usable]),
    )]  # fmt: skip


def _picture(made: Comparison, named: dict[str, str]) -> Section | None:
    curves = {
        named[c.name]: points
        for c in made.candidates
        if (points := [(factor(p), e.value) for p in c.usable if (e := p.figures["energy_j"])])
    }
    if not curves:
        return None
    best = [(factor(p), e.value) for p in made.pareto if (e := p.figures["energy_j"])]
    unbeaten = ", ".join(f"{named[p.machine]} on {p.nodes}" for p in made.pareto)
    alt = f"Energy against real-time factor; nothing is better in both than: {unbeaten}."
    columns = {
        Column("machine", "machine"): lambda p: named[p.machine],
        Column("nodes", "nodes"): lambda p: p.nodes,
        **show.figures(compare_show.TRIED[:2]),
    }
    table = Table.of(columns, [p for p in made.pareto if p.figures["energy_j"]])
    picture = Figure(
        "pareto", "Time and energy", machines_drawing.pareto(curves, best, made.target, "pareto", alt), alt,
        "Each point is one number of nodes. No other machine or number of nodes is better than a ringed "
        "point in both time and energy.", table,
    )  # fmt: skip
    return Section("pareto-section", "Time against energy", figures=[picture])


def _tried(made: Comparison, named: dict[str, str]) -> Section:
    columns = {
        Column("nodes", "nodes"): compare_show.nodes,
        **show.figures(compare_show.TRIED),
        Column("part", "longest part"): lambda p: p.slowest or "unknown",
    }
    tables = [Table.of(columns, c.tried, named[c.name]) for c in made.candidates]
    refused = sorted({f"{named[c.name]}: {why}" for c in made.candidates for why in c.refused.values()})
    return Section("tried", "All numbers of nodes", [TRIED], tables=tables, missing=refused)


def _assumed(made: Comparison) -> Section:
    first = simulators.find(made.simulator, made.network.description).said()  # stands at the top of the page
    return based_on("assumptions", [ASKED], [line for line in compare_show.lines(made) if line not in first])


def based_on(name: str, words: list[str], lines: list[str]) -> Section:
    """A section of words, then lines: sentences as words, and 'what: rest' as a list."""
    lines = [line.removesuffix(".") for line in lines]
    said = [f"{line}." for line in lines if ": " not in line]
    links = [(what, "", rest) for what, colon, rest in (line.partition(": ") for line in lines) if colon]
    return Section(name, "What this is based on", [*words, *said], links=links)
