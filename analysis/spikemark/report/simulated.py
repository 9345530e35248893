"""Pages over runs on a simulated machine: nothing there was measured, and every number says so."""

import re

from spikemark.records.gather import Sweep

HERE = "On this machine"


def reworded(text: str) -> str:
    """Text, HTML or JSON with `simulated` where pages say `measured`; parts of names stay as they are."""
    text = re.sub(r"\b([Mm])easured\b", lambda found: "simulated" if found[1] == "m" else "Simulated", text)
    return text.replace(HERE, "On the simulated machine")


def worded(sweep: Sweep, text: str) -> str:
    """`text` as it may stand on a page over `sweep`."""
    return reworded(text) if sweep.simulated else text
