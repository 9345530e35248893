"""The terms of the page, and the kinds of its numbers."""

from collections.abc import Iterable

from spikemark.network.schedules import SCHEDULES
from spikemark.quantities.elements import Section
from spikemark.quantities.quantity import KINDS
from spikemark.records.cases import FEWEST_PAIRS, WIDEST, View
from spikemark.waiting import PREDICTORS

#: What pages call things, by name. Names of schedules, phases and predictors are those of their registries.
TERMS = {
    "mini-app": "The compact simulator of Spikemark, whose times this page shows. A production code takes "
    "longer, since it does more. `spikemark predict --simulator nest` gives the times of NEST, from its "
    "published runs. docs/performance.md has both on one machine.",
    "rank, thread": "A rank is one MPI process; it may run several OpenMP threads.",
    "cycle": "The simulation between two times at which spikes can have an effect: d_min, the shortest "
    "delay, "
    "of simulated time.",
    "lane": "A set of synapses together with the way their spikes travel: who exchanges with whom, how, and "
    "how often.",
    "window": "Consecutive cycles whose spikes a lane collects before it exchanges them.",
    "D, delay ratio": "Cycles between two exchanges with distant areas. The simulation is exact as long as "
    "every delay between areas is at least D d_min.",
    "lag": "Windows between the start of an exchange and the time at which its spikes are due. With a lag of "
    "1 or more, the exchange goes on while the next window is computed.",
    "placement": "Which rank holds which neuron: dealt out in turn (round_robin), or by area.",
    "exchange algorithm": "How the spikes of a window get from rank to rank, such as one collective call of "
    "MPI (alltoallv) or messages to those who need them (p2p).",
    "wire": "What stands for a spike in a message.",
    "conventional": "Schedule: neurons are dealt to the ranks in turn; all ranks exchange spikes after every "
    "cycle.",
    "placement only": "Schedule: areas are dealt to the ranks as a whole; all ranks still exchange after "
    "every "
    "cycle.",
    "structure-aware": "Schedule: areas are dealt to the ranks as a whole; spikes within an area stay on its "
    "ranks, and all ranks exchange after D cycles.",
    "overlapped": "Schedule: as structure-aware, but with a lag. Windows last D / (lag + 1) cycles, and the "
    "exchange of one window goes on while the next is computed. Ranks then wait for messages, not at a "
    "barrier.",
    "hierarchical": "Schedule: as structure-aware, with one more level. Ranks exchange with all others after "
    "D "
    "cycles, and more often with a group of about the square root of their number.",
    "real-time factor": "Wall-clock time over simulated time. Below 1 is faster than real time.",
    "deliver": "Phase in which received spikes are handed to the synapses of their target neurons.",
    "update": "Phase in which neurons take their input and fire.",
    "thread_wait": "Phase in which the first thread of a rank waits for the other threads of the rank.",
    "inject": "Phase of waits that the experiment adds on purpose, to imitate slow ranks.",
    "collocate": "Phase in which spikes are sorted into send buffers.",
    "synchronise": "Phase in which a rank waits at the barrier for the slowest one.",
    "exchange": "Phase in which MPI moves the spikes. With a lag, it only starts the exchange.",
    "overlap_wait": "Phase in which a rank with a lag waits for the messages of an earlier window.",
    "waiting": "Time in synchronise and overlap_wait: for other ranks, or for their messages.",
    "jitter": "Fluctuations of a rank's cycle times that average out over D cycles.",
    "drift": "Fluctuations of a rank's cycle times that do not average out over D cycles.",
    "persistent": "Lasting differences between ranks: the same ones are slow in every cycle.",
    "rare": "Single cycles that take far longer than is usual for the rank.",
    "barrier": "Waiting beyond what the compute times explain: the barrier itself, and late wake-ups.",
    "POP": "Performance Optimisation and Productivity, a centre of excellence that defined the efficiencies "
    "below. Their product is the parallel efficiency: mean computing over run time.",
    "load balance": "Efficiency of POP: mean over maximum of the ranks' computing. It is 1 if all compute "
    "equally long.",
    "serialisation": "Efficiency of POP: the most that a rank computes, over the run time on a network that "
    "takes no time. It is below 1 if other ranks are the slowest in other cycles.",
    "transfer": "Efficiency of POP: the run time on a network that takes no time, over that of the run. It "
    "is "
    "below 1 if messages take time.",
    **{
        f"{name} (predictor)": f"{kind.summary[0].upper()}{kind.summary[1:]}."
        for name, kind in PREDICTORS.items()
    },
    "CV": "Coefficient of variation: standard deviation over mean.",
    "latency, slope": "The time of an exchange without bytes, and the time that each byte from one rank to "
    "another adds (Hockney 1994), within a range of sizes. The latency of a later range is where its line "
    "meets 0 bytes, and may be negative.",
    "synaptic event": "The arrival of one spike at one synapse.",
    "first access": "Entering the list of synapses of a spike on one thread: an access to an unpredictable "
    "address.",
    "checksum": "A number made of all spikes and the final state of all neurons. Runs of one network must "
    "agree in it.",
    "seed": "Number from which a network is drawn. Other seeds give other networks of the same kind.",
    "pair of runs": "Runs of two schedules with one network (seed) and repetition, made near each other in "
    "time.",
    "interval": "95 % interval of the geometric mean over pairs of runs (Student's t, of logarithms). Where "
    "it "
    "contains 1, or no change, the runs cannot tell: that is not a finding of no change. Fewer than "
    f"{FEWEST_PAIRS} pairs have none, and neither have pairs so different that its ends would differ by more "
    f"than a factor of {WIDEST:g}.",
}


#: What pages over predictions, over cycle times and over offers use of them.
PREDICTED = (
    *("mini-app", "real-time factor", "rank, thread", "cycle", "lane", "window", "D, delay ratio", "lag"),
    *("placement", "exchange algorithm", *(schedule.label for schedule in SCHEDULES.values())),
    *("deliver", "update", "thread_wait", "collocate", "waiting", "exchange", "synaptic event"),
)
OF_TIMES = (
    *("rank, thread", "cycle", "D, delay ratio", "structure-aware", "overlapped", "waiting", "jitter"),
    *("drift", "persistent", "rare", "barrier", "POP", "load balance", "serialisation", "transfer", "CV"),
    *(f"{name} (predictor)" for name in PREDICTORS),
)
OFFERED = ("mini-app", "real-time factor", "rank, thread", "cycle", "synaptic event")


def section(view: View) -> Section:
    """Explains the terms and the kinds of numbers; it is the same on every page of a sweep."""
    return of(TERMS)


def of(names: Iterable[str]) -> Section:
    """Explains these TERMS, and the kinds of numbers."""
    kinds = {f"{kind} (kind of number)": f"{text[0].upper()}{text[1:]}." for kind, text in KINDS.items()}
    return Section("glossary", "Glossary", terms=[*((name, TERMS[name]) for name in names), *kinds.items()])
