"""A comparison in words, as tables and as JSON."""

from textwrap import shorten
from typing import Any

from spikemark.quantities.quantity import LEVEL, Quantity
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted, listed, percent

from .compare import FASTER, OPEN, SLOWER, Comparison, Setup, verdict
from .gate import Gate, said, signed
from .spread import APART, ASSUMPTION, WORDS
from .times import COMPUTING, CYCLE, EXCHANGE, REST, WAITING

KIND, VERSION = "difference", 1
DETAILED = 3  # setups whose phases and causes are shown
LONGEST, LISTED = 60, 8  # characters of a value, runs without a partner
MICRO = 1e6
PHASE, CAUSE = "phase.", "cause."
MEANING = {
    COMPUTING: "all ranks compute longer, as a mean",
    "persistent": "the slowest ranks lag further behind",
    "jitter": "ranks spread more from cycle to cycle",
    "drift": "ranks spread more over many cycles",
    "rare": "more or longer rare long cycles of single ranks",
    REST: "the barrier itself takes longer",
    WAITING: "ranks wait longer",
    EXCHANGE: "exchanging data takes longer",
}
MODELLED = ("persistent", "jitter", "drift", "rare", REST)
CYCLES = "from A to B, the time of a cycle changes by"


def sentence(made: Comparison) -> str:
    """True if B is slower than A, by how much, and where most of it comes from."""
    if len(made.setups) > 1:
        return _of_several(made)
    (setup,) = made.setups
    change = made.change(setup)
    if not setup.judged:
        return f"Nothing can be judged: {CYCLES} {signed(change.value)}, but runs were disturbed."
    found = verdict(change)
    if found == OPEN:
        return f"No difference is sure: {CYCLES} {said(change)}.{_medians(made)}"
    words = f"B is {found} than A: {said(change)} per cycle"
    return f"{words}{_mostly(setup)}.{_medians(made)}"


def _of_several(made: Comparison) -> str:
    found = {kind: [s for s in made.setups if verdict(made.change(s)) == kind] for kind in (SLOWER, FASTER)}
    words = f"Over {counted(len(made.setups), 'setup')}, {CYCLES} {said(made.overall)}."
    parts = []
    for kind, sign in ((SLOWER, -1), (FASTER, 1)):
        ordered = sorted(found[kind], key=lambda s: sign * made.change(s).value)
        most = f", most of all {ordered[0].name} ({said(made.change(ordered[0]))})" if ordered else ""
        parts.append(f"{len(ordered)}{most}")
    return f"{words} Surely slower: {parts[0]}; surely faster: {parts[1]}.{_medians(made)}"


def _medians(made: Comparison) -> str:
    """Setups whose median cycle surely differs although their mean does not, or differs the other way."""
    changes = [(s, made.median_change(s)) for s in made.setups]
    found = [(s, c) for s, c in changes if c and verdict(c) not in (OPEN, verdict(made.change(s)))]
    if not found:
        return ""
    setup, change = max(found, key=lambda one: abs(one[1].value))
    name = f" of {counted(len(found), 'setup')}, most of all {setup.name}" if len(made.setups) > 1 else ""
    words = "few long cycles hide that in the mean"
    return f" The median cycle{name} is surely {verdict(change)}: {said(change)}; {words}."


def _mostly(setup: Setup) -> str:
    """The phase and the cause with the largest part of the change, if that part is sure."""
    total, parts = setup.cycle.difference_s, []
    for prefix, words in ((PHASE, "phase"), (CAUSE, "cause")):
        known = [
            (estimate.difference_s / total, name.removeprefix(prefix), setup.change(name))
            for name, estimate in setup.parts.items()
            if name.startswith(prefix)
        ]
        share, name, change = max(known)
        if verdict(change) != OPEN:
            parts.append(f"by {words} {name} ({percent(share)})")
    return f"; the largest part is {', '.join(parts)}" if parts else ""


def tables(made: Comparison) -> list[Table]:
    """The setups, the phases and causes of those that changed most, and what else differs."""
    ordered = sorted(made.setups, key=lambda s: -abs(s.change().value))
    shown = sorted(ordered[:DETAILED], key=made.setups.index)
    several = [overview(made)] if len(made.setups) > 1 else []
    return [*several, *(detail(made, setup) for setup in shown), *apart(made)]


def overview(made: Comparison) -> Table:
    """One line per setup."""
    columns = {
        Column("setup", "setup"): lambda s: s.name,
        Column("pairs", "pairs of runs", "counted"): lambda s: len(s.pairs),
        Column("first", "A (µs per cycle)", digits=4): lambda s: MICRO * s.cycle.first_s,
        Column("second", "B (µs per cycle)", digits=4): lambda s: MICRO * s.cycle.second_s,
        Column("change", "change", words=signed): lambda s: made.change(s),
        Column("verdict", "verdict"): lambda s: verdict(made.change(s)) if s.judged else "not judged",
        Column("spread", "interval from"): lambda s: s.cycle.spread,
    }
    joint = f"All intervals hold together with {percent(LEVEL)} (Bonferroni)."
    return Table.of(columns, made.setups, "Setups", notes=[joint, *_spreads(made.setups)])


def detail(made: Comparison, setup: Setup) -> Table:
    """The phases of a cycle and the causes of its time, on both sides; phases add up, and so do causes."""
    rows, before = [], ""
    for name, found in setup.parts.items():
        kind, _, short = name.rpartition(".")
        if kind != before and kind:
            rows.append({"part": {"phase": "by phase", "cause": "by cause"}[kind]})
            before = kind
        if name != CYCLE and not (_micro(found.first_s) or _micro(found.second_s)):
            continue
        modelled = kind == "cause" and short in MODELLED
        longer = Quantity(_micro(found.difference_s), *_scaled(found.interval(), setup), unit="us")
        rows.append({
            "part": f"  {short}" if kind else name,
            "first": _micro(found.first_s),
            "second": _micro(found.second_s),
            "longer": longer,
            "share": setup.change(name),
            "kind": "modelled" if modelled else setup.kind,
            "means": MEANING.get(short, "") if kind == "cause" else "",
        })  # fmt: skip
    columns = [
        Column("part", ""),
        Column("first", "A (µs)", digits=4),
        Column("second", "B (µs)", digits=4),
        Column("longer", "longer by (µs)"),
        Column("share", "of a cycle of A", words=signed),
        Column("kind", "kind"),
        Column("means", "more of it means"),
    ]
    notes = [*_spreads([setup]), *_slowest(setup)]
    notes += [f"{name}: {why}" for name, why in setup.missing.items()]
    pairs = f"{counted(len(setup.first), 'run')} of A, {counted(len(setup.second), 'run')} of B"
    title = f"{setup.name}: {pairs}" if setup.name else f"Time per cycle, mean over ranks: {pairs}"
    return Table(columns, rows, title, notes=notes)


def _scaled(interval: tuple[float, float], setup: Setup) -> tuple[float | None, float | None]:
    return tuple(map(_micro, interval)) if setup.judged else (None, None)


def _micro(seconds: float) -> float:
    """A time in microseconds, to 0.1 ns."""
    return round(MICRO * seconds, 4)


def _spreads(setups: list[Setup]) -> list[str]:
    """What the intervals rest on, each once."""
    used = dict.fromkeys(setup.cycle.spread for setup in setups if setup.judged)
    lines = [f"Intervals of 95 %: {WORDS[name]}." for name in used]
    if any(setup.cycle.sessions_assumed for setup in setups if setup.judged):
        lines.append(f"Intervals allow for more: {APART}.")
    if ASSUMPTION in used:
        lines.append("Repeat the runs (field `repetitions`), or give `--history`, to have it measured.")
    return lines


def _slowest(setup: Setup) -> list[str]:
    """Which rank was the slowest, where that is more than chance."""
    lines = []
    for side, runs in (("A", setup.first), ("B", setup.second)):
        ranks = [
            (one.slowest.rank, one.slowest.longer.value)
            for one in runs
            if one.slowest and one.slowest.certain
        ]
        for rank in sorted({rank for rank, _ in ranks}):
            longer = [value for own, value in ranks if own == rank]
            of = f"{len(longer)} of {counted(len(runs), 'run')}"
            lines.append(f"{side}: rank {rank} is the slowest in {of}, by {percent(max(longer), 1)} at most.")
    return lines


def apart(made: Comparison) -> list[Table]:
    """What else differs; nothing where nothing does."""
    if not made.differs:
        return []
    columns = {
        Column("group", "what"): lambda one: one.group,
        Column("field", "field"): lambda one: one.field,
        Column("first", "A"): lambda one: shorten(one.first, LONGEST, placeholder=" …"),
        Column("second", "B"): lambda one: shorten(one.second, LONGEST, placeholder=" …"),
        Column("pairs", "pairs", "counted"): lambda one: one.runs,
    }
    return [Table.of(columns, made.differs, "What else differs")]


def lines(made: Comparison) -> list[str]:
    """What is said beside the tables: the sides, what is the same, and runs without a partner."""
    found = [f"A: {made.first.path}", f"B: {made.second.path}"]
    if not made.differs:
        found.append("Nothing else differs: machine, configuration, versions and binding are the same.")
    for side, names in (("A", made.pairs.only_first), ("B", made.pairs.only_second)):
        if names:
            more = [f"{len(names) - LISTED} more"] if len(names) > LISTED else []
            found.append(f"only in {side}: {listed([*names[:LISTED], *more])}")
    return found


def content(made: Comparison, decided: Gate | None = None) -> dict[str, Any]:
    """The content for JSON; times are in s per cycle, changes are shares of a cycle of A."""
    found: dict[str, Any] = {
        "kind": KIND,
        "format_version": VERSION,
        "first": str(made.first.path),
        "second": str(made.second.path),
        "sentence": sentence(made),
        "overall": made.overall.content(),
        "level": made.level,
        "setups": [_setup_content(made, setup) for setup in made.setups],
        "differs": [
            {"group": d.group, "field": d.field, "first": d.first, "second": d.second, "pairs": d.runs}
            for d in made.differs
        ],
        "only_first": made.pairs.only_first,
        "only_second": made.pairs.only_second,
        "cautions": made.cautions,
    }
    if decided is not None:
        found["fail_above"] = {"limit": decided.limit, "state": decided.state, "sentence": decided.sentence}
    return found


def _setup_content(made: Comparison, setup: Setup) -> dict[str, Any]:
    parts = {}
    for name, found in setup.parts.items():
        low, high = found.interval() if setup.judged else (None, None)
        parts[name] = {
            "first_s": found.first_s,
            "second_s": found.second_s,
            "difference_s": found.difference_s,
            "interval_s": None if low is None else [low, high],
            "kind": "modelled" if name.startswith(CAUSE) and name[len(CAUSE) :] in MODELLED else setup.kind,
            "spread": found.spread,
        }
    return {
        "name": setup.name,
        "pairs": [
            [one.id or str(one.run.path), other.id or str(other.run.path)] for one, other in setup.pairs
        ],
        "runs": [len(setup.first), len(setup.second)],
        "change": made.change(setup).content(),
        "verdict": verdict(made.change(setup)) if setup.judged else "not judged",
        "median_change": None if (middle := made.median_change(setup)) is None else middle.content(),
        "disturbed": list(setup.disturbed),
        "parts": parts,
        "missing": setup.missing,
    }
