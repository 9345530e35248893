"""Which configuration is fastest: every axis that was swept is drawn, and the phases of the
compared runs.
"""

import json
from dataclasses import replace
from typing import Any, cast

import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.measuring.exchanges import FILE, curves, folder, read_exchange_times
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.terms import term
from spikemark.quantities.words import counted, listed, number
from spikemark.records.frames import CONFIGURATION
from spikemark.report import machine_parts, plots
from spikemark.report.answer import SweepAnswer, compared, too_short
from spikemark.report.comparison import Comparison, together

MAX_FIGURES = 8  # of swept axes
MAX_NAMED = 3  # layouts in the sentence
WIDE_AXIS = 8  # largest over smallest value, from which an axis of more than three is logarithmic
NOT_SET = "not set"  # the value of a field in the runs of another entry of the grid
CAPTION = "Means over seeds and repetitions; whiskers: smallest to largest run."
FACTOR = "real-time factor (lower is better)"
TITLE = "Speed: what is fastest here?"


def section(sweep: SweepAnswer) -> Section:
    """The fastest configuration on each number of ranks, phases, every swept axis, exchanges
    alone.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> section(sweep).title
        'Speed: what is fastest here?'
    """
    if sweep.chosen is None:
        return Section("speed", TITLE, missing=["Speed: no run is complete."])
    figures = [_phases(sweep), *_axes(together(sweep.comparisons), sweep.frames.swept)]
    alone, reason = _exchanges(sweep)
    if alone is not None:
        figures.append(alone)
    by_part = machine_parts.table(sweep.frames)
    return Section(
        "speed",
        TITLE,
        [_sentence(sweep, sweep.chosen), *_of_one_case(sweep, sweep.chosen)],
        figures=figures,
        tables=[] if by_part is None else [by_part],
        missing=[reason] if reason else [],
    )


def _of_one_case(sweep: SweepAnswer, chosen: Comparison) -> list[str]:
    """That the sentence and the phases are of one case, where there are several."""
    if sweep.cases == 1 or not chosen.at:
        return []
    return [f"This sentence and the phases: {chosen.at} only."]


def _sentence(sweep: SweepAnswer, chosen: Comparison) -> str:
    """The fastest configuration on each number of ranks and threads, and its real-time factor."""
    layouts = [layout for layout in sweep.comparisons if _alike_but_threads(layout, chosen)]
    judged = [layout for layout in layouts if not layout.too_short]
    if not judged:
        return too_short(compared(sweep))
    judged.sort(key=lambda layout: layout.means[layout.fastest])
    threads = {layout.case.get("threads") for layout in layouts}
    parts = [_fastest(layout, len(threads) > 1) for layout in judged[:MAX_NAMED]]
    slower = len(judged) - MAX_NAMED
    if slower > 0:
        others = counted(slower, "other layout is", "other layouts are")
        parts.append(f"{others} slower")
    least = float(judged[0].means.min())
    brief = [layout for layout in layouts if layout.too_short]
    less = [layout for layout in brief if layout.means.min() < least]
    if brief:
        parts.append(f"runs of {counted(len(brief), 'layout')} are too short to tell")
    head = "Fastest"
    if less:
        head = "Fastest of those whose runs are long enough"
        quickest = min(less, key=lambda layout: float(layout.means.min()))
        parts[-1] += f", though {_fastest(quickest, len(threads) > 1)}"
    return f"{head}: {'; '.join(parts)}."


def _fastest(layout: Comparison, with_threads: bool) -> str:
    """The fastest configuration on a number of ranks, and of threads."""
    place = counted(layout.ranks, "rank")
    if with_threads:
        threads = int(cast(int, layout.case["threads"]))
        place += f" × {counted(threads, 'thread')}"
    factor = number(layout.means[layout.fastest])
    text = f"{layout.fastest} on {place}: real-time factor {factor}"
    if layout.too_short:
        return text
    if not layout.judged:
        return f"{text}, of disturbed runs"
    alike = layout.like_fastest()
    return f"{text}, not told apart from {listed(alike)}" if alike else text


def _alike_but_threads(layout: Comparison, other: Comparison) -> bool:
    """Are these two of one case, apart from threads?"""
    return _without_threads(layout.case) == _without_threads(other.case)


def _without_threads(case: dict[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in case.items() if name != "threads"}


def _phases(sweep: SweepAnswer) -> Figure:
    """Stacked phases of the compared runs, a panel per number of ranks of the same case."""
    runs = compared(sweep)
    long = runs[["id", "configuration", "ranks", "model_s"]].merge(sweep.frames.phases, on="id")
    long["value"] = long["mean_s"] / long["model_s"]
    wide = long.pivot_table(
        "value", ["ranks", "configuration"], "phase", "mean", observed=True, sort=False
    ).reset_index()
    several = plots.if_several(wide, "ranks")
    kind = runs["kind"].iloc[0]
    caption = f"Seconds per simulated second ({kind}), means over ranks and runs."
    shown = [name for name in dict.fromkeys(long["phase"]) if name in wide]
    title = "Phases of a cycle"
    return plots.bars(
        wide,
        "configuration",
        shown,
        "phases",
        title,
        caption,
        xlabel=FACTOR,
        panel=several,
        unit="s / s",
    )


def _axes(runs: pd.DataFrame, swept: list[str]) -> list[Figure]:
    """The real-time factor over every field that was swept, whatever it is.

    The number with the most values is the horizontal axis; configurations are colours; the next
    field makes panels, if configurations do not need them; each combination of further ones a
    figure. A field that some runs lack has words for values, one of which is NOT_SET.
    """
    fields = [name for name in swept if name not in CONFIGURATION]
    if not fields:
        return []
    runs = runs.assign(**{name: _in_words(runs[name]) for name in fields if runs[name].hasnans})
    numeric = [name for name in fields if pd.api.types.is_numeric_dtype(runs[name].infer_objects())]
    x = max(numeric, key=lambda name: runs[name].nunique(), default=None)
    rest = [name for name in fields if name != x]
    hue = None
    if runs["configuration"].nunique() > 1:
        hue = "configuration"
    elif rest and x is not None:
        hue = rest.pop(0)
    is_crowded = hue is not None and runs[hue].astype(str).nunique() > plots.MAX_LINES
    has_lines = x is not None
    panel = None
    if rest and not (is_crowded and has_lines):
        panel = rest.pop(0)
    keys = [name for name in (x, hue, panel, *rest) if name]
    table = _summary(runs, keys)
    head = f"Real-time factor over {term(x or keys[0]).head}"
    figures = []
    combinations: list[tuple[object, ...]] = [()]
    if rest:
        combinations = list(table[rest].drop_duplicates().itertuples(index=False, name=None))
    for count, values in enumerate(combinations[:MAX_FIGURES]):
        fixed = dict(zip(rest, values, strict=True))
        part = table
        for name, value in fixed.items():
            part = part[part[name] == value]
        places = [f"{term(name).head} = {value}" for name, value in fixed.items()]
        title = ", ".join([head, *places])
        if x is None:
            figure = _over_words(part, keys[0], f"swept-{count}", title, hue, panel)
        else:
            figure = _over_numbers(part, x, f"swept-{count}", title, hue, panel)
        figures.append(replace(figure, table=_with_fixed(figure.table, fixed)))
    if len(combinations) > MAX_FIGURES:
        left = f"Drawn: the first {MAX_FIGURES} of {len(combinations)} combinations of values."
        figures[-1] = replace(figures[-1], caption=f"{figures[-1].caption} {left}")
    return figures


def _in_words(values: pd.Series) -> pd.Series:
    """Values of a field that some runs lack, as ordered words.

    >>> list(_in_words(pd.Series([10.0, None, 2.5])).cat.categories)
    ['2.5', '10', 'not set']
    """
    stated = values.dropna()
    if pd.api.types.is_numeric_dtype(stated.infer_objects()):
        stated = stated.sort_values()
    names = list(dict.fromkeys([*stated.map(_word), NOT_SET]))
    words = pd.Categorical(values.map(_word), categories=names, ordered=True)
    return pd.Series(words, index=values.index)


def _word(value: object) -> str:
    """A value as a word; a whole number that pandas made a fraction is whole."""
    if value is None or value != value:
        return NOT_SET
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(_plain(value))


def _with_fixed(table: Table, fixed: dict[str, Any]) -> Table:
    """The numbers of a figure beside the values that its title states, for its CSV file."""
    columns = [Column(name, term(name).head) for name in fixed]
    rows = [fixed | row for row in table.rows]
    return replace(table, columns=[*columns, *table.columns], rows=rows)


def _over_words(
    part: pd.DataFrame, y: str, name: str, title: str, hue: str | None, panel: str | None
) -> Figure:
    """The real-time factor over a field that has no numbers, a row for each of its values."""
    return plots.points(
        part,
        "real_time_factor",
        y,
        name,
        title,
        CAPTION,
        hue=None if hue == y else hue,
        low="low",
        high="high",
        panel=None if panel == y else panel,
        xlabel=FACTOR,
    )


def _over_numbers(
    part: pd.DataFrame, x: str, name: str, title: str, hue: str | None, panel: str | None
) -> Figure:
    """The real-time factor over a number."""
    spread = part[x].max() / max(part[x].min(), 1e-12)
    is_wide = part[x].min() > 0 and spread >= WIDE_AXIS and part[x].nunique() > 3
    return plots.lines(
        part,
        x,
        "real_time_factor",
        name,
        title,
        CAPTION,
        hue=hue,
        low="low",
        high="high",
        panel=panel,
        xlabel=term(x).heading,
        ylabel=FACTOR,
        log="xy" if is_wide else "",
    )


def _summary(runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Mean, smallest and largest real-time factor by `keys`, configurations in their order."""
    texts = {name: runs[name].map(_plain) for name in keys if runs[name].dtype == object}
    plain = runs.assign(**texts)
    factors = plain.groupby(keys, dropna=False, sort=True, observed=True)["real_time_factor"]
    table = factors.agg(real_time_factor="mean", low="min", high="max").reset_index()
    for name in keys:
        if isinstance(table[name].dtype, pd.CategoricalDtype):
            table[name] = table[name].astype(str)
    if "configuration" not in keys:
        return table
    places = {name: place for place, name in enumerate(dict.fromkeys(runs["configuration"]))}
    return table.sort_values(
        "configuration", key=lambda names: names.map(places), kind="stable", ignore_index=True
    )


def _plain(value: object) -> object:
    """A value that rows can be grouped by."""
    return json.dumps(value) if isinstance(value, list | dict) else value


def _exchanges(sweep: SweepAnswer) -> tuple[Figure | None, str]:
    """Times of exchanges on their own (`spikemark bench --exchange`) on this machine, or why
    not.
    """
    path = folder(sweep.frames.path.name, sweep.frames.path.parent.parent) / FILE
    if not path.is_file():
        return None, "Exchanges on their own: run `spikemark bench --exchange`."
    try:
        measured = list(curves(read_exchange_times(path)))
    except BadInput as error:
        return None, f"Exchanges on their own: {error}."
    good = [curve for curve in measured if not curve.oversubscribed] or measured
    most = max((curve.ranks for curve in good), default=0)
    rows = []
    for curve in good:
        if curve.ranks != most:
            continue
        for size, seconds in zip(curve.sizes, curve.medians_s, strict=True):
            time_us = 1e6 * seconds
            rows.append({"exchange": curve.exchange, "bytes": int(size), "time_us": time_us})
    if not rows:
        return None, "Exchanges on their own: none was measured between all ranks without skew."
    caption = f"Medians of the slowest rank's time on {counted(most, 'rank')} (measured)."
    title = "An exchange on its own"
    return plots.lines(
        pd.DataFrame(rows),
        "bytes",
        "time_us",
        "exchanges",
        title,
        caption,
        hue="exchange",
        log="xy",
        xlabel="bytes from one rank to another",
        ylabel="time (µs)",
    ), ""
