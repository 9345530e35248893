"""What presets share: how options are read, how a network is run, and what was published about it."""

from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from spikemark.core.errors import BadInput, invalid
from spikemark.network.description import read_time
from spikemark.network.exchanges import EXCHANGES
from spikemark.network.placement import check_name
from spikemark.network.placement_file import field_of
from spikemark.network.schedules import SCHEDULES

ALL = "all"  # all neurons, where published rates have no population
SCALE = "neurons, as a fraction of the published "
Schedule, Exchange = Literal[*SCHEDULES], Literal[*EXCHANGES]
Placement = Annotated[str, AfterValidator(check_name)]


def option(default: Any, text: str, **limits: float) -> Any:
    """An option: its default, what the help says about it, and its limits."""
    return Field(default, description=text, **limits)


class Strict(BaseModel):
    """Options that are known and finite."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)
    published: ClassVar[dict[str, Any]] = {"scale": 1.0}  #: what `full` means for options that are not given

    @classmethod
    def describe(cls, full: bool = False, **options) -> dict:
        """The run description (miniapp/FORMAT.md) for `options`; None is the default.

        Raises BadInput naming the option, its value and what is expected.
        """
        return choose(cls, options, full).description()

    def description(self) -> dict:
        """The run description for these options. Raises BadInput for what it cannot hold."""
        raise NotImplementedError

    def expect(self, *rules: tuple[object, str, str]) -> None:
        """Checks rules: what has to be true, the option that is wrong if not, and what is expected of it."""
        for right, name, expected in rules:
            if not right:
                raise BadInput.of(name, getattr(self, name), expected)

    def run(self, populations: list, projections: list, step_ms=0.1, cycle_ms=0.1, **fields: Any) -> dict:
        """The description of a run of that network, with `fields`, by default as the options say.

        Raises BadInput for times that the mini-app does not take.
        """
        times = {"resolution_ms": step_ms, "cycle_ms": cycle_ms}
        times |= {"warmup_ms": self.warmup_ms, "simulate_ms": self.simulate_ms}
        names = ("delay_ratio", "schedule", "placement", "exchange")
        said = {name: fields.get(name, getattr(self, name, None)) for name in names}
        said["placement"] = said["placement"] and field_of(said["placement"])
        said = {name: value for name, value in said.items() if value is not None}
        network = {"populations": populations, "projections": projections}
        found = {"format_version": 1, "seed": self.seed, "time": times, **said, "network": network}
        read_time(found)
        return found


class RunOptions(Strict):
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
    warmup_ms: float = option(500.0, "simulated time before the measurement, ms", ge=0)


class ScaledOptions(RunOptions):
    """Options of networks with a fraction of the published neurons, and of the synapses of each."""

    scale: float = option(..., SCALE, ge=0.001, le=1)
    indegree_scale: float | None = option(
        None, "synapses of each neuron, as a fraction; default: a power of the scale that keeps rates",
        ge=0.001, le=1,
    )  # fmt: skip

    def of_synapses(self, power: float) -> float:
        """The fraction of the synapses; by default that power of the scale."""
        return self.scale**power if self.indegree_scale is None else self.indegree_scale


Chosen = TypeVar("Chosen", bound=Strict)


def choose(kind: type[Chosen], given: dict[str, Any], full: bool = False) -> Chosen:
    """Options of the given `kind`; None is the default. Raises BadInput: option, value, expected.

    With `full`, options that are not given take their published values.
    """
    given = {name: value for name, value in given.items() if value is not None}
    try:
        return kind.model_validate((kind.published if full else {}) | given)
    except ValidationError as error:
        raise invalid(error, kind=kind) from None


@dataclass(frozen=True)
class PublishedRates:
    """Mean firing rates by name of the population, in spikes per neuron and second, with their source.

    They apply if options have the values of `hold_for`. `mean_hz`: of all neurons, if that was published.
    """

    hz: dict[str, float]
    source: str
    hold_for: dict[str, Any] = field(default_factory=dict)

    @property
    def mean_hz(self) -> float | None:
        return self.hz.get(ALL)
