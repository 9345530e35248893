"""The first screen of a sweep's page: one sentence with the number, one picture, one table.

Compared are configurations (schedule, D, placement, exchange, …) on the same network, ranks and threads, over
pairs of runs of one seed and repetition. The base is the conventional schedule, or else the first one.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import LEVEL, Quantity
from spikemark.quantities.table import Table
from spikemark.quantities.terms import columns, term
from spikemark.quantities.words import counted, listed, number
from spikemark.records.collect import differing_checksums
from spikemark.records.frames import CONFIGURATION, PART, Frames, configurations
from spikemark.records.phases import COMPUTE
from spikemark.records.ratios import ratio

from . import plots

BROKEN = "The checksums differ: runs of one network did not compute the same thing. Do not use the times."
CHOSEN = (
    "schedule",
    "placement",
    "exchange",
    "lag",
    "wire",
)  # of those that differ in D alone, the largest D


@dataclass(frozen=True)
class Answer:
    """What a sweep says.

    `verdict`: faster, slower, open (the interval holds 1), few (too few pairs for an interval), none (nothing
    to compare) or broken (checksums differ). `time_ratio`: time of the best configuration over the base's.
    """

    frames: Frames
    runs: pd.DataFrame  # those that are compared: one case on `ranks`; with a column `configuration`
    case: dict[str, object]  # what the other cases differ in
    ranks: int = 0
    base: str = ""
    best: str = ""
    ratios: dict[str, Quantity] | None = None  # configuration -> time over that of the base

    @property
    def time_ratio(self) -> Quantity | None:
        return self.ratios[self.best] if self.ratios and self.best else None

    @cached_property
    def pairs(self) -> int:
        """How many pairs of runs the ratio rests on."""
        first, second = (self.runs[self.runs["configuration"] == c] for c in (self.best, self.base))
        keys = ["network", "repetition"]
        return len(first[keys].drop_duplicates().merge(second[keys].drop_duplicates()))

    @property
    def verdict(self) -> str:
        if differing_checksums(self.frames):
            return "broken"
        found = self.time_ratio
        if found is None:
            return "none"
        if found.low is None:
            return "few"
        return "faster" if found.high < 1 else "slower" if found.low > 1 else "open"

    @property
    def sentence(self) -> str:
        """The answer, at most 30 words."""
        if self.verdict == "broken":
            return BROKEN
        if self.frames.runs.empty:
            return f"No run is complete yet: 0 of {len(self.frames.planned)}."
        where = "the simulated machine" if simulated(self.frames) else "this machine"
        if self.verdict == "none":
            factors = self.runs["real_time_factor"]
            return (
                f"The {listed(self.runs['configuration'].unique())} schedule has a real-time factor of"
                f" {number(np.exp(np.log(factors).mean()))} on {counted(self.ranks, 'rank')} of {where};"
                " no other configuration has runs to compare."
            )
        found, pairs = self.time_ratio, counted(self.pairs, "pair of runs", "pairs of runs")
        known = "no interval" if found.low is None else f"{number(found.low, 2)} to {number(found.high, 2)}"
        at = ", ".join(f"{term(name).head} = {value}" for name, value in self.case.items() if pd.notna(value))
        return (
            f"On {counted(self.ranks, 'rank')} of {where}{f' at {at}' if at else ''}, {self.best} took"
            f" {number(found.value, 2)} of the time of {self.base} ({known}; {pairs})."
        )

    @property
    def caution(self) -> str:
        """What weakens the sentence, in one sentence; empty if nothing does."""
        load = self.runs["foreign_load"].max() if len(self.runs) else 0
        if len(self.runs) and self.runs["oversubscribed"].any():
            return "More threads than cores: the times are no evidence of speed."
        if len(self.runs) and self.runs["disturbed"].any():
            busy = f"{int(self.runs['disturbed'].sum())} of these {counted(len(self.runs), 'run')}"
            return f"The machine was busy: other programs used up to {number(load, 2)} cores during {busy}."
        return ""

    @property
    def elsewhere(self) -> str:
        """Where the same network took less time, on another number of ranks; empty if nowhere."""
        if self.verdict in ("broken", "none"):
            return ""
        means = compared(self).groupby(["ranks", "configuration"])["real_time_factor"].mean()
        means = means.groupby("ranks").min()
        ranks = int(means.idxmin())
        if ranks == self.ranks:
            return ""
        factors = f"{number(means[ranks])} times real time instead of {number(means[self.ranks])}"
        return f"On {counted(ranks, 'rank')}, it took less: {factors}."


def answer(frames: Frames) -> Answer:
    """Choose the case with the most configurations and runs, and in it the most ranks that make pairs."""
    runs = timed(frames.runs)
    if runs.empty:
        return Answer(frames, runs.assign(configuration=[]), {})
    runs = runs.assign(configuration=configurations(runs))
    varied = cases(frames)
    groups = [(key, group) for key, group in runs.groupby(varied, dropna=False)] if varied else [((), runs)]
    key, chosen = max(groups, key=lambda item: (item[1]["configuration"].nunique(), len(item[1])))
    case = dict(zip(varied, key, strict=True))
    for ranks in sorted(chosen["ranks"].unique(), reverse=True):
        here = chosen[chosen["ranks"] == ranks]
        names = in_order(here)
        if len(names) > 1 and (found := _ratios(here, names)):
            best = min(found, key=lambda name: (found[name].low is None, found[name].value))
            return Answer(frames, here, case, int(ranks), names[0], best, found)
    most = int(chosen["ranks"].max())
    return Answer(frames, chosen[chosen["ranks"] == most], case, most)


def timed(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs whose times are evidence of speed: with a core per thread, not reading counters; else all."""
    good = runs[~runs["oversubscribed"].fillna(False) & ~runs["counting"].fillna(False)]
    return runs if good.empty else good


def compared(found: Answer) -> pd.DataFrame:
    """The runs of the case on any ranks, the most ranks first, in the order of configurations."""
    runs = timed(found.frames.runs)
    for name, value in found.case.items():
        runs = runs[runs[name].isna() if pd.isna(value) else runs[name] == value]
    if runs.empty:
        return runs.assign(configuration=[])
    runs = runs.assign(configuration=configurations(runs))
    places = {name: i for i, name in enumerate(in_order(runs))}
    order = runs.assign(_place=runs["configuration"].map(places), _ranks=-runs["ranks"])
    return order.sort_values(["_ranks", "_place"], kind="stable").drop(columns=["_place", "_ranks"])


def cases(frames: Frames) -> list[str]:
    """The swept columns other than ranks and those of configurations: what tells cases apart."""
    return [name for name in frames.swept if name not in (*CONFIGURATION, "ranks")]


def in_order(runs: pd.DataFrame) -> list[str]:
    """The configurations of runs: schedules in their order, then D."""
    known = {name: i for i, name in enumerate(SCHEDULES)}
    order = runs.assign(_place=runs["schedule"].map(known).fillna(len(known)))
    return list(dict.fromkeys(order.sort_values(["_place", "delay_ratio", "lag"])["configuration"]))


def simulated(frames: Frames) -> bool:
    """Are the times those of a simulated machine?"""
    return bool((frames.runs["kind"] == "simulated").any())


def _ratios(runs: pd.DataFrame, names: list[str]) -> dict[str, Quantity]:
    """Time over that of the first; intervals hold together (Bonferroni): the best is chosen later."""
    base, kind = runs[runs["configuration"] == names[0]], runs["kind"].iloc[0]
    sides = {name: runs[runs["configuration"] == name] for name in names[1:]}
    largest = runs.groupby(list(CHOSEN), dropna=False)["delay_ratio"].transform("max")
    candidates = set(runs[runs["delay_ratio"] == largest]["configuration"]) - {names[0]}
    level = 1 - (1 - LEVEL) / max(len(candidates), 1)
    made = {
        name: ratio(side, base, "real_time_factor", level=level)
        for name, side in sides.items()
        if name in candidates
    }
    return {n: Quantity(q.value, q.low, q.high, kind=kind) for n, q in made.items() if q}


def picture(found: Answer) -> Figure | None:
    """The real-time factor of each configuration as computing, waiting and exchange."""
    if found.runs.empty:
        return None
    runs = found.runs.assign(
        computing=found.runs[[PART + part for part in COMPUTE]].sum(axis=1, min_count=1),
        waiting=found.runs[f"{PART}waiting"],
        exchange=found.runs[f"{PART}exchange"],
    )
    parts = ["computing", "waiting", "exchange"]
    means = runs.groupby("configuration")[parts].mean().loc[in_order(runs)].reset_index()
    dots = runs[["configuration", "real_time_factor"]].rename(columns={"real_time_factor": "value"})
    where, kind = counted(found.ranks, "rank"), runs["kind"].iloc[0]
    caption = f"Seconds per simulated second on {where} ({kind}); means over runs, dots are single runs."
    head = f"Where the time goes on {where}"
    return plots.bars(
        means, "configuration", parts, "first", head, caption, xlabel="real-time factor", dots=dots
    )


def table(found: Answer) -> Table | None:
    """A row per configuration: speed, its ratio to the base, waiting, memory."""
    if found.runs.empty:
        return None
    kind = found.runs["kind"].iloc[0]
    rows = []
    for name in in_order(found.runs):
        own = found.runs[found.runs["configuration"] == name]
        row: dict[str, object] = {
            "configuration": name,
            "real_time_factor": float(np.exp(np.log(own["real_time_factor"]).mean())),
            "waiting": _mean(own[f"{PART}waiting"]) if found.ranks > 1 else None,
            "bytes_per_synapse": _mean(own["bytes_per_synapse"]),
            "runs": len(own),
        }
        if found.ratios:
            row["time_ratio"] = found.ratios.get(name)
        rows.append(row)
    order = ["configuration", "real_time_factor", "time_ratio", "waiting", "bytes_per_synapse", "runs"]
    frame = pd.DataFrame(rows, dtype=object)
    shown = [name for name in order if name in frame and frame[name].notna().any()]
    heads = [column if column.kind else _kind(column, kind) for column in columns(frame[shown])]
    notes = [f"Ratios: time over that of {found.base}, 95 % intervals over pairs."] if found.base else []
    return Table(heads, [{n: row.get(n) for n in shown} for row in rows], notes=notes)


def _mean(values: pd.Series) -> float | None:
    return float(values.mean()) if values.notna().any() else None


def _kind(column, kind: str):
    return column if column.name == "configuration" else replace(column, kind=kind)


def progress(frames: Frames) -> str:
    """How many runs are complete, and whether the checksums agree."""
    words = f"{len(frames.runs)} of {counted(len(frames.planned), 'run')} complete"
    for count, what in ((len(frames.failed), "failed"), (len(frames.unreadable), "unreadable")):
        words += f", {count} {what}" if count else ""
    shared = frames.runs.groupby("network").size()
    if differing_checksums(frames):
        return f"{words}; checksums differ."
    alike = int(shared[shared > 1].sum())
    return f"{words}; checksums equal in {counted(alike, 'run')}." if alike else f"{words}."
