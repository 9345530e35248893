"""What the page of `spikemark score` shows beside its screen."""

from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.words import listed
from spikemark.report import plots

from .score import ScoreAnswer, Scores


def sections(answer: ScoreAnswer) -> list[Section]:
    """The errors of all methods as a figure.

    Example:
        >>> import pandas as pd
        >>> row = {"method": "model", "test": 0, "kind": "nodes", "series": "mine", "anchor": "A"}
        >>> row |= {"error": 0.1, "width": 0.7, "score": 0.8, "inside": True}
        >>> row |= {"network": "microcircuit", "machine": "jureca-dc"}
        >>> sections(ScoreAnswer(Scores(pd.DataFrame([row]), digest="0")))[0].title
        'Errors'
    """
    return [Section("errors", "Errors", figures=[_errors_by_kind(answer.scores)])]


def _errors_by_kind(scores: Scores) -> Figure:
    """The median error of each method in each kind of test."""
    errors = scores.by("kind")["error"].reset_index()
    errors = errors[errors["kind"].isin(scores.kinds)]
    errors = errors.assign(error_percent=100 * errors["error"])
    return plots.points(
        errors,
        "error_percent",
        "kind",
        "errors-by-kind",
        "Errors of predictions",
        "Medians over the series of each kind of test. A kind says what differs between a series"
        f" and those that its prediction rests on.{_measured_on(scores)}",
        hue="method",
        xlabel="median error (%, lower is better)",
    )


def _measured_on(scores: Scores) -> str:
    """The networks and machines of the measured times, as sentences; empty if they have no name."""
    sentences = ""
    for title, column in (("Networks", "network"), ("Machines", "machine")):
        names = sorted({*scores.frame[column]} - {""})
        if names:
            sentences += f" {title}: {listed(names)}."
    return sentences
