"""The base class of validated data, declared in code or read from a file."""

from pydantic import BaseModel, ConfigDict, ValidationError


class FrozenModel(BaseModel):
    """Immutable validated data without unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def first_problem(error: ValidationError) -> str:
    """The first validation error, in one line that names the field."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field!r}: {first['msg']}" if field else first["msg"].removeprefix("Value error, ")
