"""A run of the mini-app beside its prediction."""

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from spikemark.core.errors import BadInput
from spikemark.quantities.answer import Answer, Screen
from spikemark.quantities.figure import PALETTE, intervals
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import number
from spikemark.records.judged import caution_sentence
from spikemark.records.record import Run
from spikemark.records.recording import of_populations

from . import draws, question
from .answers import about, as_lines, content, remarks_on
from .draws import Draws
from .layout import AnyMachine, MachineLayout
from .mini_app import mini_app_option
from .narrowing import HEADS, RatioTerm
from .option import Option
from .performance import PARTS, kept_errors
from .wording import interval
from .workload import Loads

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

GUESS_RUNS = 2  #: runs that what was known of an error before counts as
RTF = "real_time_factor"


@dataclass(frozen=True, repr=False)
class RunAnswer(Answer):
    """A run of the mini-app beside its prediction.

    `table` has a row for each part of the real-time factor, in seconds per simulated second.
    """

    verb = "predict"

    run: Run
    option: Option  #: its prediction

    @property
    def table(self) -> "pd.DataFrame":
        """Measured and predicted times of each part, in s per simulated s."""
        import pandas as pd

        predicted = self.option.parts | {RTF: self.option.rtf}
        rows = []
        for part, seconds in _measured(self.run).items():
            median, low, high = draws.interval(predicted[part])
            rows.append(
                {
                    "part": part,
                    "measured": seconds,
                    "predicted": median,
                    "predicted_low": low,
                    "predicted_high": high,
                }
            )
        frame = pd.DataFrame(rows)
        frame.attrs["units"] = dict.fromkeys(frame.columns[1:], "s per simulated s")
        return frame

    def plot(self, axes: "Axes | None" = None) -> "Axes":
        """Predicted parts of the real-time factor with 95 % intervals, and what was measured."""
        columns = {"predicted": "value", "predicted_low": "low", "predicted_high": "high"}
        table = self.table.rename(columns=columns)
        parts = [part.replace("_", " ") for part in table["part"]]
        axes = intervals(parts, table, axes, "predicted, with 95 % interval")
        axes.plot(table["measured"], parts, "x", color=PALETTE[5], label="measured")
        axes.set(xlabel="seconds per simulated second")
        axes.legend(frameon=False, fontsize="small")
        return axes

    @cached_property
    def _screen(self) -> Screen:
        cautions = [caution_sentence(caution) for caution in self.run.cautions]
        sentences = [_within_sentence(self.run, self.option), *cautions]
        notes = as_lines(remarks_on([self.option]))
        notes += about([RatioTerm(self.option)], self.option.rtf, self.option.inputs)
        return Screen(sentences, [_beside_table(self.run, self.option)], notes)

    def screen(self, details: bool = False) -> Screen:
        """What `spikemark predict RUN` prints."""
        return self._screen

    def content(self) -> dict[str, Any]:
        """The measured parts, and the prediction with all figures."""
        return {
            "run": str(self.run.path),
            "kind": self.run.record.kind,
            "measured": _measured(self.run),
            "prediction": content(self.option),
            "remarks": [*self.run.cautions, *remarks_on([self.option])],
        }


def of_run(run: Run, machine: AnyMachine) -> Option:
    """The prediction for the network, ranks, threads and schedule of a record, on a machine.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.records.record import load_run
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> of_run(load_run("tests/golden/analysis/records/aware-4"), jureca).nodes
        1
    """
    record = run.record
    hz: float | dict[str, float] | None
    try:
        hz = of_populations(run)
    except BadInput:  # nothing was counted but the spikes of all neurons together
        hz = record.totals.spikes / record.totals.neurons / record.timing.model_s
    network = question.of_description(run.path.name, record.description, hz)
    loads = Loads.count(record.description, record.ranks, record.threads, network.rates.hz)
    ranks_per_node = -(-record.ranks // record.host.nodes)
    layout = MachineLayout.from_machine(machine, record.ranks, record.threads, ranks_per_node)
    return mini_app_option(network, machine, loads, layout)


def _measured(run: Run) -> dict[str, float | None]:
    """Seconds per simulated second of each part of a run, and its real-time factor; None: not
    timed.
    """
    timing = run.record.timing
    per_second: dict[str, float | None] = {}
    for part in PARTS:
        seconds = run.spent_s(part)
        per_second[part] = None if seconds is None else seconds / timing.model_s
    per_second[RTF] = timing.real_time_factor
    return per_second


def _within_sentence(run: Run, prediction: Option) -> str:
    """Whether a run took as long as predicted."""
    rtf = run.record.timing.real_time_factor
    _, low, high = draws.interval(prediction.rtf)
    inside = "within" if low <= rtf <= high else "outside"
    return (
        f"The run took {number(rtf)} times real time, {inside} the predicted"
        f" {interval(prediction.rtf)}."
    )


def _beside_table(run: Run, prediction: Option) -> Table:
    """A row for each part, and for the real-time factor."""
    columns = [
        Column("part", "s per simulated s"),
        Column("run", f"run ({run.record.kind})"),
        Column("predicted", "predicted"),
        Column("ratio", "run over prediction"),
    ]
    parts = prediction.parts | {RTF: prediction.rtf}
    rows = [_row(part, seconds, parts[part]) for part, seconds in _measured(run).items()]
    return Table(columns, rows)


def _row(part: str, seconds: float | None, predicted: Draws) -> dict[str, Cell]:
    """A part as it was measured, beside its prediction."""
    head = "real-time factor" if part == RTF else HEADS.get(part, part)
    ratio = ""
    if seconds and (predicted > 0).all():
        ratio = interval(seconds / predicted)
    return {
        "part": head,
        "run": "not timed" if seconds is None else number(seconds),
        "predicted": interval(predicted),
        "ratio": ratio,
    }


def errors(runs: list[Run], machine: AnyMachine) -> list[dict[str, Any]]:
    """Root mean squares of the logarithm of measured over predicted times of each part, for
    spreads.yaml.

    What was known before counts as GUESS_RUNS runs. `runs` were made on `machine`, while nothing
    else ran there.

    Example:
        >>> from spikemark import machines
        >>> from spikemark.records.record import load_run
        >>> jureca = machines.filled(machines.load("jureca-dc"))
        >>> rows = errors([load_run("tests/golden/analysis/records/aware-4")], jureca)
        >>> [row["part"] for row in rows][:2]
        ['deliver', 'update']
    """
    pairs = [(_measured(run), of_run(run, machine).parts) for run in runs]
    rows = []
    for part, guess in kept_errors().items():
        logs = []
        for seconds_of_run, predicted in pairs:
            seconds = seconds_of_run[part]
            median = float(np.median(predicted[part]))
            if seconds and median > 0:
                logs.append(np.log(seconds / median))
        squares = GUESS_RUNS * guess**2 + np.sum(np.square(logs))
        sd = np.sqrt(squares / (GUESS_RUNS + len(logs)))
        origin = "assumed"
        if logs:
            origin = f"measured: {len(logs)} runs on {machine.name}, and {GUESS_RUNS} as before"
        rows.append({"part": part, "sd": round(float(sd), 3), "origin": origin})
    return rows
