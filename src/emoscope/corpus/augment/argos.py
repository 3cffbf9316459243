"""Argos Translate's installed packages; nothing is downloaded."""

from collections.abc import Sequence
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from emoscope.core.errors import EmoscopeError
from emoscope.core.extras import require
from emoscope.corpus.augment.engines import Translator, short_code

_BATCH = 32


class Argos:
    """The installed packages; turns are not split into sentences, since Argos might download a model for that."""

    def __init__(self) -> None:
        self._packages = require("argostranslate.package", extra="argos")
        self._network = require("ctranslate2", extra="argos")

    @property
    def name(self) -> str:
        try:
            return f"argostranslate {version('argostranslate')}"
        except PackageNotFoundError:
            return "argostranslate"

    def translator(self, source: str, target: str) -> Translator:
        direction = short_code(source), short_code(target)
        installed = [package for package in self._packages.get_installed_packages() if package.type == "translate"]
        for package in installed:
            if (package.from_code, package.to_code) == direction:
                return partial(_translate, package, self._model(package.package_path))
        names = ", ".join(sorted(f"{package.from_code}-{package.to_code}" for package in installed)) or "none"
        raise EmoscopeError(
            f"argostranslate has no package {'-'.join(direction)}; installed are: {names} "
            f"(argospm install translate-{'_'.join(direction)})"
        )

    def _model(self, path: Path) -> Any:
        try:
            # CPU and float32, for the same output on every machine.
            return self._network.Translator(str(path / "model"), device="cpu", compute_type="float32")
        except (RuntimeError, ValueError) as error:
            raise EmoscopeError(f"{path}: is not a package that can be read ({error})") from None


def _translate(package: Any, model: Any, texts: Sequence[str]) -> list[str]:
    prefix: str = package.target_prefix
    pieces = [package.tokenizer.encode(text) for text in texts]
    results = model.translate_batch(
        pieces,
        target_prefix=[[prefix]] * len(pieces) if prefix else None,
        max_batch_size=_BATCH,
        beam_size=4,
        length_penalty=0.2,
        replace_unknowns=True,
    )
    decoded = (package.tokenizer.decode(result.hypotheses[0]) for result in results)
    return [text.removeprefix(prefix).strip() for text in decoded]
