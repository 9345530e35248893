"""Speed beside other simulators: what `spikemark peers` found on the same machine."""

from spikemark.bench.peers.content import Content, path, read
from spikemark.bench.peers.factors import RATE_TOLERANCE
from spikemark.bench.peers.programs import REFERENCE
from spikemark.bench.peers.show import disturbances, notes, table
from spikemark.core.errors import BadInput
from spikemark.quantities.elements import Box, Section
from spikemark.quantities.words import percent
from spikemark.records.cases import View

TITLE = "Speed beside other simulators"
EXPLAINED = (
    "How fast is the mini-app compared with other simulators? The experiment `peers`, not this one, ran "
    "them in "
    "turns on one network and one rank (measured). The table shows medians over rounds. A factor is the "
    "median of the quotients within rounds, with its interval in parentheses; above 1 the mini-app is ahead. "
    "If a program does not count its synaptic events, the expected number for its spikes is used."
)


def section(view: View) -> Section:
    """Shows one table and what to know about it; one line if there is no comparison."""
    file = path(view.sweep.path.name, view.sweep.path.parent.parent)
    if not file.is_file():
        reason = f"The mini-app beside other simulators on {view.sweep.path.name}: missing; run `make peers`."
        return Section("peers", TITLE, missing=[reason])
    try:
        content = read(file)
    except BadInput as error:
        return Section("peers", TITLE, missing=[f"The mini-app beside other simulators: {error}."])
    known = " ".join(f"{line[0].upper()}{line[1:]}." for line in [*_rates(content), *notes(content)])
    text = [EXPLAINED, known]
    boxes = [Box("wary", line) for line in disturbances(content)]
    lacking = [f"{line[0].upper()}{line[1:]}." for line in content.complaints]
    if content.measured < content.planned:
        lacking.append(f"{content.measured} of {content.planned} runs of the comparison are complete.")
    return Section("peers", TITLE, text=text, boxes=boxes, tables=[table(content)], missing=lacking)


def _rates(content: Content) -> list[str]:
    """Says whether the programs have equal firing rates, and which models they run."""
    known = [p for p in content.programs if p.mean_rate_hz is not None]
    lines = [f"models: {', '.join(f'{p.title}: {p.model}' for p in known)}"] if known else []
    ours = next((p.mean_rate_hz for p in known if p.name == REFERENCE), None)
    if ours is None or len(known) < 2:
        return lines
    apart = [p.title for p in known if abs(p.mean_rate_hz - ours) > RATE_TOLERANCE * ours]
    if apart:
        return [*lines, f"mean rates do NOT agree with that of the mini-app: {', '.join(apart)}"]
    return [*lines, f"mean rates agree within {percent(RATE_TOLERANCE)}"]
