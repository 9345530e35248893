"""RULES.md: the rules of tender.json as a page. What a rule says stands here once, as a sentence."""

from pathlib import Path

import jinja2

from .fields import FIGURES, Tender

#: What each tolerance of `plausibility` is about; a test asks for a sentence for every one.
PLAUSIBLE = {
    "phase_sum": "The phases of a cycle add up to the wall-clock time of the measured part, on every rank.",
    "waiting": "Waiting at the barrier follows from the compute times: the slowest rank waits least.",
    "clock": "Begin and end of the measured part are as far apart as the measured time is long.",
    "events": "Spikes and synaptic events are those of the description.",
    "energy": "Energy is mean power times duration, and the mean lies between the readings.",
}
TOLERANCES = {"phase_sum": 0.02, "waiting": 0.05, "clock": 0.01, "events": 0.0, "energy": 0.05}
TEMPLATE = Path(__file__).with_name("RULES.md.j2")


def page(tender: Tender) -> str:
    """The page. It holds nothing that is not in `tender`."""
    environment = jinja2.Environment(
        trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined, keep_trailing_newline=True
    )
    template = environment.from_string(TEMPLATE.read_text(encoding="utf-8"))
    return template.render(tender=tender, figures=FIGURES, plausible=PLAUSIBLE)
