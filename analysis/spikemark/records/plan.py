"""The fields of plan.json: what was planned, in the order of measuring."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from spikemark.core.fields import no_boolean
from spikemark.launch.layout import Binding, Distribution, Layout, by_part

PLAN_VERSION = 1
TIME_LIMIT_S = 3600.0


Count = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]  # the mini-app's range of ranks and threads
Repetition = Annotated[int, Field(ge=1, le=1000, strict=True)]
Seed = Annotated[int, Field(ge=0, le=2**53, strict=True)]
TimeLimit = Annotated[float, BeforeValidator(no_boolean), Field(gt=0, le=1e6, allow_inf_nan=False)]


def _by_part(given: Any) -> Any:
    """Ranks by part, also where they are given in the words of the command line."""
    return by_part(given) if isinstance(given, str) else given


RanksByPart = Annotated[dict[str, Count], BeforeValidator(_by_part), Field(min_length=1)]
#: Fields of SimulatedOn that were added when runs had ids: without a value they are no part of them.
LATER = ("threads", "on")


class SimulatedOn(BaseModel):
    """Field `machine` of an experiment and of a run in its plan: the machine to simulate, by its profile.

    The profile may be a machine of unequal parts, with `on` ranks on each of them. Without `on`, ranks fill
    the parts in their order. `ranks_per_node`: 1, or with `on` as many as fit, which is None. `threads` of a
    rank, for which modelled compute times are; None: the ranks of a node share its cores.

    `compute_of` changes fields of the network; the compute times are then those of the changed one, such as
    one with areas of full size. `correlation` (of compute times from cycle to cycle) and `cv` (their spread
    over their mean) replace those of the profile. `rate_hz` is the rate of neurons whose description states
    none, or `by population` for those that the preset expects of each.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    profile: Annotated[str, Field(min_length=1)]
    compute: Literal["model"] = "model"
    ranks_per_node: Count | None = 1
    threads: Count | None = None
    on: RanksByPart | None = None
    compute_of: dict[str, Any] = {}
    correlation: Annotated[float, BeforeValidator(no_boolean), Field(ge=0, le=0.9999)] | None = None
    cv: Annotated[float, BeforeValidator(no_boolean), Field(ge=0, le=10)] | None = None
    rate_hz: (
        Annotated[float, BeforeValidator(no_boolean), Field(ge=0, le=1e6)] | Literal["by population"] | None
    ) = None

    @model_validator(mode="before")
    @classmethod
    def _on_a_node(cls, given: Any) -> Any:
        """Null stands for the default, which depends on whether ranks are stated by part."""
        if not isinstance(given, dict):
            return given
        if given.get("on") is not None:
            return {"ranks_per_node": None, **given}
        return {name: value for name, value in given.items() if (name, value) != ("ranks_per_node", None)}

    @property
    def identity(self) -> dict[str, Any]:
        """What of it is part of the id of a run."""
        found = self.model_dump()
        return {name: value for name, value in found.items() if value is not None or name not in LATER}

    @property
    def name(self) -> str:
        """The profile's name, even if its file is given."""
        return Path(self.profile).stem if self.profile.endswith((".yaml", ".yml")) else self.profile


class PlanFields(BaseModel):
    """Base of all parts of a plan: fields that were added within a version are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Planned(PlanFields):
    """One run of the plan."""

    id: str = Field(pattern="^[0-9A-Za-z]+$")  # names files
    label: str
    ranks: Count
    threads: Count
    seed: Seed
    repetition: Repetition
    ranks_per_node: Count | None = None  # None, also below: left to the launcher
    distribution: Distribution | None = None
    binding: Binding | None = None
    fields: dict[str, Any]  # what the experiment varied, and those of the three fields above that it gives
    machine: SimulatedOn | None = None  # None: measured on the machine at hand
    guess_s: float | None = None  # how long it may take, see running/possible.py

    @property
    def layout(self) -> Layout:
        """How its ranks and threads are to lie on nodes and cores."""
        return Layout(self.ranks, self.threads, self.ranks_per_node, self.distribution, self.binding)


class PlannedPreset(PlanFields):
    """The network of an experiment, and its options."""

    name: str
    options: dict[str, Any] = {}


class PlannedExperiment(PlanFields):
    """The fields of the experiment that measuring and reporting need; the others are kept."""

    name: str = Field(min_length=1)
    title: str
    preset: PlannedPreset | None = None
    machine: SimulatedOn | None = None
    time_limit_s: TimeLimit = TIME_LIMIT_S


class Plan(PlanFields):
    """The content of plan.json."""

    format_version: int
    experiment: PlannedExperiment
    machine: str = Field(min_length=1)
    shuffle_seed: Seed
    runs: list[Planned]

    @model_validator(mode="after")
    def _ids_differ(self) -> "Plan":
        ids = [run.id for run in self.runs]
        if len(set(ids)) != len(ids):
            raise ValueError("two runs have the same id")
        return self

    def run(self, id: str) -> Planned | None:
        """The run with this id, if the plan has it."""
        return next((run for run in self.runs if run.id == id), None)
