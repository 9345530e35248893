"""Predictors of waiting, fitted on the conventional run and compared with runs that they have not seen."""

from dataclasses import dataclass

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Section
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import change, counted, geometric_mean, percent
from spikemark.records.cases import Case, View, same_network
from spikemark.records.gather import Configuration
from spikemark.report.columns import LABEL, PAIRS, RANKS, WAITS
from spikemark.waiting import PREDICTORS
from spikemark.waiting.predictor import asked
from spikemark.waiting.source import source

TITLE = "Waiting predicted from the conventional schedule"
EXPLAINED = (
    "Can the waiting of another schedule be predicted? Each predictor is fitted on one conventional run. It "
    "then predicts how long the run of the same network (seed) and repetition waits under another schedule, "
    "without having seen that run. {predictors}. Error: predicted over {kind}. No predictor can know how "
    "another placement changes what a rank computes. For a barrier, each adds what the one of the "
    "conventional "
    "run itself cost. The same theory in the section above (there fitted alike) adds nothing."
)
CAPTION = "Waiting in seconds per second of simulated time, mean over ranks, geometric mean over pairs"


@dataclass(frozen=True)
class Row:
    """One configuration on one number of ranks: s per s of simulated time, one value per pair of runs.

    `waits`: where its ranks wait (Run.waits).
    """

    ranks: int
    configuration: Configuration
    waits: str
    measured: list[float]
    predicted: dict[str, list[float]]

    def factor(self, predictor: str) -> float:
        """Returns predicted over observed waiting, geometric mean over the pairs."""
        return geometric_mean([p / m for p, m in zip(self.predicted[predictor], self.measured, strict=True)])


def prepare(case: Case, ranks: int) -> list[Row]:
    """Returns every configuration but the conventional one that has partners and waiting of its own."""
    fits: dict[tuple, dict] = {}
    plain = [c for c in case.configurations(ranks) if c.schedule == "conventional"]
    for m in (m for c in plain for m in case.of(c, ranks)):
        try:
            fitted = source(m.run) if m.run.cycles is not None else None
        except BadInput:
            continue
        if fitted is not None:
            fits[same_network(m)] = {name: kind.fit(fitted) for name, kind in PREDICTORS.items()}
    rows = []
    for configuration in case.configurations(ranks):
        if configuration.schedule == "conventional":
            continue
        runs = case.of(configuration, ranks)
        row = Row(ranks, configuration, runs[0].run.waits, [], {name: [] for name in PREDICTORS})
        for m in runs:
            waited, partners = m.waiting, fits.get(same_network(m))
            if not waited or partners is None:
                continue
            try:
                made = {name: fit.predict(**asked(m.run)).waiting_s for name, fit in partners.items()}
            except BadInput:
                continue
            row.measured.append(waited)
            for name, value in made.items():
                row.predicted[name].append(value / m.run.record.timing.model_s)
        if row.measured:
            rows.append(row)
    return rows


def section(view: View) -> Section:
    """Shows one table of all numbers of ranks above one, and how far off each predictor is."""
    if view.case is None:
        return Section("validation", TITLE, missing=["Predictions: no run is complete."])
    rows = [row for ranks in view.case.ranks if ranks > 1 for row in prepare(view.case, ranks)]
    if not rows:
        reason = (
            "Predictions: no conventional run on several ranks with recorded cycle times and waiting that "
            "has a partner under another schedule."
        )
        return Section("validation", TITLE, missing=[reason])
    words = "; ".join(f"{name}: {kind.summary}" for name, kind in PREDICTORS.items())
    errors = [f"{name} {percent(np.median([abs(r.factor(name) - 1) for r in rows]))}" for name in PREDICTORS]
    text = [
        EXPLAINED.format(predictors=words, kind=view.kind),
        f"Median error of the predictions over {counted(len(rows), 'row')}: {', '.join(errors)}.",
    ]
    return Section("validation", TITLE, text=text, tables=[_table(rows, view.kind)])


def _table(rows: list[Row], kind: str) -> Table:
    columns = {
        **LABEL,
        RANKS: lambda row: row.ranks,
        PAIRS: lambda row: len(row.measured),
        Column("waiting", kind, kind): lambda row: geometric_mean(row.measured),
        WAITS: lambda row: row.waits,
    }
    for name in PREDICTORS:
        columns |= {
            Column(name, name, "modelled"): lambda row, name=name: geometric_mean(row.predicted[name]),
            Column(f"{name}_error", f"{name}, error", "modelled", words=change): lambda row, name=name: (
                row.factor(name)
            ),
        }
    return Table.of(columns, rows, CAPTION)
