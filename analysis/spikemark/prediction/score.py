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

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, PositiveFloat, model_validator
from scipy import optimize

from spikemark.core.errors import BadInput
from spikemark.core.fields import checked
from spikemark.core.reading import read_json
from spikemark.models.published import papers
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import percent

from . import anchors, points
from .anchors import Array
from .points import EXTERNAL_HZ, Run, by_series

KINDS = ("nodes", "version", "network", "machine", "platform")
METHODS = ("W/P", "W/P, factor 2", "a/P+b", "a/P+b, factor 2", "model")
FEWEST = 3  #: series that make an interval of a baseline for one simulator
CONDITIONS = (
    "Costs and spreads come without the target series; for another machine, without all of its series.",
    "Score: mean interval score in logarithms; lower is better; a perfect factor of 2 has 0.69.",
)
Ends = Array  # [3, targets]: logs of the lower end, the median and the upper end of the 95 % interval


@dataclass(frozen=True)
class Test:
    """One question: `targets` from `anchor`; `kind` is the first of the aspects that differ."""

    kind: str
    anchor: tuple[Run, ...]
    targets: tuple[Run, ...]
    aspects: str

    @property
    def series(self) -> str:
        return self.targets[0].series

    @property
    def true(self) -> Array:
        """Logs of the measured seconds."""
        return np.log([run.seconds for run in self.targets])

    @property
    def machines(self) -> set[str]:
        """Machines of the targets, if the test is about another machine; their runs may not be used."""
        return {run.machine.name for run in self.targets if self.kind in ("machine", "platform")}

    def allowed(self, runs: Sequence[Run]) -> list[Run]:
        """Runs that may inform the spreads of the test."""
        return [r for r in runs if r.series != self.series and r.machine.name not in self.machines]

    @property
    def stated(self) -> tuple[Run, ...]:
        """The targets as the test states them: only the named aspects differ from the anchor, and they do."""
        anchor, found = self.anchor[0], []
        for run in self.targets:
            if "machine" not in self.aspects and "platform" not in self.aspects:
                run = replace(run, machine=anchor.machine)
            elif run.machine.name == anchor.machine.name:
                run = replace(run, machine=replace(run.machine, name=f"another {run.machine.name}"))
            if "version" not in self.aspects:
                run = replace(run, version=anchor.version)
            elif run.version == anchor.version:
                run = replace(run, version=f"another {run.version}")
            if "network" not in self.aspects and self.kind != "nodes":
                same = {"model": anchor.network.model, "variant": anchor.network.variant}
                run = replace(run, network=replace(run.network, **same))
            found.append(run)
        return tuple(found)


def tests(runs: Sequence[Run], known: Sequence[Run], transfers: Sequence[dict[str, str]]) -> list[Test]:
    """Tests of `runs`: nodes within each series, and transfers from an anchor among `runs` or `known`."""
    data, others = (by_series(run for run in of if not run.part) for of in (runs, known))
    found = []
    for series in data.values():
        ordered = sorted(series, key=lambda run: run.ranks * run.threads)
        if len({run.ranks * run.threads for run in series}) >= 3:
            found.append(Test("nodes", tuple(ordered[:2]), tuple(ordered[2:]), "nodes"))
    for row in transfers:
        anchor, targets = data.get(row["anchor"]) or others.get(row["anchor"]), data.get(row["target"])
        if targets and anchor:
            found.append(Test(row["aspects"].split("+")[0], tuple(anchor), tuple(targets), row["aspects"]))
    return found


def published_tests() -> list[Test]:
    """Those of the published points: nodes, and the transfers of anchor, target and aspects that differ."""
    return tests(points.published(), points.published(), papers.rows("transfers"))


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


def with_spread(
    tested: Sequence[Test], method: Callable[[Test], Array], others: Sequence[Test] = ()
) -> list[tuple[Ends, Ends]]:
    """Answers of a baseline: with the interval of its own errors elsewhere, and with a factor of 2.

    `others`: more tests that show its errors.
    """
    pool = {id(test): (test, method(test)) for test in (*tested, *others)}
    rms = [(test, np.mean((middle - test.true) ** 2)) for test, middle in pool.values()]
    found = []
    for test in tested:
        kin = [
            (error, other.targets[0].simulator) for other, error in rms
            if other.kind.replace("platform", "machine") == test.kind.replace("platform", "machine")
            and other.series != test.series
            and not test.machines & {other.anchor[0].machine.name, other.targets[0].machine.name}
        ]  # fmt: skip
        same = [k for k in kin if k[1] == test.targets[0].simulator]
        kin = same if len(same) >= FEWEST else kin
        half = 1.96 * np.sqrt(np.mean([e for e, _ in kin]) * (1 + 1 / len(kin))) if kin else np.log(10.0)
        middle = pool[id(test)][1]
        found.append(tuple(np.array([middle - h, middle, middle + h]) for h in (half, np.log(2))))
    return found


def answers(
    tested: Sequence[Test], runs: Sequence[Run], others: Sequence[Test] = ()
) -> dict[str, list[Ends]]:
    """Answers of all methods by test; `runs` may inform the model, and `others` the baselines' intervals."""
    columns = [of for method in (work_over_cores, line)
               for of in zip(*with_spread(tested, method, others), strict=True)]  # fmt: skip
    spreads: dict[tuple[str, ...], anchors.Spreads] = {}
    mine = []
    for test in tested:
        key = tuple(by_series(may := test.allowed(runs)))
        if key not in spreads:
            spreads[key] = anchors.fit_spreads(may)
        made = anchors.predicted(test.stated, test.anchor, spreads[key])
        mine.append(np.log(np.quantile(made.total, [0.025, 0.5, 0.975], axis=1)))
    return dict(zip(METHODS, map(list, (*columns, mine)), strict=True))


def interval_score(low: Array, high: Array, true: Array) -> Array:
    """Score of a central 95 % interval, in logs."""
    return high - low + 40 * (np.maximum(low - true, 0) + np.maximum(true - high, 0))


@dataclass(frozen=True)
class Scores:
    """`frame`: a row for each method, test and target, with logs of the interval and of the true seconds.
    `digest` is that of the code and data that made them."""

    frame: pd.DataFrame
    digest: str
    names: tuple[str, ...] = METHODS

    @classmethod
    def of(cls, tested: Sequence[Test], made: dict[str, list[Ends]], digest: str) -> "Scores":
        """Scores of answers to tests."""
        frame = pd.DataFrame([
            {"method": method, "test": number, "kind": test.kind, "series": test.series,
             "anchor": test.anchor[0].series, "aspects": test.aspects, "nodes": run.nodes,
             "ranks": run.ranks, "threads": run.threads, "low": low, "middle": middle, "high": high,
             "true": np.log(run.seconds)}
            for method, ends in made.items()
            for number, (test, each) in enumerate(zip(tested, ends, strict=True))
            for run, (low, middle, high) in zip(test.targets, each.T, strict=True)
        ])  # fmt: skip
        low, high, true = frame["low"], frame["high"], frame["true"]
        error = np.abs(np.expm1(frame["middle"] - true))
        score, inside = interval_score(low, high, true), (low <= true) & (true <= high)
        return cls(frame.assign(error=error, width=high - low, score=score, inside=inside), digest, (*made,))

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
        *others, mine = self.names
        scores = self.by("kind")["score"].unstack("method")
        better = scores[mine] < scores[others].min(axis=1)
        return [kind for kind in self.kinds if kind != "platform" and better[kind]]


def digest() -> str:
    """Digest of the code, costs and spreads that make a prediction, and of the published points."""
    here = Path(__file__).parent
    data = here.parent / "models/published/data"
    files = [here / name for name in ("anchors.py", "points.py", "score.py", "draws.py", "spreads.yaml")]
    return points.digest(*files, data / "points.csv", data / "transfers.csv")


def score(path: Path | None = None) -> Scores:
    """Scores on the published points, or on those of a file with the columns of points.csv.

    Series of a file may name their `anchor` and `aspects`; otherwise the most similar published series is the
    anchor. Only published points inform costs and spreads. Raises BadInput for a file without such points.
    """
    known, others = points.published(), published_tests()
    if path is None:
        return Scores.of(others, answers(others, known), digest())
    rows, runs = read(path)
    tested = tests(runs, known, [*papers.rows("transfers"), *transfers_of(rows, runs, known)])
    return Scores.of(tested, answers(tested, known, others), digest())


def read(path: Path) -> tuple[list[dict[str, str]], list[Run]]:
    """Rows of a file of points, and their total times; raises BadInput where a column or a number is missing
    and where no row is a total time."""
    with path.open(newline="") as file:
        rows = list(csv.DictReader(file))
    try:
        runs = [run for run in map(points.run_of, rows) if run and not run.part]
    except KeyError as name:
        line = f"{path}: {name.args[0]}: missing; expected the columns of the published points"
        raise BadInput(line, code="missing") from None
    except ValueError as reason:
        raise BadInput(f"{path}: {reason}; expected numbers as in the published points") from None
    if not runs:
        raise BadInput(f"{path}: no row is a total time with a rate, expected quantity: real-time factor")
    return rows, runs


def transfers_of(
    rows: Sequence[dict[str, str]], runs: Sequence[Run], known: Sequence[Run]
) -> list[dict[str, str]]:
    """Anchors and aspects that series name, or those of the most similar published series."""
    named = {
        (points.series_of(r), r["anchor"], r["aspects"].replace(" ", "+")) for r in rows if r.get("anchor")
    }
    done = {target for target, *_ in named} | by_series(known).keys()
    for name, (first, *_) in by_series(runs).items():
        kin = [run for run in known if run.simulator == first.simulator and not run.part]
        if name not in done and kin:
            near = anchors.closest(first, kin)
            apart = {*anchors.differences(first, near)}
            apart |= {"network"} if "variant" in apart else set()
            if first.machine.platform != near.machine.platform:
                apart = (apart - {"machine"}) | {"platform"}
            order = [aspect for aspect in ("platform", "machine", "network", "version") if aspect in apart]
            named.add((name, near.series, "+".join(order) or "version"))
    return [dict(zip(("target", "anchor", "aspects"), one, strict=True)) for one in sorted(named)]


class _Stored(BaseModel):
    low: PositiveFloat
    median: PositiveFloat
    high: PositiveFloat
    series: str | None = None
    nodes: int | None = None
    ranks: int | None = None
    threads: int | None = None
    kind: str = "nodes"

    @model_validator(mode="after")
    def _ascend(self) -> "_Stored":
        if not self.low <= self.median <= self.high:
            raise ValueError("expected 0 < low <= median <= high")
        return self


class _StoredFile(BaseModel):
    predictions: list[_Stored]


def stored(path: Path, measured: Path) -> Scores:
    """Scores of predictions stored as JSON against a file of points, or a table of own runs.

    `predictions` is a list of {nodes, ranks, threads, low, median, high}, and series and kind where known.
    Raises BadInput for what is missing, and where no prediction has a measured run.
    """
    given = checked(_StoredFile, read_json(path), path, "file").predictions
    with measured.open(newline="") as file:
        own = "real_time_factor" in next(csv.reader(file), [])
    nothing = Run("", "", points.Network("", "", 1, 1, 1), points.Machine(""), 1, 1)
    runs = points.own_runs(measured, nothing) if own else read(measured)[1]
    found = {(None if own else r.series, r.nodes, r.ranks, r.threads): r for r in runs if not r.part}
    pairs = []
    for one in given:
        at = one.nodes, one.ranks, one.threads
        if run := found.get((one.series, *at)) or found.get((None, *at)):
            ends = np.log([[one.low], [one.median], [one.high]])
            pairs.append((Test(one.kind, (run,), (run,), one.kind), ends))
    if not pairs:
        raise BadInput(f"{path}: no prediction has series, nodes, ranks and threads of a run in {measured}")
    tested, ends = zip(*pairs, strict=True)
    return Scores.of(tested, {path.name: list(ends)}, points.digest(path))


def table(scores: Scores, by: str = "kind") -> Table:
    """One row for each kind of test, or for each series."""

    def factor(value: float) -> str:
        return f"{value:.2g}" if value < 10 else f"{value:.0f}"

    *others, mine = scores.names
    found = scores.by(*(["kind"] if by == "kind" else ["test", "kind", "series", "anchor"]))
    own = found.loc[mine].assign(**{name: found.loc[name]["score"] for name in others})
    own = own.loc[scores.kinds].reset_index() if by == "kind" else own.drop(columns="series").reset_index()
    columns = [Column("kind", "kind of test"), Column("anchor", "from"), Column("series", "series"),
               Column("points", "points"), Column("error", "median error", words=percent),
               Column("width", "interval, a factor", words=factor), Column("inside", "inside", words=percent),
               *(Column(name, name, words="{:.2f}".format) for name in ("score", *others))]  # fmt: skip
    columns = [column for column in columns if column.name in own]
    rows = own[[column.name for column in columns]].astype(object).to_dict("records")
    return Table(columns, rows, name=f"by_{by}")


def markdown() -> str:
    """The table by kind as Markdown, for docs/trust.md."""
    made = table(score())
    heads = [column.head for column in made.columns]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in (heads, ["---"] * len(heads), *made.cells))


def as_json(scores: Scores) -> dict[str, Any]:
    """Everything: the digest, rows by kind, series and method, and each prediction, as `stored` reads it."""
    mine = scores.frame[scores.frame["method"] == scores.names[-1]]
    places = ["kind", "series", "anchor", "aspects", "nodes", "ranks", "threads"]
    ends = mine[["low", "middle", "high", "true"]].apply(np.exp)
    ends = ends.rename(columns={"middle": "median", "true": "measured"})
    by_kind = scores.by("kind").reset_index().astype(object).to_dict("records")
    return {"digest": scores.digest, "conditions": " ".join(CONDITIONS), "by_kind": by_kind,
            "by_series": table(scores, "series").rows,
            "predictions": mine[places].join(ends).astype(object).to_dict("records")}  # fmt: skip
