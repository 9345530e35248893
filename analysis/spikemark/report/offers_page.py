"""Parts that pages about offers share, of `spikemark compare` and of answers to a tender."""

from dataclasses import replace

from spikemark.prediction import offers
from spikemark.quantities.elements import Figure, Section
from spikemark.quantities.table import Table

from .page import Top

RESTS = (
    "A number is as good as the worst value that it rests on. The values that move it most are named, the"
    " strongest first."
)


def first_screen(table: Table, title: str, picture: Figure | None = None) -> Top:
    """The part below the sentence: the table of offers, then a picture."""
    return Top(picture, replace(table, title=title), table_first=True)


def numbers(found: list[offers.Basis], who: str = offers.WHO) -> Section | None:
    """Time, energy and cost of each offer, and what each number rests on."""
    if not found:
        return None
    title = "Time, energy and cost, and what they rest on"
    return Section("numbers", title, [RESTS], tables=[offers.bases(found, title, who)])


def decides(effects: list[offers.Effect], figure: str, who: str = offers.WHO) -> Section | None:
    """Which unknown value decides."""
    if not effects:
        return None
    made = offers.sensitivity(effects, figure, who)
    return Section("sensitivity", made.title, [offers.SENSITIVITY], tables=[made])
