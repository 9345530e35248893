"""The fields of plan.json: what was planned, in the order of measuring."""

from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from spikemark.core.errors import BadInput
from spikemark.core.fields import number, whole_number
from spikemark.launch.layout import Binding, Distribution, LaunchLayout, by_part

PLAN_VERSION = 1
TIME_LIMIT_S = 3600.0

#: Checks that come before the limits of a number; a JSON Schema needs them behind these.
Number = BeforeValidator(number)
WholeNumber = BeforeValidator(whole_number)
Count = Annotated[int, Field(ge=1, le=1_000_000), WholeNumber]  # as in the mini-app
Repetition = Annotated[int, Field(ge=1, le=1000), WholeNumber]
Seed = Annotated[int, Field(ge=0, le=2**53), WholeNumber]
TimeLimit = Annotated[float, Field(gt=0, le=1e6, allow_inf_nan=False), Number]


def _ranks_by_part(value: object) -> Any:
    """Ranks by part, also where they are in the words of the command line."""
    return by_part(value) if isinstance(value, str) else value


RanksByPart = Annotated[
    dict[str, Count],
    Field(min_length=1),
    BeforeValidator(_ranks_by_part, json_schema_input_type=dict[str, Count] | str),
]
#: Fields of SimulatedOn that were added when runs had ids: without a value they are no part of
#: them.
LATER_FIELDS = ("threads", "on", "program")


class SimulatedOn(BaseModel):
    """The machine to simulate: field `machine` of an experiment and of a run in its plan."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    profile: Annotated[str, Field(min_length=1)] = Field(
        description="the machine: a name in machines/, or a file; it may have unequal parts"
    )
    compute: Literal["model"] = Field(
        "model",
        description="where compute times come from",
    )
    ranks_per_node: Count | None = Field(
        1, description="ranks on a node; null, the default with `on`: as many as its cores allow"
    )
    threads: Count | None = Field(
        None,
        description="threads of a rank, for modelled compute times; null: the ranks of a node"
        " share its cores",
    )
    on: RanksByPart | None = Field(
        None, description="ranks by part of the machine; null: each part is filled before the next"
    )
    program: Literal["mini-app", "nest", "dpsnn"] | None = Field(
        None, description="whose kernels take the compute times; null: the mini-app's"
    )
    compute_of: dict[str, Any] = Field(
        {},
        description="changes of fields of the network; the compute times are those of the changed"
        " one, such as one with areas of full size",
    )
    correlation: Annotated[float, Field(ge=0, le=0.9999), Number] | None = Field(
        None, description="correlation of compute times from cycle to cycle; null: the profile's"
    )
    cv: Annotated[float, Field(ge=0, le=10), Number] | None = Field(
        None, description="spread of compute times over their mean; null: the profile's"
    )
    rate_hz: Annotated[float, Field(ge=0, le=1e6), Number] | Literal["by population"] | None = (
        Field(
            None,
            description="rate of neurons whose description states none, spikes/s; `by population`:"
            " what the preset expects of each",
        )
    )

    @model_validator(mode="before")
    @classmethod
    def _on_a_node(cls, content: object) -> Any:
        """Null ranks per node stand for the default, which depends on `on`."""
        if not isinstance(content, dict):
            return content
        if content.get("on") is not None:
            return {"ranks_per_node": None, **content}
        if content.get("ranks_per_node", 1) is None:
            return {name: value for name, value in content.items() if name != "ranks_per_node"}
        return content

    @property
    def identity(self) -> dict[str, Any]:
        """What of it is part of the id of a run."""
        fields = self.model_dump()
        for name in LATER_FIELDS:
            if fields[name] is None:
                del fields[name]
        return fields

    @property
    def name(self) -> str:
        """The profile's name, even if its file is given."""
        if self.profile.endswith((".yaml", ".yml")):
            return Path(self.profile).stem
        return self.profile


class PlanFields(BaseModel):
    """Base of all parts of a plan: fields that were added within a version are kept."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Planned(PlanFields):
    """One run of the plan. What is None of its layout is left to the launcher."""

    id: str = Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z._-]*$", description="names files")
    label: str = Field(description="what the run is called on pages")
    ranks: Count = Field(description="MPI ranks")
    threads: Count = Field(description="threads of a rank")
    seed: Seed = Field(description="seed of the network")
    repetition: Repetition = Field(description="number of the repetition, from 1")
    ranks_per_node: Count | None = Field(
        None,
        description="the most ranks on a node",
    )
    distribution: Distribution | None = Field(
        None,
        description="how ranks lie on nodes",
    )
    binding: Binding | None = Field(
        None,
        description="how threads are bound to cores",
    )
    fields: dict[str, Any] = Field(
        description="what the experiment varied, and those of the three fields above that it gives"
    )
    machine: SimulatedOn | None = Field(
        None, description="the simulated machine; null: measured on the machine at hand"
    )
    guess_s: float | None = Field(
        None, description="how long it may take, s; see running/possible.py"
    )

    @property
    def layout(self) -> LaunchLayout:
        """How its ranks and threads are to lie on nodes and cores."""
        return LaunchLayout(
            self.ranks, self.threads, self.ranks_per_node, self.distribution, self.binding
        )


class PlannedPreset(PlanFields):
    """The network of an experiment, and its options."""

    name: str = Field(description="the preset")
    options: dict[str, Any] = Field({}, description="its options")


class PlannedExperiment(PlanFields):
    """The fields of the experiment that measuring and reporting need; the others are kept."""

    name: str = Field(
        min_length=1,
        description="the folder of the results",
    )
    title: str = Field(description="the title of the report")
    preset: PlannedPreset | None = Field(
        None,
        description="the network, unless it has a file",
    )
    machine: SimulatedOn | None = Field(
        None,
        description="the simulated machine, if there is one",
    )
    time_limit_s: TimeLimit = Field(
        TIME_LIMIT_S,
        description="after which a run is stopped, s",
    )


class SweepPlan(PlanFields):
    """The content of plan.json."""

    format_version: int = Field(description="version of the format, PLAN_VERSION")
    experiment: PlannedExperiment = Field(description="the experiment as read")
    machine: str = Field(
        min_length=1,
        description="name of the machine",
    )
    shuffle_seed: Seed = Field(description="seed of the random order of the runs")
    runs: list[Planned] = Field(description="runs, in the order of measuring")

    @model_validator(mode="after")
    def _ids_differ(self) -> Self:
        ids = {run.id for run in self.runs}
        if len(ids) < len(self.runs):
            raise BadInput("two runs have the same id", field="runs")
        return self

    def run(self, id: str) -> Planned | None:
        """The run with this id; None if the plan does not have it."""
        for run in self.runs:
            if run.id == id:
                return run
        return None
