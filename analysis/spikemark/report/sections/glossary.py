"""The terms of the page, and the kinds of its numbers."""

from spikemark.quantities.elements import Section
from spikemark.quantities.quantity import KINDS
from spikemark.records.cases import View

TERMS = {
    "cycle": "The simulation between two times at which spikes can have an effect: d_min of simulated time.",
    "lane": "A set of synapses together with the way their spikes travel: who exchanges with whom, how, and "
    "how often.",
    "window": "Consecutive cycles whose spikes a lane collects before it exchanges them.",
    "D, delay ratio": "Cycles between two exchanges with distant areas. The simulation is exact as long as "
    "every delay between areas is at least D d_min.",
    "conventional schedule": "Neurons are dealt to the ranks in turn; all ranks exchange spikes after every "
    "cycle.",
    "placement only": "Areas are dealt to the ranks as a whole; all ranks still exchange after every cycle.",
    "structure-aware schedule": "Areas are dealt to the ranks as a whole; spikes within an area stay on the "
    "rank, and ranks exchange after D cycles.",
    "real-time factor": "Wall-clock time over simulated time. Below 1 is faster than real time.",
    "deliver": "Phase in which received spikes are handed to the synapses of their target neurons.",
    "update": "Phase in which neurons take their input and fire.",
    "collocate": "Phase in which spikes are sorted into send buffers.",
    "synchronise": "Phase in which a rank waits at the barrier for the slowest one; this page also calls it "
    "waiting.",
    "exchange": "Phase in which MPI moves the spikes.",
    "latency, slope": "The time of an exchange without bytes, and the time that each byte from one rank to "
    "another adds (Hockney 1994), within a range of sizes. The latency of a later range is where its line "
    "meets 0 bytes, and may be negative.",
    "synaptic event": "The arrival of one spike at one synapse.",
    "first access": "Entering the list of synapses of a spike on one thread: an access to an unpredictable "
    "address.",
    "rank, thread": "A rank is one MPI process; it may run several OpenMP threads.",
    "seed": "Number from which a network is drawn. Other seeds give other networks of the same kind.",
    "pair of runs": "A conventional and a structure-aware run of one network (seed) and repetition, made "
    "near each other in time.",
    "interval": "95 % interval of the geometric mean over the pairs of runs (Student's t, of logarithms). "
    "Where it contains 1, or no change, the runs cannot tell: that is not a finding of no change.",
}


def section(view: View) -> Section:
    """Explains the terms and the kinds of numbers; it is the same on every page."""
    kinds = {f"{kind} (kind of number)": f"{text[0].upper()}{text[1:]}." for kind, text in KINDS.items()}
    return Section("glossary", "Glossary", terms=list({**TERMS, **kinds}.items()))
