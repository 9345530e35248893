"""The files of a tender as classes: tender.json, answer.json, the secret, the manifest and
environment.json.

One class for each part of a file, one line for each field. Every field is there; null means that a
value was not stated or not measured. Types are strict, numbers are finite, and unknown fields are
refused.
"""

from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

VERSION = 4  #: of all these files
#: Pattern of names that can be a part of a path.
NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"

FormatVersion = Literal[4]
Name = Annotated[str, Field(pattern=f"^{NAME}$")]
PathInside = Annotated[str, Field(pattern=f"^{NAME}(/{NAME})*$")]
PositiveNumber = Annotated[float, Field(gt=0, le=1e18)]
NonNegative = Annotated[float, Field(ge=0)]
Positive = Annotated[int, Field(ge=1, le=10**12)]
Count = Annotated[int, Field(ge=0)]
FigureName = Literal["real_time_factor", "joules_per_synaptic_event"]


class TenderPart(BaseModel):
    """Base of all parts of these files."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        strict=True,
        allow_inf_nan=False,
    )


class ExpectedCounts(TenderPart):
    """Counts of a measured part; null where neurons have no rates of their own."""

    model_ms: PositiveNumber = Field(description="simulated time of the measured part, ms")
    spikes: Count | None = Field(description="spikes that are fired")
    synaptic_events: Count | None = Field(description="synapses that spikes visit")


class ExpectedNetwork(TenderPart):
    """What the network of a run does, whoever runs it."""

    neurons: Count = Field(description="neurons")
    synapses: Count = Field(description="synapses")
    tolerance: NonNegative = Field(description="relative difference of counts that is allowed")
    times: Annotated[list[ExpectedCounts], Field(min_length=1)] = Field(
        description="counts for each model time that a bidder may choose, the longest first"
    )
    rates_hz: dict[str, float] = Field(description="firing rate of each population, Hz")
    rates_source: str = Field(description="where the rates come from")
    events_per_s: PositiveNumber = Field(description="synaptic events per simulated second")


class RunRule(TenderPart):
    """A run that bidders carry out."""

    name: Name = Field(description="name of the run")
    size: Literal["small", "medium", "large", "target"] = Field(description="size of the network")
    scaling: str = Field(description="what the network was scaled from, and how")
    measured: bool = Field(description="true: its figures must be measured, not projected")
    repetitions: Positive = Field(description="how often it is run")
    minimum_seconds: PositiveNumber = Field(
        description="wall-clock time of the measured part, at least"
    )
    nodes: Positive | None = Field(description="number of nodes; null leaves it to the bidder")
    expected: ExpectedNetwork = Field(description="what the network does")

    @property
    def model_ms(self) -> list[float]:
        """The model times that a bidder may choose (ms), the longest first."""
        return [counts.model_ms for counts in self.expected.times]


class Target(TenderPart):
    """What the machine is bought for."""

    network: str = Field(description="the network of the target, in words")
    real_time_factor: PositiveNumber | None = Field(description="at most this real-time factor")
    joules_per_synaptic_event: PositiveNumber | None = Field(description="at most this energy")


class Category(TenderPart):
    """What bidders may change."""

    changes: list[str] = Field(description="fields of the description that a bidder may set")
    flags: list[str] = Field(description="patterns of allowed compiler flags")


class PowerRule(TenderPart):
    """How power is measured."""

    required: bool = Field(description="whether power must be measured")
    idle_seconds: NonNegative = Field(description="length of the idle pause before a run")


class NestRule(TenderPart):
    """Runs of NEST that bidders hand in beside those of the mini-app."""

    run: Name = Field(description="run of the tender whose network NEST simulates")
    version: str = Field(description="version of NEST")
    repetitions: Positive = Field(description="how often each layout is run, at least")
    spread: PositiveNumber = Field(description="how much longer the longest may take, as a share")


class Tender(TenderPart):
    """tender.json: what bidders are asked for."""

    kind: Literal["tender"] = Field(description="tender")
    format_version: FormatVersion = Field(description="version of the format")
    name: Name = Field(description="name of the tender")
    quick: bool = Field(description="true for a trial with small runs")
    created: str = Field(description="when it was written")
    spikemark_version: str = Field(description="version of Spikemark")
    commit: str = Field(description="commit of Spikemark")
    source_sha256: str = Field(description="hash of the source that bidders build")
    program: str = Field(description="the program whose figures are asked for")
    reference_memory_gb: PositiveNumber = Field(description="memory of a node of reference, GB")
    target: Target = Field(description="what the machine is bought for")
    runs: Annotated[list[RunRule], Field(min_length=1)] = Field(description="runs to carry out")
    categories: dict[str, Category] = Field(description="what bidders may change, by category")
    power: PowerRule = Field(description="how power is measured")
    nest: NestRule | None = Field(description="runs of NEST; null: none are asked for")

    def run(self, name: str) -> RunRule | None:
        """The rule of a run; None where there is none of that name."""
        for rule in self.runs:
            if rule.name == name:
                return rule
        return None

    @property
    def target_rule(self) -> RunRule:
        """The run of the target: the one of that size, or else the last one."""
        for rule in self.runs:
            if rule.size == "target":
                return rule
        return self.runs[-1]


class Range(TenderPart):
    """A figure of merit over the repetitions of a run."""

    value: PositiveNumber = Field(description="median")
    low: PositiveNumber = Field(description="smallest value")
    high: PositiveNumber = Field(description="largest value")


class Repetition(TenderPart):
    """One repetition of a run."""

    folder: PathInside = Field(description="folder of the record")
    real_time_factor: PositiveNumber = Field(description="wall-clock by simulated time")
    joules_per_synaptic_event: PositiveNumber | None = Field(description="null: not measured")
    readings: PathInside | None = Field(description="file with the readings of power")


class UsedLayout(TenderPart):
    """On what a run was carried out."""

    ranks: Positive = Field(description="MPI ranks")
    threads: Positive = Field(description="OpenMP threads of a rank")
    nodes: Positive = Field(description="nodes")


class MeasuredRun(TenderPart):
    """A run as a bidder measured it."""

    name: Name = Field(description="name of the run")
    layout: UsedLayout = Field(description="ranks, threads and nodes")
    set: dict[str, Any] = Field(description="fields of the description that the bidder set")
    model_ms: PositiveNumber = Field(description="simulated time, ms")
    repetitions: Annotated[list[Repetition], Field(min_length=1)] = Field(description="single runs")
    figures: dict[str, Range | None] = Field(description="figures of merit; null: not measured")
    reason: str | None = Field(description="why a figure is null")


class ProjectedFigure(TenderPart):
    """A figure, or the power of all nodes (W), that was not measured, with its 95 % interval."""

    run: Name = Field(description="name of the run")
    figure: Literal["real_time_factor", "joules_per_synaptic_event", "power_w"] = Field(
        description="what was projected"
    )
    value: PositiveNumber = Field(description="median")
    low: PositiveNumber = Field(description="lower end of the interval")
    high: PositiveNumber = Field(description="upper end of the interval")
    nodes: Positive = Field(description="nodes that it is for")
    layout: UsedLayout | None = Field(
        description="on what it was predicted by the profile; null: not by that"
    )
    set: dict[str, Any] = Field(description="fields of the description that were set for it")
    method: str = Field(description="how it was projected")
    assumes: list[str] = Field(description="what it assumes")


class Commitment(TenderPart):
    """What the acceptance run is held against, and what it rests on."""

    run: Name = Field(description="name of the run")
    figure: FigureName = Field(description="figure of merit")
    value: PositiveNumber = Field(description="the promise")
    basis: Literal["measured", "projected"] = Field(description="what it rests on")


class OfferedMachine(TenderPart):
    """The machine that is offered."""

    machine: str = Field(description="name of its profile")
    nodes: Positive = Field(description="nodes")
    price: PositiveNumber | None = Field(description="price of all nodes")
    currency: str = Field(description="currency of the price")
    node_limit_w: PositiveNumber | None = Field(description="largest power of a node, W")
    node_idle_w: NonNegative | None = Field(description="power of an idle node, W")


class NestRun(TenderPart):
    """Runs of NEST on one layout."""

    layout: UsedLayout = Field(description="ranks, threads and nodes")
    repetitions: Positive = Field(description="how often it was run")
    real_time_factor: Range = Field(description="wall-clock by simulated time")


class UsedProgram(TenderPart):
    """The program that was run, and how it was built."""

    sha256: str = Field(description="hash of the file that was started")
    compiler: str = Field(description="compiler and its version")
    flags: str = Field(description="options of the compiler")
    mpi_library: str = Field(description="MPI library and its version")
    version: str = Field(description="version of the mini-app")


class Evidence(NamedTuple):
    """What an answer says of a figure of a run."""

    figure: Range | ProjectedFigure | None  #: None where nothing is said
    basis: Literal["measured", "projected"]


class TenderAnswer(TenderPart):
    """answer.json: what a bidder measured, projects and promises."""

    kind: Literal["tender_answer"] = Field(description="tender_answer")
    format_version: FormatVersion = Field(description="version of the format")
    bundle_sha256: str = Field(description="hash of the bundle's manifest")
    tender: str = Field(description="name of the tender")
    quick: bool = Field(description="true for a trial")
    bidder: str = Field(description="name of the bidder")
    category: str = Field(description="category of the tender")
    created: str = Field(description="when it was written")
    program: UsedProgram = Field(description="the program that was run")
    profile: PathInside | None = Field(
        description="file with the machine profile by which the target was projected"
    )
    offer: OfferedMachine = Field(description="the machine that is offered")
    runs: list[MeasuredRun] = Field(description="measured runs")
    nest: list[NestRun] = Field(description="runs of NEST, by layout; empty: none")
    projected: list[ProjectedFigure] = Field(description="figures that were not measured")
    committed: list[Commitment] = Field(description="promises")

    def run(self, name: str) -> MeasuredRun | None:
        """The measured run of that name; None where there is none."""
        for run in self.runs:
            if run.name == name:
                return run
        return None

    def evidence(self, run: str, figure: str) -> Evidence:
        """The measured figure of a run, or else the projected one."""
        measured_run = self.run(run)
        measured = measured_run.figures.get(figure) if measured_run else None
        if measured is not None:
            return Evidence(measured, "measured")
        for projection in self.projected:
            if projection.run == run and projection.figure == figure:
                return Evidence(projection, "projected")
        return Evidence(None, "projected")

    def promised(self, run: str, figure: str) -> float | None:
        """The committed figure of a run; None where nothing was promised."""
        for commitment in self.committed:
            if commitment.run == run and commitment.figure == figure:
                return commitment.value
        return None


class Prepared(TenderPart):
    """The result that a run with the secret seed must have."""

    run: str = Field(description="name of the run")
    model_ms: PositiveNumber = Field(description="simulated time, ms")
    checksum: str = Field(description="checksum of the record")
    totals: dict[str, Count] = Field(description="counts of the record")


class Secret(TenderPart):
    """NAME.secret.json: the seed that bidders do not know before acceptance."""

    kind: Literal["tender_secret"] = Field(description="tender_secret")
    format_version: FormatVersion = Field(description="version of the format")
    bundle_sha256: str = Field(description="hash of the bundle's manifest")
    seed: Count = Field(description="the seed")
    prepared: Prepared | None = Field(description="the result that a run with it must have")


class ListedFile(TenderPart):
    """A file of a bundle or an answer."""

    sha256: str = Field(description="hash")
    bytes: Count = Field(description="size")


class Manifest(TenderPart):
    """manifest.json: the files of a bundle or an answer."""

    kind: Literal["tender_manifest"] = Field(description="tender_manifest")
    format_version: FormatVersion = Field(description="version of the format")
    files: dict[str, ListedFile] = Field(description="files by their paths")


class Environment(TenderPart):
    """environment.json: the nodes on which a bidder measured."""

    kind: Literal["tender_environment"] = Field(description="tender_environment")
    format_version: FormatVersion = Field(description="version of the format")
    nodes: list[dict[str, Any]] = Field(description="what the nodes say of themselves")
