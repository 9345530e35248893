"""The terms of the page, and the papers behind it."""

from spikemark.quantities.elements import Section
from spikemark.quantities.quantity import KINDS
from spikemark.records.cases import View

TERMS = [
    (
        "cycle",
        "What is simulated between two times at which spikes can have an effect: d_min of simulated time.",
    ),
    (
        "lane",
        "A set of synapses together with the way their spikes travel: who exchanges with whom, how, and how "
        "often.",
    ),
    ("window", "The consecutive cycles of which a lane collects the spikes before it exchanges them."),
    (
        "D, delay ratio",
        "Cycles between two exchanges with distant areas. Exact as long as every delay between areas is at "
        "least D d_min.",
    ),
    (
        "conventional schedule",
        "Neurons dealt to the ranks in turn; all ranks exchange spikes after every cycle.",
    ),
    ("placement only", "Areas dealt to the ranks as a whole; all ranks still exchange after every cycle."),
    (
        "structure-aware schedule",
        "Areas dealt to the ranks as a whole; spikes within an area stay on the rank, and ranks exchange "
        "after D cycles.",
    ),
    ("real-time factor", "Wall-clock time over simulated time. Below 1 is faster than real time."),
    ("deliver", "Phase in which received spikes are handed to the synapses of their target neurons."),
    ("update", "Phase in which neurons take their input and fire."),
    ("collocate", "Phase in which spikes are sorted into send buffers."),
    (
        "synchronise",
        "Phase in which a rank waits at the barrier for the slowest one; on this page also: waiting.",
    ),
    ("exchange", "Phase in which MPI moves the spikes."),
    (
        "latency, slope",
        "Of an exchange: its time with no bytes, and what each byte from one rank to another adds (Hockney "
        "1994), within a range of sizes. The latency of a later range is where its line meets 0 bytes, and "
        "may be negative.",
    ),
    ("synaptic event", "One spike that reaches one synapse."),
    (
        "first access",
        "Entering the list of synapses of a spike on one thread: an access to an unpredictable address.",
    ),
    ("rank, thread", "A rank is one MPI process; it may run several OpenMP threads."),
    ("seed", "Number from which a network is drawn. Other seeds give other networks of the same kind."),
    (
        "pair of runs",
        "A conventional and a structure-aware run of one network (seed) and repetition, measured near each "
        "other in time.",
    ),
    (
        "interval",
        "95 % interval of the geometric mean over the pairs of runs (Student's t, of logarithms). Where it "
        "contains 1, or no change, the runs cannot tell: that is not a finding of no change.",
    ),
]

LITERATURE = [
    (
        "Lober, Diesmann, Kunkel (2026), arXiv 2602.23274",
        "https://arxiv.org/abs/2602.23274",
        "structure-aware communication, the theory of waiting for the slowest rank (eqs 2–12) and of "
        "irregular access (eqs 13–17)",
    ),
    (
        "Simula et al. (2019)",
        "",
        "real-time cortical simulations, energy and interconnects (DPSNN), whose spirit the mini-app follows",
    ),
    (
        "Pastorelli et al. (2019), doi 10.3389/fnsys.2019.00033",
        "https://doi.org/10.3389/fnsys.2019.00033",
        "DPSNN's columns, efficacies and slow waves, which the preset dpsnn takes over",
    ),
    (
        "Jordan et al. (2018), doi 10.3389/fninf.2018.00002",
        "https://doi.org/10.3389/fninf.2018.00002",
        "extremely scalable spiking neuronal network simulation code, the exchange with buffers of fixed "
        "size",
    ),
    (
        "Shehzad, Bozkuş (2016), doi 10.1155/2016/3676582",
        "https://doi.org/10.1155/2016/3676582",
        "NEURON's spike exchange by remote memory access and recursive doubling",
    ),
    ("Brocke, Djurfeldt", "", "collective and point-to-point communication in MUSIC"),
    (
        "Rotter, Diesmann (1999), doi 10.1007/s004220050570",
        "https://doi.org/10.1007/s004220050570",
        "exact digital simulation of time-invariant linear systems, the neurons' propagators",
    ),
    ("Salmon et al. (2011)", "", "parallel random numbers, as easy as 1, 2, 3 (Random123)"),
    (
        "Potjans, Diesmann (2014), doi 10.1093/cercor/bhs358",
        "https://doi.org/10.1093/cercor/bhs358",
        "the cortical microcircuit",
    ),
    (
        "Schmidt et al. (2018), doi 10.1371/journal.pcbi.1006359",
        "https://doi.org/10.1371/journal.pcbi.1006359",
        "the multi-area model of macaque visual cortex",
    ),
    (
        "van Albada, Helias, Diesmann (2015), doi 10.1371/journal.pcbi.1004490",
        "https://doi.org/10.1371/journal.pcbi.1004490",
        "how networks are made smaller, mean and variance of their input kept",
    ),
]


def section(view: View) -> Section:
    """The terms, and the kinds of numbers."""
    kinds = [
        (f"{kind} (kind of number)", f"{meaning[0].upper()}{meaning[1:]}.")
        for kind, meaning in KINDS.items()
        if kind != ("measured" if view.sweep.simulated else "simulated")
    ]
    return Section("glossary", "Glossary", terms=TERMS + kinds)


def literature(view: View) -> Section:
    """The papers; nobody needs to follow a link to read the page."""
    return Section("literature", "Sources", links=LITERATURE)
