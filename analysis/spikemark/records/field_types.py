"""Types of the fields of run records, and what all parts of a record share."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=0)]
Positive = Annotated[int, Field(ge=1)]
Seconds = Annotated[float, Field(ge=0)]
Span = Annotated[list[Seconds], Field(min_length=2, max_length=2)]
Checksum = Annotated[str, Field(pattern="^[0-9a-f]{16}$")]


class Fields(BaseModel):
    """Base of all parts of a record: types are strict (no '3' for 3), and fields added later are kept."""

    model_config = ConfigDict(extra="allow", frozen=True, strict=True, allow_inf_nan=False)
