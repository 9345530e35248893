"""The part of a record that says where the neurons were."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class Placed(BaseModel):
    """`file`: as the description gave it, None without one. `method`: which made it, None where unknown."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)

    name: str
    file: str | None
    method: str | None
    balance: Annotated[float, Field(ge=1)]  #: neurons of the largest rank over the mean
