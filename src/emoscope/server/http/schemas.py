"""Types for the request bodies of all features."""

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict
from pydantic.config import JsonDict


def whole_characters(value: str) -> str:
    """Refuse lone surrogates, which JSON allows but which cannot be encoded."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError("holds half of a character (a surrogate without its pair)") from None
    return value


def _integral(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


# To JSON Schema 304.0 is an integer, which a strict int refuses.
Integral = BeforeValidator(_integral)
Text = Annotated[str, AfterValidator(whole_characters)]


def example(document: JsonDict) -> ConfigDict:
    """The configuration of a model with an example in the API description."""
    return ConfigDict(json_schema_extra={"examples": [document]})


class StrictInput(BaseModel):
    """A request body: no conversions, no unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
