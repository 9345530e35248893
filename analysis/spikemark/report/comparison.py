"""What a sweep compares: which runs, of which networks, and how much time each configuration takes.

Every number of speed on a page, in a terminal or in JSON comes from here, so that all of them
agree.

- A configuration is how a network was run: schedule, D, lag, placement, exchange, wire.
- A case is one combination of whatever else the grid varies, apart from ranks, seeds and
  repetitions.
- A comparison holds the configurations of one case on one number of ranks. Its base is the
  conventional schedule, or else the first configuration.
- All configurations of a comparison are compared over the same networks and repetitions: runs whose
  counterparts failed or are missing do not count. A configuration that would cost too many runs is
  not compared (`_shared_keys`).
- Times are arithmetic means over these runs, so that the parts of a cycle add up, and a ratio is
  the quotient of two such means (`ratios.of_means`). The intervals of all ratios of a comparison
  hold together (Bonferroni), since the fastest configuration is chosen after looking at them.
- Runs that other programs, a quota or the hypervisor disturbed (`Run.disturbed`) count only where
  no two configurations have undisturbed runs in common; there, ratios have no interval. The same
  holds in `spikemark diff`.
- Runs that are too short (`judged.too_short`) have no ratios.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import pandas as pd

from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.quantity import LEVEL, Quantity
from spikemark.quantities.terms import term
from spikemark.quantities.words import counted
from spikemark.records.frames import CONFIGURATION, Frames, configurations
from spikemark.records.ratios import of_means

#: What the runs of two configurations have in common that are compared with each other.
KEY = ["network", "repetition"]
SPEED = "real_time_factor"


@dataclass(frozen=True)
class Comparison:
    """The configurations of one case on one number of ranks.

    `runs`: rows of `Frames.runs` with a column `configuration`, in the order of configurations.
    Those of compared configurations are of the same networks and repetitions. Runs that were
    disturbed count only where too few others are left to compare.
    """

    case: dict[str, object]  #: swept column -> value
    ranks: int
    runs: pd.DataFrame
    complete: pd.DataFrame  #: all runs, those that do not count included
    #: Configurations that are compared, the base first; empty if none.
    compared: list[str] = field(default_factory=list)
    #: Configurations that have too few runs in common with others.
    alone: list[str] = field(default_factory=list)

    @property
    def at(self) -> str:
        """The values of the case in words; empty without a case."""
        values = [
            f"{term(name).head} = {value}"
            for name, value in self.case.items()
            if not is_missing(value)
        ]
        return ", ".join(values)

    @property
    def where(self) -> str:
        """The ranks and the case in words."""
        place = counted(self.ranks, "rank")
        return f"{place} at {self.at}" if self.at else place

    @property
    def spoiled(self) -> pd.DataFrame:
        """The runs that do not count since they were disturbed."""
        is_left_out = ~self.complete["id"].isin(self.runs["id"])
        return self.complete[is_left_out & self.complete["disturbed"]]

    @property
    def left_out(self) -> int:
        """How many runs do not count since their counterpart is missing or was disturbed."""
        return len(self.complete) - len(self.runs) - len(self.spoiled)

    @property
    def judged(self) -> bool:
        """Are the compared runs undisturbed? Else no ratio has an interval."""
        runs = self.runs
        if self.compared:
            runs = runs[runs["configuration"].isin(self.compared)]
        return not runs["disturbed"].any()

    @property
    def configurations(self) -> list[str]:
        """All configurations, those that are not compared included."""
        return list(dict.fromkeys(self.runs["configuration"]))

    @property
    def base(self) -> str:
        """The configuration that the others are compared with; empty where nothing is compared."""
        return self.compared[0] if self.compared else ""

    @property
    def pairs(self) -> int:
        """How many pairs of runs each ratio rests on."""
        return len(self.times(self.base)) if self.compared else 0

    @property
    def too_short(self) -> bool:
        """Is a run among these too short to say anything about speed?"""
        return bool(self.runs["too_short"].any())

    @cached_property
    def means(self) -> pd.Series:
        """Real-time factor by configuration: the mean over its runs."""
        return self.runs.groupby("configuration", sort=False)[SPEED].mean().astype(float)

    @cached_property
    def ratios(self) -> dict[str, Quantity]:
        """Time over that of the base, by configuration without the base; empty if runs are too
        short.
        """
        return {} if self.too_short else self.times_over(self.base)

    @property
    def best(self) -> str:
        """The configuration that takes the least time of those beside the base; empty without
        ratios.
        """
        times = {
            name: ratio.value for name, ratio in self.ratios.items() if ratio.value is not None
        }
        return min(times, key=lambda name: times[name], default="")

    @property
    def fastest(self) -> str:
        """The compared configuration that takes the least time, the base included; else of all."""
        means = self.means[self.compared] if self.compared else self.means
        return str(means.idxmin())

    def times_over(self, base: str) -> dict[str, Quantity]:
        """Time of each other compared configuration over that of `base`."""
        others = [name for name in self.compared if name != base]
        level = 1 - (1 - LEVEL) / max(len(others), 1)
        kind = self.runs["kind"].iloc[0]
        times = {name: self.times(name).to_numpy() for name in self.compared}
        ratios = {name: of_means(times[name], times[base], kind, level) for name in others}
        if self.judged:
            return ratios
        return {name: Quantity(ratio.value, kind=kind) for name, ratio in ratios.items()}

    def like_fastest(self) -> list[str]:
        """Compared configurations that are not told apart from the fastest one."""
        slower = self.times_over(self.fastest) if self.compared else {}
        return [name for name, ratio in slower.items() if ratio.low is None or ratio.low <= 1]

    @property
    def keys(self) -> pd.Index:
        """The networks and repetitions of the compared configurations."""
        return self.times(self.base).index

    def times(self, configuration: str) -> pd.Series:
        """Real-time factors of a configuration by KEY, sorted."""
        runs = self.runs[self.runs["configuration"] == configuration]
        return runs.groupby(KEY)[SPEED].mean().astype(float).sort_index()


def is_missing(value: Any) -> bool:
    """Whether a cell of a swept column has no value.

    Example:
        >>> is_missing(None), is_missing(0.4)
        (True, False)
    """
    return bool(pd.isna(value))


def comparisons(frames: Frames) -> list[Comparison]:
    """All comparisons of a sweep, case by case, the most ranks first.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> [(comparison.base, comparison.best) for comparison in comparisons(frames)]
        [('conventional', 'structure-aware (D\xa0=\xa010)')]
    """
    runs = timed(frames.runs)
    if runs.empty:
        return []
    runs = runs.assign(configuration=configurations(runs))
    varied = _cases(frames)
    all_comparisons = []
    for key, group in runs.groupby([*varied, "ranks"], dropna=False, sort=False):
        *values, ranks = key
        case = dict(zip(varied, values, strict=True))
        all_comparisons.append(_comparison(case, int(cast(int, ranks)), in_order(group)))
    return sorted(all_comparisons, key=lambda comparison: -comparison.ranks)


def _comparison(case: dict[str, object], ranks: int, complete: pd.DataFrame) -> Comparison:
    """The configurations of a case on a number of ranks, and over which runs they are compared.

    As in `spikemark diff`, those count of which each side has an undisturbed run; if there are
    none, all count.
    """
    runs = _calm(complete)
    undisturbed = complete[~complete["disturbed"].astype(bool)]
    compared, shared = _shared_keys(_keys_of(undisturbed, complete))
    if len(compared) < 2:
        compared, shared = _shared_keys(_keys_of(complete, complete))
        if len(compared) < 2:
            return Comparison(case, ranks, runs, complete)
        runs = complete
    keys = pd.Series(list(runs[KEY].itertuples(index=False, name=None)), index=runs.index)
    is_alone = ~runs["configuration"].isin(compared)
    counting = is_alone | keys.isin(shared)
    return Comparison(
        case,
        ranks,
        runs[counting],
        complete,
        compared=compared,
        alone=[name for name in dict.fromkeys(complete["configuration"]) if name not in compared],
    )


def _calm(complete: pd.DataFrame) -> pd.DataFrame:
    """The undisturbed runs of each configuration; all of one that has none."""
    disturbed = complete["disturbed"].astype(bool)
    has_calm = complete["configuration"].isin(complete["configuration"][~disturbed])
    return complete[~disturbed | ~has_calm]


def _keys_of(runs: pd.DataFrame, complete: pd.DataFrame) -> dict[str, set[tuple[Any, ...]]]:
    """The keys (KEY) of `runs` by configuration, for all configurations of `complete`."""
    keys_of: dict[str, set[tuple[Any, ...]]] = {}
    for name in dict.fromkeys(complete["configuration"]):
        own = runs[runs["configuration"] == name]
        keys_of[str(name)] = set(own[KEY].itertuples(index=False, name=None))
    return keys_of


def _shared_keys(
    keys_of: dict[str, set[tuple[Any, ...]]],
) -> tuple[list[str], set[tuple[Any, ...]]]:
    """The configurations to compare, and the keys (KEY) over which: those that each of them has.

    `keys_of`: by configuration, the base first. One that lacks many keys would cost all others
    their runs. So configurations join in the order of how many keys they share with the base, as
    long as configurations times keys does not fall.
    """
    base, *others = keys_of
    shared = keys_of[base]
    others.sort(key=lambda name: -len(keys_of[name] & shared))
    chosen = [base]
    keys: set[tuple[Any, ...]] = set()
    most_runs = 0
    joined = [base]
    for name in others:
        joined = [*joined, name]
        shared = shared & keys_of[name]
        runs = len(joined) * len(shared)
        if shared and runs >= most_runs:
            chosen = joined
            keys = shared
            most_runs = runs
    return [name for name in keys_of if name in chosen], keys


def timed(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs whose times are evidence of speed: with a core per thread, not reading counters; else
    all.

    Example:
        >>> is_crowded = [False, True]
        >>> runs = pd.DataFrame({"id": ["a", "b"], "oversubscribed": is_crowded, "counting": False})
        >>> timed(runs)["id"].tolist()  # b had more threads than cores
        ['a']
    """
    good = runs[~runs["oversubscribed"].fillna(False) & ~runs["counting"].fillna(False)]
    return runs if good.empty else good


def _cases(frames: Frames) -> list[str]:
    """The swept columns other than ranks and those of configurations: what tells cases apart."""
    return [name for name in frames.swept if name not in (*CONFIGURATION, "ranks")]


def in_order(runs: pd.DataFrame) -> pd.DataFrame:
    """Runs in the order of their configurations: by schedule, then D, then the rest.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> runs = load_folder(Path("docs/notebooks/data/waiting/jureca-dc")).runs
        >>> in_order(runs[::-1])["schedule"].iloc[0]
        'conventional'
    """
    places = {name: i for i, name in enumerate(SCHEDULES)}
    order = runs.assign(_place=runs["schedule"].map(places).fillna(len(places)))
    columns = ["_place", *(name for name in CONFIGURATION if name != "placement"), "placement"]
    return order.sort_values(columns, kind="stable").drop(columns="_place")


def together(parts: Iterable[Comparison]) -> pd.DataFrame:
    """The runs of several comparisons as one frame.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> frames = load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))
        >>> len(together(comparisons(frames))) == len(frames.runs)
        True
    """
    return pd.concat([comparison.runs for comparison in parts])
