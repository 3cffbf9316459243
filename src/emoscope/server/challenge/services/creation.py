"""Creating a challenge from what somebody uploads: nothing but the uploaded files is read."""

import shutil
import tempfile
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from emoscope.core.errors import EmoscopeError
from emoscope.server.challenge.services.actor import Actor, require_organiser
from emoscope.server.challenge.services.challenges import check_organiser, create_defined, replace_gold
from emoscope.server.challenge.services.definition import checked, mistakes
from emoscope.server.challenge.services.handouts import add_file
from emoscope.server.challenge.services.uploads import clean_file_name
from emoscope.server.challenge.views import ChallengeView, FileView, GoldView
from emoscope.server.errors import Invalid, ServerError, StoreUnavailable
from emoscope.server.store import Store

if TYPE_CHECKING:
    from _typeshed import SupportsRead

_FILES = ("unlabelled", "gold", "humans", "file")  # the fields of a definition that name a file


class InvalidDefinition(Invalid):
    """A definition with mistakes; `fields` has the first one of each field by its place, `phases.0.per_day`."""

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
    """Create a challenge from a definition, as TOML or plain values, and the files it names.

    `uploads` has them by those names; any other name is refused, so that no other file of this machine is read.
    """
    require_organiser(actor, None)
    document = _document(definition, source) if isinstance(definition, str) else dict(definition)
    if found := mistakes(document):
        where, problem = next(iter(found.items()))
        raise InvalidDefinition(f"{where}: {problem}" if where else problem, found)
    wanted = checked(document, source)
    for place, name in _named_files(document):
        if name not in uploads:
            problem = f"the file {name!r} was not uploaded"
            raise InvalidDefinition(f"{place}: {problem}", {place: problem})
    with _Received(store, uploads) as folder:
        try:
            return create_defined(store, actor, wanted, Path(source), folder)
        except ServerError:
            raise
        except EmoscopeError as error:
            raise Invalid(_named(error, folder)) from None


def replace_gold_by_upload(
    store: Store, actor: Actor, slug: str, phase: str, file_name: str, upload: "SupportsRead[bytes]"
) -> GoldView:
    """Replace a phase's gold labels by an uploaded file; all its submissions are scored anew."""
    check_organiser(store, actor, slug)
    name = clean_file_name(file_name)
    with _Received(store, {name: upload}) as folder:
        try:
            return replace_gold(store, actor, slug, phase, folder / name)
        except ServerError:
            raise
        except EmoscopeError as error:
            raise Invalid(_named(error, folder), field="file") from None


def add_uploaded_file(
    store: Store, actor: Actor, slug: str, file_name: str, upload: "SupportsRead[bytes]", *, title: str, phase: str
) -> FileView:
    """Give out an uploaded file from now on, or when a phase opens; one of the same name is replaced."""
    check_organiser(store, actor, slug)
    name = clean_file_name(file_name)
    with _Received(store, {name: upload}) as folder:
        files = add_file(store, actor, slug, folder / name, title=title.strip(), phase=phase or None)
    return next(file for file in files if file.name == name)


def _document(text: str, source: str) -> dict[str, Any]:
    if len(text) > 1 << 20:
        raise Invalid(f"{source}: is longer than a definition can be", field="definition")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Invalid(f"{source}: is not valid TOML: {error}", field="definition") from None


def _named_files(document: Any, place: str = "") -> Iterator[tuple[str, str]]:
    """All files a definition names, wherever it does, each with its field's place."""
    for key, value in document.items() if isinstance(document, dict) else enumerate(document):
        at = f"{place}.{key}".removeprefix(".")
        if isinstance(value, dict | list):
            yield from _named_files(value, at)
        elif key in _FILES and not (key == "humans" and value == "published"):
            yield at, str(value)


def _named(error: EmoscopeError, folder: Path) -> str:
    """What is wrong, with files by their names rather than where we keep them for the moment."""
    return str(error).replace(f"{folder}/", "")


class _Received:
    """Uploads in a folder that only we can read, for as long as the block runs."""

    def __init__(self, store: Store, uploads: Mapping[str, "SupportsRead[bytes]"]) -> None:
        self._store, self._uploads = store, uploads

    def __enter__(self) -> Path:
        try:
            self._folder = tempfile.TemporaryDirectory(dir=self._store.files.root / "incoming")
            folder = Path(self._folder.name)
            for name, upload in self._uploads.items():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("wb") as handle:
                    shutil.copyfileobj(upload, handle)
        except OSError as error:
            problem = f"the files could not be stored ({error.strerror}); nothing was accepted"
            raise StoreUnavailable(problem) from None
        return folder

    def __exit__(self, *_: object) -> None:
        self._folder.cleanup()
