"""The range in which predictions were compared with measurements; beyond it, predictions say so.

The range goes up to the published runs that were predicted well (docs/published-runs.md). Beyond, a
prediction is labelled extrapolated; `FAR` times beyond, it is refused.
"""

from spikemark.core.errors import BadInput
from spikemark.network.description import read

#: Simula et al. 2019, Table II, with the cost of a message fitted; the 256 of Table I were missed, and the
#: 1024 of Pastorelli et al. 2019, figure 6, hardly exchange.
RANKS = 64
THREADS = 128  # of a rank; the busy cores of a node in the multi-area model on JURECA-DC, a bound only
NEURONS = 11_520_000  # Pastorelli et al. 2019, figure 6, awake, with one factor for the machine
FAR = 16


def outside(description: dict, ranks: int, threads: int) -> list[str]:
    """Says how a question goes beyond the validated range. Raises BadInput if it goes far beyond."""
    neurons = read(description).neurons
    found = []
    for name, value, most in (
        ("ranks", ranks, RANKS),
        ("threads", threads, THREADS),
        ("neurons", neurons, NEURONS),
    ):
        if value > FAR * most:
            raise BadInput(
                f"{name}={value}: predictions were validated up to {most}, and are refused above {FAR * most}"
            )
        if value > most:
            found.append(f"{name}={value}: validated up to {most}")
    return found
