"""The base of everything that is read from JSON or declared as data, and validated."""

from pydantic import BaseModel, ConfigDict


class FrozenModel(BaseModel):
    """Validated data that cannot be changed and takes no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")
