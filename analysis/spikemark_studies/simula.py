"""Answers to papers/simula.yaml: real-time and energy of DPSNN (Simula et al. 2019).

Times are of two kinds. Those of the mini-app are simulated on clusters of that time, and say how
parts relate to each other. Those of DPSNN itself are predicted by the anchored model from the
published rows with fewest cores, and are judged on the others. Energies are modelled power, by the
profiles, times simulated time. Published tables stand beside ours.
"""

import re
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pandas as pd

from spikemark.activity import (
    Recording,
    isi_cv,
    population_rate,
    recording_of,
    up_down_states,
)
from spikemark.models.exchange_times import EXCHANGES
from spikemark.models.loggp import Traffic
from spikemark.models.node_power import NodePower, PowerReading, fitted
from spikemark.network.presets import dpsnn
from spikemark.prediction import anchors, evidence, performance, points, spread_fit
from spikemark.prediction.draws import Z95
from spikemark.prediction.layout import MachineLayout
from spikemark.prediction.points import PublishedRun
from spikemark.prediction.program_costs import DPSNN
from spikemark.prediction.workload import Loads
from spikemark.quantities.elements import Figure
from spikemark.quantities.quantity import Quantity, missing
from spikemark.quantities.table import Cell, Column, Table
from spikemark.quantities.words import listed
from spikemark.report import plots

from .claims import FARTHEST_FACTOR, StudyAnswer
from .pick import OVER_RANKS, groups, mean, means, order, pick, share, times, with_cv
from .profiles import (
    above_w,
    assumed_profile,
    drawn_interconnects,
    interconnect_of,
    profile_value,
)
from .published import papers, simula
from .published.simula import ARM, X86, EnergyPoint
from .score import PredictionTest
from .study import Lacking, Runs, answers_claim

IB, ETH = "dpsnn-westmere-ib", "dpsnn-westmere-eth"
JETSON, TRENZ = "jetson-tx1", "trenz-zu9eg"
PUBLISHED_S = 10  #: simulated seconds of the published runs
NEURONS = simula.NEURONS
LARGER = {"320KN": 327_680, "1280KN": 1_310_720}  #: neurons of larger networks
NEURONS_BY_NAME = {"20480N": NEURONS, **LARGER}  #: by the name in Table I
#: Series of published times that are predicted from their rows with fewest processes.
TABLE_1 = "SIM-T1-20480N"
SERIES_WITH_ETHERNET = "SIM-T2-ETH"
OWN_SERIES = "LOC-DPSNN"  #: DPSNN, run by this project on one and two cores of another processor
OUT_OF_SAMPLE = ("SIM-T2", "SIM-T3", TABLE_1)
TABLE_OF_SERIES = {
    TABLE_1: "Table I",
    "SIM-T1-320KN": "Table I, 320KN",
    "SIM-T1-1280KN": "Table I, 1280KN",
    "SIM-T2": "Table II",
    "SIM-T3": "Table III",
}
FEWEST_PROCESSES = {TABLE_1: (4, 32), "SIM-T2": (1, 2), "SIM-T3": (1, 2)}
FLUCTUATION_BIN_MS, UP_DOWN_BIN_MS = 10, 5
#: Where presets/dpsnn.py has its parameters from, and the rate of the awake network by them on a
#: grid of 1 ms, on which that preset has another rate of external events.
PUBLISHED_CONFIGURATION = "APE-group/201903LargeScaleSimScaling, config/AW2.8Hz_lambda04"
UNTUNED_COARSE_HZ = 3.0
NAMED_HZ = 2.8  #: mean rate by which the authors name that configuration
FOREGROUND = "network-F"  #: cells that alternate between up and down states
CARDS = ("IB", "ETH")  #: networks between servers, by their names in Table II
CORES_OF_SERVER = 16
CORES_OF_FIT = (1, 2, 16, 32)  #: rows of Table II that powers are fitted to
#: Thermal design power by Intel's specifications: Xeon X5660 and X5670, and E5620.
SIMILAR_PROCESSOR_W, COOLER_PROCESSOR_W = 95, 80
LEAST_OF_OPERATIONS = 0.8  #: that a similar server does, over the usual ones, if all of it is busy
LEAST_BYTES = 1e-3  #: of a message that is as good as empty
COMPUTING, MOVING, BARRIER = "computing", "part.exchange", "part.waiting"
COMPUTING_PARTS = ["part.deliver", "part.update", "part.thread_wait", "part.collocate"]


# Section II: what the networks do


def _activity(runs: Runs, state: str) -> list[Recording]:
    """Recorded spikes of the network in a state, a recording for each seed.

    Raises Lacking where no run is complete.
    """
    frames = runs["dpsnn-activity"]
    chosen = pick(frames, state=state)
    if chosen.empty:
        raise Lacking(f"no run in the state {state} is complete")
    return [recording_of(frames.records[id]) for id in chosen["id"]]


def _of_seeds(values: list[float], unit: str = "") -> Quantity:
    """The mean over seeds, with the least and the largest of them."""
    return Quantity(float(np.mean(values)), min(values), max(values), unit, "simulated")


def _mean_rate_hz(recorded: Recording) -> float:
    """Spikes of a neuron in a second."""
    neurons = sum(population.size for population in recorded.populations)
    return len(recorded.spikes) / neurons / recorded.seconds


def _fluctuation(recorded: Recording) -> float:
    """SD over mean of the rate of all neurons in bins of FLUCTUATION_BIN_MS."""
    rate_hz = population_rate(recorded, FLUCTUATION_BIN_MS).hz
    return float(rate_hz.std() / rate_hz.mean())


@answers_claim
def _awake_rate(runs: Runs) -> StudyAnswer:
    """Mean rate of the awake network, at a step of 0.1 ms.

    The interval is over seeds, over the step, and over what the configuration is named by.
    """
    of_seeds = _of_seeds([_mean_rate_hz(each) for each in _activity(runs, "aw")], "Hz")
    assert of_seeds.interval
    least, most = of_seeds.interval
    low = min(least, UNTUNED_COARSE_HZ, NAMED_HZ)
    note = (
        f"Efficacies and the {dpsnn.EXTERNAL_HZ[0]:g} Hz of external events are those of another"
        f" paper of the authors ({PUBLISHED_CONFIGURATION}), a grid of columns, which is named by"
        f" its {NAMED_HZ:g} Hz; this paper says about {simula.parameter('external_rate'):g} Hz and"
        " has no configuration. At a step of 1 ms the same network, untuned, fires at"
        f" {UNTUNED_COARSE_HZ:.1f} Hz."
    )
    return StudyAnswer(Quantity(of_seeds.number, low, most, "Hz", "simulated"), note)


@answers_claim
def _awake_irregularity(runs: Runs) -> StudyAnswer:
    """SD over mean of the intervals between spikes of a neuron, mean over neurons, awake.

    Neurons with few spikes have none; the note says how many.
    """
    values, shares = [], []
    for recorded in _activity(runs, "aw"):
        everyone = {"all": [population.name for population in recorded.populations]}
        of_all = isi_cv(recorded, everyone)["all"]
        if of_all.cv is None:
            raise Lacking("a longer run: hardly any neuron has enough spikes")
        values.append(of_all.cv)
        neurons = sum(population.size for population in recorded.populations)
        shares.append(100 * (1 - of_all.neurons / neurons))
    note = f"{max(shares):.3g} % of the neurons have too few spikes for it and are left out."
    return StudyAnswer(_of_seeds(values), note)


@answers_claim
def _awake_synchrony(runs: Runs) -> StudyAnswer:
    """SD over mean of the rate of the awake network; the note has that of slow waves."""
    awake = _of_seeds([_fluctuation(each) for each in _activity(runs, "aw")])
    slow = _of_seeds([_fluctuation(each) for each in _activity(runs, "sw")])
    rates_hz = [_mean_rate_hz(each) for each in _activity(runs, "aw")]
    spikes_of_bin = float(np.mean(rates_hz)) * NEURONS * FLUCTUATION_BIN_MS / 1e3
    note = (
        f"Independent neurons would have {spikes_of_bin**-0.5:.1g}; our slow waves have"
        f" {slow.number:.3g}, in bins of {FLUCTUATION_BIN_MS} ms as well."
    )
    return StudyAnswer(awake, note)


@answers_claim
def _slow_waves(runs: Runs) -> StudyAnswer:
    """Up states of the foreground cells in a second, in the state of slow waves."""
    frequencies_hz = []
    for recorded in _activity(runs, "sw"):
        states = up_down_states(population_rate(recorded, UP_DOWN_BIN_MS, [FOREGROUND]))
        frequencies_hz.append(states.frequency_hz or 0.0)
    return StudyAnswer(_of_seeds(frequencies_hz, "Hz"))


# Times of DPSNN itself, out of sample


@answers_claim
def _predicted_4(runs: Runs) -> StudyAnswer:
    """Seconds per simulated second on 4 cores of a server, from the rows of 1 and 2 (Table II)."""
    predicted = _from_fewest("SIM-T2")
    columns = [
        Column("cores", "processes", "given"),
        Column("network", "network"),
        Column("published", "published (s / s)", "literature"),
        Column("predicted", "predicted from the fewest cores (s / s)", "modelled"),
        Column("off", "off by (%)", "modelled"),
    ]
    rows: list[dict[str, Cell]] = []
    for series in OUT_OF_SAMPLE:
        rows += _from_fewest(series).rows
    for name in LARGER:
        rows += _larger(name).rows
    title = "DPSNN itself: predicted from the rows with fewest cores, or of the smallest network"
    figure = _figure_of_predictions(rows)
    table = Table(columns, rows, title, "predicted")
    return StudyAnswer(predicted.of(4), figures=[figure], tables=[table])


@answers_claim
def _predicted_8(runs: Runs) -> StudyAnswer:
    """The same on 8 cores."""
    return StudyAnswer(_from_fewest("SIM-T2").of(8))


@answers_claim
def _predicted_16(runs: Runs) -> StudyAnswer:
    """The same with 16 processes on the 8 cores of a server."""
    return StudyAnswer(_from_fewest("SIM-T2").of(16))


@answers_claim
def _predicted_32(runs: Runs) -> StudyAnswer:
    """The same on 32 processes with InfiniBand."""
    return StudyAnswer(_from_fewest("SIM-T2").of(32))


@answers_claim
def _predicted_64(runs: Runs) -> StudyAnswer:
    """The same on 64 processes with InfiniBand."""
    return StudyAnswer(_from_fewest("SIM-T2").of(64))


@answers_claim
def _predicted_arm_4(runs: Runs) -> StudyAnswer:
    """Seconds per simulated second on 4 cores of a board, from the rows of 1 and 2 (Table III)."""
    return StudyAnswer(_from_fewest("SIM-T3").of(4))


@answers_claim
def _predicted_arm_8(runs: Runs) -> StudyAnswer:
    """The same on 8 cores of two boards."""
    return StudyAnswer(_from_fewest("SIM-T3").of(8))


@answers_claim
def _predicted_256(runs: Runs) -> StudyAnswer:
    """Seconds per simulated second on 256 processes, from the rows of 4 and 32 (Table I)."""
    return StudyAnswer(_from_fewest(TABLE_1).of(256))


@answers_claim
def _predicted_320k_4(runs: Runs) -> StudyAnswer:
    """Seconds per simulated second of 320KN on 4 processes, from those of the smallest network."""
    return StudyAnswer(_larger("320KN").of(4))


@answers_claim
def _predicted_320k_256(runs: Runs) -> StudyAnswer:
    """The same on 256 processes."""
    return StudyAnswer(_larger("320KN").of(256))


@answers_claim
def _predicted_1280k_4(runs: Runs) -> StudyAnswer:
    """The same of 1280KN on 4 processes."""
    return StudyAnswer(_larger("1280KN").of(4))


@answers_claim
def _predicted_1280k_256(runs: Runs) -> StudyAnswer:
    """The same of 1280KN on 256 processes."""
    return StudyAnswer(_larger("1280KN").of(256))


@dataclass(frozen=True)
class Predicted:
    """Times of a series, predicted from its rows with fewest cores."""

    rows: list[dict[str, Cell]]  #: those that were predicted, beside the published ones
    draws: dict[int, np.ndarray]  #: seconds per simulated second by processes, [draw]

    def of(self, processes: int) -> Quantity:
        """The predicted time on so many processes."""
        for row in self.rows:
            if row["cores"] == processes:
                predicted = row["predicted"]
                assert isinstance(predicted, Quantity)
                return predicted
        return missing(f"no published run on {processes} processes")


@cache
def _from_fewest(series: str, scaled: str = "", scale: float = 1.0) -> Predicted:
    """Runs of the published network in a series, predicted from those with fewest processes.

    Spreads of errors come without this series, as in `spikemark score`. Runs with Ethernet and with
    hyper-threads on one core are neither used nor predicted. `scaled`: a cost of DPSNN that is
    `scale` times what the runs of others say.
    """
    published = points.published()
    of_series = []
    for run in published:
        is_of_series = run.series == series and not run.part
        if is_of_series and run.network.neurons == NEURONS and run.cores is not None:
            of_series.append(run)
    ordered = sorted(of_series, key=lambda run: run.ranks)
    fewest = FEWEST_PROCESSES[series]
    anchor = tuple(run for run in ordered if run.ranks in fewest and _has_own_cores(run))
    targets = tuple(run for run in ordered if run.ranks not in fewest and _is_alike(run, anchor))
    return _predicted(anchor, targets, series, scaled, scale)


@cache
def _larger(name: str) -> Predicted:
    """Runs of a larger network of Table I, predicted from those of the smallest one.

    From 4 and 32 processes; spreads of errors come without this network.
    """
    published = points.published()
    anchor = []
    for run in published:
        if run.series == TABLE_1 and not run.part and run.ranks in FEWEST_PROCESSES[TABLE_1]:
            anchor.append(run)
    series = f"SIM-T1-{name}"
    targets = [run for run in published if run.series == series and not run.part]
    return _predicted(tuple(anchor), tuple(targets), series)


def _predicted(
    anchor: tuple[PublishedRun, ...],
    targets: tuple[PublishedRun, ...],
    series: str,
    scaled: str = "",
    scale: float = 1.0,
) -> Predicted:
    """Times of the targets from those of the anchor, beside the published ones.

    `scaled`, `scale`: as above.
    """
    test = PredictionTest(anchor, targets, "nodes")
    spreads = spread_fit.fit_spreads(tuple(run for run in points.published() if test.allowed(run)))
    if scaled:
        is_scaled = np.array([cost.name == scaled for cost in DPSNN.costs])
        costs = spreads.costs[DPSNN.name] + np.where(is_scaled, np.log(scale), 0.0)
        spreads = replace(spreads, costs={**spreads.costs, DPSNN.name: costs})
    stated = [test.stated(run) for run in targets]
    predicted = anchors.predicted(stated, anchor, spreads)
    rows: list[dict[str, Cell]] = []
    for run, draws in zip(targets, predicted.total, strict=True):
        seconds = _of_draws(draws, "s / s")
        assert run.seconds is not None
        rows.append(
            {
                "cores": run.ranks,
                "network": series,
                "published": run.seconds,
                "predicted": seconds,
                "off": 100 * (seconds.number / run.seconds - 1),
            }
        )
    by_processes = {run.ranks: draws for run, draws in zip(targets, predicted.total, strict=True)}
    return Predicted(rows, by_processes)


def _has_own_cores(run: PublishedRun) -> bool:
    """Whether each process has a core of its own."""
    return run.cores >= run.ranks


def _is_alike(run: PublishedRun, anchor: tuple[PublishedRun, ...]) -> bool:
    """Whether a run is on the machine of the anchor, which its interconnect belongs to."""
    return run.machine.name == anchor[0].machine.name


def _figure_of_predictions(rows: list[dict[str, Cell]]) -> Figure:
    """Published and predicted times over processes, a panel for each table."""
    long = []
    for row in rows:
        predicted = row["predicted"]
        assert isinstance(predicted, Quantity)
        common = {"processes": row["cores"], "table": TABLE_OF_SERIES[str(row["network"])]}
        long.append({**common, "who": "published", "seconds": row["published"]})
        interval = {"low": predicted.low, "high": predicted.high}
        long.append({**common, "who": "predicted", "seconds": predicted.value, **interval})
    return plots.lines(
        pd.DataFrame(long),
        "processes",
        "seconds",
        "simula-predicted",
        "DPSNN, predicted from the rows with fewest processes",
        "Seconds per simulated second; published, and modelled with 95 % intervals.",
        hue="who",
        low="low",
        high="high",
        panel="table",
        log="xy",
    )


# Table I


@answers_claim
def _fastest_ranks(runs: Runs) -> StudyAnswer:
    """Ranks on which 20 480 neurons run fastest, of all that were run; beside Table I.

    The interval is over seeds and repetitions.
    """
    parts = [COMPUTING, MOVING, BARRIER]
    frame = means(
        pick(_sized(runs), neurons_of=NEURONS), ["machine", "ranks"], ["real_time_factor", *parts]
    )
    everywhere = pick(_sized(runs), machine=IB, neurons_of=NEURONS)
    if len(set(everywhere["ranks"]) & {4, 32, 256}) < 3:
        raise Lacking("4, 32 and 256 ranks are needed")
    long = frame.melt(["machine", "ranks"], parts, "part", "seconds")
    long["part"] = long["part"].str.removeprefix("part.")
    figure = plots.lines(
        long,
        "ranks",
        "seconds",
        "simula-1",
        "Parts of the run time by ranks",
        "Seconds per simulated second; simulated.",
        hue="part",
        panel="machine",
        log="xy",
    )
    compared = sorted({int(ranks) for ranks in everywhere["ranks"]})
    note = f"Of {listed([str(ranks) for ranks in compared])} ranks."
    return StudyAnswer(_fastest_of(everywhere), note, figures=[figure], tables=[_table_1(runs)])


def _fastest_of(runs: pd.DataFrame) -> Quantity:
    """Ranks with the least real-time factor, with the interval over seeds and repetitions."""
    by_ranks = runs.groupby("ranks")["real_time_factor"].mean().astype(float)
    fastest = float(by_ranks.index[int(by_ranks.to_numpy().argmin())])
    of_seeds = [fastest]
    for _, of_seed in groups(runs, "seed", "repetition"):
        if set(of_seed["ranks"]) == set(by_ranks.index):
            least = of_seed.sort_values("real_time_factor").iloc[0]
            of_seeds.append(float(least["ranks"]))
    return Quantity(fastest, min(of_seeds), max(of_seeds), kind="simulated")


@answers_claim
def _barrier_4(runs: Runs) -> StudyAnswer:
    """Share of the barrier in the run time on 4 ranks."""
    return StudyAnswer(_share(runs, NEURONS, 4, BARRIER))


@answers_claim
def _barrier_32(runs: Runs) -> StudyAnswer:
    """The same on 32 ranks."""
    return StudyAnswer(_share(runs, NEURONS, 32, BARRIER))


@answers_claim
def _barrier_by_jitter(runs: Runs) -> StudyAnswer:
    """The same by the spread of compute times, the profile's and larger ones."""
    frame = pick(with_cv(runs["interconnect"]), machine=IB, ranks=32)
    percent = 100 * frame[BARRIER] / frame["real_time_factor"]
    by_spread = means(frame.assign(percent=percent), ["cv"], ["percent"])
    figure = plots.lines(
        by_spread,
        "cv",
        "percent",
        "simula-jitter",
        "Share of the barrier by the spread of compute times",
        "%, 32 ranks, InfiniBand; simulated.",
    )
    shares = [
        f"{percent:.1f} % at {cv:g}" for cv, percent in by_spread[["cv", "percent"]].to_numpy()
    ]
    return StudyAnswer("; ".join(shares), figures=[figure])


@answers_claim
def _shares_4(runs: Runs) -> StudyAnswer:
    """Parts of the run time on 4 ranks, the longest first."""
    return StudyAnswer(_parts_in_order(runs, 4))


@answers_claim
def _shares_32(runs: Runs) -> StudyAnswer:
    """The same on 32 ranks."""
    return StudyAnswer(_parts_in_order(runs, 32))


@answers_claim
def _shares_256(runs: Runs) -> StudyAnswer:
    """The same on 256 ranks."""
    return StudyAnswer(_parts_in_order(runs, 256))


def _parts_in_order(runs: Runs, ranks: int) -> list[str] | Quantity:
    parts = {"computation": COMPUTING, "communication": MOVING, "barrier": BARRIER}
    return order({name: _share(runs, NEURONS, ranks, part) for name, part in parts.items()})


@answers_claim
def _shares_within(runs: Runs) -> StudyAnswer:
    """How many of the 21 shares of Table I are ours to within ten points."""
    close = 0
    decided = 0
    for row in _table_1(runs).rows:
        for name in ("computation", "communication", "barrier"):
            ours, printed = row[f"{name} (%)"], row[f"published {name} (%)"]
            if isinstance(ours, Quantity) and ours and isinstance(printed, float):
                decided += 1
                close += abs(ours.number - printed) <= 10
    return StudyAnswer(f"{close} of the {decided} that have runs")


@answers_claim
def _scaling_by_size(runs: Runs) -> StudyAnswer:
    """Networks by how many times as fast they run on 256 ranks as on 4, the most first."""
    gains = {}
    for name, neurons in NEURONS_BY_NAME.items():
        few = _on_servers(runs, 4, neurons=neurons)
        many = _on_servers(runs, 256, neurons=neurons)
        if few.empty or many.empty:
            raise Lacking(f"runs of {name} on 4 and 256 ranks are needed")
        gain = few["real_time_factor"].mean() / many["real_time_factor"].mean()
        gains[name] = Quantity(float(gain), kind="simulated")
    parts = [f"{name} {gain.number:.3g}" for name, gain in gains.items()]
    return StudyAnswer(order(gains), f"Times as fast: {', '.join(parts)}.")


def _sized(runs: Runs) -> pd.DataFrame:
    """Simulated servers with the jitter of the profile.

    `neurons_of` are the neurons whose compute times they have, `computing` the seconds of that.
    """
    frame = runs["interconnect"].runs
    if "swept.cv" in frame:
        frame = frame[frame["swept.cv"].isna()]
    neurons = pd.Series(NEURONS, index=frame.index)
    if "swept.compute_of" in frame:
        networks = frame["swept.compute_of"].dropna().astype(str)
        neurons.update(networks.map(_neurons_of))
    computing_s = frame[COMPUTING_PARTS].sum(axis=1)
    return frame.assign(neurons_of=neurons, **{COMPUTING: computing_s})


def _neurons_of(network: str) -> int:
    """The neurons that the text of a swept network states, or those of the published one."""
    stated = re.search(r'neurons": (\d+)', network)
    return int(stated[1]) if stated else NEURONS


def _on_servers(runs: Runs, *ranks: int, neurons: int = NEURONS) -> pd.DataFrame:
    """Runs on servers with InfiniBand."""
    return pick(_sized(runs), machine=IB, neurons_of=neurons, ranks=list(ranks))


def _share(runs: Runs, neurons: int, ranks: int, column: str) -> Quantity:
    return share(_on_servers(runs, ranks, neurons=neurons), column)


def _table_1(runs: Runs) -> Table:
    """Table I, and ours beside it."""
    rows = []
    columns = {"computation": COMPUTING, "communication": MOVING, "barrier": BARRIER}
    for line in papers.rows("simula_table1"):
        ranks = int(line["procs"])
        simulated = _on_servers(runs, ranks, neurons=NEURONS_BY_NAME[line["network"]])
        row: dict[str, object] = {
            "network": line["network"],
            "ranks": ranks,
            "published real-time factor": float(line["wallclock_s"]) / PUBLISHED_S,
            "real_time_factor": mean(simulated, "real_time_factor"),
        }
        for name, column in columns.items():
            row[f"published {name} (%)"] = float(line[f"{name}_pct"])
            row[f"{name} (%)"] = share(simulated, column)
        rows.append(row)
    return plots.tabulated(pd.DataFrame(rows), "Table I, and simulated InfiniBand")


# Figures 4 to 6: boards, and processes on Intel servers beside them


@answers_claim
def _jetson_core(runs: Runs) -> StudyAnswer:
    """How many times as long a core of the Jetson takes as one of the servers."""
    return _core(runs, JETSON)


@answers_claim
def _trenz_core(runs: Runs) -> StudyAnswer:
    """The same of a core of the Trenz board."""
    return _core(runs, TRENZ)


def _core(runs: Runs, machine: str) -> StudyAnswer:
    """Real-time factor on one core of a machine over that on one core of a server."""
    on_machine = pick(runs["arm"], machine=machine, ranks=1)
    ratio = times(on_machine, _on_servers(runs, 1), "real_time_factor")
    return StudyAnswer(_over_profiles(ratio, _drawn_s(machine, 1) / _drawn_s(IB, 1)))


@cache
def _drawn_s(machine: str, ranks: int) -> np.ndarray:
    """Seconds of the mini-app on so many ranks, over what the profile leaves open, [draw].

    Per simulated second, of the published network; a rank has a core.
    """
    profile = assumed_profile(machine)
    description = dpsnn.describe(neurons=NEURONS)
    rates_hz = np.full(len(description["network"]["populations"]), simula.parameter("mean_rate"))
    loads = Loads.count(description, ranks, 1, rates_hz, "conventional")
    layout = MachineLayout.from_machine(profile, ranks, 1)
    parts = performance.performance(loads, profile, layout).parts
    seconds: np.ndarray = np.sum(list(parts.values()), axis=0)
    return seconds


def _over_profiles(ratio: Quantity, drawn: np.ndarray) -> Quantity:
    """A simulated ratio, as wide as the model has it over what the profiles leave open."""
    if ratio.value is None:
        return ratio
    low, middle, high = (float(end) for end in np.quantile(drawn, [0.025, 0.5, 0.975]))
    number = ratio.number
    return Quantity(number, number * low / middle, number * high / middle, ratio.unit, ratio.kind)


@answers_claim
def _boards_8(runs: Runs) -> StudyAnswer:
    """Real-time factor on one rank over that on 8 ranks, two Jetson boards."""
    frame = means(runs["arm"].runs, ["machine", "ranks"], ["real_time_factor", MOVING, BARRIER])
    figure = plots.lines(
        frame,
        "ranks",
        "real_time_factor",
        "simula-4",
        "Boards, and Intel processes beside them",
        "Real-time factor, one rank per core; simulated.",
        hue="machine",
        log="xy",
    )
    one_rank = pick(runs["arm"], machine=JETSON, ranks=1)
    eight_ranks = pick(runs["arm"], machine=JETSON, ranks=8)
    ratio = times(one_rank, eight_ranks, "real_time_factor", OVER_RANKS)
    value = _over_profiles(ratio, _drawn_s(JETSON, 1) / _drawn_s(JETSON, 8))
    table = plots.tabulated(frame, "Seconds per simulated second")
    return StudyAnswer(value, figures=[figure], tables=[table])


@answers_claim
def _slower_on_boards(runs: Runs) -> StudyAnswer:
    """Time of DPSNN on four cores of a board over that of a server, from the rows of 1 and 2."""
    of_board, of_server = _from_fewest("SIM-T3").draws[4], _from_fewest("SIM-T2").draws[4]
    return StudyAnswer(_of_draws(of_board / of_server))


@answers_claim
def _four_cores_of_board(runs: Runs) -> StudyAnswer:
    """Time of DPSNN on one core of a board over that on four, from runs of this project alone.

    Neither the board's processor nor a time of the authors is known to the model, so seconds would
    be far off.
    """
    return _times_as_fast("SIM-T3", 4)


@answers_claim
def _two_cores_of_board(runs: Runs) -> StudyAnswer:
    """The same on two cores."""
    return _times_as_fast("SIM-T3", 2)


@answers_claim
def _two_cores(runs: Runs) -> StudyAnswer:
    """Time of DPSNN on one core of a server over that on two, from runs of this project alone."""
    return _times_as_fast("SIM-T2", 2)


def _times_as_fast(table: str, processes: int) -> StudyAnswer:
    """Time of DPSNN on one core over that on several, predicted from OWN_SERIES.

    Neither costs nor spreads rest on any time of DPSNN that its authors published. Two runs hardly
    decide its costs, so the interval also spans first guesses of them at either end of theirs. The
    note says how far the same prediction is from the published time itself.
    """
    asked = []
    own = []
    others = []
    published_s = {}
    for run in points.published():
        if run.series == table and run.ranks in (1, processes):
            asked.append(replace(run, seconds=None))
            published_s[run.ranks] = run.seconds
        if run.series == OWN_SERIES:
            own.append(run)
        if run.program != DPSNN.name or run.series == OWN_SERIES:
            others.append(run)
    one, several = sorted(asked, key=lambda run: run.ranks)
    ratios = []
    times_of_guesses_s = []
    for other_guess in _other_guesses():
        spreads = spread_fit.fit_spreads(tuple(others), other_guess)
        total_s = anchors.predicted([one, several], own, spreads).total
        ratios.append(_of_draws(total_s[0] / total_s[1]))
        times_of_guesses_s.append(float(np.median(total_s[1])))
    true_s = published_s[processes]
    assert true_s is not None
    times_of_measured = times_of_guesses_s[0] / true_s
    note = (
        f"The same prediction has {times_of_guesses_s[0]:.3g} s on {processes} cores, which is"
        f" {times_of_measured:.3g} times the {true_s:.3g} s that were measured: it does not know"
        " this processor, and only the ratio is asked of it."
    )
    return StudyAnswer(_over_guesses(ratios), note)


def _other_guesses(part: str = "kernel") -> list[spread_fit.OtherGuess | None]:
    """None for the first guesses of DPSNN's costs, and each cost of a part at either end."""
    largest = float(np.exp(Z95 * evidence.COST_SD))
    guesses: list[spread_fit.OtherGuess | None] = [None]
    for cost in DPSNN.costs:
        if cost.part == part:
            for factor in (1 / largest, largest):
                guesses.append(spread_fit.OtherGuess(DPSNN.name, cost.name, factor))
    return guesses


@answers_claim
def _most_over_32(runs: Runs) -> StudyAnswer:
    """Time of DPSNN on 256 processes, predicted from 4 and 32, over the published one on 32."""
    [on_32] = [run for run in points.published() if run.series == TABLE_1 and run.ranks == 32]
    assert on_32.seconds is not None
    value = _of_draws(_from_fewest(TABLE_1).draws[256] / on_32.seconds)
    answers = [value.number]
    for cost in DPSNN.costs:
        for scale in (1 / FARTHEST_FACTOR, FARTHEST_FACTOR):
            draws = _from_fewest(TABLE_1, cost.name, scale).draws[256]
            answers.append(_of_draws(draws / on_32.seconds).number)
    return StudyAnswer(value, reach=(min(answers), max(answers)))


def _of_draws(draws: np.ndarray, unit: str = "") -> Quantity:
    low, middle, high = (float(value) for value in np.quantile(draws, [0.025, 0.5, 0.975]))
    return Quantity(middle, low, high, unit, "modelled")


@answers_claim
def _real_time_on_32(runs: Runs) -> StudyAnswer:
    """Seconds per simulated second of the smallest network on 32 processes, predicted without any
    row of Table I.
    """
    for run, seconds in _predicted_without_table_1():
        if run.series == TABLE_1 and run.ranks == 32:
            return StudyAnswer(seconds)
    raise Lacking("the row of 32 processes in the published points")


def _predicted_without_table_1() -> list[tuple[points.PublishedRun, Quantity]]:
    """The runs of Table I with their times, predicted from the other tables and from other papers
    on DPSNN.
    """
    asked = []
    others = []
    for run in points.published():
        if not run.series.startswith("SIM-T1"):
            others.append(run)
        elif not run.part:
            asked.append(run)
    anchor = tuple(run for run in others if run.program == asked[0].program)
    stated = [replace(run, seconds=None) for run in asked]
    predicted = anchors.predicted(stated, anchor, spread_fit.fit_spreads(tuple(others)))
    times = [_of_draws(draws, "s / s") for draws in predicted.total]
    return list(zip(asked, times, strict=True))


@answers_claim
def _table_1_without(runs: Runs) -> StudyAnswer:
    """Times of Table I, predicted from the other tables and from other papers on DPSNN."""
    columns = [
        Column("network", "network"),
        Column("processes", "processes", "given"),
        Column("published", "published (s / s)", "literature"),
        Column("predicted", "predicted (s / s)", "modelled"),
    ]
    rows: list[dict[str, Cell]] = []
    inside = 0
    for run, seconds in _predicted_without_table_1():
        assert run.seconds is not None and seconds.interval
        low, high = seconds.interval
        inside += low <= run.seconds <= high
        rows.append(
            {
                "network": run.series.removeprefix("SIM-T1-"),
                "processes": run.ranks,
                "published": run.seconds,
                "predicted": seconds,
            }
        )
    table = Table(columns, rows, "Table I, predicted without any row of it", "without")
    return StudyAnswer(f"{inside} of {len(rows)}", tables=[table])


@answers_claim
def _cost_per_event(runs: Runs) -> StudyAnswer:
    """Published time for a neuron of the largest network over that of the smallest, 4 processes.

    Neurons of both have as many synapses and fire as often.
    """
    seconds = {}
    for row in papers.rows("simula_table1"):
        if row["procs"] == "4":
            neurons = NEURONS_BY_NAME[row["network"]]
            seconds[row["network"]] = float(row["wallclock_s"]) / neurons
    ratio = seconds["1280KN"] / seconds["20480N"]
    return StudyAnswer(Quantity(ratio, kind="literature"))


@answers_claim
def _less_energy_on_boards(runs: Runs) -> StudyAnswer:
    """Energy above the baseline on four cores of a server over that on four cores of a board.

    Times are predicted from the rows of 1 and 2 cores; no power is fitted to a row of four.
    """
    slower = _of_draws(_from_fewest("SIM-T3").draws[4] / _from_fewest("SIM-T2").draws[4])
    of_server, of_board = _server_watts(4, ""), _board_watts(4)
    assert slower.interval and of_server.interval and of_board.interval
    fewest_watts = of_server.interval[0] / of_board.interval[1]
    most_watts = of_server.interval[1] / of_board.interval[0]
    fastest, slowest = slower.interval
    ratio = of_server.number / of_board.number / slower.number
    return StudyAnswer(
        Quantity(ratio, fewest_watts / slowest, most_watts / fastest, kind="modelled")
    )


# Tables II to IV


@answers_claim
def _products_x86(runs: Runs) -> StudyAnswer:
    """Rows of Table II whose energy is time x power."""
    return _products(X86)


@answers_claim
def _products_arm(runs: Runs) -> StudyAnswer:
    """Rows of Table III whose energy is time x power."""
    return _products(ARM)


@answers_claim
def _four_cores(runs: Runs) -> StudyAnswer:
    """Real-time factor on one core of a server over that on four."""
    one_core, four_cores_of_server = _on_servers(runs, 1), _on_servers(runs, 4)
    ratio = times(one_core, four_cores_of_server, "real_time_factor", OVER_RANKS)
    return StudyAnswer(_over_profiles(ratio, _drawn_s(IB, 1) / _drawn_s(IB, 4)))


@answers_claim
def _least_x86(runs: Runs) -> StudyAnswer:
    """Ranks with the least energy above the baseline on one server."""
    one_server = _on_servers(runs, 1, 2, 4, 8, 16)
    return _least(one_server, IB, "simula-t2", "Energy on servers by ranks", X86)


@answers_claim
def _least_arm(runs: Runs) -> StudyAnswer:
    """Ranks with the least energy above the baseline on boards."""
    boards = pick(runs["arm"], machine=JETSON)
    return _least(boards, JETSON, "simula-t3", "Energy on boards by ranks", ARM)


@answers_claim
def _fastest_with_infiniband(runs: Runs) -> StudyAnswer:
    """Ranks on which the network runs fastest with InfiniBand; the note has Ethernet."""
    with_ethernet = _fastest(runs, ETH)
    note = f"With Ethernet: {with_ethernet.number:.0f} ranks." if with_ethernet else ""
    return StudyAnswer(_fastest(runs, IB), note)


def _fastest(runs: Runs, machine: str) -> Quantity:
    """Ranks with the least real-time factor; up to 16 are on one server, whatever the network."""
    frame = pick(_sized(runs), neurons_of=NEURONS, ranks=[1, 2, 4, 8, 16, 32, 64])
    on_one_server = frame[(frame["machine"] == IB) & (frame["ranks"] <= 16)]
    connected = frame[(frame["machine"] == machine) & (frame["ranks"] > 16)]
    if on_one_server.empty or connected.empty:
        return missing("runs on one server and on several are needed")
    everywhere = pd.concat([on_one_server, connected])
    return _fastest_of(everywhere)


@answers_claim
def _ethernet_slower_32(runs: Runs) -> StudyAnswer:
    """Predicted time of DPSNN with Ethernet over that with InfiniBand, 32 processes."""
    return _slower_with_ethernet(runs, 32)


@answers_claim
def _ethernet_slower_64(runs: Runs) -> StudyAnswer:
    """The same on 64 processes."""
    return _slower_with_ethernet(runs, 64)


@answers_claim
def _mini_app_with_ethernet(runs: Runs) -> StudyAnswer:
    """Real-time factor of the mini-app with Ethernet over that with InfiniBand, 64 ranks."""
    return StudyAnswer(_ethernet_over_infiniband(runs, 64))


def _slower_with_ethernet(runs: Runs, processes: int) -> StudyAnswer:
    """DPSNN with Ethernet over DPSNN with InfiniBand; the note has the mini-app's.

    The interval is also over first guesses of what a message costs.
    """
    ratios = []
    for other_guess in _other_guesses("exchange"):
        infiniband_s, ethernet_s = _with_either_network(processes, other_guess)
        ratios.append(_of_draws(ethernet_s / infiniband_s))
    of_mini_app = _ethernet_over_infiniband(runs, processes)
    note = f"The mini-app, simulated: {of_mini_app.number:.3g}." if of_mini_app else ""
    return StudyAnswer(_over_guesses(ratios), note)


def _over_guesses(ratios: list[Quantity]) -> Quantity:
    """The first of several modelled numbers, with an interval that holds the intervals of all."""
    intervals = [ratio.interval for ratio in ratios if ratio.interval]
    low = min(low for low, _ in intervals)
    high = max(high for _, high in intervals)
    return Quantity(ratios[0].number, low, high, kind="modelled")


@cache
def _with_either_network(
    processes: int, other_guess: spread_fit.OtherGuess | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Times with InfiniBand and with Ethernet, s per simulated s, [draw].

    From the rows of 1 and 2 processes, with the network of either profile. `other_guess`: of a cost
    of DPSNN.
    """
    anchor = []
    infiniband = []
    for run in points.published():
        if run.series == "SIM-T2" and not run.part and _has_own_cores(run):
            anchor += [run] if run.ranks in FEWEST_PROCESSES["SIM-T2"] else []
        if run.series == "SIM-T2" and run.ranks == processes:
            infiniband.append(replace(run, seconds=None))
    [ethernet] = [
        run
        for run in points.published()
        if run.series == SERIES_WITH_ETHERNET and run.ranks == processes
    ]
    same_servers = replace(ethernet.machine, name=anchor[0].machine.name)
    with_ethernet = replace(ethernet, seconds=None, machine=same_servers)
    others = []
    for run in points.published():
        if run.series not in ("SIM-T2", SERIES_WITH_ETHERNET):
            others.append(run)
    spreads = spread_fit.fit_spreads(tuple(others), other_guess)
    seconds = []
    for run in (infiniband[0], with_ethernet):  # a prediction is of one machine
        seconds.append(anchors.predicted([run], tuple(anchor), spreads).total[0])
    return seconds[0], seconds[1]


def _ethernet_over_infiniband(runs: Runs, ranks: int) -> Quantity:
    frame = pick(_sized(runs), neurons_of=NEURONS, ranks=ranks)
    ethernet, infiniband = pick(frame, machine=ETH), pick(frame, machine=IB)
    return times(ethernet, infiniband, "real_time_factor", ("ranks", "seed", "repetition"))


@answers_claim
def _latency_share(runs: Runs) -> StudyAnswer:
    """Share of an exchange of 64 ranks with InfiniBand that empty messages take, too, modelled.

    The interval is over what the profile leaves uncertain.
    """
    ranks, nodes = 64, 4
    spikes = 1e-3 * NEURONS * simula.parameter("mean_rate")  # of all ranks, in a window of 1 ms
    size = simula.parameter("spike_payload") * spikes / ranks
    others = 1.0 - np.eye(ranks)
    node_of_rank = np.arange(ranks) // (ranks // nodes)
    shares = []
    for network in [interconnect_of(IB, nodes), *drawn_interconnects(IB, nodes)]:
        seconds = []
        for bytes_of_message in (LEAST_BYTES, size):
            traffic = Traffic(bytes_of_message * others, others, node_of_rank)
            seconds.append(float(EXCHANGES["alltoallv"](network, traffic)))
        shares.append(100 * seconds[0] / seconds[1])
    usual, *drawn = shares
    low, high = (float(share) for share in np.quantile(drawn, [0.025, 0.975]))
    note = f"A message has {size:.3g} bytes."
    value = Quantity(usual, min(usual, low), max(usual, high), "%", "modelled")
    return StudyAnswer(value, note)


@answers_claim
def _less_power(runs: Runs) -> StudyAnswer:
    """How much less InfiniBand draws on four servers, by the profiles."""
    saved_w = _card_w(ETH) - _card_w(IB)
    return StudyAnswer(Quantity(4 * saved_w, unit="W", kind="modelled"))


def _card_w(machine: str) -> float:
    """Power of the network card of a node."""
    return profile_value(machine, "power.card")


@answers_claim
def _power_64(runs: Runs) -> StudyAnswer:
    """Power above the baseline of 64 cores with Ethernet, by a fit to rows of fewer servers."""
    rows = []
    for point in simula.points(X86):
        machine = IB if point.note == "IB" else ETH
        rows.append(
            {
                "cores": point.label,
                "note": point.note,
                "published time (s)": point.time_s,
                "published W": point.power_w,
                "modelled W": above_w(machine, point.cores),
                "published J": point.energy_j,
                "time x power (J)": point.product_j,
                "with baseline (J)": point.gross_j,
            }
        )
    table = plots.tabulated(pd.DataFrame(rows), "Table II, and power by the profiles")
    return StudyAnswer(_server_watts(64, "ETH"), tables=[table])


@answers_claim
def _power_of_full_server(runs: Runs) -> StudyAnswer:
    """Power of a busy server over that of an idle one, measured by others on similar servers.

    Two sockets of the same family each, the median of those that are all busy. Their processors may
    draw as much as one of the two kinds that the published servers had, and more than the other;
    the interval has both.
    """
    columns = [
        Column("server", "server"),
        Column("operations", "operations a second (thousand)", "literature"),
        Column("full", "full load (W)", "literature"),
        Column("idle", "idle (W)", "literature"),
        Column("above", "full load above idle (W)", "literature"),
    ]
    rows: list[dict[str, Cell]] = []
    for server in _similar_servers():
        rows.append(
            {
                "server": server["server"],
                "operations": float(server["ssj_ops"]) / 1000,
                "full": float(server["full_W"]),
                "idle": float(server["idle_W"]),
                "above": float(server["full_W"]) - float(server["idle_W"]),
            }
        )
    cooler = COOLER_PROCESSOR_W / SIMILAR_PROCESSOR_W
    above_idle_w = _above_idle_w(_busy_servers())
    least_of_all_w = cooler * min(_above_idle_w(_similar_servers()))
    note = (
        f"Servers that do less than {100 * LEAST_OF_OPERATIONS:.0f} % of the operations of the"
        f" others are not all busy and are left out; with them the interval would begin at"
        f" {least_of_all_w:.3g} W. Its lower end is that of processors with"
        f" {COOLER_PROCESSOR_W} W in place of {SIMILAR_PROCESSOR_W}, by their specifications."
    )
    table = Table(columns, rows, "Similar servers (SPECpower)", "full-server", [note])
    value = Quantity(
        float(np.median(above_idle_w)),
        min(above_idle_w) * cooler,
        max(above_idle_w),
        "W",
        "literature",
    )
    return StudyAnswer(value, tables=[table])


def _above_idle_w(servers: list[dict[str, str]]) -> list[float]:
    """Power at full load above that of an idle server, of each."""
    return [float(server["full_W"]) - float(server["idle_W"]) for server in servers]


@answers_claim
def _baseline_of_servers(runs: Runs) -> StudyAnswer:
    """Power of four idle servers, measured by others on similar ones."""
    servers = simula.points(X86)[-1].cores // CORES_OF_SERVER
    idle_w = [servers * float(server["idle_W"]) for server in _busy_servers()]
    middle = float(np.median(idle_w))
    value = Quantity(middle, min(idle_w), max(idle_w), "W", "literature")
    return StudyAnswer(value, f"{servers} servers, which the paper does not say.")


def _similar_servers() -> list[dict[str, str]]:
    """Servers with two processors of the family of the published ones, one of each vendor."""
    return papers.rows("specpower_x5670")


def _busy_servers() -> list[dict[str, str]]:
    """Those that do about as many operations a second as the others."""
    usual = float(np.median([float(server["ssj_ops"]) for server in _similar_servers()]))
    least = LEAST_OF_OPERATIONS * usual
    return [server for server in _similar_servers() if float(server["ssj_ops"]) >= least]


# Energies of Tables II and III, of DPSNN itself


def _rows_of_power() -> dict[tuple[int, str], PowerReading]:
    """Rows of Table II that powers of a server are fitted to, by cores and network."""
    readings = {}
    for point in simula.points(X86):
        network = point.note if point.note in CARDS else ""
        if "HT" not in point.label and point.cores in CORES_OF_FIT:
            nodes = -(-point.cores // CORES_OF_SERVER)
            busy = point.cores // nodes
            reading = PowerReading(nodes, busy, point.power_w, network)
            readings[point.cores, network] = reading
    return readings


def _server_watts(cores: int, network: str) -> Quantity:
    """Power above the baseline of so many cores of servers, fitted to other rows of Table II.

    The row itself is left out of the fit; the interval is over the others, each left out in turn.

    Args:
        cores: processes, one on each core.
        network: "IB" or "ETH" where several servers are used.
    """
    others = _rows_of_power()
    others.pop((cores, network), None)
    readings = list(others.values())
    watts = [_watts_by(readings, cores, network)]
    for left_out in readings:
        fewer = [reading for reading in readings if reading is not left_out]
        watts.append(_watts_by(fewer, cores, network))
    return Quantity(watts[0], min(watts), max(watts), "W", "modelled")


def _watts_by(readings: list[PowerReading], cores: int, network: str) -> float:
    """Power of so many cores by a fit; a card that no row of it has draws nothing."""
    sockets = round(profile_value(IB, "node.sockets"))
    parts = fitted(readings, CORES_OF_SERVER, sockets)
    card_w = parts.get(network, 0.0)
    power = NodePower(0.0, parts["socket"], parts["core"], card_w, parts["core_alone"])
    nodes = -(-cores // CORES_OF_SERVER)
    busy = cores // nodes
    return float(nodes * power.watts(busy, CORES_OF_SERVER, sockets, cards=int(nodes > 1)))


def _board_watts(cores: int) -> Quantity:
    """Power above the baseline of so many cores of boards, fitted to the rows of 1 and 2.

    The first row prints a power that its energy contradicts: the fit takes that which its energy
    implies, and the interval has both.
    """
    one, two = simula.points(ARM)[:2]
    cores_of_board = round(profile_value(JETSON, "node.cores"))
    boards = -(-cores // cores_of_board)
    watts = []
    for one_w in (one.energy_j / one.time_s, one.power_w):
        readings = [PowerReading(1, 1, one_w), PowerReading(1, 2, two.power_w)]
        parts = fitted(readings, cores_of_board, sockets=1)
        power = NodePower(0.0, parts["socket"], parts["core"], core_alone_w=parts["core_alone"])
        watts.append(float(boards * power.watts(cores // boards, cores_of_board, sockets=1)))
    return Quantity(watts[0], min(watts), max(watts), "W", "modelled")


def _joules(seconds: np.ndarray, watts: Quantity) -> Quantity:
    """Energy of the published run, from times [draw] and power, as wide as both together."""
    time = _of_draws(seconds)
    assert time.interval and watts.interval
    (shortest, longest), (least, most) = time.interval, watts.interval
    return Quantity(
        PUBLISHED_S * time.number * watts.number,
        PUBLISHED_S * shortest * least,
        PUBLISHED_S * longest * most,
        "J",
        "modelled",
    )


def _of_server(cores: int, network: str = "") -> StudyAnswer:
    """Energy on so many cores of servers, for 10 simulated seconds."""
    if network == "ETH":
        _, seconds = _with_either_network(cores)
    else:
        seconds = _from_fewest("SIM-T2").draws[cores]
    watts = _server_watts(cores, network)
    return StudyAnswer(_joules(seconds, watts), _of_power(watts))


def _of_boards(cores: int) -> StudyAnswer:
    """The same on boards."""
    watts = _board_watts(cores)
    return StudyAnswer(_joules(_from_fewest("SIM-T3").draws[cores], watts), _of_power(watts))


def _of_power(watts: Quantity) -> str:
    assert watts.interval
    low, high = watts.interval
    return f"Power by the fit: {watts.number:.3g} W ({low:.3g} to {high:.3g})."


def _of_fit(table: str, machine: str, cores: int) -> StudyAnswer:
    """Published time, which predictions start from, times the power of the profile."""
    [time_s] = [
        point.time_s
        for point in simula.points(table)
        if point.cores == cores and "HT" not in point.label
    ]
    return StudyAnswer(Quantity(time_s * above_w(machine, cores), unit="J", kind="modelled"))


@answers_claim
def _energy_1(runs: Runs) -> StudyAnswer:
    """Energy above the baseline on one core of a server, for 10 simulated seconds."""
    return _of_fit(X86, IB, 1)


@answers_claim
def _energy_2(runs: Runs) -> StudyAnswer:
    """The same on two."""
    return _of_fit(X86, IB, 2)


@answers_claim
def _energy_4(runs: Runs) -> StudyAnswer:
    """The same on four, beside all others of both tables."""
    columns = [
        Column("platform", "platform"),
        Column("cores", "cores", "given"),
        Column("network", "network"),
        Column("published", "published (J per simulated s)", "literature"),
        Column("ours", "predicted (J per simulated s)", "modelled"),
        Column("off", "off by (%)", "modelled"),
        Column("event", "predicted (µJ per synaptic event of the text)", "modelled"),
    ]
    table = Table(columns, _rows_of_energy(), "Energy of DPSNN, out of sample", "energies")
    answer = _of_server(4)
    return StudyAnswer(answer.value, answer.note, tables=[table])


def _rows_of_energy() -> list[dict[str, Cell]]:
    """Rows of Tables II and III that neither time nor power was taken from."""
    rows: list[dict[str, Cell]] = []
    for table, platform in ((X86, "servers"), (ARM, "boards")):
        for point in simula.points(table):
            if point.cores <= 2:
                continue
            network = point.note if point.note in CARDS else ""
            answer = _of_boards(point.cores) if table == ARM else _of_server(point.cores, network)
            joules = answer.value
            assert isinstance(joules, Quantity)
            per_event = 1e6 / simula.definitions()[0].events
            rows.append(
                {
                    "platform": platform,
                    "cores": point.cores,
                    "network": network,
                    "published": point.energy_j / PUBLISHED_S,
                    "ours": joules.times(1 / PUBLISHED_S, "J"),
                    "off": 100 * (joules.number / point.energy_j - 1),
                    "event": joules.times(per_event, "µJ"),
                }
            )
    return rows


@answers_claim
def _energy_8(runs: Runs) -> StudyAnswer:
    """The same on eight."""
    return _of_server(8)


@answers_claim
def _energy_16(runs: Runs) -> StudyAnswer:
    """The same with 16 processes."""
    return _of_server(16)


@answers_claim
def _energy_32(runs: Runs) -> StudyAnswer:
    """The same on two servers with InfiniBand."""
    return _of_server(32, "IB")


@answers_claim
def _energy_64(runs: Runs) -> StudyAnswer:
    """The same on four."""
    return _of_server(64, "IB")


@answers_claim
def _energy_32_ethernet(runs: Runs) -> StudyAnswer:
    """The same on two servers with Ethernet."""
    return _of_server(32, "ETH")


@answers_claim
def _energy_64_ethernet(runs: Runs) -> StudyAnswer:
    """The same on four."""
    return _of_server(64, "ETH")


@answers_claim
def _energy_of_board_1(runs: Runs) -> StudyAnswer:
    """The same on one core of a board."""
    return _of_fit(ARM, JETSON, 1)


@answers_claim
def _energy_of_board_2(runs: Runs) -> StudyAnswer:
    """The same on two."""
    return _of_fit(ARM, JETSON, 2)


@answers_claim
def _energy_of_board_4(runs: Runs) -> StudyAnswer:
    """The same on four."""
    return _of_boards(4)


@answers_claim
def _energy_of_boards_8(runs: Runs) -> StudyAnswer:
    """The same on two boards."""
    return _of_boards(8)


@answers_claim
def _power_4(runs: Runs) -> StudyAnswer:
    """Power above the baseline of four cores, fitted to other rows."""
    return StudyAnswer(_server_watts(4, ""))


@answers_claim
def _power_8(runs: Runs) -> StudyAnswer:
    """The same of eight."""
    return StudyAnswer(_server_watts(8, ""))


@answers_claim
def _event_of_text_arm(runs: Runs) -> StudyAnswer:
    """Published energy of the boards over synaptic events as the text defines them."""
    return _event_of_text("ARM (Jetson TX1)")


@answers_claim
def _event_of_text_x86(runs: Runs) -> StudyAnswer:
    """The same of the servers."""
    return _event_of_text("Intel (Westmere)")


def _event_of_text(platform: str) -> StudyAnswer:
    """Energy per event by neurons x synapses of a neuron x rate x time (section V).

    The interval is over what the text allows: with and without the synapses from outside.
    """
    joules = simula.table4()[platform].joules
    of_text, *others = (simula.microjoule(joules, each) for each in simula.definitions())
    value = Quantity(of_text, min(of_text, *others), max(of_text, *others), "µJ", "literature")
    return StudyAnswer(value, simula.slip_of_table4())


def _products(table: str) -> StudyAnswer:
    """Rows of a table whose energy is time x power; the note has the others."""
    consistent = [point for point in simula.points(table) if point.consistent]
    slips = " ".join(simula.slips_of_table(table))
    return StudyAnswer(Quantity(float(len(consistent)), kind="counted"), slips)


def _least(
    runs: pd.DataFrame,
    machine: str,
    name: str,
    title: str,
    published_table: str,
) -> StudyAnswer:
    """Ranks with the least energy, and a figure of ours beside the published ones.

    Args:
        runs: on one machine, over ranks.
        machine: its profile.
        name: of the figure.
        title: of the figure.
        published_table: X86 or ARM.
    """
    by_ranks = _energies(runs, machine).groupby("ranks")
    energy_j = by_ranks["net_j"].mean().astype(float)
    if len(energy_j) < 3:
        raise Lacking("three or more numbers of ranks are needed")
    points = [point for point in simula.points(published_table) if _is_comparable(point)]
    published = pd.DataFrame(
        {
            "ranks": [point.cores for point in points],
            "J": [point.energy_j for point in points],
            "who": "published",
        }
    )
    modelled = pd.DataFrame(
        {
            "ranks": energy_j.index.astype(int),
            "J": PUBLISHED_S * energy_j.to_numpy(),
            "who": "mini-app",
        }
    )
    figure = plots.lines(
        pd.concat([published, modelled], ignore_index=True),
        "ranks",
        "J",
        name,
        title,
        "J above the baseline for 10 simulated seconds: published, and modelled power over"
        " simulated time.",
        hue="who",
        log="xy",
    )
    cheapest = energy_j.index[int(energy_j.argmin())]
    least = Quantity(float(cheapest), kind="modelled")
    return StudyAnswer(least, figures=[figure])


def _is_comparable(point: EnergyPoint) -> bool:
    """Whether a published run is on one node, without hardware threads."""
    return point.cores <= 16 and "HT" not in point.label


def _energies(runs: pd.DataFrame, machine: str) -> pd.DataFrame:
    """Runs with `net_j`, joule above the baseline per simulated second.

    Modelled power times simulated time.
    """
    watts = [above_w(machine, int(ranks)) for ranks in runs["ranks"]]
    return runs.assign(net_j=pd.Series(watts, runs.index, dtype=float) * runs["real_time_factor"])
