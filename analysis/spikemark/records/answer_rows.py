"""The rows and parts of the JSON of answers, as classes: see answer_schema.py.

A field that has a default is left out where it does not apply.
"""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

#: A part that has a format of its own, such as a run description (`spikemark schema description`).
Foreign = dict[str, Any]


class Content(BaseModel):
    """Base of all parts: no other field is there."""

    model_config = ConfigDict(extra="forbid", use_attribute_docstrings=True)


class FigureContent(Content):
    """A number with its interval, or the reason why there is none."""

    value: float | None
    interval: tuple[float, float] | None
    """lowest and highest value, 95 %"""
    unit: str | None = None
    kind: str | None = None
    """measured, counted, simulated, modelled, assumed or literature"""
    reason: str | None = None
    """why the value is null"""


class RangeContent(Content):
    """A number with its 95 % interval."""

    value: float
    low: float | None
    high: float | None


#: A cell of a table: words, a truth, a number, a number with its interval, a range, or nothing.
CellContent = str | bool | float | RangeContent | tuple[float, float] | None


class ColumnContent(Content):
    """A column of a table."""

    name: str
    """the key in each row"""
    head: str
    """stands above the column"""
    kind: str | None
    """of its numbers"""


class TableContent(Content):
    """A table: `anchor --runs`."""

    title: str
    columns: list[ColumnContent]
    rows: list[dict[str, CellContent]]
    """cells by the names of columns"""
    missing: list[str]
    """why cells are null"""


# prediction


class AnchorContent(Content):
    """The published or own run that a prediction of a production program is scaled from."""

    program: str
    version: str
    machine: str
    nodes: int
    real_time_factor: float | None
    source: str
    differs: list[str]
    """in what it differs from what is predicted"""


class OptionContent(Content):
    """A way to run a network on a machine."""

    machine: str
    nodes: int
    ranks: int
    threads: int
    """of each rank"""
    schedule: str
    placement: str | None = None
    delay_ratio: int | None = None
    lag: int | None = None
    exchange: dict[str, str] | str | None = None
    """by lane"""
    from_: str | None = Field(default=None, alias="from")
    """of another schedule than the program's own: replayed, or at most so much"""
    figures: dict[str, FigureContent | float | None]
    """seconds of each part per simulated second, real-time factor, power, energy, memory"""
    fits: bool | None
    """whether its memory suffices; null where it is not known"""
    no_memory: str | None
    """why `fits` is null"""
    decides: dict[str, float]
    """shares of the variance by uncertain input, the largest first"""
    largest_delay_ratio: int | None = None
    """the largest D that gives the same spikes"""
    anchor: AnchorContent | None = None


class FactorOfNodes(Content):
    """The real-time factor on a number of nodes."""

    nodes: int
    real_time_factor: FigureContent


class SurestNodes(Content):
    """The fewest nodes that reach the target in 95 % of the draws, else in most of them."""

    nodes: int
    reached: float
    """share of the draws in which they reach it"""


class ComparedMachine(Content):
    """A machine of `compare`, beside the first one."""

    name: str
    likely: int | None
    """nodes, where the target is reached in half of the draws"""
    surest: SurestNodes
    reached: float
    """share of the draws in which the target is reached on the nodes of `best`"""
    beyond_data: dict[str, float]
    """what runs on it took over what its data make expected, by part; {} where it was not run"""
    ratio: FigureContent
    """its real-time factor over that of the first machine"""
    faster: float
    """share of the draws in which it is faster than the first machine"""
    fastest: float
    """share of the draws in which it is the fastest of all"""
    simulations: int
    """at a time, on all nodes that are offered"""
    energy_per_simulated_s: FigureContent | None
    energy_cost_per_simulated_s: FigureContent | None
    cost_per_simulated_s: FigureContent | None
    missing: list[str]
    """fields of the profile without which the cost is unknown"""
    cheapest: float | None
    """share of the draws in which it costs least"""
    even_price_of_node: FigureContent | None
    """price of a node, in EUR, at which it costs as much as the cheapest"""
    price_eur: float | None
    best: OptionContent
    by_nodes: list[FactorOfNodes]


# waiting


class SlowestContent(Content):
    """The rank that computes longest."""

    rank: int
    also: list[int]
    """others that are surely slow; what follows is then about all of them"""
    node: str | None
    longer: FigureContent
    """share by which it exceeds the mean of the others"""
    longer_of_each: list[FigureContent]
    """the same of `rank` and of each of `also`"""
    share: FigureContent
    """of the waiting that would go if it did not"""
    change: FigureContent
    """run time if it did not, over that of the run"""
    others: int
    """how many other ranks there are"""
    certain: bool
    """it exceeds the others by more than chance"""
    throughout: bool
    """and does so in the whole run, else in a part of it"""
    besides_spells: bool
    """it is not in its slow spells alone that it is slow"""
    neurons: float | None = None
    """how many times as many it has as the mean of the others; null where nobody knows"""
    events: float | None = None
    """synaptic events, likewise"""


class LongestEventContent(Content):
    """The cycle in which one event made ranks wait longest."""

    phase: str
    rank: int | None
    node: str | None
    cycle: int
    seconds: float
    """beyond the usual"""
    share: float
    """of all waiting, or of all exchanging"""


class SlowSpellContent(Content):
    """Cycles in which a rank was slower than in the rest of the run."""

    rank: int
    node: str | None
    first: int
    """cycle from which on it was slow"""
    last: int
    """cycle until which it was slow"""
    faster_before: bool
    """false where the run begins with the spell"""
    faster_after: bool
    """false where the run ends with the spell: the rank stayed slow"""
    longer: float
    """share by which a cycle was longer"""
    share: float
    """of all waiting"""
    change: float
    """run time without it, over that of the run"""


class EstimatesContent(Content):
    """What describes the compute times."""

    mean_s: FigureContent
    own_sd_s: FigureContent
    rho_1: FigureContent
    """autocorrelation from cycle to cycle"""
    correlation_time: float
    """cycles"""
    common_share: FigureContent
    minor_share: FigureContent
    minor_factor: FigureContent
    spell_share: FigureContent
    spell_factor: FigureContent
    spell_cycles: FigureContent
    effects_s: list[FigureContent]
    """by rank: mean beyond the mean of all"""


class ShareContent(Content):
    """How often the slowest rank exceeds a quantile (eq 12 of Lober et al. 2026)."""

    delay_ratio: int
    nominal: float
    found: float


class SameSpeedsContent(Content):
    """The same, if each rank were as fast as in the run: intervals of chance within the run."""

    waiting: FigureContent
    runtime: FigureContent
    change: FigureContent
    saved: FigureContent


class ReplayContent(Content):
    """Waiting and run time under another schedule.

    Where `same_speeds` is given, intervals hold another run on the same machine.
    """

    schedule: str
    delay_ratio: int
    lag: int
    ranks: int
    cycles: int
    waiting: FigureContent
    runtime: FigureContent
    change: FigureContent
    """run time over that of the run as it was"""
    saved: FigureContent
    placement: str | None
    moved: bool
    """whether it is another placement than the run's"""
    same_speeds: SameSpeedsContent | None


class NamedReplay(ReplayContent):
    """A change that would help."""

    name: str


class SumsOfRun(Content):
    """Times of a run summed over its cycles, [rank] in s."""

    name: str
    of: str
    """what the times are of: ranks"""
    ranks: int
    run_s: list[float]
    communicate_s: list[float]
    wait_s: list[float] | None
    model_s: float | None
    """simulated time"""


class SumsWithEfficiency(SumsOfRun):
    """The same with the efficiencies of POP."""

    efficiency: dict[str, FigureContent]


# diff


class PartOfDifference(Content):
    """A part of a cycle on both sides; seconds per cycle."""

    first_s: float
    second_s: float
    difference_s: float
    interval_s: tuple[float, float] | None
    kind: str
    spread: str
    """what the interval comes from"""


class SetupContent(Content):
    """Runs of one setup on both sides."""

    name: str
    runs: tuple[int, int]
    change: FigureContent
    """share of a cycle of A"""
    verdict: str
    median_change: FigureContent | None
    parts: dict[str, PartOfDifference]
    missing: dict[str, str]
    """parts without a difference, and why"""


class DifferingField(Content):
    """A field of records that differs."""

    field: str
    first: Any
    second: Any
    runs: int
    """pairs of runs that differ so"""


class GateContent(Content):
    """`diff --fail-above`."""

    limit: float
    state: str
    setup: str
    ratio: FigureContent
    sentence: str


class HistoryEntry(Content):
    """A session of a setup."""

    started: str
    cycle_s: float
    runs: int


class HistoryStep(Content):
    """A change between two sessions."""

    since: str
    change: FigureContent
    differs: list[str]


class HistoryOfSetup(Content):
    """What a history knows of a setup."""

    experiment: str | None
    setup: str
    key: str
    entries: list[HistoryEntry]
    changes: list[HistoryStep]


# partition, anchor, sweep


class LoadContent(Content):
    """A load of ranks: of the mean rank, and of the largest."""

    mean: float
    peak: float
    max_over_mean: float | None
    words: float | None = None
    """of the busiest rank, per spike of each of its neurons"""
    bytes: float | None = None
    mean_words: float | None = None


class MethodContent(Content):
    """A method that places neurons; routes of a spike."""

    method: str
    mean: float
    peak: float
    max_over_mean: float
    neurons_max_over_mean: float
    connections: float
    """with other ranks, mean over ranks"""


class BalanceContent(Content):
    """How even the compute times of ranks become with weights."""

    weights: list[float]
    compute_s: list[float]
    slowest_over_mean: float
    unequal_s: float
    slowest_over_mean_before: float
    unequal_before_s: float


class AnchorLayout(Content):
    """A run of NEST that is to be made."""

    nodes: int
    ranks: int
    threads: int


class PlannedContent(Content):
    """A run of a plan."""

    id: str
    label: str
    ranks: int
    threads: int
    done: bool


# machines


class ValueContent(Content):
    """A value of a machine profile."""

    value: Any
    """a number, a word, or [[size, value], ...]"""
    unit: str | None
    kind: str
    reference: str
    interval: tuple[float, float] | None


class KnownValues(Content):
    """What is known of a link, by path in the profile, and the paths of what is not."""

    values: dict[str, ValueContent]
    unknown: list[str]


class PartOfMachine(KnownValues):
    """A group of equal nodes."""

    profile: str
    nodes: int


class MachineContent(Content):
    """A machine profile; a machine of parts has parts and links instead of values."""

    name: str
    title: str
    values: dict[str, ValueContent] | None = None
    unknown: list[str] | None = None
    parts: dict[str, PartOfMachine] | None = None
    links: dict[str, KnownValues] | None = None


# energy


class EnergyPerEvent(Content):
    """Energy over the events of one definition."""

    definition: str
    events: int
    gross_uj: FigureContent
    net_uj: FigureContent


class SamplingContent(Content):
    """How often a meter was read."""

    readings: int
    interval_s: float
    longest_s: float
    coverage: float
    """share of the measured part"""
    rate_hz: float


class LevelContent(Content):
    """The level of quality that the readings reach (EE HPC WG)."""

    reached: str
    lacking: list[str]
    source: str


class PowerModelContent(Content):
    """The power of a machine profile."""

    name: str
    idle_w: float
    core_w: float
    card_w: float | None = None
    nodes: int
    remarks: list[str]
    sources: dict[str, str]


class PowerCurve(Content):
    """Power over time; s from the begin of the measured part."""

    time_s: list[float]
    power_w: list[float]


class ChannelContent(Content):
    """A channel of a meter."""

    name: str
    gross_j: float


# programs that measure


class CacheContent(Content):
    """A simulated cache."""

    size: int
    """bytes"""
    ways: int
    line: int
    """bytes"""


class VisitsContent(Content):
    """Lines that a term of the model visits."""

    visits: float
    misses: float


class ScorepTime(Content):
    """A phase of a rank in the cycle log and in Score-P."""

    rank: int
    phase: str
    log_s: float | None
    seen_s: float | None
    visits: int | None
    off_s: float | None
    reason: str | None
    verdict: str


class ScorepRank(Content):
    """Waiting of a rank at barriers, as the trace has it."""

    barrier_s: float | None
    waited_s: float | None


class KernelTimeContent(Content):
    """Times of a kernel; ns for each item."""

    kernel: str
    size: int
    item: str
    repetitions: int
    median_ns: float
    q1_ns: float
    q3_ns: float


class KernelRatio(Content):
    """Two kernels on lists of one length."""

    size: int
    ratio: float


class ExchangeCurve(Content):
    """An exchange over sizes of messages."""

    exchange: str
    ranks: int
    nodes: int
    oversubscribed: bool
    barrier_s: float
    bytes: list[float]
    exchange_s: list[float]
    latency_s: float | None
    seconds_per_byte: float | None


class DryRankContent(Content):
    """A rank that ran alone; µs per cycle."""

    rank: int
    why: str
    """why it was chosen"""
    neurons: int
    synapses: int
    synaptic_events: int
    deliver_us: float
    update_us: float
    thread_wait_us: float
    collocate_us: float
    compute_us: float
    memory_gb: float | None
    build_s: float
