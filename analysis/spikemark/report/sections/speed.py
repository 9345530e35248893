"""Which configuration is fastest: every axis that was swept is drawn, and the phases of the compared runs."""

import itertools
import json

import numpy as np
import pandas as pd

from spikemark.core.errors import BadInput
from spikemark.measuring.exchanges import FILE, curves, folder, read
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.terms import term
from spikemark.quantities.words import counted, listed, number
from spikemark.records.frames import CONFIGURATION, configurations
from spikemark.report import machine_parts, plots
from spikemark.report.answer import Answer, compared, in_order, timed

MOST_FIGURES, MOST_SAID = 8, 3
TITLE = "Speed: what is fastest here?"


def section(found: Answer) -> Section:
    """The fastest configuration of each case, phases by configuration, every swept axis, exchanges alone."""
    runs = timed(found.frames.runs)
    if runs.empty:
        return Section("speed", TITLE, missing=["Speed: no run is complete."])
    runs = runs.assign(configuration=configurations(runs))
    text = [sentence(runs)]
    figures = [phases(found), *axes(runs, found.frames.swept)]
    alone, reason = exchanges(found)
    tables = [one for one in [machine_parts.table(found.frames)] if one]
    figures += [alone] if alone else []
    return Section("speed", TITLE, text, figures=figures, tables=tables, missing=[reason] if reason else [])


def sentence(runs: pd.DataFrame) -> str:
    """The fastest configuration on each number of ranks, and the real-time factor it has there."""
    several, said = runs["threads"].nunique() > 1, []
    for (ranks, threads), here in runs.groupby(["ranks", "threads"]):
        made = summary(here, ["configuration"]).sort_values("real_time_factor")
        best, others = made.iloc[0], made.iloc[1:]
        same = [one.configuration for one in others.itertuples() if one.low <= best["high"]]
        beside = f", not told apart from {listed(same)}" if same else ""
        where = counted(int(ranks), "rank") + f" × {counted(int(threads), 'thread')}" * several
        said.append((best["real_time_factor"], f"{best['configuration']} on {where}:"
                     f" real-time factor {number(best['real_time_factor'])}{beside}"))  # fmt: skip
    shown = sorted(said)[:MOST_SAID]
    more = f"; {len(said) - len(shown)} other layouts are slower" if len(said) > len(shown) else ""
    return f"Fastest: {'; '.join(words for _, words in shown)}{more}."


def phases(found: Answer) -> Figure:
    """Stacked phases of the compared runs, a panel per number of ranks of the same case."""
    runs = compared(found)
    long = found.frames.phases.merge(runs[["id", "configuration", "ranks", "model_s", "schedule"]], on="id")
    long["value"] = long["mean_s"] / long["model_s"]
    order = list(dict.fromkeys(long["phase"]))
    wide = long.pivot_table(
        "value", ["ranks", "configuration"], "phase", "mean", observed=True, sort=False
    ).reset_index()
    places = {name: i for i, name in enumerate(in_order(runs))}
    wide = wide.sort_values(
        ["ranks", "configuration"], key=lambda c: c.map(places) if c.name == "configuration" else -c
    )
    several = "ranks" if wide["ranks"].nunique() > 1 else None
    kind = runs["kind"].iloc[0]
    caption = f"Seconds per simulated second ({kind}), means over ranks and runs."
    shown = [name for name in order if name in wide]
    title = "Phases of a cycle"
    return plots.bars(
        wide, "configuration", shown, "phases", title, caption, xlabel="real-time factor", panel=several
    )


def axes(runs: pd.DataFrame, swept: list[str]) -> list[Figure]:
    """The real-time factor over every field that was swept, whatever it is.

    The number with the most values is the horizontal axis; configurations are colours; the next field makes
    panels; each combination of further ones a figure.
    """
    fields = [name for name in swept if name not in CONFIGURATION]
    if not fields:
        return []
    numeric = [name for name in fields if pd.api.types.is_numeric_dtype(runs[name].infer_objects())]
    x = max(numeric, key=lambda name: runs[name].nunique(), default=None)
    hue = "configuration" if runs["configuration"].nunique() > 1 else None
    rest = [name for name in fields if name != x]
    hue = hue or (rest.pop(0) if rest and x else None)
    panel = rest.pop(0) if rest else None
    keys = [name for name in (x, hue, panel, *rest) if name]
    table = summary(runs, keys)
    figures = []
    combinations = itertools.product(*(runs[name].drop_duplicates() for name in rest))
    for i, values in enumerate(itertools.islice(combinations, MOST_FIGURES)):
        part = table
        for name, value in zip(rest, values, strict=True):
            part = part[part[name] == value]
        if part.empty:
            continue
        at = ", ".join(f"{term(name).head} = {value}" for name, value in zip(rest, values, strict=True))
        title = f"Real-time factor over {term(x or keys[0]).head}" + (f", {at}" if at else "")
        caption = "Geometric means over seeds and repetitions; bands and bars: smallest to largest run."
        common = {"low": "low", "high": "high", "panel": panel}
        if x is None:
            figures.append(
                plots.points(
                    part,
                    "real_time_factor",
                    keys[0],
                    f"swept-{i}",
                    title,
                    caption,
                    hue=hue if hue != keys[0] else None,
                    xlabel="real-time factor",
                    **(common | {"panel": panel if panel != keys[0] else None}),
                )
            )
            continue
        spread = part[x].max() / max(part[x].min(), 1e-12)
        log = "xy" if part[x].min() > 0 and spread >= 8 and part[x].nunique() > 3 else ""
        heads = {"xlabel": term(x).heading, "ylabel": "real-time factor", "log": log}
        figures.append(
            plots.lines(part, x, "real_time_factor", f"swept-{i}", title, caption, hue=hue, **heads, **common)
        )
    return figures


def summary(runs: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Geometric mean, smallest and largest real-time factor by `keys`."""
    plain = runs.assign(**{name: runs[name].map(_plain) for name in keys if runs[name].dtype == object})
    grouped = plain.groupby(keys, dropna=False, sort=True)["real_time_factor"]
    logs = grouped.agg(lambda x: np.exp(np.log(x.astype(float)).mean())).rename("real_time_factor")
    ends = grouped.agg(low="min", high="max")
    return pd.concat([logs, ends], axis=1).reset_index()


def _plain(value: object) -> object:
    return json.dumps(value) if isinstance(value, list | dict) else value


def exchanges(found: Answer) -> tuple[Figure | None, str]:
    """Times of exchanges on their own (`spikemark bench --exchange`) on this machine, or why not."""
    path = folder(found.frames.path.name, found.frames.path.parent.parent) / FILE
    if not path.is_file():
        return None, "Exchanges on their own: run `spikemark bench --exchange`."
    try:
        known = list(curves(read(path)))
    except BadInput as error:
        return None, f"Exchanges on their own: {error}."
    good = [c for c in known if not c.oversubscribed] or known
    most = max((c.ranks for c in good), default=0)
    rows = [
        {"exchange": c.exchange, "bytes": int(size), "time_us": 1e6 * time}
        for c in good
        if c.ranks == most
        for size, time in zip(c.sizes, c.medians_s, strict=True)
    ]
    if not rows:
        return None, "Exchanges on their own: none was measured between all ranks without skew."
    caption = f"Medians of the slowest rank's time on {counted(most, 'rank')} (measured)."
    title = "An exchange on its own"
    return plots.lines(
        pd.DataFrame(rows), "bytes", "time_us", "exchanges", title, caption, hue="exchange", log="xy",
        xlabel="bytes from one rank to another", ylabel="time (µs)",
    ), ""  # fmt: skip
