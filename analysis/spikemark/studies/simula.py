"""Answers to papers/simula.yaml: real-time and energy of DPSNN (Simula et al. 2019)."""

import re
from collections.abc import Callable

import pandas as pd

from spikemark import machines
from spikemark.models.published import papers, simula
from spikemark.models.published.simula import ARM, X86, Point
from spikemark.quantities.quantity import Quantity, missing
from spikemark.report import plots

from .pick import OVER_RANKS, levels, mean, means, pick, share, times, with_cv
from .study import Answer, Lacking, Runs

IB, ETH, JETSON, TRENZ, BATH = (
    "dpsnn-westmere-ib",
    "dpsnn-westmere-eth",
    "jetson-tx1",
    "trenz-zu9eg",
    "simula-bath",
)
SECONDS, FULL = 10, simula.NEURONS
LARGER = {"320KN": 327_680, "1280KN": 1_310_720}
COMPUTING, MOVING, BARRIER = "computing", "part.exchange", "part.waiting"
NETWORKS = {FULL: "20480N", **{neurons: name for name, neurons in LARGER.items()}}


# Table I


def fastest_ranks(runs: Runs) -> Answer:
    """Of 4, 32 and 256 ranks, those on which 20 480 neurons run fastest; beside Table I."""
    found = _sized(runs)
    frame = means(found, ["machine", "neurons_of", "ranks"], ["real_time_factor", COMPUTING, MOVING, BARRIER])
    long = frame[frame["neurons_of"] == FULL]
    long = long.melt(["machine", "ranks"], [COMPUTING, MOVING, BARRIER], "part", "seconds")
    long["part"] = long["part"].str.removeprefix("part.")
    figure = plots.lines(
        long, "ranks", "seconds", "simula-1", "Parts of the run time by ranks",
        "Seconds per simulated second; simulated.", hue="part", panel="machine", log="xy",
    )  # fmt: skip
    own = frame[(frame["machine"] == IB) & (frame["neurons_of"] == FULL) & frame["ranks"].isin([4, 32, 256])]
    if len(own) < 3:
        raise Lacking("4, 32 and 256 ranks are needed")
    best = own.loc[own["real_time_factor"].idxmin(), "ranks"]
    return Answer(Quantity(float(best), kind="simulated"), figures=[figure], tables=[_table_1(runs)])


def barrier_4(runs: Runs) -> Answer:
    """Share of the barrier in the run time on 4 ranks."""
    return Answer(_share(runs, FULL, 4, BARRIER))


def barrier_32(runs: Runs) -> Answer:
    """The same on 32 ranks."""
    return Answer(_share(runs, FULL, 32, BARRIER))


def barrier_by_jitter(runs: Runs) -> Answer:
    """The same by the spread of compute times, the profile's and larger ones."""
    found = with_cv(runs["interconnect"])
    own = found[(found["machine"] == IB) & (found["ranks"] == 32)]
    frame = means(own.assign(percent=100 * own[BARRIER] / own["real_time_factor"]), ["cv"], ["percent"])
    figure = plots.lines(
        frame, "cv", "percent", "simula-jitter", "Share of the barrier by the spread of compute times",
        "%, 32 ranks, InfiniBand; simulated.",
    )  # fmt: skip
    said = "; ".join(f"{row.percent:.1f} % at {row.cv:g}" for row in frame.itertuples())
    return Answer(said, figures=[figure])


def communication_256(runs: Runs) -> Answer:
    """Share of communication on 256 ranks."""
    return Answer(_share(runs, FULL, 256, MOVING))


def computing_4(runs: Runs) -> Answer:
    """Share of computing on 4 ranks."""
    return Answer(_share(runs, FULL, 4, COMPUTING))


def communication_320k(runs: Runs) -> Answer:
    """Share of communication on 256 ranks, 327 680 neurons."""
    return Answer(_share(runs, LARGER["320KN"], 256, MOVING))


def communication_1280k(runs: Runs) -> Answer:
    """Share of communication on 256 ranks, 1 310 720 neurons."""
    return Answer(_share(runs, LARGER["1280KN"], 256, MOVING))


def speed_4(runs: Runs) -> Answer:
    """Real-time factor on 4 ranks."""
    return Answer(mean(pick(_sized(runs), machine=IB, ranks=4, neurons_of=FULL), "real_time_factor"))


def _sized(runs: Runs) -> pd.DataFrame:
    """Runs with the neurons of their compute times and the seconds that they computed."""
    found = runs["interconnect"].runs
    found = found[found.get("swept.cv", pd.Series(pd.NA, index=found.index)).isna()]
    asked = found.get("swept.compute_of", pd.Series(pd.NA, index=found.index)).astype("string")
    named = asked.map(lambda text: re.search(r'neurons": (\d+)', text), na_action="ignore")
    of = named.map(lambda match: int(match[1]) if match else FULL, na_action="ignore").fillna(FULL)
    parts = ["part.deliver", "part.update", "part.thread_wait", "part.collocate"]
    return found.assign(neurons_of=of.astype(int), **{COMPUTING: found[parts].sum(axis=1)})


def _share(runs: Runs, neurons: int, ranks: int, column: str) -> Quantity:
    return share(pick(_sized(runs), machine=IB, neurons_of=neurons, ranks=ranks), column)


def _table_1(runs: Runs):
    rows = []
    columns = {"computation": COMPUTING, "communication": MOVING, "barrier": BARRIER}
    for line in papers.rows("simula_table1"):
        neurons = next(n for n, name in NETWORKS.items() if name == line["network"])
        row = {"network": line["network"], "ranks": int(line["procs"]),
               "published real-time factor": float(line["wallclock_s"]) / SECONDS}  # fmt: skip
        own = pick(_sized(runs), machine=IB, neurons_of=neurons, ranks=row["ranks"])
        row["real_time_factor"] = mean(own, "real_time_factor")
        for name, column in columns.items():
            row[f"published {name} (%)"] = float(line[f"{name}_pct"])
            row[f"{name} (%)"] = share(own, column)
        rows.append(row)
    return plots.tabulated(pd.DataFrame(rows), "Table I, and simulated InfiniBand")


# Figures 4 to 6: boards, and processes on Intel servers beside them


def jetson_core(runs: Runs) -> Answer:
    """How many times as long a core of the Jetson takes as one of the servers."""
    return _core(runs, JETSON)


def trenz_core(runs: Runs) -> Answer:
    """The same of a core of the Trenz board."""
    return _core(runs, TRENZ)


def _core(runs: Runs, machine: str) -> Answer:
    server = pick(_sized(runs), machine=IB, neurons_of=FULL, ranks=1)
    return Answer(times(pick(runs["arm"], machine=machine, ranks=1), server, "real_time_factor"))


def boards_8(runs: Runs) -> Answer:
    """Real-time factor on one rank over that on 8 ranks, two Jetson boards."""
    frame = means(runs["arm"].runs, ["machine", "ranks"], ["real_time_factor", MOVING, BARRIER])
    figure = plots.lines(
        frame, "ranks", "real_time_factor", "simula-4", "Boards, and Intel processes beside them",
        "Real-time factor, one rank per core; simulated.", hue="machine", log="xy",
    )  # fmt: skip
    one, eight = (pick(runs["arm"], machine=JETSON, ranks=n) for n in (1, 8))
    value = times(one, eight, "real_time_factor", OVER_RANKS)
    return Answer(value, figures=[figure], tables=[plots.tabulated(frame, "Seconds per simulated second")])


def bath_extends(runs: Runs) -> Answer:
    """Real-time factor of 8 ranks on boards over that of the most ranks on boards and servers."""
    most = pick(runs["arm"], machine=BATH)
    if most.empty:
        raise Lacking("no run on boards and servers is complete")
    most = pick(most, ranks=levels(most, "ranks")[-1])
    alone = pick(runs["arm"], machine=JETSON, ranks=8)
    return Answer(times(alone, most, "real_time_factor", OVER_RANKS))


# Tables II to IV


def products_x86(runs: Runs) -> Answer:
    """Rows of Table II whose energy is time x power."""
    return _products(X86)


def products_arm(runs: Runs) -> Answer:
    """Rows of Table III whose energy is time x power."""
    return _products(ARM)


def four_cores(runs: Runs) -> Answer:
    """Real-time factor on one core of a server over that on four."""
    one, four = (pick(_sized(runs), machine=IB, neurons_of=FULL, ranks=n) for n in (1, 4))
    return Answer(times(one, four, "real_time_factor", OVER_RANKS))


def least_x86(runs: Runs) -> Answer:
    """Ranks with the least energy above the baseline on one server."""
    own = pick(_sized(runs), machine=IB, neurons_of=FULL, ranks=[1, 2, 4, 8, 16])
    return _least(own, IB, "simula-t2", "Energy on servers by ranks", X86)


def least_arm(runs: Runs) -> Answer:
    """Ranks with the least energy above the baseline on boards."""
    return _least(pick(runs["arm"], machine=JETSON), JETSON, "simula-t3", "Energy on boards by ranks", ARM)


def ethernet_over_infiniband(runs: Runs) -> Answer:
    """Energy above the baseline with Ethernet over that with InfiniBand, 32 ranks."""
    own = pick(_sized(runs), ranks=32)
    eth, ib = (_energies(pick(own, machine=name), name) for name in (ETH, IB))
    return Answer(times(eth, ib, "net_j"))


def less_power(runs: Runs) -> Answer:
    """How much less InfiniBand draws on four servers, by the profiles."""
    cards = [machines.load(name).get("power.card").value for name in (ETH, IB)]
    return Answer(Quantity(4 * (cards[0] - cards[1]), unit="W", kind="modelled"))


def power_64(runs: Runs) -> Answer:
    """Power above the baseline of 64 cores with Ethernet, by the profile."""
    rows = []
    for p in simula.points(X86):
        name = IB if p.note == "IB" else ETH
        row = {"cores": p.label, "note": p.note, "published time (s)": p.time_s, "published W": p.power_w}
        row |= {"modelled W": _above_w(name, p.cores), "published J": p.energy_j}
        rows.append(row | {"time x power (J)": p.product_j, "with baseline (J)": p.gross_j})
    table = plots.tabulated(pd.DataFrame(rows), "Table II, and power by the profiles")
    return Answer(Quantity(_above_w(ETH, 64), unit="W", kind="modelled"), tables=[table])


def event_arm(runs: Runs) -> Answer:
    """Published energy of the boards per synaptic event, recurrent and external ones at 3.2 Hz."""
    return _event("ARM (Jetson TX1)")


def event_x86(runs: Runs) -> Answer:
    """The same of the servers."""
    return _event("Intel (Westmere)")


def event_here(runs: Runs) -> Answer:
    """Energy above the baseline per synaptic event of the mini-app on four cores of a simulated Jetson."""
    own = _energies(pick(runs["arm"], machine=JETSON, ranks=4), JETSON)
    per_event = 1e6 * own["net_j"] / (own["synaptic_events"] + own["external_events"]).astype(float)
    found = mean(own.assign(uj=per_event), "uj", "µJ")
    return Answer(Quantity(found.value, found.low, found.high, "µJ", "modelled") if found else found)


def _products(table: str) -> Answer:
    points = simula.points(table)
    slips = [line for line in simula.slips() if f"Table {'II' if table == X86 else 'III'}," in line]
    return Answer(Quantity(float(sum(p.consistent for p in points)), kind="counted"), " ".join(slips))


def _least(own: pd.DataFrame, machine: str, name: str, title: str, table: str) -> Answer:
    energy = _energies(own, machine).groupby("ranks", as_index=False)["net_j"].mean()
    if len(energy) < 3:
        raise Lacking("three or more numbers of ranks are needed")
    published: Callable[[Point], bool] = lambda p: p.cores <= 16 and "HT" not in p.label  # noqa: E731
    theirs = [
        {"ranks": p.cores, "J": p.energy_j, "who": "published"} for p in simula.points(table) if published(p)
    ]
    ours = [{"ranks": int(r.ranks), "J": SECONDS * r.net_j, "who": "mini-app"} for r in energy.itertuples()]
    figure = plots.lines(
        pd.DataFrame(theirs + ours), "ranks", "J", name, title,
        "J above the baseline for 10 simulated seconds: published, and modelled power over simulated time.",
        hue="who", log="xy",
    )  # fmt: skip
    return Answer(
        Quantity(float(energy.loc[energy["net_j"].idxmin(), "ranks"]), kind="modelled"), figures=[figure]
    )


def _energies(own: pd.DataFrame, machine: str) -> pd.DataFrame:
    """Runs with `net_j`, joule above the baseline per simulated second: modelled power, simulated time."""
    watts = own["ranks"].map(lambda ranks: _above_w(machine, int(ranks))).astype(float)
    return own.assign(net_j=watts * own["real_time_factor"])


def _above_w(machine: str, cores: int) -> float:
    """Power above the baseline of so many busy cores, and of the cards of several nodes."""
    profile = machines.filled(machines.load(machine))
    nodes = -(-cores // round(profile.get("node.cores").value))
    cards = nodes * profile.get("power.card").value if nodes > 1 else 0.0
    return cores * profile.get("power.core").value + cards


def _event(platform: str) -> Answer:
    fitting = simula.reproducing()
    if not fitting:
        return Answer(missing("no definition of an event gives the published figures"))
    value = simula.microjoule(simula.table4()[platform][0], fitting[0])
    slips = [line for line in simula.slips() if line.startswith("Table IV")]
    return Answer(Quantity(value, unit="µJ", kind="literature"), " ".join(slips))
