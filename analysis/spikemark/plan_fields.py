"""The fields of plan.json: what was planned, in the order of measuring."""

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

PLAN_VERSION = 1
TIME_LIMIT_S = 3600.0


def no_boolean(value: Any) -> Any:
    """Refuse true and false where a number is needed: pydantic takes them for 1 and 0."""
    if isinstance(value, bool):
        raise ValueError("a number is needed")
    return value


Count = Annotated[int, Field(ge=1, le=1_000_000, strict=True)]  # the mini-app's range of ranks and threads
Repetition = Annotated[int, Field(ge=1, le=1000, strict=True)]
Seed = Annotated[int, Field(ge=0, le=2**53, strict=True)]
TimeLimit = Annotated[float, BeforeValidator(no_boolean), Field(gt=0, le=1e6, allow_inf_nan=False)]


class PlanFields(BaseModel):
    """Open to fields added within a version."""

    model_config = ConfigDict(extra="allow", frozen=True)


class Planned(PlanFields):
    """One run of the plan."""

    id: str = Field(pattern="^[0-9A-Za-z]+$")  # names files
    label: str
    ranks: Count
    threads: Count
    seed: Seed
    repetition: Repetition
    fields: dict[str, Any]  # what the experiment varied


class PlannedExperiment(PlanFields):
    """The experiment as read, of which this is needed to measure and to report."""

    name: str = Field(min_length=1)
    title: str
    preset: dict[str, Any] | None = None
    time_limit_s: TimeLimit = TIME_LIMIT_S


class Plan(PlanFields):
    """plan.json."""

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
