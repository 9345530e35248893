"""RULES.md: the rules of tender.json as a page. What a rule says stands here once, as a sentence."""

from pathlib import Path

import jinja2

from .fields import FIGURES, Tender

#: What each tolerance of the checker is about; a test asks for a sentence for each.
PLAUSIBLE = {
    "phase_sum": "The phases of all cycles add up to the wall-clock time of the measured part.",
    "waiting": "Waiting follows from the compute times of all ranks.",
    "clock": "The clocks of a run agree on how long it took.",
    "events": "Spikes and synaptic events are those that are expected.",
    "rates": "Ranks fire and receive at the rates of their neurons.",
    "energy": "Energy is what the readings of power add up to.",
    "copies": "The phases of two repetitions are not all correlated more than this.",
}
TEMPLATE = Path(__file__).with_name("RULES.md.j2")


def page(tender: Tender) -> str:
    """The page. It holds nothing that is not in `tender`."""
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(tender=tender, figures=FIGURES, plausible=PLAUSIBLE)
