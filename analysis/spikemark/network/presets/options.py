"""What presets share: how options are read, how a network is run, and what was published of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Protocol, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, field_validator

from spikemark.core.errors import BadInput
from spikemark.core.fields import whole_as_integer
from spikemark.core.validation import invalid
from spikemark.network.description import read_time
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.fields import CHOICES, check
from spikemark.network.placement import check_name
from spikemark.network.placement_text import field_of
from spikemark.network.schedules import SCHEDULES

#: Name for all neurons, where published rates have no population.
ALL = "all"
SCALE = "neurons, as a fraction of the published "
#: Fields of a run description that presets may set.
HOW_TO_RUN = ("delay_ratio", "schedule", "placement", "exchange")
if TYPE_CHECKING:
    Schedule = str
    Exchange = str
    Wire = str
else:  # one of the names that the mini-app has
    Schedule = Literal[*SCHEDULES]
    Exchange = Literal[*EXCHANGES]
    Wire = Literal[*CHOICES["wire"].values]
Placement = Annotated[str, AfterValidator(check_name)]


def option(
    default: object,
    text: str,
    *,
    gt: float | None = None,
    ge: float | None = None,
    le: float | None = None,
) -> Any:
    """An option: its default, what the help says about it, and its limits.

    Example:
        >>> option(0.01, "share of the neurons", ge=0.001, le=1).description
        'share of the neurons'
    """
    return Field(default, description=text, gt=gt, ge=ge, le=le)


class _Runnable(Protocol):
    """Options of a network that `run` needs."""

    seed: int
    warmup_ms: float
    simulate_ms: float


class StrictOptions(BaseModel):
    """Options of a preset, which are known and finite."""

    model_config = ConfigDict(
        defer_build=True,  # of the preset that is asked for
        extra="forbid",
        allow_inf_nan=False,
        strict=True,
    )
    #: What `full` means for options that are not given.
    published: ClassVar[dict[str, Any]] = {"scale": 1.0}

    _whole = field_validator("*", mode="before")(whole_as_integer)

    @classmethod
    def describe(cls, full: bool = False, **options: object) -> dict[str, Any]:
        """The run description (miniapp/FORMAT.md) for `options`; None is the default.

        With `full`, options that are not given take their published values. A change of one place
        of the description changes no other, nor later descriptions.

        Raises:
            BadInput: naming the option, its value and what is expected.
        """
        return choose(cls, options, full).description()

    def description(self) -> dict[str, Any]:
        """The run description for these options: each dict and list stands at one place only, and
        in no other description. Raises BadInput for what it cannot hold.
        """
        raise NotImplementedError

    def expect(self, holds: object, name: str, expected: str) -> None:
        """Raises BadInput for the option `name`, unless what is expected of it holds."""
        if not holds:
            raise BadInput(
                field=name,
                value=getattr(self, name),
                expected=expected,
            )

    def run(
        self: _Runnable,
        populations: list[dict[str, Any]],
        projections: list[dict[str, Any]],
        step_ms: float = 0.1,
        cycle_ms: float = 0.1,
        **fields: Any,
    ) -> dict[str, Any]:
        """The description of a run of a network, with `fields`, by default as the options say.

        Raises:
            BadInput: for values that the mini-app does not take.
        """
        time = {
            "resolution_ms": step_ms,
            "cycle_ms": cycle_ms,
            "warmup_ms": self.warmup_ms,
            "simulate_ms": self.simulate_ms,
        }
        description: dict[str, Any] = {"format_version": 1, "seed": self.seed, "time": time}
        for name in HOW_TO_RUN:
            value = fields.get(name, getattr(self, name, None))
            if name == "placement" and value:
                value = field_of(value)
            if value is not None:
                description[name] = value
        description["network"] = {"populations": populations, "projections": projections}
        check(description)
        read_time(description)
        return description


class RunOptions(StrictOptions):
    """How a network is run; a preset overrides the defaults that do not suit it."""

    seed: int = option(1, "seed of the network", ge=0, le=2**53)
    schedule: Schedule = option("conventional", "a schedule of the mini-app")
    placement: Placement | None = option(
        None, "a placement of the mini-app, or a placement file; default: what the schedule implies"
    )
    exchange: Exchange | None = option(
        None, "an exchange of the mini-app; by default it chooses for each lane"
    )
    simulate_ms: float = option(1000.0, "measured time, ms", gt=0)
    warmup_ms: float = option(
        500.0,
        "simulated time before the measurement, ms",
        ge=0,
    )


class ScaledOptions(RunOptions):
    """Options of networks with a fraction of the published neurons, and of the synapses of each."""

    scale: float = option(..., SCALE, ge=0.001, le=1)
    indegree_scale: float | None = option(
        None,
        "synapses of each neuron, as a fraction; default: a power of the scale that keeps rates",
        ge=0.001,
        le=1,
    )

    def of_synapses(self, power: float) -> float:
        """The fraction of the synapses; by default that power of the scale."""
        return self.scale**power if self.indegree_scale is None else self.indegree_scale


Chosen = TypeVar("Chosen", bound=StrictOptions)


def choose(kind: type[Chosen], options: Mapping[str, Any], full: bool = False) -> Chosen:
    """Check the options of a preset.

    Args:
        kind: of the options.
        options: by name; None is the default.
        full: True for published values of options that are not given.

    Raises:
        BadInput: naming the option, its value and what is expected.

    Example:
        >>> choose(RunOptions, {"seed": 7, "simulate_ms": None}).simulate_ms
        1000.0
    """
    values = {name: value for name, value in options.items() if value is not None}
    if full:
        values = kind.published | values
    try:
        return kind.model_validate(values)
    except ValidationError as error:
        raise invalid(error, model=kind) from None


@dataclass(frozen=True)
class PublishedRates:
    """Mean firing rates that were published, in spikes per neuron and second."""

    hz: dict[str, float]  #: by name of the population; ALL for all neurons
    source: str  #: where they were published
    #: Options for whose values they hold.
    hold_for: dict[str, Any] = field(default_factory=dict)

    @property
    def mean_hz(self) -> float | None:
        """Mean rate of all neurons, if that was published."""
        return self.hz.get(ALL)
