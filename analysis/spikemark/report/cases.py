"""The cases of a sweep: which one a page shows and why, and what a value costs beside another."""

from typing import Any

import pandas as pd

from spikemark.quantities.terms import term
from spikemark.quantities.words import counted, integer, number
from spikemark.records.ratios import of_means

from .answer import SweepAnswer
from .comparison import SPEED, Comparison

#: What runs of one configuration in two cases have in common that are compared.
PAIR = ["seed", "repetition"]
MAX_COSTS = 2  #: fields whose costs are said


def shown(sweep: SweepAnswer) -> str:
    """Which case the first screen shows, of how many, and why; empty where there is one only.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> shown(answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))))
        ''
    """
    if sweep.chosen is None or sweep.cases == 1:
        return ""
    return (
        f"Shown: {sweep.chosen.at or 'no value'}, of {counted(sweep.cases, 'case')} the one with"
        " the most configurations and complete runs, and of equal ones that with the smallest"
        " values."
    )


def only(sweep: SweepAnswer) -> str:
    """That a section shows one case only; empty where there is one only.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> only(answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))))
        ''
    """
    if sweep.chosen is None or sweep.cases == 1:
        return ""
    return f"Only {sweep.chosen.at or 'runs without these values'} is shown here."


def costs(sweep: SweepAnswer) -> list[str]:
    """What another value of a swept field of the network costs, a sentence for each field.

    The farthest value from the shown one is compared with it: the same configuration, ranks, seeds
    and repetitions. Fields that leave the network as it is have no sentence, nor have too short
    runs.

    Example:
        >>> from pathlib import Path
        >>> from spikemark.records.frames import load_folder
        >>> from spikemark.report.answer import answer
        >>> costs(answer(load_folder(Path("docs/notebooks/data/waiting/jureca-dc"))))
        []
    """
    here = sweep.chosen
    if here is None or here.too_short or sweep.verdict == "broken":
        return []
    sentences = []
    for name in here.case:
        others = [other for other in sweep.comparisons if _differs_in(here, other, name)]
        others = [other for other in others if _is_numeric(other.case[name])]
        if not others or not _is_numeric(here.case[name]):
            continue
        value_here = float(_number(here.case[name]))
        farthest = max(others, key=lambda other: abs(_number(other.case[name]) - value_here))
        sentence = _cost(here, farthest, name)
        if sentence:
            sentences.append(sentence)
    return sentences[:MAX_COSTS]


def _differs_in(here: Comparison, other: Comparison, name: str) -> bool:
    """Do two comparisons differ in one field only, and may they be compared?"""
    if other.ranks != here.ranks or other.too_short:
        return False
    differing = [each for each in here.case if str(here.case[each]) != str(other.case[each])]
    return differing == [name]


def _is_numeric(value: object) -> bool:
    """Is the value of a field a number?"""
    return bool(pd.api.types.is_number(value)) and not isinstance(value, bool) and value == value


def _number(value: Any) -> float:
    """The value of a field that is a number."""
    return float(value)


def _cost(here: Comparison, other: Comparison, name: str) -> str:
    """The time of the base at another value over that at the value shown, in one sentence.

    Empty where the network is the same, or no runs can be compared.
    """
    configuration = here.base or here.configurations[0]
    first = _of(other, configuration)
    second = _of(here, configuration)
    if set(first["network"]) & set(second["network"]):
        return ""
    calm = [runs[~runs["disturbed"]] for runs in (first, second)]
    shared = _times(calm[0]).index.intersection(_times(calm[1]).index)
    judged = len(shared) > 0
    if judged:
        first, second = calm
    times = _times(first)
    times_here = _times(second)
    keys = times.index.intersection(times_here.index)
    if keys.empty:
        return ""
    ratio = of_means(times[keys].to_numpy(), times_here[keys].to_numpy())
    assert ratio.value is not None
    basis = "no interval"
    if not judged:
        basis = "not judged, as runs were disturbed"
    elif ratio.low is not None and ratio.high is not None:
        basis = f"{number(ratio.low, 2)} to {number(ratio.high, 2)}"
    pairs = counted(len(keys), "pair of runs", "pairs of runs")
    head = term(name).head
    sizes = [float(runs["neurons"].mean()) for runs in (first, second)]
    neurons = "as many neurons"
    if sizes[0] != sizes[1]:
        neurons = f"{integer(round(sizes[0]))} instead of {integer(round(sizes[1]))} neurons"
    return (
        f"At {head} = {other.case[name]}, {configuration} on {counted(here.ranks, 'rank')} took"
        f" {number(ratio.value, 2)} times as long as at {here.case[name]} ({basis}; {pairs};"
        f" {neurons})."
    )


def _of(comparison: Comparison, configuration: str) -> pd.DataFrame:
    """All complete runs of a configuration."""
    runs = comparison.complete
    return runs[runs["configuration"] == configuration]


def _times(runs: pd.DataFrame) -> pd.Series:
    """Real-time factors by PAIR, sorted."""
    return runs.groupby(PAIR)[SPEED].mean().astype(float).sort_index()
