"""The first screen of a sweep's page: one sentence with the number, one picture, one table.

They show one comparison (`comparison.Comparison`), which `answer` chooses; its numbers come from
there.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import cast

import pandas as pd

from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import FEWEST, LEVEL, Quantity
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.terms import columns
from spikemark.quantities.words import counted, listed, number, percent
from spikemark.records.collect import differing_checksums
from spikemark.records.frames import Frames
from spikemark.records.judged import MAX_CLOCK_SHARE, SHORTEST_S, THROTTLED_CORES, enough_ms
from spikemark.records.phases import COMPUTE_PARTS
from spikemark.records.ratios import of_means
from spikemark.records.runs_table import DISTURBED_CORES, PART

from . import plots
from .comparison import SPEED, Comparison, comparisons, is_missing, timed, together
from .facts import COMMIT_DIGITS

BROKEN = (
    "The checksums differ: runs of one network did not compute the same thing. Do not use the"
    " times."
)
PARTS = ["computing", "waiting", "exchange"]  # of the picture
#: What runs that are compared are to have in common, by columns of the table of runs.
CONDITIONS = {
    "cpu": "of different processors",
    "commit": "of different commits",
    "nodes": "on different numbers of nodes",
}
MAX_CONDITIONS = 4  #: values that are named
LARGER = "more neurons or synapses on each rank"


@dataclass(frozen=True)
class Elsewhere:
    """The fastest configuration on another number of ranks."""

    ranks: int
    configuration: str
    real_time_factor: float
    real_time_factor_here: float  #: of the fastest here, over the same networks and repetitions
    ratio: Quantity  #: its time over that of the fastest here
    judged: bool  #: whether no run of either was disturbed


@dataclass(frozen=True)
class SweepAnswer:
    """What a sweep says."""

    frames: Frames
    comparisons: list[Comparison]  #: all there are, the most ranks first
    chosen: Comparison | None  #: what the first screen shows; None where no run is complete

    @property
    def runs(self) -> pd.DataFrame:
        """The runs of the first screen, with a column `configuration`."""
        if self.chosen:
            return self.chosen.runs
        return self.frames.runs.assign(configuration=[])

    @property
    def case(self) -> dict[str, object]:
        """What tells the runs of the first screen from those of other cases: swept column ->
        value.
        """
        if self.chosen:
            return self.chosen.case
        return {}

    @property
    def ranks(self) -> int:
        """Ranks of the runs of the first screen."""
        if self.chosen:
            return self.chosen.ranks
        return 0

    @property
    def base(self) -> str:
        """The configuration that others are compared with; empty where nothing is compared."""
        if self.chosen:
            return self.chosen.base
        return ""

    @property
    def best(self) -> str:
        """The configuration that takes the least time of those beside the base."""
        if self.chosen:
            return self.chosen.best
        return ""

    @property
    def ratios(self) -> dict[str, Quantity]:
        """Time over that of the base, by configuration."""
        if self.chosen:
            return self.chosen.ratios
        return {}

    @property
    def pairs(self) -> int:
        """How many pairs of runs each ratio rests on."""
        if self.chosen:
            return self.chosen.pairs
        return 0

    @property
    def time_ratio(self) -> Quantity | None:
        """Time of the best configuration over that of the base."""
        return self.ratios.get(self.best)

    @property
    def of_case(self) -> list[Comparison]:
        """The comparisons of the same case, on any number of ranks."""
        if self.chosen is None:
            return []
        case = self.chosen.case
        return [comparison for comparison in self.comparisons if _alike(comparison.case, case)]

    @property
    def cases(self) -> int:
        """How many cases there are."""
        return len(_by_case(self.comparisons))

    @cached_property
    def verdict(self) -> str:
        """What the runs say of the best configuration.

        faster, slower, open (the interval holds 1), few (too few pairs for an interval), short
        (runs say nothing about speed), none (nothing to compare) or broken (checksums differ).
        """
        if differing_checksums(self.frames):
            return "broken"
        if self.chosen and self.chosen.too_short:
            return "short"
        ratio = self.time_ratio
        if ratio is None:
            return "none"
        if ratio.low is None or ratio.high is None:
            return "few"
        if ratio.high < 1:
            return "faster"
        if ratio.low > 1:
            return "slower"
        return "open"

    @property
    def where(self) -> str:
        """The ranks, the machine and the case in words."""
        machine = "the simulated machine" if _simulated(self.frames) else "this machine"
        place = f"{counted(self.ranks, 'rank')} of {machine}"
        if self.chosen and self.chosen.at:
            return f"{place} at {self.chosen.at}"
        return place

    @property
    def sentence(self) -> str:
        """The answer, at most 30 words."""
        if self.verdict == "broken":
            return BROKEN
        if self.chosen is None:
            return f"No run is complete yet: 0 of {len(self.frames.planned)}."
        if self.verdict == "short":
            return too_short(together(self.of_case))
        words = self._alone if self.verdict == "none" else self._ratio_sentence
        disturbed = self._without
        return f"{disturbed}: {words[0].lower()}{words[1:]}" if disturbed else words

    @property
    def _without(self) -> str:
        """How many runs do not count since they were disturbed, or that those that do were.

        Empty if nothing was disturbed.
        """
        assert self.chosen is not None
        spoiled = self.chosen.spoiled
        counting = self.chosen.runs
        if not self.chosen.judged:
            number_of_runs = int(counting["disturbed"].sum())
            return f"Not judged, as {number_of_runs} of {_runs_were(counting)} disturbed"
        if len(spoiled):
            return (
                f"Without {len(spoiled)} disturbed of {counted(len(self.chosen.complete), 'run')}"
            )
        return ""

    @property
    def _ratio_sentence(self) -> str:
        """How long the best configuration took, beside the base."""
        ratio = self.time_ratio
        assert ratio is not None and ratio.value is not None
        interval = "no interval"
        if ratio.low is not None and ratio.high is not None:
            interval = f"{number(ratio.low, 2)} to {number(ratio.high, 2)}"
        basis = f"{interval}; {counted(self.pairs, 'pair of runs', 'pairs of runs')}"
        value = number(ratio.value, 2)
        if self.verdict == "slower":
            return (
                f"On {self.where}, {self.base} is fastest; next, {self.best} took {value} times as"
                f" long ({basis})."
            )
        ending = ", not told apart" if self.verdict == "open" else ""
        return (
            f"On {self.where}, {self.best} took {value} of the time of {self.base}"
            f" ({basis}){ending}."
        )

    @property
    def _alone(self) -> str:
        """The sentence where nothing is compared."""
        assert self.chosen is not None
        names = self.chosen.configurations
        if len(names) > 1:
            return (
                f"On {self.where}, no two of {counted(len(names), 'configuration')} have a run of"
                " the same network and repetition yet, so nothing is compared."
            )
        factor = number(self.chosen.means[names[0]])
        return (
            f"The {names[0]} schedule has a real-time factor of {factor} on {self.where}; no other"
            " configuration has runs to compare."
        )

    @property
    def caution(self) -> str:
        """What weakens the sentence, in a sentence or two; empty if nothing does."""
        if self.runs.empty:
            return ""
        if self.runs["oversubscribed"].any():
            return "More threads than cores: the times are no evidence of speed."
        if self.chosen is None:
            return ""
        sentences = (_disturbance(self.chosen), unlike_conditions(self.chosen.runs))
        return " ".join(filter(None, sentences))

    @property
    def elsewhere(self) -> str:
        """Where the same networks took less time, on another number of ranks; empty if nowhere."""
        if self.chosen is None or self.verdict in ("broken", "short", "none"):
            return ""
        place = _elsewhere(self.chosen, self.of_case)
        if place is None:
            return self._perhaps_elsewhere
        here = number(place.real_time_factor_here)
        there = number(place.real_time_factor)
        no_interval = " (no interval)" if place.ratio.low is None else ""
        if not place.judged:
            no_interval = " (not judged: runs were disturbed)"
        return (
            f"On {counted(place.ranks, 'rank')}, {place.configuration} took less: {there} times"
            f" real time instead of {here}{self._fastest_here(place.configuration)}{no_interval}."
        )

    @property
    def _perhaps_elsewhere(self) -> str:
        """On which other ranks runs took less, though too short to tell; empty if on none."""
        assert self.chosen is not None
        here = float(self.chosen.means[self.chosen.fastest])
        brief = [other for other in self.of_case if other.too_short and other.means.min() < here]
        if not brief:
            return ""
        least = min(brief, key=lambda other: float(other.means.min()))
        return (
            f"On {counted(least.ranks, 'rank')}, {least.means.idxmin()} took less"
            f" ({number(float(least.means.min()))} times real time instead of {number(here)}"
            f"{self._fastest_here(str(least.means.idxmin()))}), but its runs are too short to tell."
        )

    def _fastest_here(self, compared: str) -> str:
        """Whose time on which ranks another one's is compared with: ` of NAME on 2 ranks`.

        `compared`: the configuration that took the other time; the same is not named again.
        """
        assert self.chosen is not None
        fastest = self.chosen.fastest
        name = "" if fastest == compared else f" of {fastest}"
        return f"{name} on {counted(self.chosen.ranks, 'rank')}"

    @property
    def notes(self) -> list[str]:
        """What does not count, and how ratios are meant, one line each."""
        chosen = self.chosen
        if chosen is None:
            return []
        notes = _notes_on_ratios(chosen)
        if chosen.alone:
            notes.append(
                "Not compared, as too few runs are complete and undisturbed:"
                f" {listed(chosen.alone)}."
            )
        if chosen.left_out:
            runs = counted(chosen.left_out, "run does", "runs do")
            notes.append(
                f"{runs} not count: a counterpart of the same network and repetition is missing"
                " or was disturbed."
            )
        for other in self.of_case:
            if other.too_short and not chosen.too_short:
                notes.append(f"On {counted(other.ranks, 'rank')}: {too_short(other.runs)}")
        all_runs = self.frames.runs
        unfit = len(all_runs) - len(timed(all_runs))
        if unfit:
            runs = counted(unfit, "run does", "runs do")
            notes.append(f"{runs} not count: more threads than cores, or counters were read.")
        return notes


def _runs_were(runs: pd.DataFrame) -> str:
    """The number of runs and a verb."""
    return counted(len(runs), "run was", "runs were")


def _disturbance(chosen: Comparison) -> str:
    """What was disturbed, by what, and whether it counts; empty if nothing was."""
    disturbed = chosen.complete[chosen.complete["disturbed"]]
    if disturbed.empty:
        return ""
    busy = f"The machine was busy: {taken(disturbed)} during"
    runs = f"{len(disturbed)} of these {len(chosen.complete)} runs"
    if len(chosen.complete) == 1:
        runs = "this run"
    if chosen.judged:
        return f"{busy} {runs}, left out here."
    return f"{busy} {runs}, whose times say little about speed."


def unlike_conditions(runs: pd.DataFrame) -> str:
    """In what runs differ that were not to be compared: processors, commits or numbers of nodes;
    empty if in nothing. Ratios of such runs compare these, too.

    `runs`: rows of the table of runs, on one number of ranks.

    Example:
        >>> runs = pd.DataFrame({"cpu": "EPYC", "nodes": 1, "commit": ["1a2b", "1a2b", "3c4d"]})
        >>> unlike_conditions(runs)
        'These runs are of different commits (1a2b and 3c4d): ratios compare these, too.'
    """
    differences = []
    for name, subject in CONDITIONS.items():
        values = runs[name].dropna().unique()
        if len(values) > 1:
            texts = sorted(_condition(name, value) for value in values)
            differences.append(f"{subject} ({listed(texts[:MAX_CONDITIONS])})")
    if not differences:
        return ""
    return f"These runs are {listed(differences)}: ratios compare these, too."


def _condition(name: str, value: object) -> str:
    """A condition in words: a commit by its first digits, as Git shows it."""
    if name == "commit":
        return str(value)[:COMMIT_DIGITS]
    return f"{value:g}" if isinstance(value, float) else str(value)


def taken(disturbed: pd.DataFrame) -> str:
    """What took processors away from disturbed runs, and how many cores at most.

    `disturbed`: rows of the table of runs.

    Example:
        >>> runs = pd.DataFrame({"foreign_load": [0.05, 1.45], "throttled_load": [None, None]})
        >>> taken(runs)
        'other programs used up to 1.4 cores'
    """
    foreign_cores = disturbed["foreign_load"].max()
    throttled_cores = disturbed["throttled_load"].max()
    if foreign_cores > DISTURBED_CORES:
        return f"other programs used up to {number(foreign_cores, 2)} cores"
    if throttled_cores > THROTTLED_CORES:
        return f"a quota (cgroup) took up to {number(throttled_cores, 2)} cores away"
    return "the hypervisor took cores away"


def _notes_on_ratios(chosen: Comparison) -> list[str]:
    """How ratios are meant, and what is not told apart from the fastest; nothing without ratios."""
    if not chosen.ratios:
        return []
    means = f"Means over runs; ratios: mean time over that of {chosen.base}"
    if not chosen.judged:
        return [f"{means}; no intervals, as runs were disturbed."]
    if chosen.pairs < FEWEST:
        return [f"{means}; too few for intervals."]
    notes = [f"{means}; intervals hold together with {percent(LEVEL)}."]
    alike = chosen.like_fastest()
    if alike:
        notes.append(f"Not told apart from {chosen.fastest}, the fastest: {listed(alike)}.")
    return notes


def answer(frames: Frames) -> SweepAnswer:
    """Choose the case with the most configurations and complete runs, and in it a comparison.

    Of equal cases, that with the smallest values, field by field, whatever was measured. The
    comparison is the one on the most ranks whose runs are long enough; or else on the most ranks.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> sweep.base, sweep.ranks
        ('conventional', 4)
    """
    all_comparisons = comparisons(frames)
    if not all_comparisons:
        return SweepAnswer(frames, [], None)
    cases = sorted(_by_case(all_comparisons), key=_values)
    case = max(cases, key=_size)
    comparing = [comparison for comparison in case if comparison.compared]
    long_enough = [comparison for comparison in comparing if not comparison.too_short]
    in_order_of_choice = [*long_enough, *comparing, *case]
    return SweepAnswer(frames, all_comparisons, in_order_of_choice[0])


def _by_case(all_comparisons: list[Comparison]) -> list[list[Comparison]]:
    """The comparisons of each case, in their order."""
    cases: list[list[Comparison]] = []
    for comparison in all_comparisons:
        for case in cases:
            if _alike(case[0].case, comparison.case):
                case.append(comparison)
                break
        else:
            cases.append([comparison])
    return cases


def _alike(case: dict[str, object], other: dict[str, object]) -> bool:
    """Are these the values of one case?"""
    return all(_same(value, other[name]) for name, value in case.items())


def _same(value: object, other: object) -> bool:
    """Are two values equal? A missing one equals a missing one."""
    if is_missing(value) or is_missing(other):
        return is_missing(value) and is_missing(other)
    return value == other


def _values(case: list[Comparison]) -> list[tuple[int, float, str]]:
    """The values of a case in an order: numbers by size, then words, then missing ones."""
    order = []
    for value in case[0].case.values():
        if is_missing(value):
            order.append((2, 0.0, ""))
        elif pd.api.types.is_number(value):
            order.append((0, float(cast(float, value)), ""))
        else:
            order.append((1, 0.0, str(value)))
    return order


def _size(case: list[Comparison]) -> tuple[int, int]:
    """Configurations and complete runs of a case."""
    runs = pd.concat([comparison.complete for comparison in case])
    return runs["configuration"].nunique(), len(runs)


def _elsewhere(here: Comparison, of_case: list[Comparison]) -> Elsewhere | None:
    """The fastest configuration on other ranks, if it surely takes less time than the fastest here.

    Its times have to be those of the same networks and repetitions. That it is the fastest of
    several is allowed for (Bonferroni).
    """
    candidates = []
    for other in of_case:
        if other.ranks == here.ranks or other.too_short:
            continue
        for name in other.compared or other.configurations:
            times = other.times(name)
            keys = here.keys.intersection(times.index)
            if keys.equals(here.keys) or (len(keys) and _were_disturbed(here, other)):
                candidates.append((float(times[keys].mean()), other.ranks, name, other, keys))
    if not candidates:
        return None
    mean, ranks, name, other, keys = min(candidates, key=lambda candidate: candidate[:3])
    level = 1 - (1 - LEVEL) / len(candidates)
    times_here = here.times(here.fastest)[keys]
    ratio = of_means(other.times(name)[keys].to_numpy(), times_here.to_numpy(), level=level)
    judged = here.judged and other.judged
    highest = ratio.high if judged and ratio.high is not None else ratio.value
    if highest is None or highest >= 1:
        return None
    return Elsewhere(ranks, name, mean, float(times_here.mean()), ratio, judged)


def _were_disturbed(here: Comparison, other: Comparison) -> bool:
    """Does either lack runs since they were disturbed?"""
    return not (here.spoiled.empty and other.spoiled.empty)


def too_short(runs: pd.DataFrame) -> str:
    """That runs say nothing about speed, and what to do: one sentence.

    `runs`: with at least one such run.

    Example:
        >>> runs = pd.DataFrame({"too_short": [True], "simulate_s": 0.01, "timer_overhead": 0.0})
        >>> too_short(runs.assign(real_time_factor=2.0)).partition(":")[0]
        'These runs last 10 ms, too short to compare'
    """
    runs = runs[runs["too_short"]]
    brief = runs[runs["simulate_s"] < SHORTEST_S]
    clock_share = float(runs["timer_overhead"].max())
    if brief.empty:
        return (
            f"Reading the clock took up to {percent(clock_share)} of these runs, too much to"
            f" compare: simulate {LARGER}, so that it takes at most {percent(MAX_CLOCK_SHARE)}."
        )
    shortest = number(1e3 * brief["simulate_s"].min(), 2)
    longest = number(1e3 * brief["simulate_s"].max(), 2)
    lasted = shortest if shortest == longest else f"{shortest} to {longest}"
    least_ms = enough_ms(float(brief[SPEED].min()))
    sentence = (
        f"These runs last {lasted} ms, too short to compare: simulate at least"
        f" {number(1e-3 * least_ms, 2)} s (`time.simulate_ms: {least_ms:g}`), so that each lasts"
        f" {SHORTEST_S:g} s"
    )
    if clock_share > MAX_CLOCK_SHARE:
        share = percent(clock_share)
        return f"{sentence}, and {LARGER}, as reading the clock took up to {share}."
    return f"{sentence}."


def compared(sweep: SweepAnswer) -> pd.DataFrame:
    """The runs of the case on any ranks, the most ranks first, in the order of configurations.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> compared(sweep)["schedule"].tolist()
        ['conventional', 'structure_aware', 'structure_aware']
    """
    if sweep.chosen:
        return together(sweep.of_case)
    return sweep.runs


def _simulated(frames: Frames) -> bool:
    """Are the times those of a simulated machine?"""
    return bool((frames.runs["kind"] == "simulated").any())


def picture(sweep: SweepAnswer) -> Figure | None:
    """The real-time factor of each configuration as computing, waiting and exchange.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> picture(sweep).title
        'Where the time goes on 4 ranks'
    """
    if sweep.runs.empty:
        return None
    runs = sweep.runs.assign(
        computing=sweep.runs[[PART + part for part in COMPUTE_PARTS]].sum(axis=1, min_count=1),
        waiting=sweep.runs[f"{PART}waiting"],
        exchange=sweep.runs[f"{PART}exchange"],
    )
    means = runs.groupby("configuration", sort=False)[PARTS].mean().reset_index()
    folders = [sweep.frames.records[id].path.name for id in runs["id"]]
    dots = pd.DataFrame({"configuration": runs["configuration"], "value": runs[SPEED]})
    dots["name"] = folders
    ranks = counted(sweep.ranks, "rank")
    kind = runs["kind"].iloc[0]
    caption = (
        f"Seconds per simulated second on {ranks} ({kind}); means over runs, dots are single runs,"
        " whose values are in the table of runs below."
    )
    head = f"Where the time goes on {ranks}"
    return plots.bars(
        means,
        "configuration",
        PARTS,
        "first",
        head,
        caption,
        xlabel="real-time factor (lower is better)",
        dots=dots,
        unit="s / s",
    )


def table(sweep: SweepAnswer) -> Table | None:
    """A row per configuration: speed, its ratio to the base, waiting, memory; means over runs.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> sweep = answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc")))
        >>> [column.name for column in table(sweep).columns][:3]
        ['configuration', 'real_time_factor', 'time_ratio']
    """
    if sweep.chosen is None:
        return None
    kind = sweep.runs["kind"].iloc[0]
    rows = [
        _row(sweep, sweep.chosen, str(name), runs)
        for name, runs in sweep.runs.groupby("configuration", sort=False)
    ]
    frame = pd.DataFrame(rows, dtype=object)
    shown = [str(name) for name in frame if frame[name].notna().any()]
    heads = [_of_kind(column, kind) for column in columns(frame[shown])]
    cells = [{name: row[name] for name in shown} for row in rows]
    return Table(heads, cells, notes=sweep.notes)


def _row(sweep: SweepAnswer, chosen: Comparison, name: str, runs: pd.DataFrame) -> dict[str, Cell]:
    """A configuration in the table of the first screen."""
    return {
        "configuration": name,
        SPEED: float(chosen.means[name]),
        "time_ratio": sweep.ratios.get(name),
        "waiting": _mean(runs[f"{PART}waiting"]) if sweep.ranks > 1 else None,
        "bytes_per_synapse": _mean(runs["bytes_per_synapse"]),
        "runs": len(runs),
    }


def _mean(values: pd.Series) -> float | None:
    if values.notna().any():
        return float(values.mean())
    return None


def _of_kind(column: Column, kind: str) -> Column:
    """The column, with the kind of its numbers where its term has none."""
    if column.kind or column.name == "configuration":
        return column
    return replace(column, kind=kind)


def progress(frames: Frames) -> str:
    """How many runs are complete, and whether the checksums agree.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> progress(frames)
        '3 of 3 runs complete; 3 runs have 1 checksum.'
    """
    words = f"{len(frames.runs)} of {counted(len(frames.planned), 'run')} complete"
    if frames.failed:
        words += f", {len(frames.failed)} failed"
    if frames.unreadable:
        words += f", {len(frames.unreadable)} unreadable"
    shared = frames.runs.groupby("network").size()
    if differing_checksums(frames):
        return f"{words}; checksums differ."
    if (shared > 1).any():
        return f"{words}; {agreement(frames.runs)}."
    return f"{words}."


def agreement(runs: pd.DataFrame) -> str:
    """How many runs agree in how many checksums, where none differ: a network has one.

    Example:
        >>> agreement(pd.DataFrame({"network": ["a", "a", "b", "b", "c"]}))
        '4 runs have 2 checksums, one for each network'
    """
    sizes = runs.groupby("network").size()
    compared = sizes[sizes > 1]
    if compared.empty:
        return "no two runs of one network"
    words = f"{counted(int(compared.sum()), 'run')} have {counted(len(compared), 'checksum')}"
    return words if len(compared) == 1 else f"{words}, one for each network"
