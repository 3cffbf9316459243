"""Challenges and their files from uploads; no other file of this machine is read."""

import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.services.challenges import check_organiser, create_defined
from emoscope.server.challenge.services.definition import Definition, mistakes
from emoscope.server.challenge.services.uploads import clean_file_name
from emoscope.server.challenge.views import ChallengeView
from emoscope.server.errors import Invalid, ServerError
from emoscope.server.store import Store

if TYPE_CHECKING:
    from _typeshed import SupportsRead

_FILES = ("unlabelled", "gold", "humans", "file")  # the fields of a definition that name a file


class InvalidDefinition(Invalid):
    """A definition with mistakes; `fields` has one for each field, such as `phases.0.per_day`."""

    def __init__(self, message: str, fields: Mapping[str, str]) -> None:
        self.fields = dict(fields)
        super().__init__(message, field=next(iter(fields), None))


def create_from_uploads(
    store: Store,
    actor: Actor,
    definition: str | Mapping[str, Any],
    uploads: Mapping[str, "SupportsRead[bytes]"],
    *,
    source: str = "definition",
) -> ChallengeView:
    """Create a challenge from a definition, as TOML or plain values, and its files in `uploads`.

    A file that is not among the uploads is refused, so that no other file of this machine is read.
    """
    require_organiser(actor, None)
    document = _document(definition, source) if isinstance(definition, str) else dict(definition)
    if faults := mistakes(document):
        where, problem = next(iter(faults.items()))
        raise InvalidDefinition(f"{where}: {problem}" if where else problem, faults)
    for place, name in _named_files(document):
        if name not in uploads:
            problem = f"the file {name!r} was not uploaded"
            raise InvalidDefinition(f"{place}: {problem}", {place: problem})
    with _received(store, uploads) as folder:
        return create_defined(store, actor, Definition.model_validate(document), Path(source), folder)


def _document(text: str, source: str) -> dict[str, Any]:
    if len(text) > 1 << 20:
        raise Invalid(f"{source}: is longer than 1 MiB", field="definition")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{source}: is not valid TOML: {error}", field="definition") from None


def _named_files(document: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """All files that a definition names, each with the path of its field."""
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        at = f"{place}.{key}".removeprefix(".")
        if isinstance(value, dict | list):
            yield from _named_files(value, at)
        elif key in _FILES and not (key == "humans" and value == "published"):
            yield at, str(value)


@contextmanager
def _received(store: Store, uploads: Mapping[str, "SupportsRead[bytes]"], field: str | None = None) -> Iterator[Path]:
    """A temporary folder with the uploads; errors name the files without it."""
    with store.files.received(uploads) as folder:
        try:
            yield folder
        except ServerError:
            raise
        except EmoscopeError as error:
            raise Invalid(str(error).replace(f"{folder}/", ""), field=field) from None


@contextmanager
def uploaded(store: Store, actor: Actor, slug: str, file_name: str, upload: "SupportsRead[bytes]") -> Iterator[Path]:
    """An organiser's upload as a temporary file of its own name."""
    check_organiser(store, actor, slug)
    name = clean_file_name(file_name)
    with _received(store, {name: upload}, "file") as folder:
        yield folder / name
