"""Predictions against published points: error, interval score, width and coverage, beside two baselines.

Each test asks for one series, from one anchor: itself on its two smallest configurations (nodes), or another
series that differs in version, network or machine. Spreads of errors come from other series: without the
target series, and for another machine without all series of the target's machine. Baselines, with y = log of
the seconds:

    W/P      the anchor's configuration of the nearest number of cores, times the ratio of work over cores
    a/P + b  a W/P + b, fitted to the anchor by squared log errors, a and b at least 0

between machines times the ratio of clocks. Their intervals: 1.96 times the root mean square of their own log
errors in the other series of this kind of test and simulator (of all simulators if these are fewer than 3),
times sqrt(1 + 1/k) for k series; or a fixed factor of 2. Interval score: Gneiting & Raftery 2007, eq. 43, at
95 %.
"""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel
from scipy import optimize

from spikemark.core import sha256
from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json, read_text
from spikemark.models.published import papers
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import percent

from . import anchors, points
from .anchors import Array
from .points import EXTERNAL_HZ, Run

KINDS = ("nodes", "version", "network", "machine", "platform")
SERVERS = ("machine", "platform")  #: kinds of test about another machine
ORDER = ("platform", "machine", "network", "version")  #: of aspects; the first one is the kind of test
FEWEST = 3  #: series that make an interval of a baseline for one simulator
CONDITIONS = (
    "Costs and spreads come without the target series; for another machine, without all of its series.",
    "Score: mean interval score in logarithms; lower is better; a perfect factor of 2 has 0.69.",
)


@dataclass(frozen=True)
class Test:
    """One question: `targets` from `anchor`; `aspects` that differ, such as machine+version."""

    anchor: tuple[Run, ...]
    targets: tuple[Run, ...]
    aspects: str

    @property
    def kind(self) -> str:
        """The first of the aspects."""
        return self.aspects.split("+")[0]

    @property
    def machines(self) -> set[str]:
        """Machines of the targets, if the test is about another machine; their runs may not be used."""
        return {run.machine.name for run in self.targets if self.kind in SERVERS}

    def allowed(self, run: Run) -> bool:
        """Whether a run may inform the spreads of the test."""
        return run.series != self.targets[0].series and run.machine.name not in self.machines

    def stated(self, run: Run) -> Run:
        """A target as the test states it: only the named aspects differ from the anchor, and they do."""
        anchor, machine, version, network = self.anchor[0], run.machine, run.version, run.network
        if not any(kind in self.aspects for kind in SERVERS):
            machine = anchor.machine
        elif machine.name == anchor.machine.name:
            machine = replace(machine, name=f"another {machine.name}")
        if "version" not in self.aspects:
            version = anchor.version
        elif version == anchor.version:
            version = f"another {version}"
        if "network" not in self.aspects and self.kind != "nodes":
            network = replace(network, model=anchor.network.model, variant=anchor.network.variant)
        return replace(run, machine=machine, version=version, network=network)

    def answered(self, method: str, number: int, low: Array, middle: Array, high: Array) -> pd.DataFrame:
        """A row for each target, with logs of the 95 % interval and of the measured seconds, and scores."""
        true = np.log([run.seconds for run in self.targets])
        layout = {
            name: [getattr(run, name) for run in self.targets] for name in ("nodes", "ranks", "threads")
        }
        return pd.DataFrame({
            "method": method, "test": number, "kind": self.kind, "series": self.targets[0].series,
            "anchor": self.anchor[0].series, "aspects": self.aspects, **layout, "low": low, "middle": middle,
            "high": high, "true": true, "error": np.abs(np.expm1(middle - true)), "width": high - low,
            "score": interval_score(low, high, true), "inside": (low <= true) & (true <= high),
        })  # fmt: skip


def interval_score(low: Array, high: Array, true: Array) -> Array:
    """Score of a central 95 % interval, in logs."""
    return high - low + 40 * (np.maximum(low - true, 0) + np.maximum(true - high, 0))


Transfer = tuple[str, str, str]  # target, anchor, and the aspects that differ, such as machine+version


def by_series(runs: Iterable[Run]) -> dict[str, tuple[Run, ...]]:
    """Runs with whole times by series, in the order of the file."""
    found = defaultdict(tuple)
    for run in runs:
        found[run.series] += () if run.part else (run,)
    return found


def tests(runs: Iterable[Run], known: Iterable[Run] = (), more: Iterable[Transfer] = ()) -> list[Test]:
    """Tests of `runs`: nodes within each series, and transfers from an anchor among `runs` or `known`, those
    of transfers.csv and `more`."""
    data, found = by_series(runs), []
    for series in data.values():
        ordered = tuple(sorted(series, key=lambda run: run.ranks * run.threads))
        if len({run.ranks * run.threads for run in series}) >= 3:
            found.append(Test(ordered[:2], ordered[2:], "nodes"))
    every = by_series(known) | data
    listed = [(row["target"], row["anchor"], row["aspects"]) for row in papers.rows("transfers")]
    for target, anchor, aspects in (*listed, *more):
        if target in data and anchor in every:
            found.append(Test(every[anchor], data[target], aspects))
    return found


def transfers_of(runs: Iterable[Run], known: Iterable[Run]) -> list[Transfer]:
    """Transfers that series name, or those from the most similar `known` series."""
    named = {(run.series, run.anchor, run.aspects) for run in runs if run.anchor}
    done = {target for target, *_ in named} | by_series(known).keys()
    for name, (first, *_) in by_series(runs).items():
        kin = [run for run in known if run.simulator == first.simulator and not run.part]
        if name not in done and kin:
            near, differs = anchors.closest(first, kin)
            board = first.machine.platform != near.machine.platform
            called = {"machine": "platform" if board else "machine", "variant": "network"}
            apart = {called.get(aspect, aspect) for aspect in differs} | ({"platform"} if board else set())
            aspects = [aspect for aspect in ORDER if aspect in apart]
            named.add((name, near.series, "+".join(aspects) or "version"))
    return sorted(named)


def work(run: Run) -> float:
    """Synaptic events per simulated second and core; for DPSNN with those from outside."""
    outside = EXTERNAL_HZ * run.network.neurons * (run.simulator == "DPSNN")
    return (run.network.synapses * run.network.rate_hz + outside) / run.cores


def work_over_cores(test: Test) -> Array:
    """The baseline W/P: log seconds by target."""
    near = [min(test.anchor, key=lambda a, run=run: abs(np.log(a.cores / run.cores))) for run in test.targets]
    return np.log([a.seconds * work(run) / work(a) * a.machine.clock_ghz / run.machine.clock_ghz
                   for a, run in zip(near, test.targets, strict=True)])  # fmt: skip


def line(test: Test) -> Array:
    """The baseline a W/P + b: log seconds by target."""
    share, y = np.array([work(run) for run in test.anchor]), np.log([run.seconds for run in test.anchor])
    share, scale, half = share / share.mean(), share.mean(), np.exp(y.mean()) / 2

    def errors(x: Array) -> Array:
        return np.log(np.maximum(x[0] ** 2 * share + x[1] ** 2, 1e-300)) - y

    starts = [(half, half), (half * 2, half / 1e3), (half / 1e3, half * 2)]
    fits = [optimize.least_squares(errors, np.sqrt(start)) for start in starts]
    a, b = np.square(min(fits, key=lambda fit: fit.cost).x)
    clock = test.anchor[0].machine.clock_ghz
    return np.log([(a * work(r) / scale + b) * clock / r.machine.clock_ghz for r in test.targets])


BASELINES = {"W/P": work_over_cores, "a/P+b": line}


def half_width(test: Test, seen: Sequence[tuple[Test, float]]) -> float:
    """Half of the interval of a baseline, from its mean squared errors in other tests that were `seen`."""
    kinds = SERVERS if test.kind in SERVERS else (test.kind,)
    kin = [(other.targets[0], error) for other, error in seen
           if other.kind in kinds and other.anchor[0].machine.name not in test.machines]  # fmt: skip
    kin = [(run.simulator, error) for run, error in kin if test.allowed(run)]
    same = [one for one in kin if one[0] == test.targets[0].simulator]
    errors = [error for _, error in (same if len(same) >= FEWEST else kin)]
    return 1.96 * np.sqrt(np.mean(errors) * (1 + 1 / len(errors))) if errors else np.log(10.0)


def answers(tested: Sequence[Test], runs: Sequence[Run], others: Sequence[Test] = ()) -> pd.DataFrame:
    """Rows of all methods, the model's last; `runs` may inform it, and `others` the baselines' intervals."""
    found = []
    for name, method in BASELINES.items():
        middles = [method(test) for test in (*tested, *others)]
        seen = [(test, np.mean(np.square(middle - np.log([run.seconds for run in test.targets]))))
                for test, middle in zip((*tested, *others), middles, strict=True)]  # fmt: skip
        for called, own in (name, True), (f"{name}, factor 2", False):
            for number, (test, middle) in enumerate(zip(tested, middles, strict=False)):
                half = half_width(test, seen) if own else np.log(2)
                found.append(test.answered(called, number, middle - half, middle, middle + half))
    for number, test in enumerate(tested):
        spreads = anchors.fit_spreads(tuple(filter(test.allowed, runs)))
        made = anchors.predicted([*map(test.stated, test.targets)], test.anchor, spreads)
        ends = np.log(np.quantile(made.total, [0.025, 0.5, 0.975], axis=1))
        found.append(test.answered("model", number, *ends))
    return pd.concat(found, ignore_index=True)


@dataclass(frozen=True)
class Scores:
    """`frame`: rows of Test.answered. `digest` is that of the code and data that made them."""

    frame: pd.DataFrame
    digest: str

    @property
    def mine(self) -> str:
        """The last method, which is compared with the others."""
        return self.frame["method"].iloc[-1]

    def by(self, *groups: str) -> pd.DataFrame:
        """Scores of each method and group: medians over series of median error and width, means over points
        of score and inside, the worst error, and the numbers of series and points."""
        keys = ["method", *groups]
        medians = self.frame.groupby([*dict.fromkeys([*keys, "test"])])[["error", "width"]].median()
        found, whole = medians.groupby(keys), self.frame.groupby(keys)
        return found.median().assign(
            width=np.exp(found["width"].median()), series=found.size(), points=whole.size(),
            worst=whole["error"].max(), score=whole["score"].mean(), inside=whole["inside"].mean(),
        )  # fmt: skip

    @property
    def kinds(self) -> list[str]:
        """Kinds of test that occur."""
        return [kind for kind in KINDS if (self.frame["kind"] == kind).any()]

    @property
    def beaten(self) -> list[str]:
        """Kinds, without platforms, in which the last method has a lower score than every baseline."""
        scores = self.by("kind")["score"].unstack("method")
        better = scores[self.mine] < scores.drop(columns=self.mine).min(axis=1)
        return [kind for kind in self.kinds if kind != "platform" and better[kind]]


def score(path: Path | None = None) -> Scores:
    """Scores on the published points, or on those of a file with the columns of points.csv.

    Series of a file may name their `anchor` and `aspects`; otherwise the most similar published series is the
    anchor. Only published points inform costs and spreads. Raises BadInput for a file without such points.
    """
    files = [Path(__file__).with_name(name) for name in ("anchors.py", "points.py", "score.py", "draws.py")]
    files += [anchors.SPREADS, papers.path("points"), papers.path("transfers")]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in files)).hexdigest()[:12]
    known = points.published()
    tested, others = tests(known), []
    if path is not None:
        runs, others = points.read(path), tested
        tested = tests(runs, known, transfers_of(runs, known))
    if not tested:
        expected = "at least 3 numbers of cores, or another series of its simulator"
        raise BadInput(f"{path}: no series can be predicted; expected {expected}")
    return Scores(answers(tested, known, others), digest)


class _Stored(BaseModel):
    """A prediction of seconds per simulated second; `series` of a run of a file of points."""

    low: points.Amount
    median: points.Amount
    high: points.Amount
    series: str | None = None
    nodes: int
    ranks: int
    threads: int
    kind: str = "nodes"


class _StoredFile(BaseModel):
    predictions: list[_Stored]


def stored(path: Path, measured: Path) -> Scores:
    """Scores of predictions stored as JSON against a file of points, or a table of own runs.

    `predictions` is a list of {nodes, ranks, threads, low, median, high}, and series and kind where known.
    Raises BadInput for what is missing, and where no prediction has a measured run.
    """
    given = checked(_StoredFile, read_json(path), path, "file").predictions
    for one in given:
        if not one.low <= one.median <= one.high:
            raise BadInput.of("median", one.median, f"one from {one.low} to {one.high}", file=path)
    own = "real_time_factor" in read_text(measured).partition("\n")[0]
    nothing = Run("", "", points.Network("", "", 1, 1, 1), points.Machine(""), 1, 1)
    runs = points.own_runs(measured, nothing) if own else points.read(measured)

    def place(one: Run | _Stored) -> tuple:
        return "" if own else one.series, one.nodes, one.ranks, one.threads

    found = {place(run): run for run in runs if not run.part}
    rows = []
    for one in given:
        if run := found.get(place(one)):
            ends = np.log((one.low, one.median, one.high))
            rows.append(Test((run,), (run,), one.kind).answered(path.name, len(rows), *ends))
    if not rows:
        raise BadInput(f"{path}: no prediction has series, nodes, ranks and threads of a run in {measured}")
    return Scores(pd.concat(rows, ignore_index=True), sha256.of(path)[:12])


def table(scores: Scores, by: str = "kind") -> Table:
    """One row for each kind of test, or for each series."""

    def factor(value: float) -> str:
        return f"{value:.2g}" if value < 10 else f"{value:.0f}"

    found = scores.by(*(["kind"] if by == "kind" else ["test", "kind", "series", "anchor"]))
    others = [name for name in scores.frame["method"].unique() if name != scores.mine]
    own = found.loc[scores.mine].assign(**{name: found.loc[name]["score"] for name in others})
    own = own.loc[scores.kinds].reset_index() if by == "kind" else own.drop(columns="series").reset_index()
    columns = [Column("kind", "kind of test"), Column("anchor", "from"), Column("series", "series"),
               Column("points", "points"), Column("error", "median error", words=percent),
               Column("width", "interval, a factor", words=factor), Column("inside", "inside", words=percent),
               *(Column(name, name, words="{:.2f}".format) for name in ("score", *others))]  # fmt: skip
    columns = [column for column in columns if column.name in own]
    rows = own[[column.name for column in columns]].astype(object).to_dict("records")
    return Table(columns, rows, name=f"by_{by}")


def as_json(scores: Scores) -> dict[str, Any]:
    """Everything: the digest, rows by kind, series and method, and each prediction, as `stored` reads it."""
    mine = scores.frame[scores.frame["method"] == scores.mine]
    places = ["kind", "series", "anchor", "aspects", "nodes", "ranks", "threads"]
    ends = mine[["low", "middle", "high", "true"]].apply(np.exp)
    ends = ends.rename(columns={"middle": "median", "true": "measured"})
    by_kind = scores.by("kind").reset_index().astype(object).to_dict("records")
    return {"digest": scores.digest, "conditions": " ".join(CONDITIONS), "by_kind": by_kind,
            "by_series": table(scores, "series").rows,
            "predictions": mine[places].join(ends).astype(object).to_dict("records")}  # fmt: skip
