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
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import optimize

from spikemark.core.errors import BadInput
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
        """Series of the targets."""
        return self.targets[0].series

    @property
    def true(self) -> Array:
        """Logs of the measured seconds."""
        return np.log([run.seconds for run in self.targets])

    @property
    def machines(self) -> set[str]:
        """Machines of the targets, if the test is about another machine; their runs may not be used."""
        there = {run.machine.name for run in self.targets}
        return there if self.kind in ("machine", "platform") else set()

    def allowed(self, runs: Sequence[Run]) -> list[Run]:
        """Runs that may inform the spreads of the test."""
        return [r for r in runs if r.series != self.series and r.machine.name not in self.machines]


def tests(runs: Sequence[Run], known: Sequence[Run], transfers: Sequence[dict[str, str]]) -> list[Test]:
    """Tests of `runs`: nodes within each series, and transfers from an anchor among `runs` or `known`."""
    data, others = (by_series(run for run in of if not run.part) for of in (runs, known))
    found = []
    for series in data.values():
        ordered = sorted(series, key=lambda run: run.ranks * run.threads)
        if len({run.ranks * run.threads for run in series}) >= 3:
            found.append(Test("nodes", tuple(ordered[:2]), tuple(ordered[2:]), "nodes"))
    for row in transfers:
        anchor = data.get(row["anchor"]) or others.get(row["anchor"])
        if row["target"] in data and anchor:
            kind = row["aspects"].split("+")[0]
            found.append(Test(kind, tuple(anchor), tuple(data[row["target"]]), row["aspects"]))
    return found


def published_tests() -> list[Test]:
    """Those of the published points: nodes, and the transfers of anchor, target and aspects that differ."""
    return tests(points.published(), points.published(), papers.rows("transfers"))


# -- baselines


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
    of_kind = {kind: kind.replace("platform", "machine") for kind in KINDS}
    found = []
    for test in tested:
        kin = [
            (error, other.targets[0].simulator) for other, error in rms
            if of_kind[other.kind] == of_kind[test.kind] and other.series != test.series
            and not test.machines & {other.anchor[0].machine.name, other.targets[0].machine.name}
        ]  # fmt: skip
        same = [k for k in kin if k[1] == test.targets[0].simulator]
        kin = same if len(same) >= FEWEST else kin
        half = 1.96 * np.sqrt(np.mean([e for e, _ in kin]) * (1 + 1 / len(kin))) if kin else np.log(10.0)
        middle = pool[id(test)][1]
        found.append(tuple(np.array([middle - h, middle, middle + h]) for h in (half, np.log(2))))
    return found


# -- the model


def stated(test: Test) -> tuple[Run, ...]:
    """The targets as the test states them: only the named aspects differ from the anchor, and they do."""
    anchor, found = test.anchor[0], []
    for run in test.targets:
        if "machine" not in test.aspects and "platform" not in test.aspects:
            run = replace(run, machine=anchor.machine)
        elif run.machine.name == anchor.machine.name:
            run = replace(run, machine=replace(run.machine, name=f"another {run.machine.name}"))
        if "version" not in test.aspects:
            run = replace(run, version=anchor.version)
        elif run.version == anchor.version:
            run = replace(run, version=f"another {run.version}")
        if "network" not in test.aspects and test.kind != "nodes":
            same = {"model": anchor.network.model, "variant": anchor.network.variant}
            run = replace(run, network=replace(run.network, **same))
        found.append(run)
    return tuple(found)


def answers(
    tested: Sequence[Test], runs: Sequence[Run], others: Sequence[Test] = ()
) -> dict[str, list[Ends]]:
    """Answers of all methods by test; `runs` may inform the model, and `others` the baselines' intervals."""
    plain, straight = (with_spread(tested, method, others) for method in (work_over_cores, line))
    spreads: dict[tuple[str, ...], anchors.Spreads] = {}
    mine = []
    for test in tested:
        may = test.allowed(runs)
        key = tuple(dict.fromkeys(run.series for run in may))
        if key not in spreads:
            spreads[key] = anchors.fit_spreads(may)
        made = anchors.predicted(stated(test), test.anchor, spreads[key])
        mine.append(np.log(np.quantile(made.total, [0.025, 0.5, 0.975], axis=1)))
    columns = [*zip(*plain, strict=True), *zip(*straight, strict=True), mine]
    return dict(zip(METHODS, map(list, columns), strict=True))


# -- scores


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
        rows = [
            {"method": method, "test": number, "kind": test.kind, "series": test.series,
             "anchor": test.anchor[0].series, "aspects": test.aspects, "nodes": run.nodes,
             "ranks": run.ranks, "threads": run.threads, "low": low, "middle": middle, "high": high,
             "true": np.log(run.seconds)}
            for method, ends in made.items()
            for number, (test, each) in enumerate(zip(tested, ends, strict=True))
            for run, (low, middle, high) in zip(test.targets, each.T, strict=True)
        ]  # fmt: skip
        frame = pd.DataFrame(rows)
        frame["error"] = np.abs(np.expm1(frame["middle"] - frame["true"]))
        frame["width"] = frame["high"] - frame["low"]
        frame["score"] = interval_score(frame["low"], frame["high"], frame["true"])
        frame["inside"] = (frame["low"] <= frame["true"]) & (frame["true"] <= frame["high"])
        return cls(frame, digest, tuple(made))

    def by(self, *groups: str) -> pd.DataFrame:
        """Scores of each method and group: medians over series of median error and width, means over points
        of score and inside, the worst error, and the numbers of series and points."""
        keys = ["method", *groups]
        medians = self.frame.groupby([*dict.fromkeys([*keys, "test"])])[["error", "width"]].median()
        whole = self.frame.groupby(keys)
        found = medians.groupby(keys).median()
        found["width"] = np.exp(found["width"])
        return found.assign(
            series=medians.groupby(keys).size(), points=whole.size(), worst=whole["error"].max(),
            score=whole["score"].mean(), inside=whole["inside"].mean(),
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
    tested = others
    if path is not None:
        rows = read(path)
        runs = [run for run in map(points.run_of, rows) if run and not run.part]
        if not runs:
            raise BadInput(f"{path}: no row is a total time with a rate, expected quantity: real-time factor")
        tested = tests(runs, known, [*papers.rows("transfers"), *transfers_of(rows, runs, known)])
    return Scores.of(tested, answers(tested, known, others if path else ()), digest())


NEEDED = (
    "series", "system", "simulator", "network", "neurons", "synapses", "rate_hz", "ranks", "threads", "nodes",
    "quantity", "value", "sd_rel", "notes", "source",
)  # fmt: skip


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a file of points; raises BadInput where a column is missing."""
    with path.open(newline="") as file:
        reader = csv.DictReader(file)
        for name in NEEDED:
            if name not in (reader.fieldnames or ()):
                raise BadInput(
                    f"{path}: column {name} is missing, expected the columns of the published points"
                )
        return list(reader)


def transfers_of(
    rows: Sequence[dict[str, str]], runs: Sequence[Run], known: Sequence[Run]
) -> list[dict[str, str]]:
    """Anchors and aspects that series name, or those of the most similar published series."""
    named = {
        (points.series_of(r), r["anchor"], r["aspects"].replace(" ", "+")) for r in rows if r.get("anchor")
    }
    found = [
        {"target": target, "anchor": anchor, "aspects": aspects} for target, anchor, aspects in sorted(named)
    ]
    done = {row["target"] for row in found} | by_series(known).keys()
    for name, series in by_series(runs).items():
        kin = [run for run in known if run.simulator == series[0].simulator and not run.part]
        if name in done or not kin:
            continue
        near = anchors.closest(series[0], kin)
        apart = {"network" if aspect == "variant" else aspect
                 for aspect in anchors.differences(series[0], near)}  # fmt: skip
        if series[0].machine.platform != near.machine.platform:
            apart = (apart - {"machine"}) | {"platform"}
        order = [aspect for aspect in ("platform", "machine", "network", "version") if aspect in apart]
        found.append({"target": name, "anchor": near.series, "aspects": "+".join(order) or "version"})
    return found


def stored(path: Path, measured: Path) -> Scores:
    """Scores of predictions stored as JSON against a file of points, or a table of own runs.

    `predictions` is a list of {nodes, ranks, threads, low, median, high}, and series and kind where known.
    Raises BadInput for what is missing, and where no prediction has a measured run.
    """
    with measured.open(newline="") as file:
        own = "real_time_factor" in next(csv.reader(file), [])
    if own:
        nothing = Run("", "", points.Network("", "", 1, 1, 1), points.Machine(""), 1, 1)
        runs = points.own_runs(measured, nothing)
    else:
        runs = [run for run in map(points.run_of, read(measured)) if run and not run.part]
    found = {(None if own else r.series, r.nodes, r.ranks, r.threads): r for r in runs}
    tested, given = [], []
    for entry in entries(path):
        at = tuple(entry.get(k) for k in ("nodes", "ranks", "threads"))
        run = found.get((entry.get("series"), *at)) or found.get((None, *at))
        if run:
            kind = entry.get("kind", "nodes")
            tested.append(Test(kind, (run,), (run,), kind))
            given.append(np.log([[entry[k]] for k in ("low", "median", "high")]))
    if not tested:
        raise BadInput(
            f"{path}: no prediction has the series, nodes, ranks and threads of a run in {measured}"
        )
    return Scores.of(tested, {path.name: given}, points.digest(path))


def entries(path: Path) -> Iterator[dict[str, Any]]:
    """Predictions of a JSON file, each with positive low <= median <= high."""
    try:
        listed = json.loads(path.read_text())["predictions"]
        for i, entry in enumerate(listed):
            if not 0 < entry["low"] <= entry["median"] <= entry["high"]:
                raise BadInput(f"{path}: predictions[{i}]: expected 0 < low <= median <= high")
            yield entry
    except (ValueError, KeyError, TypeError, UnicodeDecodeError) as error:
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{path}: {error!r}; expected predictions with low, median and high") from None


def factor(value: float) -> str:
    """A relative error or a width: up to 10 in full, beyond it a whole number."""
    return f"{value:.2g}" if value < 10 else f"{value:.0f}"


def table(scores: Scores, by: str = "kind") -> Table:
    """One row for each kind of test, or for each series."""
    *others, mine = scores.names
    keys = ["kind"] if by == "kind" else ["test", "kind", "series", "anchor"]
    found = scores.by(*keys)
    found = found.drop(columns="series") if by != "kind" else found
    own = found.loc[mine].reset_index()
    for name in others:
        own[name] = found.loc[name]["score"].to_numpy()
    if by == "kind":
        own = own.set_index("kind").loc[scores.kinds].reset_index()
    columns = [Column("kind", "kind of test"), Column("anchor", "from"), Column("series", "series"),
               Column("points", "points"), Column("error", "median error", words=percent),
               Column("width", "interval, a factor", words=factor), Column("inside", "inside", words=percent),
               Column("score", "score", words="{:.2f}".format),
               *(Column(name, name, words="{:.2f}".format) for name in others)]  # fmt: skip
    columns = [column for column in columns if column.name in own]
    rows = own[[column.name for column in columns]].astype(object).to_dict("records")
    return Table(columns, rows, name=f"by_{by}")


def markdown() -> str:
    """The table by kind as Markdown, for docs/trust.md."""
    made = table(score())
    heads = [column.head for column in made.columns]
    lines = [heads, ["---"] * len(heads), *made.cells]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


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
