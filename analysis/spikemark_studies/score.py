"""Predictions against published points: error, interval score, width and coverage.

Each test asks for one series of times, from one anchor: itself on its two smallest configurations
(nodes), or another series that differs in version, network or machine. Spreads of errors come from
other series: without the target series, and for another machine without all series of the target's
machine. Beside the model stand two baselines, with y = log of the seconds:

    W/P      the anchor's configuration of the nearest number of cores, times the ratio work/cores
    a/P + b  a W/P + b, fitted to the anchor by squared log errors, a and b at least 0

between machines times the ratio of clocks. Their intervals: 1.96 times the root mean square of
their own log errors in the other series of this kind of test and program (of all programs if
these are fewer than MIN_SERIES), times sqrt(1 + 1/k) for k series; or a fixed factor of 2. Interval
score: Gneiting & Raftery 2007, eq. 43, at 95 %.

Scoring all published points takes 5 to 15 seconds, since spreads are fitted anew for each test.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel
from scipy import optimize

from spikemark.core import sha256
from spikemark.core.commands import command
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json, read_text
from spikemark.prediction import (
    anchors,
    effects,
    points,
    program_costs,
    published_machine,
    spread_fit,
)
from spikemark.prediction.points import EXTERNAL_HZ, POINTS, PublishedRun
from spikemark.quantities.answer import Answer, Screen, frame_of
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import percent

from .pick import rows_of
from .published import papers

Array = NDArray[np.float64]
#: Kinds of test, in the order of tables.
KINDS = ("nodes", "version", "network", "machine", "platform")
OTHER_MACHINE = ("machine", "platform")  #: kinds of test about another machine
#: Aspects in which two series differ; the first one is the kind of test.
ASPECTS = ("platform", "machine", "network", "version")
MIN_SERIES = 3  #: that make an interval of a baseline for one program
MIN_CORE_COUNTS = 3  #: of a series that is predicted from its two smallest
MODEL = "model"
CONDITIONS = (
    "Costs and spreads come without the target series; for another machine, without all of its"
    " series.",
    "Score: mean interval score in logarithms; lower is better; a perfect factor of 2 has 0.69.",
)


@dataclass(frozen=True)
class PredictionTest:
    """One question: what are the times of the targets, given those of the anchor?"""

    anchor: tuple[PublishedRun, ...]
    targets: tuple[PublishedRun, ...]
    aspects: str  #: in which both differ, such as machine+version

    @property
    def kind(self) -> str:
        """The first of the aspects."""
        return self.aspects.split("+")[0]

    @property
    def unseen_machines(self) -> set[str]:
        """Machines whose runs may not be used: those of the targets, if these are asked about."""
        if self.kind not in OTHER_MACHINE:
            return set()
        return {run.machine.name for run in self.targets}

    @property
    def log_seconds(self) -> Array:
        """Logarithms of the measured seconds, by target."""
        return _log_seconds(self.targets)

    def allowed(self, run: PublishedRun) -> bool:
        """Whether a run may inform the spreads of the test."""
        is_target = run.series == self.targets[0].series
        return not is_target and run.machine.name not in self.unseen_machines

    def other_source(self, run: PublishedRun) -> bool:
        """Whether a run is of another source than the targets, such as another paper."""
        return source_of(run) != source_of(self.targets[0])

    def stated(self, run: PublishedRun) -> PublishedRun:
        """A target as the test states it: the named aspects differ from the anchor, and no other.

        Where anchor and target share what is to differ, it gets another name.
        """
        anchor = self.anchor[0]
        machine = run.machine
        if not any(kind in self.aspects for kind in OTHER_MACHINE):
            machine = anchor.machine
        elif machine.name == anchor.machine.name:
            machine = replace(machine, name=f"another {machine.name}")
        version = run.version
        if "version" not in self.aspects:
            version = anchor.version
        elif version == anchor.version:
            version = f"another {version}"
        network = run.network
        if "network" not in self.aspects and self.kind != "nodes":
            network = replace(network, model=anchor.network.model, variant=anchor.network.variant)
        return replace(run, machine=machine, version=version, network=network)

    def answered(
        self, method: str, number: int, low: ArrayLike, middle: ArrayLike, high: ArrayLike
    ) -> pd.DataFrame:
        """Predictions beside the measured times, a row for each target.

        Args:
            method: what predicted.
            number: of the test.
            low: lower ends of the 95 % intervals of log seconds, by target.
            middle: medians of log seconds, by target.
            high: upper ends.
        """
        low, middle, high = np.asarray(low), np.asarray(middle), np.asarray(high)
        true = self.log_seconds
        return pd.DataFrame(
            {
                "method": method,
                "test": number,
                "kind": self.kind,
                "series": self.targets[0].series,
                "anchor": self.anchor[0].series,
                "aspects": self.aspects,
                "network": [run.network.model for run in self.targets],
                "machine": [run.machine.name for run in self.targets],
                "nodes": [run.nodes for run in self.targets],
                "ranks": [run.ranks for run in self.targets],
                "threads": [run.threads for run in self.targets],
                "low": low,
                "middle": middle,
                "high": high,
                "true": true,
                "error": np.abs(np.expm1(middle - true)),
                "width": high - low,
                "score": interval_score(low, high, true),
                "inside": (low <= true) & (true <= high),
            }
        )


def _log_seconds(runs: Iterable[PublishedRun]) -> Array:
    return np.log([_seconds(run) for run in runs])


def _seconds(run: PublishedRun) -> float:
    """Seconds per simulated second of a run that was measured."""
    assert run.seconds is not None
    return run.seconds


def interval_score(low: Array, high: Array, true: Array) -> Array:
    """Score of central 95 % intervals, in logs; smaller is better.

    Gneiting & Raftery 2007, eq. 43: the width, and 40 times what a value lies outside. All have the
    same shape.

    >>> interval_score(np.array([0.0]), np.array([1.0]), np.array([1.5])).tolist()
    [21.0]
    """
    below = np.maximum(low - true, 0)
    above = np.maximum(true - high, 0)
    score: Array = high - low + 40 * (below + above)
    return score


class Transfer(NamedTuple):
    """A series that is to be predicted from another one."""

    target: str
    anchor: str
    aspects: str  #: that differ, such as machine+version


def _by_series(runs: Iterable[PublishedRun]) -> dict[str, tuple[PublishedRun, ...]]:
    """Runs with whole times by series, in the order of the file."""
    series: dict[str, tuple[PublishedRun, ...]] = defaultdict(tuple)
    for run in runs:
        if not run.part:
            series[run.series] += (run,)
    return series


def source_of(run: PublishedRun) -> str:
    """The paper, page or repository of a run, without the place in it.

    Example:
        >>> from dataclasses import replace
        >>> from spikemark.prediction.points import published
        >>> source_of(replace(published()[0], source="Simula et al. 2019, Table II"))
        'Simula et al. 2019'
    """
    return re.split("[(,]", run.source)[0].strip()


def _threads_of_all_ranks(run: PublishedRun) -> int:
    return run.ranks * run.threads


def _tests_of(
    runs: Iterable[PublishedRun],
    published_runs: Iterable[PublishedRun] = (),
    transfers: Iterable[Transfer] = (),
) -> list[PredictionTest]:
    """Tests of `runs`: over nodes within each series, and transfers from an anchor.

    Args:
        runs: what is predicted.
        published_runs: further runs among which anchors may be.
        transfers: beside those of transfers.csv.
    """
    targets = _by_series(runs)
    tests = []
    for series in targets.values():
        ordered = tuple(sorted(series, key=_threads_of_all_ranks))
        if len({_threads_of_all_ranks(run) for run in series}) >= MIN_CORE_COUNTS:
            tests.append(PredictionTest(ordered[:2], ordered[2:], "nodes"))
    all_series = {**_by_series(published_runs), **targets}
    published = [Transfer(**row) for row in papers.rows("transfers")]
    for transfer in (*published, *transfers):
        if transfer.target in targets and transfer.anchor in all_series:
            anchor, target = all_series[transfer.anchor], targets[transfer.target]
            tests.append(PredictionTest(anchor, target, transfer.aspects))
    return tests


def _transfers_of(
    runs: Iterable[PublishedRun], published_runs: Iterable[PublishedRun]
) -> list[Transfer]:
    """Transfers that series name, or those from the most similar `published_runs` series."""
    transfers = {Transfer(run.series, run.anchor, run.aspects) for run in runs if run.anchor}
    decided = {transfer.target for transfer in transfers} | _by_series(published_runs).keys()
    for name, (first, *_) in _by_series(runs).items():
        candidates = [
            run for run in published_runs if run.program == first.program and not run.part
        ]
        if name in decided or not candidates:
            continue
        nearest, differences = effects.closest(first, candidates)
        aspects = _aspects(first, nearest, differences)
        transfers.add(Transfer(name, nearest.series, "+".join(aspects) or "version"))
    return sorted(transfers)


def _aspects(run: PublishedRun, other: PublishedRun, differences: Iterable[str]) -> list[str]:
    """Aspects in which two runs differ, in the order of ASPECTS.

    A board against a server is another platform, not only another machine.
    """
    platforms_differ = run.machine.platform != other.machine.platform
    names = {"machine": "platform" if platforms_differ else "machine", "variant": "network"}
    aspects = {names.get(difference, difference) for difference in differences}
    if platforms_differ:
        aspects.add("platform")
    return [aspect for aspect in ASPECTS if aspect in aspects]


# Baselines


def _work_per_core(run: PublishedRun) -> float:
    """Synaptic events per simulated second and core; for DPSNN with those from outside."""
    events = run.network.synapses * run.network.rate_hz
    if run.program == program_costs.DPSNN.name:
        events += EXTERNAL_HZ * run.network.neurons
    return events / run.cores


def _work_over_cores(test: PredictionTest) -> Array:
    """The baseline W/P: log seconds by target."""
    seconds = []
    for run in test.targets:
        nearest = min(test.anchor, key=partial(_core_distance, run))
        ratio_of_work = _work_per_core(run) / _work_per_core(nearest)
        ratio_of_clocks = nearest.machine.clock_ghz / run.machine.clock_ghz
        seconds.append(_seconds(nearest) * ratio_of_work * ratio_of_clocks)
    return np.log(seconds)


def _core_distance(run: PublishedRun, other: PublishedRun) -> float:
    """How far apart two numbers of cores are, in logs."""
    return float(abs(np.log(run.cores / other.cores)))


def _line(test: PredictionTest) -> Array:
    """The baseline a W/P + b: log seconds by target."""
    work = np.array([_work_per_core(run) for run in test.anchor])
    scale = work.mean()
    share = work / scale
    log_seconds = _log_seconds(test.anchor)

    def errors(roots: Array) -> Array:
        a, b = np.square(roots)  # which keeps both at 0 or more
        differences: Array = np.log(np.maximum(a * share + b, 1e-300)) - log_seconds
        return differences

    half = np.exp(log_seconds.mean()) / 2
    starts = [(half, half), (half * 2, half / 1e3), (half / 1e3, half * 2)]
    fits = [optimize.least_squares(errors, np.sqrt(start)) for start in starts]
    a, b = np.square(min(fits, key=lambda fit: fit.cost).x)
    seconds = []
    for run in test.targets:
        ratio_of_clocks = test.anchor[0].machine.clock_ghz / run.machine.clock_ghz
        seconds.append((a * _work_per_core(run) / scale + b) * ratio_of_clocks)
    return np.log(seconds)


BASELINES: dict[str, Callable[[PredictionTest], Array]] = {"W/P": _work_over_cores, "a/P+b": _line}


class BaselineError(NamedTuple):
    """How far a baseline was off in a test."""

    test: PredictionTest
    mean_square: float  #: of log errors, over targets


def _half_width(test: PredictionTest, others: Sequence[BaselineError]) -> float:
    """Half of the interval of a baseline, in logs, from its errors in other tests."""
    kinds = OTHER_MACHINE if test.kind in OTHER_MACHINE else (test.kind,)
    related = [
        (other.test.targets[0].program, other.mean_square)
        for other in others
        if other.test.kind in kinds
        and other.test.anchor[0].machine.name not in test.unseen_machines
        and test.allowed(other.test.targets[0])
    ]
    errors = [error for program, error in related if program == test.targets[0].program]
    if len(errors) < MIN_SERIES:
        errors = [error for _, error in related]
    if not errors:
        return float(np.log(10.0))
    return float(1.96 * np.sqrt(np.mean(errors) * (1 + 1 / len(errors))))


def _answers(
    tests: Sequence[PredictionTest],
    runs: Sequence[PublishedRun],
    others: Sequence[PredictionTest] = (),
    other_sources: bool = False,
) -> pd.DataFrame:
    """Rows of all methods, as PredictionTest.answered makes them; the model's are the last.

    Args:
        tests: what is asked.
        runs: that may inform the model.
        others: further tests that inform the intervals of the baselines.
        other_sources: costs and spreads come without all series of the target's source.
    """
    frames = []
    for name, method in BASELINES.items():
        frames += _answers_of_baseline(name, method, tests, others)
    for number, test in enumerate(tests):
        allowed = [run for run in runs if test.allowed(run)]
        if other_sources:
            allowed = [run for run in allowed if test.other_source(run)]
        spreads = spread_fit.fit_spreads(tuple(allowed))
        targets = [test.stated(run) for run in test.targets]
        predicted = anchors.predicted(targets, test.anchor, spreads)
        low, middle, high = np.log(np.quantile(predicted.total, [0.025, 0.5, 0.975], axis=1))
        frames.append(test.answered(MODEL, number, low, middle, high))
    return pd.concat(frames, ignore_index=True)


def _answers_of_baseline(
    name: str,
    method: Callable[[PredictionTest], Array],
    tests: Sequence[PredictionTest],
    others: Sequence[PredictionTest],
) -> list[pd.DataFrame]:
    """Rows with intervals from the errors of the baseline, and then with a factor of 2."""
    middles = [method(test) for test in tests]
    errors = []
    for test, middle in zip(tests, middles, strict=True):
        errors.append(BaselineError(test, _mean_square(middle, test)))
    for test in others:
        errors.append(BaselineError(test, _mean_square(method(test), test)))
    estimated = []
    fixed = []
    for number, (test, middle) in enumerate(zip(tests, middles, strict=True)):
        half = _half_width(test, errors)
        estimated.append(test.answered(name, number, middle - half, middle, middle + half))
        half = np.log(2)
        fixed_name = f"{name}, factor 2"
        fixed.append(test.answered(fixed_name, number, middle - half, middle, middle + half))
    return estimated + fixed


def _mean_square(log_seconds: Array, test: PredictionTest) -> float:
    return float(np.mean(np.square(log_seconds - test.log_seconds)))


# Scores


@dataclass(frozen=True)
class Scores:
    """What predictions are worth."""

    frame: pd.DataFrame  #: rows of PredictionTest.answered
    digest: str  #: of the code and data that made them

    @property
    def mine(self) -> str:
        """The last method, which is compared with the others."""
        return str(self.frame["method"].iloc[-1])

    @property
    def other_methods(self) -> list[str]:
        """The methods that it is compared with."""
        return [name for name in self.frame["method"].unique() if name != self.mine]

    def by(self, *groups: str) -> pd.DataFrame:
        """Scores of each method and group.

        Columns are medians over series of median error and width, means over points of score and
        inside, the worst error, and the numbers of series and points.
        """
        keys = ["method", *groups]
        keys_of_tests = list(dict.fromkeys([*keys, "test"]))
        of_tests = self.frame.groupby(keys_of_tests)[["error", "width"]].median().groupby(keys)
        of_points = self.frame.groupby(keys)
        return of_tests.median().assign(
            width=np.exp(of_tests["width"].median()),
            series=of_tests.size(),
            points=of_points.size(),
            worst=of_points["error"].max(),
            score=of_points["score"].mean(),
            inside=of_points["inside"].mean(),
        )

    @property
    def kinds(self) -> list[str]:
        """Kinds of test that occur."""
        return [kind for kind in KINDS if (self.frame["kind"] == kind).any()]

    @property
    def beaten(self) -> list[str]:
        """Kinds, without platforms, in which the last method is better than every baseline."""
        scores = self.by("kind")["score"].unstack("method")
        is_better = scores[self.mine] < scores.drop(columns=self.mine).min(axis=1)
        return [kind for kind in self.kinds if kind != "platform" and is_better[kind]]


@dataclass(frozen=True, repr=False)
class ScoreAnswer(Answer):
    """What predicted real-time factors are worth, beside two baselines.

    `table` has a row for each series that was predicted.
    """

    verb = "score"

    scores: Scores
    files: Sequence[Path] = ()  #: the points, and the predictions if they were stored

    @property
    def table(self) -> pd.DataFrame:
        """Errors, widths of intervals and scores; `error`, `width` and `inside` are shares."""
        return frame_of(scores_table(self.scores, "series"))

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark score` prints; with `details`, a row for each series."""
        notes = [*CONDITIONS, f"Digest of code and data: {self.scores.digest}"]
        if not details:
            notes.append(f"Every series: {command('score', *self.files, details=True)}")
        table = scores_table(self.scores, "series" if details else "kind")
        return Screen([_scores_sentence(self.scores)], [table], notes)

    def content(self) -> dict[str, Any]:
        """Rows by kind and series, and the predictions as `score` reads them."""
        return _scores_content(self.scores)


def score(points_file: Path | None = None, predictions: Path | None = None) -> ScoreAnswer:
    """Score predicted real-time factors against measured ones, beside two baselines.

    The model predicts each series of times from other series only.

    Args:
        points_file: points to predict instead of the published ones, with the columns of
            points.csv; with `predictions`, also a table of own runs.
        predictions: a JSON file with stored predictions of these points, which are scored instead
            of the model's.

    Returns:
        ScoreAnswer: `table` has a row for each series, `scores` the rows of all points.

    Raises:
        BadInput: for a file without points that can be predicted, for predictions without a
            measured run, and for predictions without points.

    Example:
        from spikemark_studies.score import score
        score().table.groupby("kind")["error"].median()
    """
    if predictions is None:
        files = [] if points_file is None else [points_file]
        return ScoreAnswer(_of_model(points_file), files)
    if points_file is None:
        expected = "with points"
        raise BadInput(field="predictions", reason="alone", expected=expected, code="conflict")
    return ScoreAnswer(_of_stored(predictions, points_file), [points_file, predictions])


def _of_model(path: Path | None = None) -> Scores:
    """Scores on the published points, or on those of a file with the columns of points.csv.

    Series of a file may name their `anchor` and `aspects`; otherwise the most similar published
    series is the anchor. Only published points inform costs and spreads. Raises BadInput for a file
    without such points.
    """
    published_runs = points.published()
    tests = _tests_of(published_runs)
    others: list[PredictionTest] = []
    if path is not None:
        runs = points.read(path)
        others = tests
        tests = _tests_of(runs, published_runs, _transfers_of(runs, published_runs))
    if not tests:
        expected = "at least 3 numbers of cores, or another series of its program"
        raise BadInput(
            file=path, reason="no series can be predicted", expected=expected, code="file"
        )
    return Scores(_answers(tests, published_runs, others), _digest())


def of_model_without_sources() -> Scores:
    """Scores on the published points, if costs and spreads come without the target's source."""
    published_runs = points.published()
    rows = _answers(_tests_of(published_runs), published_runs, other_sources=True)
    return Scores(rows, _digest())


def _digest() -> str:
    """A hash of the code and data that make predictions and scores."""
    of_prediction = Path(str(anchors.__file__)).parent
    files = [Path(__file__), *sorted(of_prediction.glob("*.py"))]
    files += [effects.SPREADS, POINTS, points.NETWORKS, papers.path("transfers")]
    content = b"".join(file.read_bytes() for file in files)
    return hashlib.sha256(content).hexdigest()[:12]


class StoredPrediction(BaseModel):
    """A prediction of seconds per simulated second that was stored before the run."""

    low: points.Amount
    median: points.Amount
    high: points.Amount
    series: str | None = None  #: of a run of a file of points
    nodes: int
    ranks: int
    threads: int
    kind: str = "nodes"


class StoredPredictions(BaseModel):
    """A file of predictions, such as `spikemark score --json` prints."""

    predictions: list[StoredPrediction]


def _of_stored(path: Path, measured: Path) -> Scores:
    """Scores of predictions stored as JSON against a file of points, or a table of own runs.

    Raises BadInput for what is missing, and where no prediction has a measured run.
    """
    predictions = checked(StoredPredictions, read_json(path), path, "file").predictions
    for prediction in predictions:
        if not prediction.low <= prediction.median <= prediction.high:
            expected = f"one from {prediction.low} to {prediction.high}"
            raise BadInput(field="median", value=prediction.median, expected=expected, file=path)
    has_series = "real_time_factor" not in read_text(measured).partition("\n")[0]
    runs = points.read(measured) if has_series else _own_runs(measured)
    whole_runs = {_place(run, has_series): run for run in runs if not run.part}
    frames: list[pd.DataFrame] = []
    for prediction in predictions:
        run = whole_runs.get(_place(prediction, has_series))
        if run is not None:
            test = PredictionTest((run,), (run,), prediction.kind)
            ends = np.log((prediction.low, prediction.median, prediction.high))
            frames.append(test.answered(path.name, len(frames), *ends))
    if not frames:
        reason = f"no prediction has series, nodes, ranks and threads of a run in {measured}"
        raise BadInput(file=path, reason=reason, code="file")
    return Scores(pd.concat(frames, ignore_index=True), sha256.file_digest(path)[:12])


def _own_runs(path: Path) -> list[PublishedRun]:
    """Runs of a table of own runs, of a program that needs no name to be scored."""
    network = points.PublishedNetwork("", "", 1, 1, 1)
    machine = published_machine.PublishedMachine("")
    return list(points.own_runs(path, PublishedRun("", "", network, machine, 1, 1)))


def _place(
    run: PublishedRun | StoredPrediction, has_series: bool
) -> tuple[str | None, int, int, int]:
    """What a prediction and its run share: series, nodes, ranks and threads."""
    series = run.series if has_series else ""
    return series, run.nodes, run.ranks, run.threads


# What is shown


def _scores_sentence(scores: Scores) -> str:
    """How often the intervals hold, and where the model is better than both baselines."""
    inside = scores.frame.loc[scores.frame["method"] == scores.mine, "inside"]
    share = percent(float(inside.mean()))
    sentence = f"{share} of {len(inside)} predicted intervals hold the measured time."
    if scores.frame["method"].nunique() == 1:
        return sentence
    beaten = len(scores.beaten)
    kinds = len([kind for kind in scores.kinds if kind != "platform"])
    left_out = ", platform not counted" if "platform" in scores.kinds else ""
    return (
        f"{sentence} The model beats both baselines in {beaten} of {kinds} kinds of test{left_out}."
    )


def scores_table(scores: Scores, by: str = "kind") -> Table:
    """A row for each kind of test, or for each series.

    Args:
        scores: what is shown: those of the last method, and the scores of the others beside them.
        by: "kind" or "series".

    Example:
        >>> row = {"method": MODEL, "test": 0, "kind": "nodes", "series": "mine", "anchor": "A"}
        >>> row |= {"error": 0.1, "width": 0.7, "score": 0.8, "inside": True}
        >>> shown = scores_table(Scores(pd.DataFrame([row]), digest="0"))
        >>> shown.rows[0]["kind"]
        'nodes'
    """
    groups = ["kind"] if by == "kind" else ["test", "kind", "series", "anchor"]
    by_method = scores.by(*groups)
    frame = by_method.loc[scores.mine]
    for name in scores.other_methods:
        frame = frame.assign(**{name: by_method.loc[name]["score"]})
    if by == "kind":
        frame = frame.loc[scores.kinds].reset_index()
    else:
        frame = frame.drop(columns="series").reset_index()  # their number, which is always one
    columns = [
        Column("kind", "kind of test"),
        Column("anchor", "from"),
        Column("series", "series"),
        Column("points", "points"),
        Column("error", "median error", words=percent),
        Column("width", "interval, upper over lower end", words=_factor_in_words),
        Column("inside", "inside", words=percent),
    ]
    for name in ("score", *scores.other_methods):
        columns.append(Column(name, name, words="{:.2f}".format))
    columns = [column for column in columns if column.name in frame]
    names = [column.name for column in columns]
    return Table(columns, rows_of(frame[names]), name=f"by_{by}")


def _factor_in_words(value: float) -> str:
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _scores_content(scores: Scores) -> dict[str, Any]:
    """The digest, rows by kind and series, and predictions as `_of_stored` reads them."""
    mine = scores.frame[scores.frame["method"] == scores.mine]
    places = ["kind", "series", "anchor", "aspects", "nodes", "ranks", "threads"]
    seconds = mine[["low", "middle", "high", "true"]].apply(np.exp)
    seconds = seconds.rename(columns={"middle": "median", "true": "measured"})
    return {
        "digest": scores.digest,
        "conditions": " ".join(CONDITIONS),
        "by_kind": rows_of(scores.by("kind").reset_index()),
        "by_series": scores_table(scores, "series").rows,
        "predictions": rows_of(mine[places].join(seconds)),
    }
