"""The JSON that commands print with --json, as classes: a class for each kind of answer.

`spikemark schema FORMAT` prints their JSON Schema. Every field that an answer may have stands here;
one without a default is always there, null where nothing is known. Rows of tables and other parts
are classes of answer_rows.py. Tests hold every printed answer against its class.

Packages beside `spikemark` name those of their own commands in the entry points of ANSWERS.
"""

from functools import cache
from importlib.metadata import entry_points
from typing import Any, Literal

from pydantic import BaseModel

from spikemark.quantities.answer import ANSWER_VERSION, answer_format

from . import answer_rows
from .answer_rows import Content, FigureContent, Foreign, TableContent

ANSWERS = "spikemark.answers"  #: group of entry points


class NamedProfile(Content):
    """The machine profile that a prediction rests on."""

    name: str
    digest: str


class PredictedContent(Content):
    """`predict` of runs that nobody made."""

    kind: Literal["modelled"]
    profile: NamedProfile
    network: str
    rates: str
    """where firing rates come from"""
    description: Foreign
    """the run description"""
    predictions: list[answer_rows.OptionContent]
    remarks: list[str]
    """what of the machine contradicts its data sheet, or was left out"""


class PredictedRun(Content):
    """`predict` of a run that was made."""

    run: str
    kind: str
    measured: dict[str, float | None]
    """s per simulated s, by part"""
    prediction: answer_rows.OptionContent
    remarks: list[str]
    """what of the machine contradicts its data sheet, or was left out"""


class Advice(Content):
    """`advise`."""

    sentence: str
    network: str
    machine: str
    largest_delay_ratio: int | None
    reached: float | None
    """share of the draws in which the first option reaches the target; null without a target"""
    surest: answer_rows.SurestNodes | None
    """null without a target"""
    options: list[answer_rows.OptionContent]
    """the best way of each schedule, the best first"""
    ratios: list[FigureContent]
    """real-time factors over that of the first option"""
    command: str | None
    """measures the first option"""
    remarks: list[str]
    """what of the machine contradicts its data sheet, or was left out"""


class ComparisonContent(Content):
    """`compare`."""

    sentence: str
    target: float
    machines: list[answer_rows.ComparedMachine]
    network: str
    program: str
    years: float
    hours_per_year: float
    price_kwh: float | None
    remarks: list[str]
    """what of the machine contradicts its data sheet, or was left out"""


class Waiting(Content):
    """`waiting` of a run or of cycle times; times in s over the run."""

    ranks: int
    first_rank: int
    """number of the first rank, as in the files"""
    cycles: int
    meets_every: int
    rank_sd: float
    """assumed spread of the speed of a rank from run to run, as a share"""
    kind: str
    disturbed: str | None
    doubtful: str | None
    """why the times seem to be wrong, so that nothing is predicted from them"""
    delay_ratio: int
    waiting_per_cycle_s: FigureContent
    waiting_s: FigureContent
    exchange: FigureContent | None
    computing: FigureContent
    common: FigureContent
    parts: dict[str, FigureContent]
    rare: dict[str, FigureContent]
    efficiency: dict[str, float | None] | None
    drift_share: float | None
    slowest: answer_rows.SlowestContent
    longest: answer_rows.LongestEventContent | None
    spells: list[answer_rows.SlowSpellContent]
    estimates: answer_rows.EstimatesContent
    maxima: list[answer_rows.ShareContent]
    rarely: answer_rows.ReplayContent | None
    """ranks that meet every D cycles"""
    replay: answer_rows.ReplayContent | None
    """the schedule that was asked for"""
    iid: FigureContent | None
    changes: dict[str, answer_rows.ReplayContent]
    helps: list[answer_rows.NamedReplay]
    warnings: list[str]


class WaitingOfSums(Content):
    """`waiting` of sums over whole runs."""

    kind: str
    reader: str
    runs: list[answer_rows.SumsWithEfficiency]
    remarks: list[str]


class Difference(Content):
    """`diff A B`."""

    kind: Literal["difference"]
    format_version: int
    first: str
    second: str
    sentence: str
    overall: FigureContent
    level: float
    setups: list[answer_rows.SetupContent]
    differs: list[answer_rows.DifferingField]
    only_first: list[str]
    only_second: list[str]
    cautions: list[str]
    fail_above: answer_rows.GateContent | None = None


class Differences(Content):
    """`diff A B C`: each of the others beside the first."""

    kind: Literal["differences"]
    format_version: int
    first: str
    sentence: str
    state: str
    differences: list[Difference]


class History(Content):
    """`diff --history`."""

    kind: Literal["history_summary"]
    format_version: int
    machines: dict[str, list[answer_rows.HistoryOfSetup]]
    appended: dict[str, int] | None = None
    left_out: int | None = None


class Partition(Content):
    """`partition`."""

    kind: str
    format_version: int
    ranks: int
    neurons: int
    method: str | None
    side: str
    merged: bool
    delay_ratio: int
    seed: int
    levels: list[int]
    cycle_ms: float
    assumed: list[str]
    loads: dict[str, answer_rows.LoadContent]
    methods: dict[str, answer_rows.MethodContent] | None = None
    balance: answer_rows.BalanceContent | None = None
    table: str | None = None
    """the forwarding table that was written"""
    forwarded_peak: float | None = None
    forwarded_peak_before: float | None = None
    placement: str | None = None
    """the file that was written"""


class AnchorFolder(Content):
    """`anchor --out`."""

    folder: str
    files: list[str]
    runs: list[answer_rows.AnchorLayout]
    remarks: list[str]
    """what contradicts a data sheet, and runs that may not fit"""
    then: str
    """the command that reads the runs"""


class SweepOutcomeContent(Content):
    """`sweep`, and `report` of its results."""

    results: str
    planned: int
    measured: int | None
    failed: dict[str, str]
    left_out: list[str]
    complaints: list[str]
    report: str | None
    headline: str | None


class SweepPlanContent(Content):
    """`sweep --dry-run`."""

    results: str
    lines: list[str]
    left_out: list[str]
    runs: list[answer_rows.PlannedContent]


class TimesReport(Content):
    """`report` of imported times or of a dry run."""

    report: str
    headline: str
    complaints: list[str]


class Machines(Content):
    """`machine`."""

    machines: list[answer_rows.MachineContent]


class CalibrationContent(Content):
    """`calibrate`."""

    file: str
    values: dict[str, answer_rows.ValueContent]
    """by path in the profile"""
    unknown: dict[str, str]
    """what was not measured, and why"""
    warnings: list[str]


class Imported(Content):
    """`import` of cycle times."""

    format_version: int
    kind: str
    files: list[str]
    unit: str
    ranks: int
    cycles: int
    columns: list[str]
    skipped: int
    cycle_ms: float | None
    remarks: list[str]
    reader: str
    meets_every: int
    first_rank: int
    """number of the first rank, as in the files"""
    placement: str | None


class ImportedSums(Content):
    """`import` of sums over whole runs."""

    format_version: int
    kind: str
    reader: str
    files: list[str]
    runs: list[answer_rows.SumsOfRun]
    remarks: list[str]


class EnergyContent(Content):
    """`energy`."""

    run: str
    kind: str | None
    source: str | None
    reason: str | None
    duration_s: float
    gross_j: FigureContent
    mean_w: FigureContent
    idle_w: FigureContent
    idle_j: FigureContent
    net_j: FigureContent
    gross_delay_js: FigureContent
    per_event: list[answer_rows.EnergyPerEvent]
    sampling: answer_rows.SamplingContent | None
    level: answer_rows.LevelContent | None
    advice: str | None
    model: answer_rows.PowerModelContent | None
    remarks: list[str]
    power: answer_rows.PowerCurve | None = None
    notes: list[str] | None = None
    """what the source says of its readings"""
    channels: list[answer_rows.ChannelContent] | None = None


class SimulatedCachesContent(Content):
    """`cachesim`."""

    kind: str
    label: str
    d1: answer_rows.CacheContent
    ll: answer_rows.CacheContent
    ranks: int
    threads: int
    simulate_ms: float
    synaptic_events: int
    first_accesses: int
    misses: int
    predicted: float
    events: dict[str, int]
    terms: dict[str, answer_rows.VisitsContent]


class ScorepCheckContent(Content):
    """`scorep`."""

    agrees: bool
    complaints: list[str]
    warnings: list[str]
    times: list[answer_rows.ScorepTime]
    ranks: list[answer_rows.ScorepRank]


class Kernels(Content):
    """`bench`."""

    raw: str
    dropped: list[str]
    slowdown: float | None
    kernels: list[answer_rows.KernelTimeContent]
    ratios: list[answer_rows.KernelRatio]
    reference_ratios: list[answer_rows.KernelRatio]


class Exchanges(Content):
    """`bench --exchange`."""

    file: str
    curves: list[answer_rows.ExchangeCurve]
    notes: list[str]


class Peers(Content):
    """`peers`."""

    table: TableContent
    trials: list[dict[str, str | bool | float | None]]
    """as in peers.csv"""
    complaints: list[str]


class DryRunContent(Content):
    """`dryrun`."""

    kind: Literal["dry_run"]
    folder: str
    of: int
    threads: int
    ranks_here: int
    host: str
    cycles: int
    spikes: str
    """what fires: drawn, or from a file"""
    rates: str
    """where firing rates come from"""
    ranks: list[answer_rows.DryRankContent]
    waiting_us: None
    exchange_us: None
    mean_over_all_ranks_us: FigureContent
    warnings: list[str]


class Simulation(Content):
    """`simulate`."""

    folder: str
    real_time_factor: float
    checksum: str
    simulation: Foreign
    """simulation.json"""


class Collected(Content):
    """`collect`."""

    runs: int
    file: str
    complaints: list[str]


#: All kinds of answers that a command prints with --json, by its words.
Shapes = dict[str, tuple[type[BaseModel], ...]]
ANSWER_SHAPES: Shapes = {
    "predict": (PredictedContent, PredictedRun),
    "advise": (Advice,),
    "compare": (ComparisonContent,),
    "waiting": (Waiting, WaitingOfSums),
    "diff": (Difference, Differences, History),
    "partition": (Partition,),
    "anchor": (AnchorFolder, TableContent),
    "sweep": (SweepOutcomeContent, SweepPlanContent),
    "report": (SweepOutcomeContent, TimesReport),
    "machine": (Machines,),
    "calibrate": (CalibrationContent,),
    "import": (Imported, ImportedSums),
    "energy": (EnergyContent,),
    "cachesim": (SimulatedCachesContent,),
    "scorep": (ScorepCheckContent,),
    "bench": (Kernels, Exchanges),
    "peers": (Peers,),
    "dryrun": (DryRunContent,),
    "simulate": (Simulation,),
    "collect": (Collected,),
}


@cache
def _answer_shapes() -> Shapes:
    """ANSWER_SHAPES, and those of the packages beside this one."""
    shapes = dict(ANSWER_SHAPES)
    for entry in entry_points(group=ANSWERS):
        shapes |= entry.load()
    return shapes


def verbs_by_format() -> dict[str, str]:
    """The words of each command of `answer_shapes()`, by the name of the format.

    Example:
        >>> verbs_by_format()["predict-answer"]
        'predict'
    """
    return {answer_format(verb): verb for verb in _answer_shapes()}


def answer_schema(verb: str) -> dict[str, Any]:
    """The JSON Schema of what a command prints with --json.

    Args:
        verb: words of the command, one of `answer_shapes()`.

    Example:
        >>> schema = answer_schema("collect")
        >>> schema["properties"]["version"], schema["required"]
        ({'const': 1}, ['format', 'version', 'runs', 'file', 'complaints'])
    """
    shapes = _answer_shapes()[verb]
    schemas = [shape.model_json_schema() for shape in shapes]
    definitions: dict[str, Any] = {}
    for schema in schemas:
        definitions |= schema.pop("$defs", {})
        about = {"format": {"const": answer_format(verb)}, "version": {"const": ANSWER_VERSION}}
        schema["properties"] = about | schema["properties"]
        schema["required"] = [*about, *schema.get("required", [])]
    schema = schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
    if definitions:
        schema["$defs"] = definitions
    return schema
