"""A run beside its prediction: the network, ranks, threads, schedule and exchanges of a record, on a profile.

It tells how far predictions for this machine can be trusted before larger questions are asked. Both sides are
seconds per simulated second.
"""

from dataclasses import dataclass

from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Column, Table
from spikemark.quantities.words import counted
from spikemark.records.phases import COMPUTE, HELD, NOT_TIMED, PARTS
from spikemark.records.rates import rates_hz
from spikemark.records.record import Run

from . import model_error, rates, show
from .predict import Prediction, predict

FACTOR = "real_time_factor"


@dataclass(frozen=True)
class Beside:
    """What the run took, by the names of figures; a time that was not measured is missing with the reason."""

    run: Run
    prediction: Prediction
    took: dict[str, Quantity]

    def ratio(self, name: str) -> Quantity:
        """The run over its prediction, with the interval of the prediction; missing where one is 0."""
        here, made = self.took[name], self.prediction.figures[name]
        if not (here and made):
            return made if here else here
        if not (here.value > 0 and made.value > 0):
            return missing("a time of 0 has no ratio", mark="none")
        ends = (here.value / made.high, here.value / made.low if made.low > 0 else float("inf"))
        return Quantity(here.value / made.value, *ends, "1", made.kind)


def beside(run: Run, profile) -> Beside:
    """The run and its prediction on a profile (spikemark.machines).

    Rates are those that the run counted where its description states none. Raises BadInput as `predict` does,
    and where rates are not known.
    """
    record = run.record
    found = rates.of(record.description, rates_hz(run))
    each = -(-record.ranks // record.host.nodes)
    made = predict(
        record.description, profile, record.ranks, record.threads, ranks_per_node=each, hz=found,
    )  # fmt: skip
    model_s, kind = record.timing.model_s, record.kind
    made = model_error.widened(made) if kind == "measured" else made
    took = {
        part: missing(HELD if part in COMPUTE else NOT_TIMED, mark="not timed")
        if (spent := run.spent_s(part)) is None
        else Quantity(spent / model_s, kind=kind)
        for part in PARTS
    }
    took[FACTOR] = Quantity(record.timing.real_time_factor, kind=kind)
    return Beside(run, made, took)


def table(found: Beside) -> Table:
    """A row for each part of a cycle, and one for the real-time factor."""
    p, kind = found.prediction, found.run.record.kind
    columns = {
        Column("part", "s per simulated s"): lambda name: show.head(name).split(" (")[0],
        Column("run", f"run ({kind})"): lambda name: found.took[name],
        Column("predicted", "predicted, with interval"): lambda name: p.figures[name],
        Column("ratio", "run over prediction"): found.ratio,
    }
    of = f"{counted(p.ranks, 'rank')} with {counted(p.threads, 'thread')}"
    title = f"{found.run.path.name}: {of}, {p.schedule}, placement {p.placement}, beside its prediction for"
    return Table.of(columns, found.took, f"{title} {p.title}", notes=lines(found))


def lines(found: Beside) -> list[str]:
    """Where both were, how to read the ratio, and what disturbed the run."""
    host = found.run.record.host
    factor = found.ratio(FACTOR)
    where = f"The run was made on {host.cpu or host.name}; the prediction is for {found.prediction.title}."
    said = [f"{where} Where these differ, so do the times."]
    if factor and factor.low <= 1 <= factor.high:
        said.append("The real-time factor of the run is within the interval of the prediction.")
    elif factor:
        side = "above" if factor.value > 1 else "below"
        said.append(
            f"The real-time factor of the run is {side} the interval of the prediction: do not rely on"
            " predictions of this network for this machine more closely than that."
        )
    return said + [f"warning of the run: {text}" for text in found.run.record.warnings]


def content(found: Beside) -> dict:
    """The content for JSON."""
    return {
        "run": str(found.run.path), "kind": found.run.record.kind,
        "parts": {
            name: {"run": took.content(), "predicted": show.figure_content(found.prediction.figures[name]),
                   "ratio": found.ratio(name).content()}
            for name, took in found.took.items()
        },
        "lines": lines(found), "prediction": show.content([found.prediction])[0],
    }  # fmt: skip
