"""The fields of tender.json: what is to be run, by which rules, and what makes an answer plausible."""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, model_validator

from spikemark.records.field_types import Fields

KIND, VERSION = "tender", 1
#: Figures of merit: what they are called on pages, and their unit. Smaller is better for both.
FIGURES = {
    "real_time_factor": ("real-time factor", "1"),
    "joules_per_synaptic_event": ("energy per synaptic event", "J"),
}
#: Begins the assumption of a projection that says for how many measured runs its profile holds.
HELD = "the profile holds for"

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
Name = Annotated[str, Field(pattern=f"^{NAME}$")]
Share = Annotated[float, Field(gt=0, le=1)]
Above0 = Annotated[float, Field(gt=0)]


class Given(Fields):
    """Like Fields; integers are accepted where numbers are needed."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)


class Rule(Given):
    """One run that is asked for.

    `model_ms`: the model times that are allowed, longest first; the first is that of the description.
    `nodes`: on how many nodes; None: the bidder chooses. `measured` is false where figures may be projected.
    """

    name: Name
    size: Literal["small", "medium", "large", "target"]
    description: str
    scaling: str
    share_of_memory: Share | None
    measured: bool
    repetitions: Annotated[int, Field(ge=1, le=1000)]
    counts: Literal["median"]
    minimum_seconds: Above0
    warm_up_cycles: Annotated[int, Field(ge=0)]
    model_ms: Annotated[list[Above0], Field(min_length=1)]
    nodes: Annotated[int, Field(ge=1)] | None


class Target(Given):
    """The network that the machine is bought for, and what it shall reach; None: not asked for."""

    network: str
    real_time_factor: Above0 | None
    joules_per_synaptic_event: Above0 | None


class Category(Given):
    """What an answer of this category may change: fields of the description, and flags of the compiler.

    `changes`: fields that may be set. `flags`: patterns, as of file names, one of which every flag of the
    record matches. `never`: what must stay as it is.
    """

    changes: list[str]
    flags: list[str]
    never: list[str]


class Power(Given):
    """True if energy must be measured, at which levels, and how long power is read while nothing runs."""

    required: bool
    levels: list[str]
    idle_seconds: Annotated[float, Field(ge=0)]


class Tender(Given):
    """The content of tender.json."""

    kind: Literal["tender"]
    format_version: Literal[1]
    name: Name
    quick: bool
    created: str
    spikemark_version: str
    commit: str
    source_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    reference_memory_gb: Above0
    target: Target
    figures: list[str]
    runs: Annotated[list[Rule], Field(min_length=1)]
    categories: dict[str, Category]
    power: Power
    plausibility: dict[str, float]

    @model_validator(mode="after")
    def _agree(self) -> "Tender":
        names = [rule.name for rule in self.runs]
        if len(set(names)) < len(names):
            raise ValueError("two runs have the same name")
        return self

    def rule(self, name: str) -> Rule | None:
        """The run of that name; None where there is none."""
        return next((rule for rule in self.runs if rule.name == name), None)


class Figure(Given):
    """A figure of a run: that of its repetitions which counts, and the smallest and the largest one."""

    value: Above0
    low: Above0
    high: Above0


class Figures(Given):
    """The figures of a run; None, with a reason, where one was not measured."""

    real_time_factor: Figure | None
    joules_per_synaptic_event: Figure | None
    reason: str | None = None


class Repetition(Given):
    """One repetition: the folder of its record, and what the record says."""

    folder: Annotated[str, Field(pattern=r"^runs/[A-Za-z0-9][A-Za-z0-9._-]*/[1-9][0-9]{0,3}$")]
    started: str
    simulate_s: Above0
    real_time_factor: Above0
    joules_per_synaptic_event: Above0 | None


class Answered(Given):
    """A run of an answer."""

    name: Name
    layout: dict[str, Annotated[int, Field(ge=1)]]
    set: dict[str, Any]
    model_ms: Above0
    repetitions: Annotated[list[Repetition], Field(min_length=1)]
    figure: Figures


class Answer(Given):
    """The content of answer.json."""

    kind: Literal["tender_answer"]
    format_version: Literal[1]
    bundle_sha256: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    tender: str
    quick: bool
    bidder: str
    category: str
    created: str
    runs: list[Answered]


def content(tender: Tender) -> dict[str, Any]:
    """The content for JSON."""
    return tender.model_dump(mode="json")
