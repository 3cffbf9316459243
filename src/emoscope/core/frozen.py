"""The base of what is declared as data or read from a file, and validated."""

from pydantic import BaseModel, ConfigDict, ValidationError


class FrozenModel(BaseModel):
    """Validated data that cannot be changed and takes no unknown fields."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def first_problem(error: ValidationError) -> str:
    """The first thing that is wrong, in a line that names the field."""
    first = error.errors(include_url=False)[0]
    field = ".".join(map(str, first["loc"]))
    return f"{field!r}: {first['msg']}" if field else first["msg"].removeprefix("Value error, ")
