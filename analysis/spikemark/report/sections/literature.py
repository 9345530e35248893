"""The papers behind the page; nobody needs to follow a link to read it."""

from spikemark.quantities.elements import Section
from spikemark.records.cases import View

RESOLVERS = {"doi": "https://doi.org/", "arXiv": "https://arxiv.org/abs/"}
LITERATURE = {
    "Lober, Diesmann, Kunkel (2026), arXiv 2602.23274": "structure-aware communication, the theory of "
    "waiting for the slowest rank (eqs 2–12) and of irregular access (eqs 13–17)",
    "Simula et al. (2019)": "real-time cortical simulations, energy and interconnects (DPSNN), whose spirit "
    "the mini-app follows",
    "Pastorelli et al. (2019), doi 10.3389/fnsys.2019.00033": "DPSNN's columns, efficacies and slow waves, "
    "which the preset dpsnn takes over",
    "Jordan et al. (2018), doi 10.3389/fninf.2018.00002": "extremely scalable spiking neuronal network "
    "simulation code, the exchange with buffers of fixed size",
    "Shehzad, Bozkuş (2016), doi 10.1155/2016/3676582": "NEURON's spike exchange by remote memory access "
    "and recursive doubling",
    "Brocke, Djurfeldt": "collective and point-to-point communication in MUSIC",
    "Du et al. (2022), arXiv 2205.07125": "low-latency communication for brain simulations: partitioning and "
    "two-level routing",
    "Rotter, Diesmann (1999), doi 10.1007/s004220050570": "exact digital simulation of time-invariant "
    "linear systems, the neurons' propagators",
    "Salmon et al. (2011)": "parallel random numbers, as easy as 1, 2, 3 (Random123)",
    "Potjans, Diesmann (2014), doi 10.1093/cercor/bhs358": "the cortical microcircuit",
    "Schmidt et al. (2018), doi 10.1371/journal.pcbi.1006359": "the multi-area model of macaque visual "
    "cortex",
    "van Albada, Helias, Diesmann (2015), doi 10.1371/journal.pcbi.1004490": "how to shrink a network "
    "without changing the mean and variance of its input",
}


def section(view: View) -> Section:
    """Lists the papers; it is the same on every page."""
    return Section(
        "literature", "Sources", links=[(name, _address(name), what) for name, what in LITERATURE.items()]
    )


def _address(name: str) -> str:
    """Returns the address that ends the name as a number of a register; empty where there is none."""
    *_, register, number = name.split()
    return RESOLVERS[register] + number if register in RESOLVERS else ""
