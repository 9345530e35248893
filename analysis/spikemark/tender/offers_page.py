"""The buyer's page over answers to a tender: a sentence and the offers, then evidence and what decides."""

from pathlib import Path
from types import SimpleNamespace

from spikemark.core.files import write_output
from spikemark.quantities.elements import Box, Section
from spikemark.quantities.words import number
from spikemark.report import offers_page, page
from spikemark.report.sections import glossary

from . import bids_compared, offers_show, shared
from .bids_compared import Compared
from .checked import INVALID, VALID

ASKED = (
    "Measured figures come from the records that bidders handed in. Projected ones were computed by the"
    " method that is named. What is committed is what a bidder promises: acceptance runs decide whether it"
    " holds (`spikemark tender statistics` says how surely)."
)
PROMISES = "A promise better than its evidence is the bidder's risk; one within the interval rests on luck."
CHECK = (
    "check.py ran again on this machine for every answer. It cannot see a machine that was replaced after the"
    " runs: the buyer's own rerun with a secret seed can (`spikemark tender accept`)."
)


def write(of: Compared, path: Path) -> None:
    """Write the page whole or not at all."""
    write_output(Path(path), render(of))


def render(of: Compared) -> str:
    """The page as one HTML document that loads nothing."""
    figure = f"cost over its life ({of.currency})"
    made = offers_show.verdicts(of)
    each = [offers_show.beside(of, [bid]) for bid in of.bids]
    sections = [
        Section("beside", offers_show.BESIDE, [ASKED, PROMISES], tables=each),
        Section("checked", made.title, [CHECK], boxes=_boxes(of), tables=[made]),
        offers_page.numbers(bids_compared.bases(of), offers_show.WHO),
        offers_page.decides(bids_compared.effects(of), figure, offers_show.WHO),
        glossary.of(glossary.OFFERED),
    ]
    goal = "no real-time factor stated" if of.reach is None else f"real-time factor {number(of.reach)}"
    return page.document(
        what=f"answers to the tender {of.tender} for",
        sweep=SimpleNamespace(
            name=of.network, machine=", ".join(bid.name for bid in of.bids), title=f"Offers: {goal}"
        ),
        sentence=bids_compared.sentence(of),
        top=offers_page.first_screen(offers_show.first(of), "What each bidder offers"),
        broken=False,
        sections=[s for s in sections if s],
    )


def _boxes(of: Compared) -> list[Box]:
    """Answers that are not VALID stand out, and those that share measurements."""
    same = [Box("bad", line) for line in shared.lines(of.bids)]
    return same + [
        Box("bad" if bid.verdict.verdict == INVALID else "plain", f"{bid.name}: {bid.verdict.verdict}")
        for bid in of.bids
        if bid.verdict.verdict != VALID
    ]
